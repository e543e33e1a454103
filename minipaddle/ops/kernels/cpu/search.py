"""Where elements are: extremes, order, non-zeros, unique values. NaN is the largest of all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minipaddle.device.dtype import compute_dtype
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


def _sortable(x: Array) -> Array:
    """``x`` in a type whose order knows NaN: NumPy's sort of bfloat16 does not."""
    return x.astype(compute_dtype(x.dtype), copy=False)


@kernel("argsort", "cpu")
def argsort(x: Array, axis: int = -1, descending: bool = False, stable: bool = False) -> Array:
    rows = np.atleast_1d(_sortable(x))
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
    sequence, wanted = _sortable(sorted_sequence), _sortable(values)
    if sequence.ndim == 1:
        found = np.asarray(np.searchsorted(sequence, wanted, side))
    elif sequence.ndim == 0 or sequence.shape[:-1] != wanted.shape[:-1]:
        raise ValueError("sorted_sequence must be 1-D or have the leading axes of values")
    else:
        found = np.empty(wanted.shape, np.int64)
        for row in np.ndindex(*sequence.shape[:-1]):
            found[row] = np.searchsorted(sequence[row], wanted[row], side)
    return found.astype(np.int32 if out_int32 else np.int64, copy=False)


@kernel("unique_part", "cpu")
def unique_part(x: Array, part: str, axis: int | None = None, consecutive: bool = False) -> Array:
    """One of the results of ``unique``: "values", or "index", "inverse", "counts" as int64."""
    lines = x.reshape(-1) if axis is None else np.moveaxis(x, axis, 0)
    count = len(lines)
    keys = _sortable(lines).reshape(count, -1) if lines.size else np.empty((count, 0), x.dtype)
    order = np.arange(count)
    if not consecutive and keys.size:
        order = np.lexsort(keys.T[::-1])  # by the first column, then the second: and stable
        keys = keys[order]
    new = np.ones(count, bool)
    new[1:] = np.any(keys[1:] != keys[:-1], axis=1)
    if part == "inverse":
        inverse = np.empty(count, np.int64)
        inverse[order] = np.cumsum(new) - 1
        return inverse
    starts = np.flatnonzero(new)
    if part == "counts":
        return np.diff(starts, append=count)
    if part == "index":
        return order[starts]
    return lines[order[starts]] if axis is None else np.moveaxis(lines[order[starts]], 0, axis)
