"""``x[...]`` with tensors, lists and arrays of indices and with masks, after NumPy's rules.

Slices, None and ints are a view as ever. What is left are arrays for some axes of that view. Where
these are neighbours the arrays become one flat index over them; an axis between two of them gets
all of its positions as an array of its own.
"""

from __future__ import annotations

import math
import operator
from typing import Any, NamedTuple

import numpy as np

from minipaddle.device.dtype import BOOLS, INTS
from minipaddle.imperative.functions.indexing import (
    flat_index,
    flat_nonzero,
    gather_flat,
    masked_fill_,
    scatter_add_flat,
    scatter_add_flat_,
    scatter_flat,
    scatter_flat_,
)
from minipaddle.imperative.functions.shape import expand, getitem, reshape, setitem_, transpose
from minipaddle.imperative.tensor import Tensor, to_tensor

# Types of the entries that a view can be made of.
BASIC = frozenset({int, slice, type(None), type(Ellipsis)})
_WHOLE = slice(None)


class _Array(NamedTuple):
    """One array of indices: over ``span`` axes of the view from ``axis`` on."""

    indices: Tensor
    axis: int
    span: int
    x_axis: int


class _Parts(NamedTuple):
    """An index taken apart: a view of x, then a flat index over the axes first to last of it.

    ``moved`` is the number of axes of the flat index that go to the front of the result.
    """

    view: Tensor
    flat: Tensor
    first: int
    last: int
    moved: int


def advanced_getitem(x: Tensor, entries: tuple[Any, ...]) -> Tensor:
    """``x[entries]``: a copy if one of them is an array of indices or a mask, else a view.

    Raises:
        IndexError: An index is out of range, a mask does not fit, or arrays do not broadcast.
        TypeError: An entry is no index.
    """
    one = entries[0] if len(entries) == 1 else None
    if isinstance(one, Tensor) and one.ndim and x.ndim and one.data.dtype in INTS:  # the usual case
        return gather_flat(x, flat_index([one], (x.data.shape[0],), (0,)), 0, 1)
    parts = _taken_apart(x, entries)
    if not isinstance(parts, _Parts):
        return getitem(x, parts)
    out = gather_flat(parts.view, parts.flat, parts.first, parts.last)
    return transpose(out, _to_front(parts, out.ndim)) if parts.moved else out


def _to_front(parts: _Parts, rank: int) -> tuple[int, ...]:
    moved = range(parts.first, parts.first + parts.moved)
    return (*moved, *(i for i in range(rank) if i not in moved))


def advanced_setitem_(x: Tensor, value: Any, entries: tuple[Any, ...], add: bool = False) -> None:
    """Writes ``value``, broadcast, to ``x[entries]``, or adds it to what arrays name there.

    Raises:
        IndexError: An index is out of range, a mask does not fit, or arrays do not broadcast.
        TypeError: An entry is no index.
        ValueError: ``value`` does not broadcast to the part.
    """
    if len(entries) == 1 and not add and not getattr(value, "ndim", 0):
        mask = _entry(entries[0], x)
        if isinstance(mask, Tensor) and mask.data.dtype in BOOLS and x.ndim >= mask.ndim:
            _check_mask(x, mask, 0)
            masked_fill_(x, _deeper(mask, x.ndim - mask.ndim), value)
            return
    parts = _taken_apart(x, entries)
    if not isinstance(parts, _Parts):
        setitem_(x, value, parts)
        return
    write = scatter_add_flat_ if add else scatter_flat_
    write(parts.view, parts.flat, _turned(parts, value), parts.first, parts.last)


def _turned(parts: _Parts, value: Any) -> Any:
    """``value``, of the axes that the user sees, with those of the flat index where they belong."""
    if not parts.moved or not isinstance(value, (Tensor, np.ndarray)) or not value.ndim:
        return value
    view, flat = parts.view.shape, parts.flat.shape
    shape = [*view[: parts.first], *flat, *view[parts.last :]]
    order = _to_front(parts, len(shape))
    value = value if isinstance(value, Tensor) else to_tensor(value, place=parts.view.place)
    value = expand(value, tuple(shape[i] for i in order))
    return transpose(value, tuple(order.index(i) for i in range(len(shape))))


