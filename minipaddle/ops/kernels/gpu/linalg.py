"""Matrix products through cuBLAS, and diagonals. Half types are summed in float32."""

from __future__ import annotations

import math
from typing import Any

import cupy
import numpy as np

from minipaddle.device.dtype import FLOAT32, is_half
from minipaddle.ops.kernels.cpu import linalg as host
from minipaddle.ops.kernels.gpu.elementwise import home
from minipaddle.ops.op import Array, kernel


def _product(x: Array, y: Array, into: Array | None = None) -> Array:
    """``x @ y`` for arrays of rank two and more."""
    if not x.size or not y.size:
        out = cupy.zeros(
            (*np.broadcast_shapes(x.shape[:-2], y.shape[:-2]), x.shape[-2], y.shape[-1]), x.dtype
        )
        if x.shape[-1] != y.shape[-2]:
            raise ValueError
        if into is None:
            return out
        into[...] = out
        return into
    if is_half(x.dtype) and x.dtype.kind != "f":  # CuPy knows bfloat16 for some shapes only
        out = cupy.matmul(x.astype(FLOAT32), y.astype(FLOAT32)).astype(x.dtype)
        if into is None:
            return out
        into[...] = out
        return into
    if into is None:
        return cupy.matmul(x, y)
    return cupy.matmul(x, y, out=into)


@kernel("matmul", "gpu")
def matmul(x: Array, y: Array, transpose_x: bool = False, transpose_y: bool = False) -> Array:
    if transpose_x and x.ndim > 1:
        x = x.swapaxes(-1, -2)
    if transpose_y and y.ndim > 1:
        y = y.swapaxes(-1, -2)
    if not _fits(x, y):
        host.refuse_product(x, y)
    rows, columns = x.ndim == 1, y.ndim == 1
    a, b = x[None, :] if rows else x, y[:, None] if columns else y
    if a.ndim > 2 == b.ndim and a._c_contiguous:  # one large product, not many small ones
        out = _product(_rows(a), b).reshape(*a.shape[:-1], b.shape[-1])
    else:
        out = _product(a, b)
    if rows:
        out = out.squeeze(-2)
    return out.squeeze(-1) if columns else out


def _fits(x: Array, y: Array) -> bool:
    if x.ndim == 0 or y.ndim == 0 or x.shape[-1] != y.shape[-2:][0]:
        return False
    try:
        np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    except ValueError:
        return False
    return True


def _rows(x: Array) -> Array:
    return x if x.ndim == 2 else x.reshape(math.prod(x.shape[:-1]), x.shape[-1])


@kernel("linear", "gpu")
def linear(x: Array, weight: Array, bias: Array | None = None) -> Array:
    if is_half(x.dtype) and bias is not None:  # the bias joins before the only rounding
        wide = [a.astype(FLOAT32) for a in (x, weight, bias)]
        return linear(*wide).astype(x.dtype)
    if weight.ndim != 2 or x.ndim < 1 or x.shape[-1] != weight.shape[0]:
        raise ValueError(
            "x must have shape [..., in] and weight [in, out], with the same number of features in"
        )
    wide_out = weight.shape[1]
    out = _product(_rows(x), weight)
    if bias is not None:
        if bias.shape != (wide_out,):
            raise ValueError(f"bias must have one element a feature out, shape [{wide_out}]")
        cupy.add(out, bias, out=out)
    return out if x.ndim == 2 else out.reshape(*x.shape[:-1], wide_out)


@kernel("linear_grad", "gpu")
def linear_grad(
    x: Array | None,
    weight: Array | None,
    out_grad: Array,
    wanted: tuple[bool, ...],
    into: Any,
) -> tuple[Array | None, Array | None, Array | None]:
    flat, dtype = _rows(out_grad), out_grad.dtype
    x_grad = weight_grad = bias_grad = None
    if weight is not None:
        shape = (flat.shape[0], weight.shape[0])
        target = home(into, 0, shape, dtype) if out_grad.ndim == 2 else None
        x_grad = _product(flat, weight.T, target).reshape(*out_grad.shape[:-1], weight.shape[0])
    if x is not None:
        rows = _rows(x)
        target = home(into, 1, (rows.shape[1], flat.shape[1]), dtype)
        weight_grad = _product(rows.T, flat, target)
    if wanted[2]:
        sums = flat.sum(axis=0, dtype=FLOAT32 if is_half(dtype) else dtype)
        bias_grad = sums.astype(dtype, copy=False)
        target = home(into, 2, bias_grad.shape, dtype)
        if target is not None:
            target[...] = bias_grad
            bias_grad = target
    return x_grad, weight_grad, bias_grad


@kernel("diagonal", "gpu")
def diagonal(x: Array, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    host.check_diagonal(x, axis1, axis2)
    return cupy.diagonal(x, offset, axis1, axis2)


@kernel("put_diagonal", "gpu")
def put_diagonal(
    x: Array, shape: tuple[int, ...], offset: int = 0, axis1: int = 0, axis2: int = 1
) -> Array:
    out = cupy.zeros(shape, x.dtype)
    cupy.diagonal(out, offset, axis1, axis2)[...] = x
    return out
