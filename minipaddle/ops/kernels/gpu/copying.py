"""Copies: of the same values, in another element type, over other values; and one value."""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from minipaddle.ops.kernels.gpu.elementwise import apart
from minipaddle.ops.kernels.gpu.launch import Elementwise, empty, ndarray
from minipaddle.ops.op import Array, kernel

_copy = Elementwise("Copy", "copying.cu")


@kernel("assign", "gpu")
def assign(x: Array) -> Array:
    # What lies without gaps is copied by the driver, bit by bit.
    return x.copy() if x._c_contiguous else _copy(x)


@kernel("cast", "gpu")
def cast(x: Array, dtype: Any) -> Array:
    return assign(x) if x.dtype == dtype else _copy(x, dtype=dtype)


@kernel("copy_", "gpu")
def copy_(x: Array, y: Any) -> None:
    y = apart(x, y)
    if y.__class__ is ndarray and y.ndim > x.ndim:
        y = y.reshape(y.shape[y.ndim - x.ndim :])  # NumPy leaves out leading axes of length 1
    if y.__class__ is ndarray and y.shape != x.shape:
        y = cupy.broadcast_to(y, x.shape)
    _copy(y, out=x)


@kernel("full", "gpu")
def full(shape: tuple[int, ...], fill_value: Any, dtype: Any = None) -> Array:
    out = empty(shape, np.asarray(fill_value).dtype if dtype is None else dtype)
    _copy(fill_value, out=out)
    return out
