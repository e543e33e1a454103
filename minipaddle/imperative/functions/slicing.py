"""Parts of a tensor, as users call it; all of them are views."""

from __future__ import annotations

import builtins
from itertools import pairwise
from typing import Any

from minipaddle.imperative.dispatch import bound
from minipaddle.imperative.functions.shape import getitem
from minipaddle.imperative.operand import Ints, int_list
from minipaddle.imperative.tensor import Tensor
from minipaddle.ops.axes import normal_axes, normal_axis


def _along(x: Tensor, axis: int, part: Any) -> Tensor:
    """``x[:, ..., part]`` with ``part`` at ``axis``, counted from the front."""
    return getitem(x, (*[builtins.slice(None)] * axis, part))


@bound
def unbind(input: Tensor, axis: int = 0, name: str | None = None) -> list[Tensor]:
    """Takes a tensor apart along an axis, which the parts no longer have.

    Args:
        input: Tensor of at least 1 axis.
        axis: The axis.
        name: Unused; for Paddle's signature.

    Returns:
        List of views, one for each index.

    Raises:
        ValueError: There is no such axis.

    Example:
        >>> import minipaddle as paddle
        >>> [x.tolist() for x in paddle.unbind(paddle.to_tensor([[1, 2], [3, 4]]), axis=1)]
        [[1, 3], [2, 4]]
    """


@bound
def split_lengths(x: Tensor, lengths: Ints, axis: int = 0, name: str | None = None) -> list[Tensor]:
    """The parts of the given lengths along an axis: what ``split`` is made of."""


