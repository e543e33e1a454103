"""Transformers: layers of attention and small networks, with what was there added on."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from minipaddle.imperative.functions import creation, rearrange
from minipaddle.imperative.tensor import Tensor
from minipaddle.nn import functional
from minipaddle.nn.initializer import ParamAttr
from minipaddle.nn.layer import Layer
from minipaddle.nn.layers.attention import MultiHeadAttention, additive_mask
from minipaddle.nn.layers.container import LayerList
from minipaddle.nn.layers.dropout import Dropout
from minipaddle.nn.layers.linear import Linear
from minipaddle.nn.layers.norm import LayerNorm


def _attrs(attr: Any, count: int, argument: str) -> list[Any]:
    """One attr for each part of a layer; a name gets a number behind it."""
    if isinstance(attr, (list, tuple)):
        if len(attr) != count:
            raise ValueError(f"{argument} must be one attr or {count}; got {len(attr)}")
        return [None if one is True else one for one in attr]
    if isinstance(attr, bool):
        return [None if attr else False] * count
    asked = ParamAttr.of(attr)
    if asked.name is None:
        return [asked] * count
    return [replace(asked, name=f"{asked.name}_{i}") for i in range(count)]


class _Block(Layer):
    """What the layers of encoder and decoder share.

    Args:
        given: The arguments of the constructor, by name; ``copies`` takes them again.
        attentions: Names of the attentions in it.
    """

    def __init__(self, given: dict[str, Any], attentions: tuple[str, ...]) -> None:
        super().__init__()
        self._config = {k: v for k, v in given.items() if k not in ("self", "__class__")}
        width, inner, rate = given["d_model"], given["dim_feedforward"], given["dropout"]
        if inner < 1:
            raise ValueError(f"dim_feedforward must be a positive int; got {inner!r}")
        rates = [given[name] for name in ("attn_dropout", "act_dropout")]
        in_attention, in_network = (rate if own is None else own for own in rates)
        count = len(attentions) + 1
        weights = _attrs(given["weight_attr"], count, "weight_attr")
        biases = _attrs(given["bias_attr"], count, "bias_attr")
        for name, weight, bias in zip(attentions, weights, biases, strict=False):
            attention = MultiHeadAttention(
                width, given["nhead"], in_attention, weight_attr=weight, bias_attr=bias
            )
            self.add_sublayer(name, attention)
        self.linear1 = Linear(width, inner, weights[-1], biases[-1])
        self.dropout = Dropout(in_network)
        self.linear2 = Linear(inner, width, weights[-1], biases[-1])
        for i in range(1, count + 1):
            self.add_sublayer(f"norm{i}", LayerNorm(width, given["layer_norm_eps"]))
            self.add_sublayer(f"dropout{i}", Dropout(rate))
        self.normalize_before = given["normalize_before"]
        if given["activation"] not in functional.__all__:
            raise ValueError(
                f"activation must be a function of nn.functional; got {given['activation']!r}"
            )
        self.activation: Any = getattr(functional, given["activation"])

    def _added(self, number: int, x: Tensor, part: Any) -> Any:
        """X plus what ``part`` makes of it, normalized before or after; and what else it gives."""
        norm, drop = getattr(self, f"norm{number}"), getattr(self, f"dropout{number}")
        made = part(norm(x) if self.normalize_before else x)
        made, *others = made if isinstance(made, tuple) else (made,)
        x = x + drop(made)
        return (x if self.normalize_before else norm(x)), *others

    def _network(self, x: Tensor) -> Tensor:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))

    def copies(self, count: int) -> LayerList:
        """This layer, and new ones made with the same arguments.

        Args:
            count: How many in all.
        """
        return LayerList([type(self)(**self._config) if i else self for i in range(count)])


class TransformerEncoderLayer(_Block):
    """Attention of a sequence to itself, then a network of two linear layers.

    Args:
        d_model: Length of an element of the sequence.
        nhead: Number of heads.
        dim_feedforward: Length between the two linear layers.
        dropout: Probability of dropout behind both parts.
        activation: Name of the function between the linear layers, such as ``"relu"``.
        attn_dropout: That of weights of attention; ``dropout`` by default.
        act_dropout: That behind the activation; ``dropout`` by default.
        normalize_before: Whether a part's input is normalized, rather than the sum behind it.
        weight_attr: As of ``Linear``; or two, for the attention and for the network.
        bias_attr: The same.
        layer_norm_eps: The epsilon of the norms.

    Raises:
        ValueError: ``nhead`` does not divide ``d_model``, or an argument is unknown.

    References:
        Vaswani et al. (2017), Attention is all you need, section 3.1; Xiong et al. (2020), On layer
        normalization in the transformer architecture, for ``normalize_before``.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.TransformerEncoderLayer(8, 2, 16)(paddle.ones([1, 5, 8])).shape
        [1, 5, 8]
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
        layer_norm_eps: float = 1e-5,
    ) -> None:
        super().__init__(locals(), ("self_attn",))

    def forward(self, src: Tensor, src_mask: Tensor | None = None, cache: Any = None) -> Any:
        """Maps [N, length, d_model] to the same shape.

        Args:
            src: The sequences.
            src_mask: As ``attn_mask`` of ``MultiHeadAttention``.
            cache: What ``gen_cache`` gave, or the last call; the next one is returned too.
        """
        src, *caches = self._added(1, src, lambda x: self.self_attn(x, x, x, src_mask, cache))
        (src,) = self._added(2, src, self._network)
        return src if cache is None else (src, caches[0])

    def gen_cache(self, src: Tensor) -> Any:
        """An empty cache for sequences that come element by element."""
        return self.self_attn.gen_cache(src)


