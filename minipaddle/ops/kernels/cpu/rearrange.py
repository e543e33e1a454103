"""Copies in another order: turned, shifted, repeated, and cut along a diagonal."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from minipaddle.ops.axes import normal_axes, normal_axis
from minipaddle.ops.kernels.cpu.copying import copied
from minipaddle.ops.kernels.cpu.ufunc import widened
from minipaddle.ops.op import Array, kernel


@kernel("flip", "cpu")
def flip(x: Array, axis: tuple[int, ...]) -> Array:
    turned = normal_axes(axis, x.ndim)
    index = tuple(slice(None, None, -1 if i in turned else 1) for i in range(x.ndim))
    return copied(x[(*index, ...)])


@kernel("roll", "cpu")
def roll(x: Array, shifts: tuple[int, ...], axis: tuple[int, ...] | None = None) -> Array:
    if axis is None:
        return np.roll(x.reshape(-1), sum(shifts)).reshape(x.shape)
    if len(shifts) != len(axis):
        raise ValueError(
            f"shifts and axis must be of one length; got {list(shifts)} and {list(axis)}"
        )
    rolled = np.roll(x, shifts, tuple(normal_axis(a, x.ndim) for a in axis))
    return np.asarray(rolled, order="C")


@kernel("tile", "cpu")
def tile(x: Array, repeat_times: tuple[int, ...]) -> Array:
    if min(repeat_times, default=0) < 0:
        raise ValueError(f"repeat_times must not be negative; got {list(repeat_times)}")
    rank = max(len(repeat_times), x.ndim)
    times = (1,) * (rank - len(repeat_times)) + repeat_times
    lengths = (1,) * (rank - x.ndim) + x.shape
    pairs = list(zip(times, lengths, strict=True))
    spread = x.reshape([n for _, length in pairs for n in (1, length)])
    repeated = np.broadcast_to(spread, [n for pair in pairs for n in pair])
    return copied(repeated).reshape([count * length for count, length in pairs])


def repeat_counts(repeats: tuple[int, ...], length: int) -> Array:
    """How often each of ``length`` elements is repeated."""
    if len(repeats) not in (1, length) or min(repeats, default=-1) < 0:
        raise ValueError(
            f"repeats must be one count, not negative, or one for each of the {length} elements; "
            f"got {list(repeats)}"
        )
    return np.broadcast_to(np.asarray(repeats, np.intp), length)


@kernel("repeat_interleave", "cpu")
def repeat_interleave(x: Array, repeats: tuple[int, ...], axis: Any = None) -> Array:
    if axis is None:
        x, axis = x.reshape(-1), 0
    axis = normal_axis(axis, x.ndim)
    return np.repeat(x, repeat_counts(repeats, x.shape[axis]), axis)


@kernel("sum_repeats", "cpu")
def sum_repeats(
    x: Array, shape: tuple[int, ...], repeats: tuple[int, ...], axis: Any = None
) -> Array:
    length = int(np.prod(shape)) if axis is None else shape[axis]
    if axis is None:
        x, axis = x.reshape(-1), 0
    wide = widened(x)
    counts, axis = repeat_counts(repeats, length), normal_axis(axis, x.ndim)
    add = _add_groups if len(repeats) == 1 else _add_runs
    return add(wide, counts, axis).reshape(shape).astype(x.dtype, copy=False)


def _add_groups(x: Array, counts: Array, axis: int) -> Array:
    """Sums of equally many neighbours, by as many passes: their axis is too short to reduce."""
    size = int(counts[0]) if counts.size else 0
    sums = np.zeros((*x.shape[:axis], counts.size, *x.shape[axis + 1 :]), x.dtype)
    for i in range(size):
        sums += x[(*[slice(None)] * axis, slice(i, None, size))]
    return sums


def _add_runs(x: Array, counts: Array, axis: int) -> Array:
    """Sums of runs of any length; reduceat knows no empty one."""
    sums = np.zeros((*x.shape[:axis], counts.size, *x.shape[axis + 1 :]), x.dtype)
    some: Any = np.flatnonzero(counts)
    if some.size:
        starts = np.cumsum(counts) - counts
        sums[(*[slice(None)] * axis, some)] = np.add.reduceat(x, starts[some], axis)
    return sums


def _copy_triangle(out: Array, x: Array, diagonal: int, lower: bool) -> None:
    rows, columns = x.shape[-2:]
    if rows > columns:  # the shorter way round
        _copy_triangle(out.swapaxes(-1, -2), x.swapaxes(-1, -2), -diagonal, not lower)
        return
    for row in range(rows):
        if lower:
            part = slice(0, max(0, row + diagonal + 1))
        else:
            part = slice(max(0, row + diagonal), None)
        out[..., row, part] = x[..., row, part]


def _triangle(x: Array, diagonal: Any, lower: bool) -> Array:
    if x.ndim < 2:
        raise ValueError(f"x must have at least 2 axes; got {x.ndim}")
    out = np.zeros(x.shape, x.dtype)
    _copy_triangle(out, x, operator.index(diagonal), lower)
    return out


@kernel("tril", "cpu")
def tril(x: Array, diagonal: int = 0) -> Array:
    return _triangle(x, diagonal, True)


@kernel("triu", "cpu")
def triu(x: Array, diagonal: int = 0) -> Array:
    return _triangle(x, diagonal, False)