def split(x: Tensor, num_or_sections: Ints, axis: int = 0, name: str | None = None) -> list[Tensor]:
    """Takes a tensor apart along an axis, in equal parts or in parts of given lengths.

    Args:
        x: Tensor of at least 1 axis.
        num_or_sections: Number of equal parts, or list of lengths; one of them may be -1 and is
            worked out.
        axis: The axis.
        name: Unused; for Paddle's signature.

    Returns:
        List of views.

    Raises:
        ValueError: There is no such axis, or the parts do not make up its length.

    Example:
        >>> import minipaddle as paddle
        >>> [part.shape for part in paddle.split(paddle.ones([2, 9]), [2, 3, -1], axis=1)]
        [[2, 2], [2, 3], [2, 4]]
    """
    at = normal_axis(axis, x.ndim, "split: axis")
    length = x.shape[at]
    if isinstance(num_or_sections, (list, tuple)):
        lengths = list(int_list("num_or_sections", num_or_sections) or ())
        if lengths.count(-1) == 1:
            lengths[lengths.index(-1)] = length - sum(lengths) - 1
    else:
        (count,) = int_list("num_or_sections", num_or_sections) or ()
        lengths = [length // count] * count if count > 0 else []
    if sum(lengths) != length or min(lengths, default=-1) < 0:
        raise ValueError(
            f"split: axis {at} has {length} elements, which {num_or_sections} parts do not make up"
        )
    return split_lengths(x, lengths, at)


def chunk(x: Tensor, chunks: int, axis: int = 0, name: str | None = None) -> list[Tensor]:
    """Takes a tensor apart along an axis in equal parts.

    Args:
        x: Tensor of at least 1 axis.
        chunks: Number of parts.
        axis: The axis.
        name: Unused; for Paddle's signature.

    Returns:
        List of views.

    Raises:
        ValueError: There is no such axis, or ``chunks`` does not divide its length.

    Example:
        >>> import minipaddle as paddle
        >>> [part.shape for part in paddle.chunk(paddle.ones([4, 3]), 2)]
        [[2, 3], [2, 3]]
    """
    return split(x, chunks, axis)


def tensor_split(
    x: Tensor, num_or_indices: Ints, axis: int = 0, name: str | None = None
) -> list[Tensor]:
    """Takes a tensor apart along an axis, in nearly equal parts or at given indices.

    Args:
        x: Tensor of at least 1 axis.
        num_or_indices: Number of parts, of which the first may be longer by one; or list of the
            indices at which a new part starts.
        axis: The axis.
        name: Unused; for Paddle's signature.

    Returns:
        List of views.

    Raises:
        ValueError: There is no such axis, or the number of parts is not positive.

    Example:
        >>> import minipaddle as paddle
        >>> [part.tolist() for part in paddle.tensor_split(paddle.to_tensor([1, 2, 3]), 2)]
        [[1, 2], [3]]
    """
    at = normal_axis(axis, x.ndim, "tensor_split: axis")
    length = x.shape[at]
    if isinstance(num_or_indices, (list, tuple)):
        indices = int_list("num_or_indices", num_or_indices) or ()
        bounds = [0, *indices, length]
        parts = [builtins.slice(a, b) for a, b in pairwise(bounds)]
        return [_along(x, at, part) for part in parts]
    (count,) = int_list("num_or_indices", num_or_indices) or ()
    if count < 1:
        raise ValueError(f"tensor_split: num_or_indices must be positive; got {count}")
    size, longer = divmod(length, count)
    return split_lengths(x, [size + 1] * longer + [size] * (count - longer), at)


def strided_slice(
    x: Tensor, axes: Ints, starts: Ints, ends: Ints, strides: Ints, name: str | None = None
) -> Tensor:
    """The part ``x[start:end:stride]`` along several axes; shares memory with ``x``.

    Args:
        x: Tensor of any shape.
        axes: The axes.
        starts: First index on each of them; negative ones count from the end.
        ends: Index at which to stop on each of them, cut to the axis.
        strides: Step on each of them, not 0; negative ones go backwards.
        name: Unused; for Paddle's signature.

    Returns:
        A view of x.

    Raises:
        ValueError: An axis is not there or named twice, a stride is 0, or the lists differ in
            length.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.strided_slice(paddle.arange(6), [0], [5], [0], [-2]).tolist()
        [5, 3, 1]
    """
    given = {"axes": axes, "starts": starts, "ends": ends, "strides": strides}
    lists = [int_list(name, value) or () for name, value in given.items()]
    if len({len(one) for one in lists}) > 1:
        listed = ", ".join(f"{name} {list(one)}" for name, one in zip(given, lists, strict=True))
        raise ValueError(f"slice: the lists must be of one length; got {listed}")
    index = [builtins.slice(None)] * x.ndim
    for axis, *bounds in zip(normal_axes(lists[0], x.ndim, "axes"), *lists[1:], strict=True):
        index[axis] = builtins.slice(*bounds)
    return getitem(x, tuple(index))


def slice(input: Tensor, axes: Ints, starts: Ints, ends: Ints) -> Tensor:
    """The part ``input[start:end]`` along several axes; shares memory with ``input``.

    Args:
        input: Tensor of any shape.
        axes: The axes.
        starts: First index on each of them; negative ones count from the end.
        ends: Index at which to stop on each of them, cut to the axis.

    Returns:
        A view of ``input``.

    Raises:
        ValueError: An axis is not there or named twice, or the lists differ in length.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.slice(paddle.arange(6), axes=[0], starts=[1], ends=[-2]).tolist()
        [1, 2, 3]
    """
    return strided_slice(input, axes, starts, ends, [1] * len(int_list("axes", axes) or ()))


def narrow(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """The part of ``length`` elements along one axis; shares memory with ``input``.

    Args:
        input: Tensor of at least 1 axis.
        dim: The axis.
        start: First index; negative ones count from the end.
        length: Number of elements.

    Returns:
        A view of ``input``.

    Raises:
        ValueError: There is no such axis, or the part does not lie on it.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.narrow(paddle.arange(6), 0, 1, 3).tolist()
        [1, 2, 3]
    """
    at = normal_axis(dim, input.ndim, "narrow: dim")
    size = input.shape[at]
    first = start + size if start < 0 else start
    if not 0 <= first <= first + length <= size:
        raise ValueError(
            f"narrow: {length} elements from {start} do not lie on axis {at} of length {size}"
        )
    return _along(input, at, builtins.slice(first, first + length))


def crop(
    x: Tensor, shape: Ints | None = None, offsets: Ints | None = None, name: str | None = None
) -> Tensor:
    """The part of given shape at given offsets; shares memory with ``x``.

    Args:
        x: Tensor of any shape.
        shape: Lengths; -1, and x's own by default, go up to the end of the axis.
        offsets: First index on each axis; 0 by default.
        name: Unused; for Paddle's signature.

    Returns:
        A view of x.

    Raises:
        ValueError: The part does not lie in x.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.crop(paddle.to_tensor([[1, 2], [3, 4]]), shape=[1, -1], offsets=[1, 0]).tolist()
        [[3, 4]]
    """
    lengths = int_list("shape", shape) or (-1,) * x.ndim
    firsts = int_list("offsets", offsets) or (0,) * x.ndim
    if len(lengths) != x.ndim or len(firsts) != x.ndim:
        raise ValueError(
            f"crop: shape and offsets must have {x.ndim} entries; got {shape} and {offsets}"
        )
    ends = [
        size if n == -1 else first + n
        for n, first, size in zip(lengths, firsts, x.shape, strict=True)
    ]
    for first, end, size in zip(firsts, ends, x.shape, strict=True):
        if not 0 <= first <= end <= size:
            raise ValueError(
                f"crop: shape {list(lengths)} at offsets {list(firsts)} does not lie in {x.shape}"
            )
    return getitem(x, tuple(map(builtins.slice, firsts, ends)))


def unstack(x: Tensor, axis: int = 0, num: int | None = None) -> list[Tensor]:
    """``unbind`` with the number of parts said, if you like.

    Args:
        x: Tensor of at least 1 axis.
        axis: The axis.
        num: Its length.

    Returns:
        List of views without the axis, one for each index.

    Raises:
        ValueError: There is no such axis, or ``num`` is not its length.

    Example:
        >>> import minipaddle as paddle
        >>> [part.tolist() for part in paddle.unstack(paddle.to_tensor([1, 2]))]
        [1, 2]
    """
    parts = unbind(x, axis)
    if num is not None and num != len(parts):
        raise ValueError(f"unstack: axis {axis} of x has length {len(parts)}; got num={num}")
    return parts


_SPLIT = """\
``tensor_split`` along axis {axis}{instead}.

Args:
    x: Tensor of at least {rank} axes.
    num_or_indices: Number of parts as equal as can be, or list of places to cut at.
    name: Unused; for Paddle's signature.

Returns:
    List of views.

Raises:
    ValueError: x has fewer axes.

Example:
    >>> import minipaddle as paddle
    >>> [part.shape for part in paddle.{name}(paddle.ones([4, 4, 4]), [1])]
    {shown}
"""


def _split_along(name: str, axis: int, rank: int, shown: str, instead: str = "") -> Any:
    """Declares ``tensor_split`` along ``axis``, or along the only one where ``rank`` is 1."""

    def run(x: Tensor, num_or_indices: Ints, name: str | None = None) -> list[Tensor]:
        if x.ndim < rank:
            raise ValueError(f"{run.__name__}: x must have {rank} axes or more; got {x.shape}")
        return tensor_split(x, num_or_indices, min(axis, x.ndim - 1))

    run.__name__ = run.__qualname__ = name
    run.__doc__ = _SPLIT.format(name=name, axis=axis, rank=rank, shown=shown, instead=instead)
    return run


vsplit = _split_along("vsplit", 0, 2, "[[1, 4, 4], [3, 4, 4]]")
hsplit = _split_along(
    "hsplit", 1, 1, "[[4, 1, 4], [4, 3, 4]]", ", or along the only axis of a vector"
)
dsplit = _split_along("dsplit", 2, 3, "[[4, 4, 1], [4, 4, 3]]")


API = (
    *("split", "Tensor.split"),
    *("chunk", "Tensor.chunk"),
    *("tensor_split", "Tensor.tensor_split"),
    *("strided_slice", "Tensor.strided_slice"),
    *("slice", "Tensor.slice"),
    *("narrow", "Tensor.narrow"),
    *("crop", "Tensor.crop"),
    *("unstack", "Tensor.unstack"),
    *("hsplit", "Tensor.hsplit"),
    *("vsplit", "Tensor.vsplit"),
    *("dsplit", "Tensor.dsplit"),
)
