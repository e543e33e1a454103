"""Reductions, as users call them."""

from __future__ import annotations

from typing import Any

from minipaddle.imperative.dispatch import bound
from minipaddle.imperative.operand import Ints
from minipaddle.imperative.tensor import Tensor


@bound
def sum(
    x: Tensor,
    axis: Ints | None = None,
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
    axis: Ints | None = None,
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


@bound
def max(
    x: Tensor,
    axis: Ints | None = None,
    keepdim: bool = False,
    name: str | None = None,
) -> Tensor:
    """Largest elements over axes; NaN wins.

    Each element that reaches the maximum gets the whole gradient; ``amax`` shares it out.

    Args:
        x: Tensor of any shape, float or int.
        axis: Axis or axes to look over; all by default. Negative ones count from the end.
        keepdim: Keep the folded axes with length 1.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's dtype.

    Raises:
        ValueError: An axis is not there or named twice, or the result would be of no element.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> paddle.max(x, axis=1).tolist()
        [2.0, 4.0]
    """


@bound
def min(
    x: Tensor,
    axis: Ints | None = None,
    keepdim: bool = False,
    name: str | None = None,
) -> Tensor:
    """Smallest elements over axes; NaN wins.

    Each element that reaches the minimum gets the whole gradient; ``amin`` shares it out.

    Args:
        x: Tensor of any shape, float or int.
        axis: Axis or axes to look over; all by default. Negative ones count from the end.
        keepdim: Keep the folded axes with length 1.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's dtype.

    Raises:
        ValueError: An axis is not there or named twice, or the result would be of no element.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> paddle.min(x, axis=1).tolist()
        [1.0, 3.0]
    """


@bound
def amax(
    x: Tensor,
    axis: Ints | None = None,
    keepdim: bool = False,
    name: str | None = None,
) -> Tensor:
    """Largest elements over axes; NaN wins.

    The gradient is shared evenly among the elements that reach the maximum.

    Args:
        x: Tensor of any shape, float or int.
        axis: Axis or axes to look over; all by default. Negative ones count from the end.
        keepdim: Keep the folded axes with length 1.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's dtype.

    Raises:
        ValueError: An axis is not there or named twice, or the result would be of no element.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> paddle.amax(x, axis=1).tolist()
        [2.0, 4.0]
    """


@bound
def amin(
    x: Tensor,
    axis: Ints | None = None,
    keepdim: bool = False,
    name: str | None = None,
) -> Tensor:
    """Smallest elements over axes; NaN wins.

    The gradient is shared evenly among the elements that reach the minimum.

    Args:
        x: Tensor of any shape, float or int.
        axis: Axis or axes to look over; all by default. Negative ones count from the end.
        keepdim: Keep the folded axes with length 1.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's dtype.

    Raises:
        ValueError: An axis is not there or named twice, or the result would be of no element.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> paddle.amin(x, axis=1).tolist()
        [1.0, 3.0]
    """


@bound
def all(
    x: Tensor,
    axis: Ints | None = None,
    keepdim: bool = False,
    name: str | None = None,
) -> Tensor:
    """Whether all elements over axes are true, which is: not zero.

    Args:
        x: Tensor of any shape and dtype.
        axis: Axis or axes to look over; all by default. Negative ones count from the end.
        keepdim: Keep the folded axes with length 1.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of bool; True where there is no element.

    Raises:
        ValueError: An axis is not there, or is named twice.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.all(paddle.to_tensor([[0.0, 2.0], [3.0, 4.0]]), axis=0).tolist()
        [False, True]
    """


@bound
def any(
    x: Tensor,
    axis: Ints | None = None,
    keepdim: bool = False,
    name: str | None = None,
) -> Tensor:
    """Whether any element over axes is true, which is: not zero.

    Args:
        x: Tensor of any shape and dtype.
        axis: Axis or axes to look over; all by default. Negative ones count from the end.
        keepdim: Keep the folded axes with length 1.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of bool; False where there is no element.

    Raises:
        ValueError: An axis is not there, or is named twice.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.any(paddle.to_tensor([[0.0, 2.0], [3.0, 4.0]]), axis=0).tolist()
        [True, True]
    """


@bound
def prod(
    x: Tensor,
    axis: Ints | None = None,
    keepdim: bool = False,
    dtype: Any = None,
    name: str | None = None,
) -> Tensor:
    """Products over axes; the gradient is right with zeros, too.

    Args:
        x: Tensor of any shape.
        axis: Axis or axes to multiply over; all by default. Negative ones count from the end.
        keepdim: Keep the folded axes with length 1.
        dtype: Convert to this first; bool and ints are multiplied as int64 by default.
        name: Unused; for Paddle's signature.

    Returns:
        The products; half types are multiplied in float32 and rounded once.

    Raises:
        ValueError: An axis is not there, or is named twice.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> paddle.prod(x, axis=0).tolist()
        [3.0, 8.0]
    """


@bound
def nansum(
    x: Tensor,
    axis: Ints | None = None,
    dtype: Any = None,
    keepdim: bool = False,
    name: str | None = None,
) -> Tensor:
    """Sums over axes, with NaN as zero.

    Args:
        x: Tensor of any shape, float or int.
        axis: Axis or axes to sum over; all by default. Negative ones count from the end.
        dtype: Convert to this before summing; ints are summed as int64 by default.
        keepdim: Keep the folded axes with length 1.
        name: Unused; for Paddle's signature.

    Returns:
        The sums; NaN elements get the gradient zero.

    Raises:
        ValueError: An axis is not there, or is named twice.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nansum(paddle.to_tensor([1.0, float("nan"), 3.0])).item()
        4.0
    """


@bound
def nanmean(
    x: Tensor,
    axis: Ints | None = None,
    keepdim: bool = False,
    name: str | None = None,
) -> Tensor:
    """Means over axes of the elements that are not NaN.

    Args:
        x: Float tensor of any shape.
        axis: Axis or axes to average over; all by default. Negative ones count from the end.
        keepdim: Keep the folded axes with length 1.
        name: Unused; for Paddle's signature.

    Returns:
        The means; NaN where all elements are NaN.

    Raises:
        TypeError: x is not of a float dtype.
        ValueError: An axis is not there, or is named twice.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nanmean(paddle.to_tensor([1.0, float("nan"), 3.0])).item()
        2.0
    """
