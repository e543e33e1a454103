"""Other views of the same values, as users call them."""

from __future__ import annotations

import math
from typing import Any

from minipaddle.imperative.dispatch import bound
from minipaddle.imperative.operand import Ints, int_list
from minipaddle.imperative.tensor import Tensor
from minipaddle.ops.axes import normal_axes, normal_axis


@bound
def reshape(x: Tensor, shape: Ints, name: str | None = None) -> Tensor:
    """The same values in another shape; shares memory with ``x`` where that is possible.

    Args:
        x: Tensor of any shape.
        shape: Lengths; one of them may be -1 and is worked out, and 0 stands for x's own.
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
def expand(x: Tensor, shape: Ints, name: str | None = None) -> Tensor:
    """Repeats axes of length 1, without copying, until ``x`` has the given shape.

    Args:
        x: Tensor whose shape broadcasts to ``shape``.
        shape: Lengths; -1 stands for x's own.
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
    x: Tensor, shape: Ints, index: Any, fill_value: Any = 0, name: str | None = None
) -> Tensor:
    """``x`` at ``index`` of a tensor of ``fill_value``: with zeros the gradient of ``getitem``."""


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


@bound
def transpose(x: Tensor, perm: list[int] | tuple[int, ...], name: str | None = None) -> Tensor:
    """The axes in another order; shares memory with ``x``.

    Args:
        x: Tensor of any shape.
        perm: For each axis of the result the axis of x it is.
        name: Unused; for Paddle's signature.

    Returns:
        A view whose axis i is axis ``perm[i]`` of x.

    Raises:
        ValueError: ``perm`` does not name every axis once.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.transpose(paddle.ones([2, 3, 4]), [1, 0, 2]).shape
        [3, 2, 4]
    """


def t(input: Tensor, name: str | None = None) -> Tensor:
    """A matrix with its axes swapped; what has fewer axes as it is.

    Args:
        input: Tensor of at most 2 axes.
        name: Unused; for Paddle's signature.

    Returns:
        A view of ``input``.

    Raises:
        ValueError: There are more than 2 axes.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.t(paddle.ones([2, 3])).shape
        [3, 2]
    """
    if input.ndim > 2:
        raise ValueError(
            f"t takes a tensor of at most 2 axes; got {input.ndim}; use transpose or swapaxes"
        )
    return reversed_axes(input)


def reversed_axes(x: Tensor) -> Tensor:
    """``x`` with its axes in reverse order, a view: the property ``Tensor.T``."""
    return transpose(x, tuple(reversed(range(x.ndim))))


def matrix_transpose(x: Tensor) -> Tensor:
    """``x`` with its last two axes swapped, a view: the property ``Tensor.mT``.

    Raises:
        ValueError: There are fewer than 2 axes.
    """
    if x.ndim < 2:
        raise ValueError(f"mT needs a tensor of at least 2 axes; got {x.ndim}")
    return swapaxes(x, -2, -1)


def swapaxes(x: Tensor, axis0: int, axis1: int, name: str | None = None) -> Tensor:
    """Swaps two axes; shares memory with ``x``.

    Args:
        x: Tensor of any shape.
        axis0: One axis.
        axis1: The other.
        name: Unused; for Paddle's signature.

    Returns:
        A view of x.

    Raises:
        ValueError: There is no such axis.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.swapaxes(paddle.ones([2, 3, 4]), 0, -1).shape
        [4, 3, 2]
    """
    perm = list(range(x.ndim))
    one = normal_axis(axis0, x.ndim, "swapaxes: axis0")
    other = normal_axis(axis1, x.ndim, "swapaxes: axis1")
    perm[one], perm[other] = other, one
    return transpose(x, tuple(perm))


def moveaxis(x: Tensor, source: Ints, destination: Ints, name: str | None = None) -> Tensor:
    """Moves axes to other places and keeps the order of the rest; shares memory with ``x``.

    Args:
        x: Tensor of any shape.
        source: Axis or axes to move.
        destination: For each of them, where it is in the result.
        name: Unused; for Paddle's signature.

    Returns:
        A view of x.

    Raises:
        ValueError: An axis is not there or named twice, or the two are not of one length.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.moveaxis(paddle.ones([2, 3, 4]), 0, -1).shape
        [3, 4, 2]
    """
    origin = normal_axes(int_list("source", source) or (), x.ndim, "moveaxis: source")
    target = normal_axes(
        int_list("destination", destination) or (), x.ndim, "moveaxis: destination"
    )
    if len(origin) != len(target):
        raise ValueError(
            f"moveaxis: source and destination must be of one length; got {list(origin)} and "
            f"{list(target)}"
        )
    perm = [axis for axis in range(x.ndim) if axis not in origin]
    for place, axis in sorted(zip(target, origin, strict=True)):
        perm.insert(place, axis)
    return transpose(x, tuple(perm))


def squeeze(x: Tensor, axis: Ints | None = None, name: str | None = None) -> Tensor:
    """Leaves axes of length 1 out; shares memory with ``x``.

    Args:
        x: Tensor of any shape.
        axis: Axis or axes to leave out, all of length 1 by default. One of another length stays.
        name: Unused; for Paddle's signature.

    Returns:
        A view of x.

    Raises:
        ValueError: There is no such axis.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.squeeze(paddle.ones([1, 3, 1]), axis=0).shape
        [3, 1]
    """
    named = int_list("axis", axis)
    axes = range(x.ndim) if named is None else _axes_or_none(named, x.ndim, "squeeze: axis")
    return reshape(x, tuple(n for i, n in enumerate(x.shape) if n != 1 or i not in axes))


