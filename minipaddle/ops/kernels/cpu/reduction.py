"""Sums and means; half types are summed in float32."""

from __future__ import annotations

from typing import Any

import numpy as np

from minipaddle.device.dtype import FLOAT32, is_half
from minipaddle.ops.op import Array, kernel

_INT64 = np.dtype(np.int64)
_reduce: Any = np.add.reduce  # its stub knows only literal values of keepdims


def _sum(x: Array, axis: tuple[int, ...] | None, keepdim: bool) -> Array:
    if is_half(x.dtype):
        total = _reduce(x, axis=axis, dtype=FLOAT32, keepdims=keepdim)
        return np.asarray(total).astype(x.dtype)
    # Told its dtype, NumPy does not widen small ints.
    return np.asarray(_reduce(x, axis=axis, dtype=x.dtype, keepdims=keepdim))


@kernel("sum", "cpu")
def sum(
    x: Array, axis: tuple[int, ...] | None = None, dtype: Any = None, keepdim: bool = False
) -> Array:
    if dtype is None and x.dtype.kind in "biu":
        dtype = _INT64
    return _sum(x if dtype is None else x.astype(dtype, copy=False), axis, keepdim)


@kernel("mean", "cpu")
def mean(x: Array, axis: tuple[int, ...] | None = None, keepdim: bool = False) -> Array:
    if is_half(x.dtype):
        return np.asarray(mean(x.astype(FLOAT32), axis, keepdim)).astype(x.dtype)
    total = np.asarray(_reduce(x, axis=axis, keepdims=keepdim))
    if not x.size:  # the mean of nothing
        return np.full_like(total, np.nan)
    return np.divide(total, total.dtype.type(x.size // total.size), out=total)