def put(x: Tensor, entries: tuple[Any, ...], value: Any, add: bool) -> Tensor:
    """A copy of ``x`` with ``value`` at ``x[entries]``, all of them arrays, or added there."""
    parts = _taken_apart(x, entries)
    assert isinstance(parts, _Parts) and parts.view is x
    write = scatter_add_flat if add else scatter_flat
    return write(x, parts.flat, _turned(parts, value), parts.first, parts.last)


def _taken_apart(x: Tensor, entries: tuple[Any, ...]) -> _Parts | tuple[Any, ...]:
    """The parts of an index; its plain entries if a view is all of it."""
    found = [_entry(entry, x) for entry in entries]
    joined = _joined([e is not None and not isinstance(e, slice) and e is not ... for e in found])
    found = _filled_up(x, found)
    view: list[Any] = []
    arrays: list[_Array] = []
    at = axis = 0  # of the view, and of x
    for entry in found:
        if isinstance(entry, Tensor):
            one = _array(x, entry, at, axis)
            arrays.append(one)
            view += [_WHOLE] * one.span
            at, axis = at + one.span, axis + one.span
            continue
        view.append(entry)
        at += not isinstance(entry, int)
        axis += entry is not None
    if not arrays:
        return tuple(view)
    whole = all(isinstance(e, slice) and e == _WHOLE for e in view)
    base = x if whole else getitem(x, tuple(view))
    return _over_neighbours(base, arrays, joined)


def _entry(entry: Any, x: Tensor) -> Any:
    """An entry as an int, a slice, None, ``...`` or a tensor of ints or bools."""
    if entry.__class__ in BASIC:
        return entry
    if isinstance(entry, (bool, np.bool_, list, tuple, np.ndarray)):
        array = np.asarray(entry)
        if not array.size and not isinstance(entry, np.ndarray):
            array = array.astype(np.int64)
        if array.dtype in INTS or array.dtype in BOOLS:
            entry = Tensor(x.place.backend.from_host(array, x.place.index), x.place)
    if isinstance(entry, Tensor):
        dtype = entry.data.dtype
        if dtype in BOOLS or (entry.ndim and dtype in INTS):
            return entry
    if not isinstance(entry, (np.ndarray, float)):
        try:
            return operator.index(entry)
        except TypeError:
            pass
    kind = type(entry).__name__
    if isinstance(entry, (Tensor, np.ndarray)):
        kind = f"{kind} of {entry.dtype.name}"
    raise TypeError(
        "a tensor is indexed by ints, slices, ..., None, and tensors, arrays and lists of ints or "
        f"bools; got {kind}"
    )


def _joined(arrays: list[bool]) -> bool:
    """Whether all ints and arrays stand side by side; if not, their axes come first."""
    at = [i for i, is_array in enumerate(arrays) if is_array]
    return not at or at[-1] - at[0] == len(at) - 1


def _consumed(entry: Any) -> int:
    if isinstance(entry, Tensor) and entry.data.dtype in BOOLS:
        return entry.ndim
    return 0 if entry is None or entry is Ellipsis else 1


def _filled_up(x: Tensor, entries: list[Any]) -> list[Any]:
    """The entries with slices for ``...``, and at the end, for all axes that are left."""
    count = sum(map(_consumed, entries))
    dots = [i for i, entry in enumerate(entries) if entry is Ellipsis]
    if count > x.ndim or len(dots) > 1:
        what = f"{count} axes are indexed" if count > x.ndim else "there is more than one '...'"
        raise IndexError(f"a tensor of shape {x.shape} cannot be indexed so: {what}")
    at = dots[0] if dots else len(entries)
    return [*entries[:at], *[_WHOLE] * (x.ndim - count), *entries[at + 1 :]]


