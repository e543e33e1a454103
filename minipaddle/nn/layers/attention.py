"""Multi-head attention as a layer."""

from __future__ import annotations

from typing import Any, NamedTuple

from minipaddle.device.dtype import is_float
from minipaddle.imperative.functions import activation, creation, joining, linalg, shape
from minipaddle.imperative.functions.dropout import dropout
from minipaddle.imperative.tensor import Tensor
from minipaddle.nn.layer import Layer
from minipaddle.nn.layers.linear import Linear


class Cache(NamedTuple):
    """Keys and values [N, heads, length, size] of earlier positions, to which new ones are added.

    Attributes:
        k: The keys.
        v: The values.
    """

    k: Tensor
    v: Tensor


class StaticCache(NamedTuple):
    """Keys and values [N, heads, length, size] that stand for all positions.

    Attributes:
        k: The keys.
        v: The values.
    """

    k: Tensor
    v: Tensor


def additive_mask(attn_mask: Tensor | None, dtype: Any) -> Tensor | None:
    """A mask of bools or ints as numbers to add to scores: 0 where it is true, else -1e9.

    Args:
        attn_mask: The mask; one of floats is what is added already.
        dtype: Element type of the scores.
    """
    if attn_mask is None or attn_mask.dtype == dtype:
        return attn_mask
    mask: Tensor = attn_mask.astype(dtype)
    return mask if is_float(attn_mask.dtype) else (mask - 1.0) * 1e9


class MultiHeadAttention(Layer):
    """Attention of several heads, with projections of queries, keys, values and the result.

    Args:
        embed_dim: Length of a query and of the result.
        num_heads: Number of heads, a divisor of ``embed_dim``.
        dropout: Probability with which a weight of attention is dropped.
        kdim: Length of a key; ``embed_dim`` by default.
        vdim: Length of a value; ``embed_dim`` by default.
        need_weights: Whether the weights are returned too.
        weight_attr: As of ``Linear``, for all projections.
        bias_attr: The same.

    Attributes:
        q_proj: Linear of queries.
        k_proj: Linear of keys.
        v_proj: Linear of values.
        out_proj: Linear of the result.

    Raises:
        ValueError: ``num_heads`` does not divide ``embed_dim``.

    References:
        Vaswani et al. (2017), Attention is all you need, section 3.2.2.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.MultiHeadAttention(8, 2)(paddle.ones([1, 5, 8])).shape
        [1, 5, 8]
    """

    Cache = Cache
    StaticCache = StaticCache

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        kdim: int | None = None,
        vdim: int | None = None,
        need_weights: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
    ) -> None:
        super().__init__()
        if embed_dim < 1 or num_heads < 1 or embed_dim % num_heads:
            raise ValueError(
                f"num_heads must divide embed_dim, both positive; got {num_heads} and {embed_dim}"
            )
        self.embed_dim, self.num_heads = embed_dim, num_heads
        self.head_dim, self.dropout = embed_dim // num_heads, dropout
        self.kdim, self.vdim = kdim or embed_dim, vdim or embed_dim
        self.need_weights = need_weights
        self.q_proj = Linear(embed_dim, embed_dim, weight_attr, bias_attr)
        self.k_proj = Linear(self.kdim, embed_dim, weight_attr, bias_attr)
        self.v_proj = Linear(self.vdim, embed_dim, weight_attr, bias_attr)
        self.out_proj = Linear(embed_dim, embed_dim, weight_attr, bias_attr)

    def _heads(self, x: Tensor) -> Tensor:
        """[N, length, embed_dim] as [N, heads, length, size]."""
        split = shape.reshape(x, [*x.shape[:2], self.num_heads, self.head_dim])
        return shape.transpose(split, [0, 2, 1, 3])

    def compute_kv(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Projected keys and values of all heads.

        Args:
            key: Tensor [N, length, kdim].
            value: Tensor [N, length, vdim].
        """
        return self._heads(self.k_proj(key)), self._heads(self.v_proj(value))

    def gen_cache(self, key: Tensor, value: Tensor | None = None, type: Any = Cache) -> Any:
        """A cache for ``forward``.

        Args:
            key: Tensor whose projection a StaticCache holds; of a Cache the keys to begin with, or
                without ``value`` any tensor of the batch.
            value: The same for values.
            type: ``MultiHeadAttention.Cache`` or ``MultiHeadAttention.StaticCache``.
        """
        if type is StaticCache:
            return StaticCache(*self.compute_kv(key, key if value is None else value))
        if value is not None:
            return Cache(key, value)
        empty = [key.shape[0], self.num_heads, 0, self.head_dim]
        return Cache(creation.zeros(empty, key.dtype), creation.zeros(empty, key.dtype))

    def forward(
        self,
        query: Tensor,
        key: Tensor | None = None,
        value: Tensor | None = None,
        attn_mask: Tensor | None = None,
        cache: Any = None,
    ) -> Any:
        """Attends.

        Args:
            query: Tensor [N, length, embed_dim].
            key: Tensor [N, keys, kdim]; the query by default.
            value: Tensor [N, keys, vdim]; the query by default.
            attn_mask: What is added to the scores, or bools or ints that say which keys take part.
                It broadcasts to [N, heads, length, keys].
            cache: What ``gen_cache`` gave, or the last call.

        Returns:
            Tensor [N, length, embed_dim]; with ``need_weights`` or a cache a tuple of it, the
            weights [N, heads, length, keys] and the next cache.
        """
        key, value = query if key is None else key, query if value is None else value
        q = self._heads(self.q_proj(query))
        k, v = cache if isinstance(cache, StaticCache) else self.compute_kv(key, value)
        if isinstance(cache, Cache):
            k, v = joining.concat([cache.k, k], 2), joining.concat([cache.v, v], 2)
            cache = Cache(k, v)
        scores = linalg.matmul(q * self.head_dim**-0.5, k, transpose_y=True)
        mask = additive_mask(attn_mask, scores.dtype)
        weights = activation.softmax(scores if mask is None else scores + mask)
        if self.dropout:
            weights = dropout(weights, self.dropout, training=self.training)
        joined = shape.transpose(linalg.matmul(weights, v), [0, 2, 1, 3])
        out = self.out_proj(shape.reshape(joined, [*joined.shape[:2], self.embed_dim]))
        others = [weights] if self.need_weights else []
        others += [cache] if cache is not None else []
        return (out, *others) if others else out
