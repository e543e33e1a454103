"""Sums and means, as users call them."""

from __future__ import annotations

from typing import Any

from minipaddle.imperative.dispatch import bound
from minipaddle.imperative.tensor import Tensor


@bound
def sum(
    x: Tensor,
    axis: int | list[int] | tuple[int, ...] | None = None,
    dtype: Any = None,
    keepdim: bool = False,
    name: str | None = None,
) -> Tensor:
    """Sums over axes.

    Args:
        x: Tensor of any shape.
        axis: Axis or axes to sum over; all by default. Negative ones count from the end.
        dtype: Convert to this before summing; bool and ints are summed as int64 by default.
        keepdim: Keep the summed axes with length 1.
        name: Unused; for Paddle's signature.

    Returns:
        The sums; half types are summed in float32 and rounded once.

    Raises:
        ValueError: An axis is not there, or is named twice.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.sum(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]), axis=0).tolist()
        [4.0, 6.0]
    """


@bound
def mean(
    x: Tensor,
    axis: int | list[int] | tuple[int, ...] | None = None,
    keepdim: bool = False,
    name: str | None = None,
) -> Tensor:
    """Means over axes.

    Args:
        x: Float tensor of any shape.
        axis: Axis or axes to average over; all by default. Negative ones count from the end.
        keepdim: Keep the averaged axes with length 1.
        name: Unused; for Paddle's signature.

    Returns:
        The means; that of no element is NaN.

    Raises:
        TypeError: x is not of a float dtype.
        ValueError: An axis is not there, or is named twice.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.mean(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]), axis=1).tolist()
        [1.5, 3.5]
    """
