"""Copies in another order: turned, shifted, repeated, and cut along a diagonal."""

from __future__ import annotations

import operator
from typing import Any

import cupy
import numpy as np

from minipaddle.ops.axes import normal_axes, normal_axis
from minipaddle.ops.kernels.cpu.rearrange import repeat_counts
from minipaddle.ops.kernels.gpu.copying import assign
from minipaddle.ops.kernels.gpu.launch import FOLDER, THREADS, compiled, contiguous, empty
from minipaddle.ops.kernels.gpu.positions import add, gather, sizes, sorted_keys
from minipaddle.ops.kernels.gpu.reduction import sum as sum_of
from minipaddle.ops.kernels.gpu.source import type_name
from minipaddle.ops.op import Array, kernel


@kernel("flip", "gpu")
def flip(x: Array, axis: tuple[int, ...]) -> Array:
    turned = normal_axes(axis, x.ndim)
    index = tuple(slice(None, None, -1 if i in turned else 1) for i in range(x.ndim))
    return assign(x[(*index, ...)])


@kernel("roll", "gpu")
def roll(x: Array, shifts: tuple[int, ...], axis: tuple[int, ...] | None = None) -> Array:
    if axis is None:
        return cupy.roll(x.reshape(-1), sum(shifts)).reshape(x.shape)
    if len(shifts) != len(axis):
        raise ValueError(
            f"shifts and axis must be of one length; got {list(shifts)} and {list(axis)}"
        )
    axes = tuple(normal_axis(a, x.ndim) for a in axis)
    return cupy.roll(contiguous(x), shifts, axes)  # the result lies as x does


@kernel("tile", "gpu")
def tile(x: Array, repeat_times: tuple[int, ...]) -> Array:
    if min(repeat_times, default=0) < 0:
        raise ValueError(f"repeat_times must not be negative; got {list(repeat_times)}")
    rank = max(len(repeat_times), x.ndim)
    times = (1,) * (rank - len(repeat_times)) + repeat_times
    lengths = (1,) * (rank - x.ndim) + x.shape
    pairs = list(zip(times, lengths, strict=True))
    spread = x.reshape(tuple(n for _, length in pairs for n in (1, length)))
    repeated = cupy.broadcast_to(spread, tuple(n for pair in pairs for n in pair))
    return repeated.copy().reshape(tuple(count * length for count, length in pairs))


@kernel("repeat_interleave", "gpu")
def repeat_interleave(x: Array, repeats: tuple[int, ...], axis: Any = None) -> Array:
    if axis is None:
        x, axis = x.reshape(-1), 0
    axis = normal_axis(axis, x.ndim)
    length = x.shape[axis]
    counts = repeat_counts(repeats, length)
    if len(repeats) != 1:
        origin = cupy.asarray(np.repeat(np.arange(length), counts))
        return gather(x, origin, axis, axis + 1)
    before, after = x.shape[:axis], x.shape[axis + 1 :]
    apart = x.reshape((*before, length, 1, *after))
    repeated = cupy.broadcast_to(apart, (*before, length, repeats[0], *after)).copy()
    return repeated.reshape((*before, length * repeats[0], *after))


@kernel("sum_repeats", "gpu")
def sum_repeats(
    x: Array, shape: tuple[int, ...], repeats: tuple[int, ...], axis: Any = None
) -> Array:
    if axis is None:
        x, axis = x.reshape(-1), 0
        counts = repeat_counts(repeats, int(np.prod(shape)))
    else:
        counts = repeat_counts(repeats, shape[axis])
    axis = normal_axis(axis, x.ndim)
    before, after = x.shape[:axis], x.shape[axis + 1 :]
    if len(repeats) == 1:
        groups = x.reshape((*before, counts.size, repeats[0], *after))
        return sum_of(groups, (axis + 1,), x.dtype).reshape(shape)
    out = cupy.zeros((*before, counts.size, *after), x.dtype)
    add_by_host(out, np.repeat(np.arange(counts.size), counts), x, axis)
    return out.reshape(shape)


def add_by_host(x: Array, index: Any, values: Array, axis: int) -> None:
    """Adds to the places along an axis of ``x`` that a NumPy array names."""
    keys, shift = sorted_keys(index, np)
    add(x, (cupy.asarray(keys), shift), contiguous(values), (axis, axis + 1))


def _triangle(x: Array, diagonal: Any, lower: bool) -> Array:
    if x.ndim < 2:
        raise ValueError(f"x must have at least 2 axes; got {x.ndim}")
    offset = operator.index(diagonal)
    out = empty(x.shape, x.dtype)
    if not out.size:
        return out
    _, rows, columns = sizes(x.shape, x.ndim - 2, x.ndim - 1)
    offset = max(-rows, min(columns, offset))
    counter = "unsigned int" if out.size < 2**31 else "i64"
    name = f"triangle<{type_name(x.dtype)}, {str(lower).lower()}, {counter}>"
    given = (out.size, rows, columns, offset, contiguous(x), out)
    compiled(FOLDER / "rearrange.cu", name)((-(-out.size // THREADS),), (THREADS,), given)
    return out


@kernel("tril", "gpu")
def tril(x: Array, diagonal: int = 0) -> Array:
    return _triangle(x, diagonal, True)


@kernel("triu", "gpu")
def triu(x: Array, diagonal: int = 0) -> Array:
    return _triangle(x, diagonal, False)
