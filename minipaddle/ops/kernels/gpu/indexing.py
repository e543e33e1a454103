"""Elements by position: gathered, overwritten, added to.

Positions are row-major over the axes ``first`` to ``last`` of an array, taken as one axis. The
functions that check users' indices make them; the check waits for the GPU.
"""

from __future__ import annotations

import math
from typing import Any

import cupy
import numpy as np

from minipaddle.device.dtype import compute_dtype
from minipaddle.ops.kernels.gpu.copying import assign, copy_, spread
from minipaddle.ops.kernels.gpu.elementwise import apart
from minipaddle.ops.kernels.gpu.launch import FOLDER, THREADS, compiled, contiguous, empty
from minipaddle.ops.kernels.gpu.layout import collapsed, packed
from minipaddle.ops.kernels.gpu.positions import add, gather, put, sorted_keys, typed
from minipaddle.ops.kernels.gpu.source import type_name
from minipaddle.ops.op import Array, kernel

_INT32, _INT64 = np.dtype(np.int32), np.dtype(np.int64)
_NOWHERE = packed((), [()])  # every line starts at 0


def _numbered(index: Array, length: int, step: int, start: tuple[Any, bool], wrong: Array) -> Array:
    """Row numbers, by ``number_rows``; ``start`` is what ``packed`` makes of where lines start."""
    out = empty(index.shape, _INT64)
    if not out.size:
        return out
    fields, small = start
    counter = "unsigned int" if small and out.size < 2**31 else "i64"
    run = compiled(FOLDER / "indexing.cu", f"number_rows<{type_name(index.dtype)}, {counter}>")
    given = (out.size, length, step, fields, contiguous(index), out, wrong)
    run((-(-out.size // THREADS),), (THREADS,), given)
    return out


def _refuse(index: Array, length: int, axis: int) -> None:
    """Says which of the indices is out of range."""
    low, high = int(index.min()), int(index.max())
    found = low if low < -length else high
    raise IndexError(f"index {found} is out of range for axis {axis} of length {length}")


@kernel("flat_index", "gpu")
def flat_index(x: list[Array], lengths: tuple[int, ...], axes: tuple[int, ...]) -> Array:
    try:
        np.broadcast_shapes(*[a.shape for a in x])
    except ValueError:
        shapes = ", ".join(str(list(a.shape)) for a in x)
        raise IndexError(f"arrays of indices must broadcast together; got {shapes}") from None
    wrong = cupy.zeros((len(x),), _INT32)
    flat = None
    for i, (index, length) in enumerate(zip(x, lengths, strict=True)):
        step = math.prod(lengths[i + 1 :])
        found = _numbered(index, length, step, _NOWHERE, wrong[i : i + 1])
        flat = found if flat is None else flat + found
    for given, is_wrong in zip(zip(x, lengths, axes, strict=True), wrong.get(), strict=True):
        if is_wrong:
            _refuse(*given)
    return cupy.zeros((), _INT64) if flat is None else contiguous(flat)


@kernel("flat_index_along", "gpu")
def flat_index_along(index: Array, shape: tuple[int, ...], axis: int) -> Array:
    steps = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    others = tuple(0 if i == axis else step for i, step in enumerate(steps))
    start = packed(*collapsed(index.shape, [others]))
    wrong = cupy.zeros((1,), _INT32)
    found = _numbered(index, shape[axis], steps[axis], start, wrong)
    if wrong.get()[0]:
        _refuse(index, shape[axis], axis)
    return found


@kernel("later_equals", "gpu")
def later_equals(index: Array) -> Array:
    out = empty(index.shape, np.int64)
    if not index.size:
        return out
    keys, shift = sorted_keys(index, cupy)
    rows, positions = keys >> shift, keys & ((1 << shift) - 1)
    later = cupy.searchsorted(rows, rows, "right") - cupy.arange(1, index.size + 1)
    put(out.reshape(-1), positions, later, (0, 1), unique=True)
    return out


@kernel("gather_flat", "gpu")
def gather_flat(x: Array, index: Array, first: int, last: int) -> Array:
    return gather(x, index, first, last)


@kernel("scatter_flat", "gpu")
def scatter_flat(x: Array, index: Array, value: Any, first: int, last: int) -> Array:
    return scatter_flat_(assign(x), index, value, first, last)


@kernel("scatter_flat_", "gpu")
def scatter_flat_(x: Array, index: Array, value: Any, first: int, last: int) -> Array:
    put(x, index, value, (first, last))
    return x


@kernel("scatter_add_flat", "gpu")
def scatter_add_flat(x: Array, index: Array, value: Any, first: int, last: int) -> Array:
    return scatter_add_flat_(assign(x), index, value, first, last)


@kernel("scatter_add_flat_", "gpu")
def scatter_add_flat_(x: Array, index: Array, value: Any, first: int, last: int) -> Array:
    region = (*x.shape[:first], *index.shape, *x.shape[last:])
    value = apart(x, typed(value, compute_dtype(x.dtype)))
    values = contiguous(spread(value, region))
    if values.size:
        work = contiguous(x)
        add(work, sorted_keys(index, cupy), values, (first, last))
        if work is not x:
            copy_(x, work)
    return x


@kernel("sum_flat", "gpu")
def sum_flat(x: Array, index: Array, shape: tuple[int, ...], first: int, last: int) -> Array:
    out = cupy.zeros(shape, x.dtype)
    add(out, sorted_keys(index, cupy), contiguous(x), (first, last))
    return out
