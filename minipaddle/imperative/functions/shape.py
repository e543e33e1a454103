"""Other views of the same values, as users call them."""

from __future__ import annotations

from typing import Any

from minipaddle.imperative.dispatch import bound
from minipaddle.imperative.tensor import Tensor


@bound
def reshape(x: Tensor, shape: int | list[int] | tuple[int, ...], name: str | None = None) -> Tensor:
    """The same values in another shape; shares memory with ``x`` where that is possible.

    Args:
        x: Tensor of any shape.
        shape: Lengths; one of them may be -1 and is worked out.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of the new shape.

    Raises:
        ValueError: The number of elements differs.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.reshape(paddle.ones([2, 6]), [3, -1]).shape
        [3, 4]
    """


@bound
def expand(x: Tensor, shape: int | list[int] | tuple[int, ...], name: str | None = None) -> Tensor:
    """Repeats axes of length 1, without copying, until ``x`` has the given shape.

    Args:
        x: Tensor whose shape broadcasts to ``shape``.
        shape: Lengths.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of the given shape, not to be written to.

    Raises:
        ValueError: x's shape does not broadcast to ``shape``.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.expand(paddle.to_tensor([1.0, 2.0]), [2, 2]).tolist()
        [[1.0, 2.0], [1.0, 2.0]]
    """


@bound
def getitem(x: Tensor, index: Any, name: str | None = None) -> Tensor:
    """The part ``x[index]``: ints, slices, ``...`` and None, alone or in a tuple; a view of ``x``.

    Raises:
        IndexError: The index is out of range, or has more entries than x has axes.
    """


@bound
def put_slice(
    x: Tensor, shape: int | list[int] | tuple[int, ...], index: Any, name: str | None = None
) -> Tensor:
    """Zeros of ``shape`` with ``x`` at ``index``: the gradient of ``getitem``."""


@bound
def setitem(x: Tensor, value: Tensor | float, index: Any, name: str | None = None) -> Tensor:
    """A copy of ``x`` with ``value``, broadcast, at ``index``: ints, slices, ``...`` and None.

    Raises:
        IndexError: The index is out of range, or has more entries than x has axes.
        ValueError: ``value`` does not broadcast to that part of x.
    """


@bound
def setitem_(x: Tensor, value: Tensor | float, index: Any, name: str | None = None) -> Tensor:
    """``setitem`` into ``x`` itself: what ``x[index] = value`` does."""
