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
    if y.__class__ is ndarray:
        y = spread(apart(x, y), x.shape)
    _copy(y, out=x)


def spread(y: Array, shape: tuple[int, ...]) -> Array:
    """``y`` broadcast to ``shape``; as for NumPy, leading axes of length 1 are left out."""
    if y.shape == shape:
        return y
    extra = max(0, y.ndim - len(shape))
    try:
        if y.shape[:extra] != (1,) * extra:
            raise ValueError
        return cupy.broadcast_to(y.reshape(y.shape[extra:]), shape)
    except ValueError:
        given, here = [str(a).replace(" ", "") for a in (y.shape, shape)]  # as NumPy does
        raise ValueError(
            f"could not broadcast input array from shape {given} into shape {here}"
        ) from None


@kernel("full", "gpu")
def full(shape: tuple[int, ...], fill_value: Any, dtype: Any = None) -> Array:
    out = empty(shape, np.asarray(fill_value).dtype if dtype is None else dtype)
    _copy(fill_value, out=out)
    return out
