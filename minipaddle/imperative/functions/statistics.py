"""Variances, norms and logarithms of sums of exponentials, as users call them."""

from __future__ import annotations

from minipaddle.imperative.dispatch import bound
from minipaddle.imperative.operand import Ints
from minipaddle.imperative.tensor import Tensor


@bound
def logsumexp(
    x: Tensor,
    axis: Ints | None = None,
    keepdim: bool = False,
    name: str | None = None,
) -> Tensor:
    """``log(sum(exp(x)))`` over axes, without overflow.

    Args:
        x: Float tensor of any shape.
        axis: Axis or axes to sum over; all by default. Negative ones count from the end.
        keepdim: Keep the folded axes with length 1.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's dtype; -inf where all elements are -inf, or where there is none.

    Raises:
        TypeError: x is not of a float dtype.
        ValueError: An axis is not there, or is named twice.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.logsumexp(paddle.to_tensor([1000.0, -1000.0])).item()
        1000.0
    """


@bound
def var(
    x: Tensor,
    axis: Ints | None = None,
    unbiased: bool = True,
    keepdim: bool = False,
    name: str | None = None,
) -> Tensor:
    """Variances over axes, ``sum((x - mean(x))**2) / n``.

    Args:
        x: Float tensor of any shape.
        axis: Axis or axes to look over; all by default. Negative ones count from the end.
        unbiased: Divide by one less than the number of elements n.
        keepdim: Keep the folded axes with length 1.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's dtype; NaN where the divisor is zero.

    Raises:
        TypeError: x is not of a float dtype.
        ValueError: An axis is not there, or is named twice.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> paddle.var(x, axis=1).tolist()
        [0.5, 0.5]
    """


@bound
def std(
    x: Tensor,
    axis: Ints | None = None,
    unbiased: bool = True,
    keepdim: bool = False,
    name: str | None = None,
) -> Tensor:
    """Standard deviations over axes, ``sqrt(sum((x - mean(x))**2) / n)``.

    Args:
        x: Float tensor of any shape.
        axis: Axis or axes to look over; all by default. Negative ones count from the end.
        unbiased: Divide by one less than the number of elements n.
        keepdim: Keep the folded axes with length 1.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's dtype; NaN where the divisor is zero. Where the deviation is zero, so is the
        gradient.

    Raises:
        TypeError: x is not of a float dtype.
        ValueError: An axis is not there, or is named twice.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.std(paddle.to_tensor([[1.0, 3.0], [5.0, 7.0]]), axis=1, unbiased=False).tolist()
        [1.0, 1.0]
    """


@bound
def norm(
    x: Tensor,
    p: float | str | None = None,
    axis: Ints | None = None,
    keepdim: bool = False,
    name: str | None = None,
) -> Tensor:
    """Norms ``sum(abs(x)**p)**(1/p)`` over axes; several axes count as one long vector.

    Args:
        x: Float tensor of any shape.
        p: A number; 0 counts the elements that are not zero, inf and -inf give the largest and the
            smallest absolute value. None and "fro" are 2.
        axis: Axis or axes to sum over; all by default. Negative ones count from the end.
        keepdim: Keep the folded axes with length 1.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's dtype. Where the norm is zero, so is the gradient.

    Raises:
        TypeError: x is not of a float dtype.
        ValueError: ``p`` is something else, such as "nuc", or an axis is not there.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.norm(paddle.to_tensor([3.0, 4.0])).item()
        5.0
    """


@bound
def squared_norm(x: Tensor, name: str | None = None) -> Tensor:
    """The sum of the squares of all elements, without overflow of half types and float32.

    Args:
        x: Float tensor of any shape.
        name: Unused; for the form of all functions.

    Returns:
        0-d float64 tensor; it has no gradient.
    """
