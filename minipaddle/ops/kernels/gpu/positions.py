"""Rows of an array by their number: read, written, added to.

The axes ``first`` to ``last`` are taken as one, and an index names rows along it. Who makes row
numbers checks them; here one that no row has reads as NaN (0 in types without one), and what would
be written or added to it is left out.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from minipaddle.device.dtype import compute_dtype
from minipaddle.ops.kernels.gpu.axis_plan import one_step
from minipaddle.ops.kernels.gpu.copying import copy_, full, spread
from minipaddle.ops.kernels.gpu.elementwise import apart
from minipaddle.ops.kernels.gpu.fold import PACK_BYTES
from minipaddle.ops.kernels.gpu.launch import FOLDER, THREADS, compiled, contiguous, empty, ndarray
from minipaddle.ops.kernels.gpu.layout import Struct
from minipaddle.ops.kernels.gpu.source import type_name
from minipaddle.ops.op import Array

_CHUNK = 32  # as in positions.cu
# Up to so many positions each is compared with all later ones; that needs no table.
_FEW = 1024


@functools.cache
def _kernel(name: str, *types: Any) -> Any:
    arguments = [t if isinstance(t, (str, int)) else type_name(t) for t in types]
    return compiled(FOLDER / "positions.cu", f"{name}<{', '.join(map(str, arguments))}>")


def _launch(kernel: Any, threads: int, arguments: tuple[Any, ...]) -> None:
    kernel((-(-threads // THREADS),), (THREADS,), arguments)


def sizes(shape: tuple[int, ...], first: int, last: int) -> tuple[int, int, int]:
    """Numbers of elements before, along and after the axes ``first`` to ``last``."""
    return math.prod(shape[:first]), math.prod(shape[first:last]), math.prod(shape[last:])


@functools.lru_cache(maxsize=4096)
def _lie(
    shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int, first: int, last: int
) -> tuple[int, ...] | None:
    """Elements between neighbours before, along and after the axes; None if that is no number."""
    steps = []
    for a, b in ((0, first), (first, last), (last, len(shape))):
        step = one_step(shape[a:b], strides[a:b])
        if step is None:
            return None
        steps.append(step // itemsize)
    return tuple(steps)


def _seen(x: Array, first: int, last: int) -> tuple[Array, tuple[int, ...]]:
    """``x``, or a copy of it, and how that lies as [outer, count, inner]."""
    lie = _lie(x.shape, x.strides, x.itemsize, first, last)
    if lie is None:
        x = contiguous(x)
        lie = _lie(x.shape, x.strides, x.itemsize, first, last)
    return x, lie or (0, 0, 0)


def _width(inner: int, lie: tuple[int, ...], *arrays: Array) -> int:
    """Elements that one access moves."""
    width: int = PACK_BYTES // arrays[0].itemsize
    if inner % width or lie[2] != 1 or lie[0] % width or lie[1] % width:
        return 1
    return width if all(a.data.ptr % PACK_BYTES == 0 for a in arrays) else 1


@functools.lru_cache(maxsize=4096)
def _fields(lie: tuple[int, ...]) -> Struct:
    """``Lie`` in positions.cu."""
    return Struct(np.array(lie, np.int64))


def widened(x: Array) -> Array:
    """``x`` in the type that it is computed in: CuPy sums and sorts no bfloat16."""
    return x.astype(compute_dtype(x.dtype), copy=False)


def _counter(size: int) -> str:
    return "unsigned int" if size < 2**31 else "i64"


def gather(x: Array, index: Array, first: int, last: int) -> Array:
    """The rows of ``x`` that ``index`` names, in a new array without gaps."""
    out = empty((*x.shape[:first], *index.shape, *x.shape[last:]), x.dtype)
    if not out.size:
        return out
    x, lie = _seen(x, first, last)
    _, count, inner = sizes(x.shape, first, last)
    width = _width(inner, lie, x)
    threads = out.size // width
    kernel = _kernel("gather", x.dtype, width, index.dtype, _counter(threads))
    given = (threads, index.size, inner // width, count, _fields(lie), contiguous(index), x, out)
    _launch(kernel, threads, given)
    return out


def typed(value: Any, dtype: Any) -> Array:
    """``value`` as an array of ``dtype``; a number as one with a single element."""
    if value.__class__ is ndarray:
        return value.astype(dtype, copy=False)
    return full((1,), value, dtype)


def put(x: Array, index: Array, value: Any, axes: tuple[int, int], unique: bool = False) -> None:
    """Writes to the rows of ``x`` that ``index`` names.

    Args:
        x: Array to write to.
        index: Ints.
        value: Number, or array that broadcasts to what ``gather`` would give.
        axes: First of the axes along which the index goes, and the first after them.
        unique: No number comes twice. Otherwise the last of several values stays.
    """
    first, last = axes
    region = (*x.shape[:first], *index.shape, *x.shape[last:])
    value = apart(x, typed(value, x.dtype))
    value = value.reshape(-1) if value.size == 1 else contiguous(spread(value, region))
    size = math.prod(region)
    if not size:
        return
    work, lie = _seen(x, first, last)
    _, count, inner = sizes(x.shape, first, last)
    index = contiguous(index)
    step = int(value.size > 1 or size == 1)
    width = _width(inner, lie, work, value) if step else 1
    threads = size // width
    kernel = _kernel("put", x.dtype, width, index.dtype, _counter(threads))
    stays = 0 if unique or index.size == 1 else _stays(index, count)
    fields = (threads, index.size, inner // width, count, _fields(lie), step)
    _launch(kernel, threads, (*fields, index, stays, value, work))
    if work is not x:
        copy_(x, work)


def _stays(index: Array, count: int) -> Array:
    """Which positions are the last that name their row."""
    n = index.size
    stays = empty((n,), np.bool_)
    if n <= _FEW:
        _launch(_kernel("last_of_few", index.dtype), n, (n, index, stays))
        return stays
    last = empty((count,), np.int32 if n < 2**31 else np.int64)
    last.data.memset_async(0xFF, last.nbytes)  # -1
    types = (index.dtype, last.dtype)
    _launch(_kernel("note_last", *types), n, (n, count, index, last))
    _launch(_kernel("is_last", *types), n, (n, count, index, last, stays))
    return stays


def sorted_keys(index: Any, xp: Any) -> tuple[Any, int]:
    """Positions in the order of what ``index`` holds there, as ``row << shift | position``.

    Args:
        index: Array of ints, of CuPy or of NumPy.
        xp: The module that it belongs to.

    Returns:
        The keys, an int64 array of that module, and the shift.
    """
    shift = int(index.size).bit_length()
    keys = index.reshape(-1).astype(np.int64) << shift
    keys |= xp.arange(index.size, dtype=np.int64)
    if keys.size > 1:
        keys.sort()
    return keys, shift


def add(x: Array, keys: tuple[Array, int], values: Array, axes: tuple[int, int]) -> None:
    """Adds values to rows of ``x``, those of one row in a fixed order and rounded once.

    Args:
        x: Array without gaps.
        keys: ``sorted_keys`` of the rows' numbers.
        values: Array without gaps of the shape [outer, as many as keys, inner].
        axes: First of the axes along which rows are numbered, and the first after them.
    """
    outer, count, inner = sizes(x.shape, *axes)
    found, shift = keys
    if not values.size or not count:
        return
    items, reader, wide = found.size, "Packed", compute_dtype(x.dtype)
    while True:
        chunks = -(-items // _CHUNK)
        more = 2 * chunks if chunks > 1 else 0
        next_keys = empty((more,), np.int64)
        sums = empty((outer * more * inner,), wide)
        threads = outer * chunks * inner
        read = Struct(np.array((count, shift), np.int64))
        given = (threads, chunks, items, inner, read, found, values, x, next_keys, sums)
        _launch(_kernel("sum_runs", x.dtype, values.dtype, reader), threads, given)
        if not more:
            return
        items, reader, found, values = more, "Plain", next_keys, sums