def _axes_or_none(axes: tuple[int, ...], rank: int, name: str) -> tuple[int, ...]:
    """As ``normal_axes``, but a 0-d tensor has Paddle's axes 0 and -1."""
    return tuple(normal_axis(axis, max(rank, 1), name) for axis in axes)


def unsqueeze(x: Tensor, axis: Ints, name: str | None = None) -> Tensor:
    """Puts axes of length 1 in; shares memory with ``x``.

    Args:
        x: Tensor of any shape.
        axis: Where in the result; several are put in one after the other.
        name: Unused; for Paddle's signature.

    Returns:
        A view of x.

    Raises:
        ValueError: The result has no such axis.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.unsqueeze(paddle.ones([3, 4]), axis=[0, 2]).shape
        [1, 3, 1, 4]
    """
    shape = x.shape
    for one in int_list("axis", axis) or ():
        shape.insert(normal_axis(one, len(shape) + 1, "unsqueeze: axis"), 1)
    return reshape(x, tuple(shape))


def flatten(x: Tensor, start_axis: int = 0, stop_axis: int = -1, name: str | None = None) -> Tensor:
    """Makes one axis of several neighbours; shares memory with ``x`` where that is possible.

    Args:
        x: Tensor of any shape; a 0-d one becomes a vector of one element.
        start_axis: The first of them.
        stop_axis: The last of them.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's values.

    Raises:
        ValueError: There is no such axis, or ``start_axis`` comes after ``stop_axis``.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.flatten(paddle.ones([2, 3, 4]), start_axis=1).shape
        [2, 12]
    """
    rank = max(x.ndim, 1)
    start = normal_axis(start_axis, rank, "flatten: start_axis")
    stop = normal_axis(stop_axis, rank, "flatten: stop_axis")
    if start > stop:
        raise ValueError(f"flatten: start_axis {start} comes after stop_axis {stop}")
    shape = x.shape
    return reshape(x, (*shape[:start], math.prod(shape[start : stop + 1]), *shape[stop + 1 :]))


def unflatten(x: Tensor, axis: int, shape: Ints, name: str | None = None) -> Tensor:
    """Makes several axes of one; shares memory with ``x`` where that is possible.

    Args:
        x: Tensor of at least 1 axis.
        axis: The axis.
        shape: Their lengths; one of them may be -1 and is worked out.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's values.

    Raises:
        ValueError: There is no such axis, or ``shape`` has not its number of elements.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.unflatten(paddle.ones([2, 6]), 1, [3, -1]).shape
        [2, 3, 2]
    """
    at = normal_axis(axis, x.ndim, "unflatten: axis")
    given = int_list("shape", shape) or ()
    lengths = list(given)
    length, rest = x.shape[at], math.prod(n for n in lengths if n != -1)
    if lengths.count(-1) == 1 and rest:
        lengths[lengths.index(-1)] = length // rest
    if math.prod(lengths) != length or -1 in lengths:
        raise ValueError(f"unflatten: {list(given)} does not make an axis of length {length}")
    return reshape(x, (*x.shape[:at], *lengths, *x.shape[at + 1 :]))


def view(x: Tensor, shape_or_dtype: Ints, name: str | None = None) -> Tensor:
    """The same values in another shape, as ``reshape``.

    Args:
        x: Tensor of any shape.
        shape_or_dtype: Lengths; one of them may be -1 and is worked out.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of the new shape.

    Raises:
        TypeError: ``shape_or_dtype`` is a dtype.
        ValueError: The number of elements differs.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.view(paddle.ones([2, 6]), [3, 4]).shape
        [3, 4]
    """
    return reshape(x, int_list("shape_or_dtype", shape_or_dtype) or (), name)


def view_as(x: Tensor, other: Tensor, name: str | None = None) -> Tensor:
    """The same values in the shape of ``other``.

    Args:
        x: Tensor of any shape.
        other: Tensor of as many elements.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of other's shape.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.view_as(paddle.ones([2, 6]), paddle.zeros([3, 4])).shape
        [3, 4]
    """
    return reshape(x, tuple(other.shape))


def ravel(input: Tensor) -> Tensor:
    """All elements along one axis: a view where the memory allows one, otherwise a copy.

    Args:
        input: Tensor of any shape.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.ravel(paddle.ones([2, 3])).shape
        [6]
    """
    return reshape(input, [-1])


T = property(reversed_axes)
mT = property(matrix_transpose)
API = (
    *("Tensor.T", "Tensor.mT"),
    *("ravel", "Tensor.ravel"),
    *("t", "Tensor.t"),
    *("swapaxes", "Tensor.swapaxes"),
    *("moveaxis", "Tensor.moveaxis"),
    *("squeeze", "Tensor.squeeze"),
    *("unsqueeze", "Tensor.unsqueeze"),
    *("flatten", "Tensor.flatten"),
    *("unflatten", "Tensor.unflatten"),
    *("view", "Tensor.view"),
    *("view_as", "Tensor.view_as"),
)