def _array(x: Tensor, entry: Tensor, at: int, axis: int) -> _Array:
    if entry.data.dtype not in BOOLS:
        return _Array(entry, at, 1, axis)
    _check_mask(x, entry, axis)
    return _Array(flat_nonzero(entry), at, entry.ndim, axis)


def _check_mask(x: Tensor, mask: Tensor, axis: int) -> None:
    covered = x.shape[axis : axis + mask.ndim]
    if mask.shape != covered:
        raise IndexError(
            f"a mask of shape {mask.shape} does not fit axis {axis} and on of a tensor of shape "
            f"{x.shape}: those have {covered}"
        )


def _over_neighbours(base: Tensor, arrays: list[_Array], joined: bool) -> _Parts:
    """One flat index for arrays, and for the axes between them."""
    first, last = arrays[0].axis, arrays[-1].axis + arrays[-1].span
    taken = {axis for one in arrays for axis in range(one.axis, one.axis + one.span)}
    between = [axis for axis in range(first, last) if axis not in taken]
    rank = max(one.indices.ndim for one in arrays)
    shape = base.shape
    several = [(one.axis, _deeper(one.indices, len(between)), one) for one in arrays]
    for i, axis in enumerate(between):
        line = to_tensor(np.arange(shape[axis]), place=base.place)
        index = _deeper(line, len(between) - i - 1)
        several.append((axis, index, _Array(line, axis, 1, axis)))
    several.sort(key=lambda item: item[0])
    lengths = [math.prod(shape[one.axis : one.axis + one.span]) for _, _, one in several]
    index = flat_index([i for _, i, _ in several], lengths, [one.x_axis for _, _, one in several])
    return _Parts(base, index, first, last, 0 if joined or not first else rank)


def _deeper(index: Tensor, count: int) -> Tensor:
    return reshape(index, (*index.shape, *[1] * count)) if count else index


def index_put(
    x: Tensor,
    indices: Any,
    value: Tensor | float,
    accumulate: bool = False,
    name: str | None = None,
) -> Tensor:
    """A copy of ``x`` with ``value`` at ``x[indices]``.

    Args:
        x: Tensor of any shape and dtype.
        indices: Tuple of tensors of ints, which broadcast, or of bools.
        value: Number, or tensor of x's dtype that broadcasts to ``x[indices]``.
        accumulate: Add the values, all of those for one position, rather than overwrite.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape. Without ``accumulate``, of several values for one position the last
        one counts, and has the gradient.

    Raises:
        IndexError: An index is out of range, a mask does not fit, or indices do not broadcast.
        TypeError: An index is not of int or bool dtype, or ``value`` of another dtype than ``x``.
        ValueError: ``value`` does not broadcast to the part.

    Example:
        >>> import minipaddle as paddle
        >>> at = (paddle.to_tensor([0, 1]), paddle.to_tensor([1, 0]))
        >>> paddle.index_put(paddle.zeros([2, 2]), at, 7.0).tolist()
        [[0.0, 7.0], [7.0, 0.0]]
    """
    return put(x, _tensors(indices), value, accumulate)


def index_put_(
    x: Tensor,
    indices: Any,
    value: Tensor | float,
    accumulate: bool = False,
    name: str | None = None,
) -> Tensor:
    """``index_put`` that overwrites ``x``.

    Returns:
        ``x`` itself.
    """
    advanced_setitem_(x, value, _tensors(indices), accumulate)
    return x


def _tensors(indices: Any) -> tuple[Tensor, ...]:
    if not isinstance(indices, (list, tuple)) or not indices:
        raise TypeError(f"index_put: indices must be a tuple of tensors; got {indices!r}")
    for index in indices:
        if not isinstance(index, Tensor):
            kind = type(index).__name__
            raise TypeError(f"index_put: indices must be a tuple of tensors; got one {kind}")
    return tuple(index if index.ndim else reshape(index, (1,)) for index in indices)


API = (
    *("index_put", "Tensor.index_put"),
    *("index_put_", "Tensor.index_put_"),
)