class TransformerDecoderLayer(_Block):
    """Attention of a sequence to itself, to what an encoder made, then a network.

    Args:
        d_model: Length of an element of the sequence.
        nhead: Number of heads.
        dim_feedforward: Length between the two linear layers.
        dropout: Probability of dropout behind all parts.
        activation: Name of the function between the linear layers, such as ``"relu"``.
        attn_dropout: That of weights of attention; ``dropout`` by default.
        act_dropout: That behind the activation; ``dropout`` by default.
        normalize_before: Whether a part's input is normalized, rather than the sum behind it.
        weight_attr: As of ``Linear``; or three, for the attentions and for the network.
        bias_attr: The same.
        layer_norm_eps: The epsilon of the norms.

    Raises:
        ValueError: ``nhead`` does not divide ``d_model``, or an argument is unknown.

    Example:
        >>> import minipaddle as paddle
        >>> layer = paddle.nn.TransformerDecoderLayer(8, 2, 16)
        >>> layer(paddle.ones([1, 5, 8]), paddle.ones([1, 7, 8])).shape
        [1, 5, 8]
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
        layer_norm_eps: float = 1e-5,
    ) -> None:
        super().__init__(locals(), ("self_attn", "cross_attn"))

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        cache: Any = None,
    ) -> Any:
        """Maps ``tgt`` [N, length, d_model] to the same shape.

        Args:
            tgt: The sequences.
            memory: What the encoder made, [N, other length, d_model].
            tgt_mask: Mask of the attention to itself; see ``MultiHeadAttention``.
            memory_mask: Mask of the attention to ``memory``.
            cache: What ``gen_cache`` gave, or the last call; the next one is returned too.
        """
        first, second = (None, None) if cache is None else cache
        tgt, *own = self._added(1, tgt, lambda x: self.self_attn(x, x, x, tgt_mask, first))
        tgt, *other = self._added(
            2, tgt, lambda x: self.cross_attn(x, memory, memory, memory_mask, second)
        )
        (tgt,) = self._added(3, tgt, self._network)
        return tgt if cache is None else (tgt, (own[0], other[0]))

    def gen_cache(self, memory: Tensor) -> Any:
        """An empty cache of the sequence, and one of what ``memory`` projects to."""
        static = MultiHeadAttention.StaticCache
        return self.self_attn.gen_cache(memory), self.cross_attn.gen_cache(memory, memory, static)


class TransformerEncoder(Layer):
    """Layers like one that is given, one after another.

    Args:
        encoder_layer: The first one; the others are made with its arguments.
        num_layers: How many.
        norm: A layer behind the last, or None.

    Example:
        >>> import minipaddle as paddle
        >>> layer = paddle.nn.TransformerEncoderLayer(8, 2, 16)
        >>> paddle.nn.TransformerEncoder(layer, 2)(paddle.ones([1, 5, 8])).shape
        [1, 5, 8]
    """

    def __init__(self, encoder_layer: Any, num_layers: int, norm: Layer | None = None) -> None:
        super().__init__()
        self.layers = encoder_layer.copies(num_layers)
        self.num_layers, self.norm = num_layers, norm

    def forward(self, src: Tensor, src_mask: Tensor | None = None, cache: Any = None) -> Any:
        """As of the layers; a cache is a list with one of each."""
        mask, caches = additive_mask(src_mask, src.dtype), []
        for i, layer in enumerate(self.layers):
            if cache is None:
                src = layer(src, mask)
            else:
                src, new = layer(src, mask, cache[i])
                caches.append(new)
        src = src if self.norm is None else self.norm(src)
        return src if cache is None else (src, caches)

    def gen_cache(self, src: Tensor) -> list[Any]:
        """One empty cache for each layer."""
        return [layer.gen_cache(src) for layer in self.layers]


class TransformerDecoder(Layer):
    """Layers like one that is given, one after another.

    Args:
        decoder_layer: The first one; the others are made with its arguments.
        num_layers: How many.
        norm: A layer behind the last, or None.

    Example:
        >>> import minipaddle as paddle
        >>> decoder = paddle.nn.TransformerDecoder(paddle.nn.TransformerDecoderLayer(8, 2, 16), 2)
        >>> decoder(paddle.ones([1, 5, 8]), paddle.ones([1, 7, 8])).shape
        [1, 5, 8]
    """

    def __init__(self, decoder_layer: Any, num_layers: int, norm: Layer | None = None) -> None:
        super().__init__()
        self.layers = decoder_layer.copies(num_layers)
        self.num_layers, self.norm = num_layers, norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        cache: Any = None,
    ) -> Any:
        """As of the layers; a cache is a list with one of each."""
        own, other = additive_mask(tgt_mask, tgt.dtype), additive_mask(memory_mask, memory.dtype)
        caches = []
        for i, layer in enumerate(self.layers):
            if cache is None:
                tgt = layer(tgt, memory, own, other)
            else:
                tgt, new = layer(tgt, memory, own, other, cache[i])
                caches.append(new)
        tgt = tgt if self.norm is None else self.norm(tgt)
        return tgt if cache is None else (tgt, caches)

    def gen_cache(self, memory: Tensor, do_zip: bool = False) -> list[Any]:
        """One cache for each layer; with ``do_zip`` all first halves and all second halves."""
        caches = [layer.gen_cache(memory) for layer in self.layers]
        return list(zip(*caches, strict=True)) if do_zip else caches


class Transformer(Layer):
    """An encoder and a decoder.

    Args:
        d_model: Length of an element of a sequence.
        nhead: Number of heads.
        num_encoder_layers: Layers of the encoder.
        num_decoder_layers: Layers of the decoder.
        dim_feedforward: Length between the two linear layers of a layer.
        dropout: Probability of dropout.
        activation: Name of the function between the linear layers, such as ``"relu"``.
        attn_dropout: That of weights of attention; ``dropout`` by default.
        act_dropout: That behind the activation; ``dropout`` by default.
        normalize_before: Whether a part's input is normalized, rather than the sum behind it.
        weight_attr: As of ``Linear``; or up to three, for the attention to itself, the attention
            to the encoder's result, and the network.
        bias_attr: The same.
        custom_encoder: Takes the place of the encoder.
        custom_decoder: Takes the place of the decoder.

    Raises:
        ValueError: An argument does not fit.

    References:
        Vaswani et al. (2017), Attention is all you need.

    Example:
        >>> import minipaddle as paddle
        >>> net = paddle.nn.Transformer(8, 2, 1, 1, 16)
        >>> net(paddle.ones([1, 5, 8]), paddle.ones([1, 3, 8])).shape
        [1, 3, 8]
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
        custom_encoder: Layer | None = None,
        custom_decoder: Layer | None = None,
    ) -> None:
        super().__init__()
        common = (d_model, nhead, dim_feedforward, dropout, activation, attn_dropout, act_dropout,
                  normalize_before)  # fmt: skip
        pairs = [_shared(attr) for attr in (weight_attr, bias_attr)]
        encoder, decoder = custom_encoder, custom_decoder
        if encoder is None:
            layer = TransformerEncoderLayer(*common, *(two for two, _ in pairs))
            encoder = TransformerEncoder(layer, num_encoder_layers, LayerNorm(d_model))
        if decoder is None:
            last = TransformerDecoderLayer(*common, *(three for _, three in pairs))
            decoder = TransformerDecoder(last, num_decoder_layers, LayerNorm(d_model))
        self.encoder, self.decoder = encoder, decoder
        self.d_model, self.nhead = d_model, nhead

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
    ) -> Tensor:
        """What the decoder makes of ``tgt`` [N, length, d_model] and the encoded ``src``."""
        memory = self.encoder(src, src_mask)
        return self.decoder(tgt, memory, tgt_mask, memory_mask)

    def generate_square_subsequent_mask(self, length: int) -> Tensor:
        """A mask [length, length] by which no position sees a later one: 0, and -inf above."""
        return rearrange.triu(creation.full([length, length], -math.inf), 1)


def _shared(attr: Any) -> tuple[Any, Any]:
    """Attrs of a layer of the encoder, and of one of the decoder."""
    if not isinstance(attr, (list, tuple)):
        return attr, attr
    if not 1 <= len(attr) <= 3:
        raise ValueError(f"weight_attr and bias_attr must be one attr or up to 3; got {len(attr)}")
    second = attr[1] if len(attr) == 3 else attr[0]
    return [attr[0], attr[-1]], [attr[0], second, attr[-1]]
