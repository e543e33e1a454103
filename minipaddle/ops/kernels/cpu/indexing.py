"""Elements by position and by condition: gathered, overwritten, added to.

Positions are row-major over the axes ``first`` to ``last`` of an array, taken as one axis. The
functions that check users' indices make them, so here they are in range and not negative.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minipaddle.device.dtype import FLOATS, compute_dtype
from minipaddle.ops.kernels.cpu.block import BLOCK_BYTES, blockwise, quiet
from minipaddle.ops.kernels.cpu.copying import copied
from minipaddle.ops.op import Array, kernel

# Rows of at least this many elements are added one after the other: each stays in the cache, and
# the work on it outweighs the Python code around it.
_LONG_ROW = 512
# When no more than this many positions still have something to come, each is finished by one sum.
_FEW = 32
# Sums of this many positions, in float64, stay in the cache.
_CACHED = 1 << 16


def _blend(out: Array, mask: Array, x: Array, y: Array) -> None:
    """``x`` where the bits of ``mask`` are ones, ``y`` where they are zeros; ``out`` may be ``x``.

    Without branches: 40 ms for [4096, 4096] float32 and a random condition, on which np.where
    takes 97 ms.
    """
    bits, y_bits = out.view(mask.dtype), y.view(mask.dtype)
    np.bitwise_xor(x.view(mask.dtype), y_bits, out=bits)
    np.bitwise_and(bits, mask, out=bits)
    np.bitwise_xor(bits, y_bits, out=bits)


def _select(out: Array, x: Array, condition: Array, y: Array) -> None:
    if out.itemsize > 8:
        out[...] = np.where(condition, x, y)
        return
    _blend(out, np.negative(condition.view(np.int8), dtype=f"i{out.itemsize}"), x, y)


def _masked_fill(out: Array, x: Array, mask: Array, value: Array) -> None:
    if out.itemsize > 8:
        out[...] = np.where(mask, value, x)
        return
    _blend(out, np.subtract(mask.view(np.int8), 1, dtype=f"i{out.itemsize}"), x, value)


def _typed(number: Any, dtype: Any) -> Array:
    return number if isinstance(number, np.ndarray) else quiet(np.asarray, number, dtype)


@kernel("select", "cpu")
def select(x: Any, condition: Array, y: Any) -> Array:
    dtype = x.dtype if isinstance(x, np.ndarray) else y.dtype
    x, y = _typed(x, dtype), _typed(y, dtype)
    if max(x.nbytes, y.nbytes, condition.nbytes) <= BLOCK_BYTES:
        return np.where(condition, x, y)
    return blockwise(_select, (x, condition, y), dtype)


@kernel("masked_fill", "cpu")
def masked_fill(x: Array, mask: Array, value: Any) -> Array:
    value = _typed(value, x.dtype)
    if max(x.nbytes, mask.nbytes) <= BLOCK_BYTES:
        return np.where(mask, value, x)
    return blockwise(_masked_fill, (x, mask, value), x.dtype)


def _overwritten(name: str, fill: Any, x: Array, condition: Array, other: Any) -> Array:
    other = _typed(other, x.dtype)
    shape = np.broadcast_shapes(x.shape, condition.shape, other.shape)
    if shape != x.shape:
        raise ValueError(f"{name}: the result would have shape {shape}; x keeps its own in place")
    if np.may_share_memory(x, other):
        other = other.copy()  # an element written early must not be read again later
    return blockwise(fill, (x, condition, other), out=x)


@kernel("select_", "cpu")
def select_(x: Array, condition: Array, y: Any) -> Array:
    return _overwritten("select_", _select, x, condition, y)


@kernel("masked_fill_", "cpu")
def masked_fill_(x: Array, mask: Array, value: Any) -> Array:
    return _overwritten("masked_fill_", _masked_fill, x, mask, value)


def _below(index: Array, length: int, axis: int) -> bool:
    """Whether there are negative indices; refuses those that are out of range."""
    if not index.size:
        return False
    low, high = index.min(), index.max()
    if low < -length or high >= length:
        wrong = low if low < -length else high
        raise IndexError(f"index {wrong} is out of range for axis {axis} of length {length}")
    return bool(low < 0)


def _in_range(index: Array, length: int, axis: int) -> Array:
    """A copy of ``index`` as int64, with negative ones counted from the front."""
    found = index.astype(np.int64)
    if _below(index, length, axis):
        np.add(found, length, out=found, where=found < 0)
    return found


@kernel("flat_index", "cpu")
def flat_index(x: list[Array], lengths: tuple[int, ...], axes: tuple[int, ...]) -> Array:
    if len(x) == 1:
        return _in_range(x[0], lengths[0], axes[0])
    try:
        np.broadcast_shapes(*[a.shape for a in x])
    except ValueError:
        shapes = ", ".join(str(list(a.shape)) for a in x)
        raise IndexError(f"arrays of indices must broadcast together; got {shapes}") from None
    flat = np.zeros((), np.int64)
    for i, (index, length, axis) in enumerate(zip(x, lengths, axes, strict=True)):
        found = _in_range(index, length, axis)
        flat = np.asarray(flat * length + found) if i else found
    return flat


@kernel("flat_index_along", "cpu")
def flat_index_along(index: Array, shape: tuple[int, ...], axis: int) -> Array:
    length = shape[axis]
    steps = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    before = np.zeros((1,) * index.ndim, np.int64)
    for i, (step, count) in enumerate(zip(steps, index.shape, strict=True)):
        if i != axis:
            line = np.arange(count, dtype=np.int64) * step
            before = before + line.reshape(count, *[1] * (index.ndim - i - 1))

    def fill(out: Array, part: Array, start: Array) -> None:
        negative = _below(part, length, axis)
        part = part.astype(np.int64, copy=False)  # its own type may not hold what follows
        if negative:
            part = np.where(part < 0, part + length, part)
        if steps[axis] != 1:
            part = np.multiply(part, steps[axis], out=out)
        np.add(part, start, out=out)

    return blockwise(fill, (index, before), np.int64)


@kernel("later_equals", "cpu")
def later_equals(index: Array) -> Array:
    keys = index.reshape(-1)
    if (keys[1:] > keys[:-1]).all():
        return np.zeros(index.shape, np.int64)
    order, starts, counts = _runs(keys)
    out = np.empty(len(keys), np.int64)
    out[order] = np.repeat(starts + counts - 1, counts) - np.arange(len(keys))
    return out.reshape(index.shape)


def _runs(keys: Array, limit: int = 1 << 62) -> tuple[Array, Array, Array]:
    """An order that brings equal keys together, and where their runs start and how long they are.

    Keys are not negative and below ``limit``; those that fit 16 bits NumPy sorts by their digits.
    """
    order = np.argsort(keys.astype(np.uint16) if limit <= 1 << 16 else keys, kind="stable")
    ordered = keys[order]
    new = np.ones(len(keys), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    starts = np.flatnonzero(new)
    return order, starts, np.diff(starts, append=len(keys))


def _merged(x: Array, first: int, last: int) -> Array:
    """``x`` with the axes ``first`` to ``last`` as one; a copy if memory does not allow a view."""
    if last - first == 1:
        return x
    return x.reshape(*x.shape[:first], math.prod(x.shape[first:last]), *x.shape[last:])


@kernel("gather_flat", "cpu")
def gather_flat(x: Array, index: Array, first: int, last: int) -> Array:
    if x.flags.c_contiguous or first == last:
        # "wrap" only keeps NumPy from looking for indices out of range.
        return np.asarray(np.take(_merged(x, first, last), index, first, mode="wrap"))
    parts = np.unravel_index(index, x.shape[first:last])
    return np.asarray(x[(*[slice(None)] * first, *parts)], order="C")


@kernel("scatter_flat", "cpu")
def scatter_flat(x: Array, index: Array, value: Any, first: int, last: int) -> Array:
    return scatter_flat_(copied(x), index, value, first, last)


@kernel("scatter_flat_", "cpu")
def scatter_flat_(x: Array, index: Array, value: Any, first: int, last: int) -> Array:
    # NumPy assigns in the order of memory, where the last of several values is to stay.
    if index.ndim > 1 and isinstance(value, np.ndarray) and value.ndim:
        value = np.broadcast_to(value, (*x.shape[:first], *index.shape, *x.shape[last:]))
        value = value.reshape(*x.shape[:first], index.size, *x.shape[last:])
        index = index.reshape(-1)
    index = np.asarray(index, order="C")
    rows = _merged(x, first, last)
    before = (slice(None),) * first
    if np.may_share_memory(rows, x):
        rows[(*before, index)] = value
    else:
        x[(*before, *np.unravel_index(index, x.shape[first:last]))] = value
    return x


@kernel("scatter_add_flat", "cpu")
def scatter_add_flat(x: Array, index: Array, value: Any, first: int, last: int) -> Array:
    return scatter_add_flat_(copied(x), index, value, first, last)


@kernel("sum_flat", "cpu")
def sum_flat(x: Array, index: Array, shape: tuple[int, ...], first: int, last: int) -> Array:
    return scatter_add_flat_(np.zeros(shape, x.dtype), index, x, first, last)


@kernel("scatter_add_flat_", "cpu")
def scatter_add_flat_(x: Array, index: Array, value: Any, first: int, last: int) -> Array:
    region = (*x.shape[:first], *index.shape, *x.shape[last:])
    dtype = compute_dtype(x.dtype)
    value = np.broadcast_to(_typed(value, dtype).astype(dtype, copy=False), region)
    outer, inner = math.prod(x.shape[:first]), math.prod(x.shape[last:])
    count = math.prod(x.shape[first:last])
    work = np.array(x, dtype, order="C", copy=None)
    flat = index.reshape(-1)
    if not value.size:
        return x
    if np.may_share_memory(work, value):
        value = value.copy()
    rows, values = work.reshape(outer, count, inner), value.reshape(outer, flat.size, inner)
    if flat.size * inner < _LONG_ROW and outer > 1:  # little for each: all in one go
        flat = (np.arange(outer)[:, None] * count + flat).reshape(-1)
        rows, values = rows.reshape(1, -1, inner), values.reshape(1, -1, inner)
    for some, added in zip(rows, values, strict=True):
        quiet(_add_rows, some, flat, added)
    if work is not x:
        quiet(np.copyto, x, work, "same_kind")
    return x


def _add_rows(rows: Array, index: Array, values: Array) -> None:
    """Adds each of ``values`` to the row that ``index`` says, in their order."""
    if rows.shape[1] == 1:
        if rows.dtype in FLOATS and len(index) * 8 > len(rows) and len(rows) <= _CACHED:
            rows[:, 0] += np.bincount(index, values[:, 0], len(rows)).astype(rows.dtype, copy=False)
        else:
            np.add.at(rows[:, 0], index, values[:, 0])
    elif rows.shape[1] >= _LONG_ROW:
        for at, value in zip(index.tolist(), values, strict=True):
            row = rows[at]
            np.add(row, value, out=row)
    else:
        _add_in_rounds(rows, index, values)


def _add_in_rounds(rows: Array, index: Array, values: Array) -> None:
    """Adds the first value of every row at once, then the second of those that have two, ..."""
    order, starts, counts = _runs(index, len(rows))
    done = 0
    while len(starts) > _FEW:
        at = order[starts + done]
        rows[index[at]] += values[at]
        done += 1
        more = counts > done
        starts, counts = starts[more], counts[more]
    for start, count in zip(starts, counts, strict=True):
        at = order[start + done : start + count]
        rows[index[at[0]]] += np.add.reduce(values[at], axis=0, dtype=rows.dtype)
