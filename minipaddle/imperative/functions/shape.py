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
def transpose(
    x: Tensor, perm: int | list[int] | tuple[int, ...], name: str | None = None
) -> Tensor:
    """The same values with the axes in another order; shares memory with ``x``.

    Args:
        x: Tensor of any shape.
        perm: For each axis of the result, the axis of x that it is.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor whose axis i is axis ``perm[i]`` of x.

    Raises:
        ValueError: ``perm`` does not name each axis once.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.transpose(paddle.ones([2, 3, 4]), [2, 0, 1]).shape
        [4, 2, 3]
    """
