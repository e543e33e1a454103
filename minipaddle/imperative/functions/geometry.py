"""Angles and distances of vectors and products at right angles, composed of other functions."""

from __future__ import annotations

import numpy as np

from minipaddle.imperative.functions import elementwise, reduction, shape
from minipaddle.imperative.functions.broadcasting import common_shape
from minipaddle.imperative.functions.math import sqrt
from minipaddle.imperative.functions.products import in_float32
from minipaddle.imperative.functions.rectifier import relu
from minipaddle.imperative.functions.statistics import norm
from minipaddle.imperative.tensor import Tensor

_UNSET = 9  # Paddle's default of cross: no axis was named


def cross(x: Tensor, y: Tensor, axis: int = _UNSET, name: str | None = None) -> Tensor:
    """Cross products of vectors of three elements; the other axes broadcast.

    Args:
        x: Tensor with an axis of length 3.
        y: Tensor of x's dtype, whose shape broadcasts with x's.
        axis: The axis of the vectors; by default the first one of length 3.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of the broadcast shape.

    Raises:
        ValueError: The shapes do not broadcast, or the axis is not of length 3.

    Example:
        >>> import minipaddle as paddle
        >>> x, y = paddle.to_tensor([1.0, 0.0, 0.0]), paddle.to_tensor([0.0, 1.0, 0.0])
        >>> paddle.cross(x, y).tolist()
        [0.0, 0.0, 1.0]
    """
    lengths = common_shape("cross", x.shape, y.shape)
    if axis == _UNSET:
        if 3 not in lengths:
            raise ValueError(f"cross: an axis must have length 3; got {x.shape} and {y.shape}")
        axis = lengths.index(3)
    if not -len(lengths) <= axis < len(lengths) or lengths[axis] != 3:
        raise ValueError(
            f"cross: axis must name an axis of length 3; got {axis} of {x.shape} and {y.shape}"
        )
    x, y = shape.expand(x, lengths), shape.expand(y, lengths)
    before = [slice(None)] * (axis % len(lengths))
    at = [(*before, slice(i, i + 1)) for i in range(3)]
    result = None
    for i in range(3):
        j, k = at[(i + 1) % 3], at[(i + 2) % 3]
        part = x[j] * y[k] - x[k] * y[j]
        placed = shape.put_slice(part, lengths, at[i])
        result = placed if result is None else elementwise.add(result, placed)
    assert result is not None
    return result


def cosine_similarity(x1: Tensor, x2: Tensor, axis: int = 1, eps: float = 1e-8) -> Tensor:
    """Cosine of the angle between vectors: their dot product by the product of their lengths.

    Args:
        x1: Float tensor.
        x2: Float tensor of x1's dtype, whose shape broadcasts with x1's.
        axis: The axis of the vectors, in the broadcast shape.
        eps: Least number to divide by.

    Returns:
        Tensor of the broadcast shape without ``axis``; half types are computed in float32.

    Raises:
        ValueError: The shapes do not broadcast, or the axis is not there.

    Example:
        >>> import minipaddle as paddle
        >>> x, y = paddle.to_tensor([[3.0, 4.0]]), paddle.to_tensor([[4.0, 3.0]])
        >>> round(paddle.nn.functional.cosine_similarity(x, y).item(), 4)
        0.96
    """
    lengths = common_shape("cosine_similarity", x1.shape, x2.shape)

    def similarity(a: Tensor, b: Tensor) -> Tensor:
        if a.shape != b.shape:
            a, b = shape.expand(a, lengths), shape.expand(b, lengths)
        product = reduction.sum(elementwise.multiply(a, b), axis)
        norms = elementwise.multiply(_length(a, axis), _length(b, axis))
        return elementwise.divide(product, _at_least(norms, eps))

    return in_float32(similarity, x1, x2)


def _length(x: Tensor, axis: int) -> Tensor:
    """Euclidean length; the smallest normal number instead of 0, whose root has no slope."""
    total = reduction.sum(elementwise.square(x), axis)
    return sqrt(_at_least(total, float(np.finfo(x.dtype).tiny)))


def _at_least(x: Tensor, least: float) -> Tensor:
    return elementwise.add(relu(elementwise.subtract(x, least)), least)


def pairwise_distance(
    x: Tensor,
    y: Tensor,
    p: float = 2.0,
    epsilon: float = 1e-6,
    keepdim: bool = False,
    name: str | None = None,
) -> Tensor:
    """Norms of the differences of vectors along the last axis.

    Args:
        x: Float tensor.
        y: Tensor that broadcasts with it.
        p: Order of the norm.
        epsilon: Added to each difference, which keeps the slope finite at 0.
        keepdim: Whether the last axis stays, with length 1.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of the broadcast shape without its last axis.

    Raises:
        ValueError: The shapes do not broadcast.

    Example:
        >>> import minipaddle as paddle
        >>> x, y = paddle.to_tensor([[0.0, 0.0]]), paddle.to_tensor([[3.0, 4.0]])
        >>> paddle.nn.functional.pairwise_distance(x, y, epsilon=0.0).tolist()
        [5.0]
    """
    return norm(elementwise.subtract(x, y) + epsilon, float(p), -1, keepdim)


API = (
    "cross",
    "linalg.cross",
    "nn.functional.cosine_similarity",
    "nn.functional.pairwise_distance",
    "Tensor.cross",
)
