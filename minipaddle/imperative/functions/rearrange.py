"""Copies in another order, as users call them."""

from __future__ import annotations

from minipaddle.imperative.dispatch import bound
from minipaddle.imperative.functions.elementwise import assign
from minipaddle.imperative.functions.shape import swapaxes
from minipaddle.imperative.operand import Ints, int_list
from minipaddle.imperative.tensor import Tensor
from minipaddle.ops.axes import normal_axes


@bound
def flip(x: Tensor, axis: Ints, name: str | None = None) -> Tensor:
    """Reverses the order along axes.

    Args:
        x: Tensor of any shape.
        axis: Axis or axes.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Raises:
        ValueError: An axis is not there, or is named twice.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.flip(paddle.to_tensor([[1, 2], [3, 4]]), axis=1).tolist()
        [[2, 1], [4, 3]]
    """


def rot90(x: Tensor, k: int = 1, axes: Ints = (0, 1), name: str | None = None) -> Tensor:
    """Turns by right angles, from the first of two axes towards the second.

    Args:
        x: Tensor of at least 2 axes.
        k: How often; negative turns the other way.
        axes: The two axes.
        name: Unused; for Paddle's signature.

    Returns:
        The turned tensor.

    Raises:
        ValueError: There are not two axes, one does not exist, or they are one.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.rot90(paddle.to_tensor([[1, 2], [3, 4]])).tolist()
        [[2, 4], [1, 3]]
    """
    plane = normal_axes(int_list("axes", axes) or (), x.ndim, "rot90: axes")
    if len(plane) != 2:
        raise ValueError(f"rot90: axes must name two axes; got {list(plane)}")
    first, second = plane
    if k % 2:
        return swapaxes(flip(x, second if k % 4 == 1 else first), first, second)
    return flip(x, plane) if k % 4 else assign(x)


@bound
def roll(x: Tensor, shifts: Ints, axis: Ints | None = None, name: str | None = None) -> Tensor:
    """Shifts along axes; what leaves at one end comes in at the other.

    Args:
        x: Tensor of any shape.
        shifts: By how much, for each axis.
        axis: Axis or axes; by default x is shifted as if it were flat.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Raises:
        ValueError: An axis is not there, or ``shifts`` and ``axis`` differ in length.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.roll(paddle.to_tensor([1, 2, 3]), 1).tolist()
        [3, 1, 2]
    """


@bound
def tile(x: Tensor, repeat_times: Ints, name: str | None = None) -> Tensor:
    """Repeats the whole along axes.

    Args:
        x: Tensor of any shape.
        repeat_times: How often along each axis. The shorter of it and x's shape gets ones in front.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's dtype.

    Raises:
        ValueError: A number is negative.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.tile(paddle.to_tensor([1, 2]), [2, 2]).tolist()
        [[1, 2, 1, 2], [1, 2, 1, 2]]
    """


@bound
def repeat_interleave(
    x: Tensor, repeats: Ints, axis: int | None = None, name: str | None = None
) -> Tensor:
    """Repeats each element along an axis.

    Args:
        x: Tensor of any shape.
        repeats: How often: one number, or one for each element of the axis.
        axis: The axis; by default x is taken as if it were flat.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's dtype.

    Raises:
        ValueError: There is no such axis, or not that many elements.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.repeat_interleave(paddle.to_tensor([1, 2]), [1, 3]).tolist()
        [1, 2, 2, 2]
    """


@bound
def sum_repeats(
    x: Tensor, shape: Ints, repeats: Ints, axis: int | None = None, name: str | None = None
) -> Tensor:
    """Sums runs of ``repeats`` elements: the gradient of ``repeat_interleave``."""


@bound
def tril(x: Tensor, diagonal: int = 0, name: str | None = None) -> Tensor:
    """The lower triangle of matrices, and zero above it.

    Args:
        x: Tensor of shape ``[..., rows, columns]``.
        diagonal: The last diagonal that is kept; those above the main one are positive.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Raises:
        ValueError: x has fewer than 2 axes.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.tril(paddle.to_tensor([[1, 2], [3, 4]])).tolist()
        [[1, 0], [3, 4]]
    """


@bound
def triu(x: Tensor, diagonal: int = 0, name: str | None = None) -> Tensor:
    """The upper triangle of matrices, and zero below it.

    Args:
        x: Tensor of shape ``[..., rows, columns]``.
        diagonal: The first diagonal that is kept; those above the main one are positive.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Raises:
        ValueError: x has fewer than 2 axes.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.triu(paddle.to_tensor([[1, 2], [3, 4]])).tolist()
        [[1, 2], [0, 4]]
    """


API = ("rot90", "Tensor.rot90")
