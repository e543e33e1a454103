"""Cumulative sums and products, as users call them."""

from __future__ import annotations

from typing import Any

from minipaddle.imperative.dispatch import bound
from minipaddle.imperative.functions.joining import concat
from minipaddle.imperative.tensor import Tensor
from minipaddle.ops.axes import normal_axis


@bound
def cumsum(
    x: Tensor,
    axis: int | None = None,
    dtype: Any = None,
    name: str | None = None,
) -> Tensor:
    """Sums of the elements up to each one along an axis, the element itself included.

    Args:
        x: Tensor of any shape, float or int.
        axis: The axis; by default x is flattened first.
        dtype: Convert to this first; x's dtype by default.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape, or a vector without ``axis``; floats are computed in float64.

    Raises:
        ValueError: The axis is not there.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.cumsum(paddle.to_tensor([1.0, 2.0, 3.0])).tolist()
        [1.0, 3.0, 6.0]
    """


@bound
def cumprod(
    x: Tensor,
    dim: int | None = None,
    dtype: Any = None,
    name: str | None = None,
) -> Tensor:
    """Products of the elements up to each one along an axis, the element itself included.

    Args:
        x: Tensor of any shape, float or int.
        dim: The axis; by default x is flattened first.
        dtype: Convert to this first; x's dtype by default.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape, or a vector without ``dim``; floats are computed in float64.

    Raises:
        ValueError: The axis is not there.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.cumprod(paddle.to_tensor([1.0, 2.0, 3.0])).tolist()
        [1.0, 2.0, 6.0]
    """


@bound
def logcumsumexp(
    x: Tensor,
    axis: int | None = None,
    dtype: Any = None,
    name: str | None = None,
) -> Tensor:
    """``log(cumsum(exp(x)))`` along an axis, without overflow.

    Args:
        x: Float tensor of any shape.
        axis: The axis; by default x is flattened first.
        dtype: Convert to this first; x's dtype by default.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape, or a vector without ``axis``.

    Raises:
        TypeError: x is not of a float dtype.
        ValueError: The axis is not there.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.logcumsumexp(paddle.to_tensor([0.0, float("-inf")])).tolist()
        [0.0, 0.0]
    """


def diff(
    x: Tensor,
    n: int = 1,
    axis: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """Differences of neighbours along an axis, ``n`` times over.

    Args:
        x: Tensor of rank one or more, float or int.
        n: How many times differences are taken.
        axis: The axis.
        prepend: Put before x first; of x's shape but along the axis.
        append: Put after x first; of x's shape but along the axis.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor that is shorter than x by ``n`` along the axis.

    Raises:
        ValueError: The axis is not there, or ``n`` is not positive.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.diff(paddle.to_tensor([1.0, 4.0, 9.0])).tolist()
        [3.0, 5.0]
    """
    if n < 1:
        raise ValueError(f"diff: n must be 1 or more; got {n}")
    at = normal_axis(axis, x.ndim, "diff: axis")
    parts = [part for part in (prepend, x, append) if part is not None]
    x = concat(parts, at) if len(parts) > 1 else x
    every = (slice(None),) * at
    for _ in range(n):
        x = x[(*every, slice(1, None))] - x[(*every, slice(None, -1))]
    return x


API = ("diff", "Tensor.diff")
