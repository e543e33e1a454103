"""Attention, made of products and a softmax."""

from __future__ import annotations

import math
from typing import Any

from minipaddle.device.dtype import BOOLS
from minipaddle.imperative.functions import (
    comparison,
    creation,
    ranges,
    rearrange,
    reduction,
    shape,
)
from minipaddle.imperative.functions.activation import softmax
from minipaddle.imperative.functions.dropout import dropout
from minipaddle.imperative.functions.indexing import where
from minipaddle.imperative.functions.linalg import matmul
from minipaddle.imperative.tensor import Tensor


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    training: bool = True,
    backend: str | None = None,
    scale: float | None = None,
    enable_gqa: bool = True,
    name: str | None = None,
) -> Tensor:
    """``softmax(query @ key^T * scale + attn_mask) @ value``, head by head.

    Args:
        query: Float tensor of shape [batch, length, heads, size].
        key: Tensor of shape [batch, keys, heads or a divisor of it, size].
        value: Tensor of shape [batch, keys, as many heads as key, any size].
        attn_mask: Of float dtype it is added to the scores, of bool it says which keys take
            part. It broadcasts to [batch, heads, length, keys].
        dropout_p: Probability with which a weight is dropped in training.
        is_causal: Whether a query sees only the keys up to its own position.
        training: Whether weights are dropped at all.
        backend: Unused; for Paddle's signature.
        scale: What the scores are multiplied with; 1 / sqrt(size) by default.
        enable_gqa: Whether key and value may have fewer heads than query.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of shape [batch, length, heads, size of a value].

    Raises:
        ValueError: A shape does not fit, or both ``attn_mask`` and ``is_causal`` are given.

    References:
        Vaswani et al. (2017), Attention is all you need, equation 1.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.ones([1, 3, 2, 4])
        >>> paddle.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True).shape
        [1, 3, 2, 4]
    """
    if attn_mask is not None and is_causal:
        raise ValueError("scaled_dot_product_attention: is_causal needs attn_mask=None")
    key, value = (_with_heads(query, side, enable_gqa) for side in (key, value))
    q, k, v = (shape.transpose(side, [0, 2, 1, 3]) for side in (query, key, value))
    factor = 1.0 / math.sqrt(q.shape[-1]) if scale is None else scale
    scores = matmul(q * factor, k, transpose_y=True)
    if is_causal:
        attn_mask = rearrange.tril(creation.ones(scores.shape[-2:], "bool"))
    if attn_mask is not None:
        chosen = attn_mask.dtype in BOOLS
        scores = where(attn_mask, scores, -math.inf) if chosen else scores + attn_mask
    weights = dropout(softmax(scores, -1), dropout_p, training=training)
    return shape.transpose(matmul(weights, v), [0, 2, 1, 3])


def _with_heads(query: Tensor, side: Tensor, repeated: bool) -> Tensor:
    """Keys or values with as many heads as ``query``."""
    if query.ndim != 4 or side.ndim != 4:
        raise ValueError(
            "scaled_dot_product_attention: query, key and value must have 4 axes, [batch, length, "
            f"heads, size]; got {query.shape} and {side.shape}"
        )
    heads, found = query.shape[2], side.shape[2]
    if heads == found:
        return side
    if not repeated or not found or heads % found:
        raise ValueError(
            f"scaled_dot_product_attention: {found} heads of key or value do not fit {heads} of "
            "query; give as many, or with enable_gqa a divisor"
        )
    batch, length, _, size = side.shape
    spread = shape.expand(shape.unsqueeze(side, 3), [batch, length, found, heads // found, size])
    return shape.reshape(spread, [batch, length, heads, size])


def sequence_mask(
    x: Tensor, maxlen: int | None = None, dtype: Any = "int64", name: str | None = None
) -> Tensor:
    """Masks of sequences: 1 before their ends, 0 behind.

    Args:
        x: Int tensor of lengths, of any shape.
        maxlen: Length of a mask; by default the largest in x.
        dtype: Element type of the result.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape, followed by ``maxlen``.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.functional.sequence_mask(paddle.to_tensor([1, 3])).tolist()
        [[1, 0, 0], [1, 1, 1]]
    """
    end = int(reduction.max(x)) if maxlen is None else maxlen
    places = ranges.arange(end, dtype=x.dtype)
    mask: Tensor = comparison.less_than(places, shape.unsqueeze(x, -1)).astype(dtype)
    return mask


API = ("nn.functional.scaled_dot_product_attention", "nn.functional.sequence_mask")
