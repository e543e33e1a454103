"""Where elements are: extremes, order, non-zeros, unique values. NaN is the largest of all.

Half types are ordered as float32: NumPy's sort of bfloat16 knows no NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minipaddle.ops.kernels.cpu.ufunc import widened
from minipaddle.ops.op import Array, kernel


def _position(name: str, find: Callable[..., Any]) -> None:
    """Registers ``argmax`` or ``argmin``: the first of several equal ones, or the first NaN."""

    def compute(
        x: Array, axis: int | None = None, keepdim: bool = False, dtype: Any = "int64"
    ) -> Array:
        if dtype not in (np.int64, np.int32):
            raise ValueError(f"dtype must be int32 or int64; got {dtype}")
        return np.asarray(find(x, axis=axis, keepdims=keepdim)).astype(dtype, copy=False)

    kernel(name, "cpu")(compute)


_position("argmax", np.argmax)
_position("argmin", np.argmin)


@kernel("argsort", "cpu")
def argsort(x: Array, axis: int = -1, descending: bool = False, stable: bool = False) -> Array:
    rows = np.atleast_1d(widened(x))
    kind: Any = "stable" if stable else None
    if not descending:
        return np.argsort(rows, axis, kind).reshape(x.shape)
    # Sorted from the other end and read backwards, equal elements keep their order.
    order = np.flip(np.argsort(np.flip(rows, axis), axis, kind), axis)
    return np.subtract(rows.shape[axis] - 1, order, order="C").reshape(x.shape)


@kernel("where_index", "cpu")
def where_index(x: Array) -> Array:
    return np.argwhere(x)


@kernel("count_nonzero", "cpu")
def count_nonzero(x: Array, axis: tuple[int, ...] | None = None, keepdim: bool = False) -> Array:
    return np.asarray(np.count_nonzero(x, axis=axis, keepdims=keepdim))


@kernel("searchsorted", "cpu")
def searchsorted(
    sorted_sequence: Array, values: Array, out_int32: bool = False, right: bool = False
) -> Array:
    side: Any = "right" if right else "left"
    sequence, wanted = widened(sorted_sequence), widened(values)
    if sequence.ndim == 1:
        found = np.asarray(np.searchsorted(sequence, wanted, side))
    elif sequence.ndim == 0 or sequence.shape[:-1] != wanted.shape[:-1]:
        raise ValueError("sorted_sequence must be 1-D or have the leading axes of values")
    else:
        found = np.empty(wanted.shape, np.int64)
        for row in np.ndindex(*sequence.shape[:-1]):
            found[row] = np.searchsorted(sequence[row], wanted[row], side)
    return found.astype(np.int32 if out_int32 else np.int64, copy=False)


def _runs(lines: Array, consecutive: bool) -> tuple[Array, Array]:
    """An order in which equal lines are neighbours, and which of them begin a new run in it."""
    count = len(lines)
    keys = widened(lines).reshape(count, math.prod(lines.shape[1:]))
    order = np.arange(count)
    if keys.size and not consecutive:
        order = np.argsort(keys[:, 0]) if lines.ndim == 1 else np.lexsort(keys.T[::-1])
        keys = keys[order]
    return order, _begins(keys)


def _begins(keys: Array) -> Array:
    new = np.ones(len(keys), bool)
    differ = keys[1:] != keys[:-1]
    new[1:] = differ if keys.ndim == 1 else differ.any(axis=1)
    return new


@kernel("unique_values", "cpu")
def unique_values(x: Array, axis: int | None = None, consecutive: bool = False) -> Array:
    if axis is None and not consecutive:
        ordered = np.sort(widened(x), axis=None)
        return ordered[_begins(ordered)].astype(x.dtype, copy=False)
    lines = x.reshape(-1) if axis is None else np.moveaxis(x, axis, 0)
    order, new = _runs(lines, consecutive)
    return np.moveaxis(lines[order[new]], 0, axis or 0)


@kernel("unique_inverse", "cpu")
def unique_inverse(x: Array, axis: int | None = None, consecutive: bool = False) -> Array:
    order, new = _runs(x.reshape(-1) if axis is None else np.moveaxis(x, axis, 0), consecutive)
    inverse = np.empty(len(order), np.int64)
    inverse[order] = np.cumsum(new) - 1
    return inverse


@kernel("unique_index", "cpu")
def unique_index(inverse: Array) -> Array:
    flat = inverse.reshape(-1).astype(np.int64, copy=False)
    index = np.empty(flat.max(initial=-1) + 1, np.int64)
    index[flat[::-1]] = np.arange(len(flat))[::-1]  # of several, the last one written stays
    return index


@kernel("unique_counts", "cpu")
def unique_counts(inverse: Array) -> Array:
    return np.bincount(inverse.reshape(-1))
