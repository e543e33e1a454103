"""Where elements are: order, non-zeros, unique values. NaN is the largest of all.

Half types are ordered as float32: CuPy does not sort bfloat16. Its sort has the host wait.
"""

from __future__ import annotations

import math
from typing import Any

import cupy
import numpy as np

from minipaddle.ops.kernels.gpu.launch import FOLDER, THREADS, compiled, contiguous, empty
from minipaddle.ops.kernels.gpu.positions import gather, put, widened
from minipaddle.ops.kernels.gpu.source import type_name
from minipaddle.ops.op import Array, kernel


@kernel("argsort", "gpu")
def argsort(x: Array, axis: int = -1, descending: bool = False, stable: bool = False) -> Array:
    rows = cupy.atleast_1d(widened(x))
    if not x.size:
        return empty(x.shape, np.int64)
    if not descending:  # CuPy's sort is always stable
        return contiguous(cupy.argsort(rows, axis)).reshape(x.shape)
    # Sorted from the other end and read backwards, equal elements keep their order.
    order = cupy.flip(cupy.argsort(cupy.flip(rows, axis), axis), axis)
    return (rows.shape[axis] - 1 - contiguous(order)).reshape(x.shape)


@kernel("where_index", "gpu")
def where_index(x: Array) -> Array:
    if not x.ndim:
        return empty((int(widened(x) != 0), 0), np.int64)
    return cupy.argwhere(widened(x))


def search_rows(edges: Array, values: Array, right: bool, dtype: Any = np.int64) -> Array:
    """How many of the edges come before each value, or with ``right`` not after it.

    Args:
        edges: Sorted along the last axis; 1-D, or with the leading axes of ``values``.
        values: Array of the same dtype.
        right: See above.
        dtype: Of the result, int32 or int64.
    """
    out = empty(values.shape, np.dtype(dtype))
    if not out.size:
        return out
    per_row = out.size if edges.ndim == 1 else values.shape[-1]
    types = (type_name(edges.dtype), type_name(out.dtype), str(right).lower())
    run = compiled(FOLDER / "search.cu", f"search<{', '.join(types)}>")
    given = (out.size, edges.shape[-1], per_row, contiguous(edges), contiguous(values), out)
    run((-(-out.size // THREADS),), (THREADS,), given)
    return out


@kernel("searchsorted", "gpu")
def searchsorted(
    sorted_sequence: Array, values: Array, out_int32: bool = False, right: bool = False
) -> Array:
    shape = sorted_sequence.shape
    if len(shape) != 1 and (not shape or shape[:-1] != values.shape[:-1]):
        raise ValueError("sorted_sequence must be 1-D or have the leading axes of values")
    return search_rows(sorted_sequence, values, right, np.int32 if out_int32 else np.int64)


def _runs(lines: Array, consecutive: bool) -> tuple[Array, Array]:
    """An order in which equal lines are neighbours, and which of them begin a new run in it."""
    count = len(lines)
    keys = widened(lines).reshape((count, math.prod(lines.shape[1:])))
    order = cupy.arange(count)
    if keys.size and not consecutive:
        order = cupy.argsort(keys[:, 0]) if lines.ndim == 1 else cupy.lexsort(keys.T[::-1])
        keys = gather(keys, order, 0, 1)
    return order, _begins(keys)


def _begins(keys: Array) -> Array:
    new = cupy.ones(len(keys), np.bool_)
    if len(keys) > 1:
        differ = keys[1:] != keys[:-1]
        new[1:] = differ if keys.ndim == 1 else differ.any(axis=1)
    return new


def _chosen(new: Array) -> Array:
    return cupy.argwhere(new).reshape(-1)


@kernel("unique_values", "gpu")
def unique_values(x: Array, axis: int | None = None, consecutive: bool = False) -> Array:
    if axis is None and not consecutive:
        ordered = widened(x).reshape(-1)
        ordered = cupy.sort(ordered) if ordered.size > 1 else ordered
        found = gather(ordered, _chosen(_begins(ordered)), 0, 1)
        return found.astype(x.dtype, copy=False)
    lines = x.reshape(-1) if axis is None else cupy.moveaxis(x, axis, 0)
    order, new = _runs(lines, consecutive)
    found = gather(lines, gather(order, _chosen(new), 0, 1), 0, 1)
    return contiguous(cupy.moveaxis(found, 0, axis or 0))


@kernel("unique_inverse", "gpu")
def unique_inverse(x: Array, axis: int | None = None, consecutive: bool = False) -> Array:
    lines = x.reshape(-1) if axis is None else cupy.moveaxis(x, axis, 0)
    order, new = _runs(lines, consecutive)
    inverse = empty(order.shape, np.int64)
    if order.size:
        numbers = cupy.cumsum(new.astype(np.int64)) - 1
        put(inverse, order, numbers, (0, 1), unique=True)
    return inverse


@kernel("unique_index", "gpu")
def unique_index(inverse: Array) -> Array:
    flat = inverse.reshape(-1)
    if not flat.size:
        return empty((0,), np.int64)
    index = empty((int(flat.max()) + 1,), np.int64)
    # Written backwards, the first of several is the last to be written.
    put(index, flat[::-1], cupy.arange(flat.size)[::-1], (0, 1))
    return index


@kernel("unique_counts", "gpu")
def unique_counts(inverse: Array) -> Array:
    return cupy.bincount(inverse.reshape(-1).astype(np.int64, copy=False))
