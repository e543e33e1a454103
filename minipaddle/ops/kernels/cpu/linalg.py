"""Matrix products through NumPy's BLAS; half types are multiplied in float32."""

from __future__ import annotations

import math

import numpy as np

from minipaddle.device.dtype import FLOAT32, is_half
from minipaddle.ops.op import Array, kernel


def _product(x: Array, y: Array, into: Array | None = None) -> Array:
    """``x @ y`` for arrays of rank two and more; NumPy itself is slow and inexact on half types."""
    if is_half(x.dtype):
        product = np.matmul(x.astype(FLOAT32), y.astype(FLOAT32)).astype(x.dtype)
        if into is None:
            return product
        np.copyto(into, product)
        return into
    if x.ndim == 2 == y.ndim:
        return np.dot(x, y, into)  # half of matmul's overhead on small matrices
    return np.matmul(x, y, out=into)


@kernel("matmul", "cpu")
def matmul(x: Array, y: Array, transpose_x: bool = False, transpose_y: bool = False) -> Array:
    if transpose_x and x.ndim > 1:
        x = x.swapaxes(-1, -2)
    if transpose_y and y.ndim > 1:
        y = y.swapaxes(-1, -2)
    if x.ndim == 2 == y.ndim:
        return _product(x, y)
    if x.ndim == 0 or y.ndim == 0:
        raise ValueError("matmul takes no 0-d operand; multiply scales by a number")
    rows, columns = x.ndim == 1, y.ndim == 1
    out = _product(x[None, :] if rows else x, y[:, None] if columns else y)
    if rows:
        out = out.squeeze(-2)
    return out.squeeze(-1) if columns else out


def _rows(x: Array) -> Array:
    """``x`` as a matrix; the number of rows is told, as -1 is ambiguous where a row is empty."""
    return x if x.ndim == 2 else x.reshape(math.prod(x.shape[:-1]), x.shape[-1])


@kernel("linear", "cpu")
def linear(x: Array, weight: Array, bias: Array | None = None) -> Array:
    if is_half(x.dtype):  # the bias joins before the only rounding
        wide = [None if a is None else a.astype(FLOAT32) for a in (x, weight, bias)]
        return linear(*wide).astype(x.dtype)
    flat = _rows(x)
    out = _product(flat, weight)
    if bias is not None:
        np.add(out, bias, out=out)
    return out if x.ndim == 2 else out.reshape(*x.shape[:-1], out.shape[-1])


@kernel("linear_grad", "cpu")
def linear_grad(
    x: Array | None,
    weight: Array | None,
    out_grad: Array,
    wanted: tuple[bool, ...],
    into: tuple[Array | None, ...] | None,
) -> tuple[Array | None, Array | None, Array | None]:
    flat = _rows(out_grad)
    to_x, to_weight, to_bias = into if into is not None else (None, None, None)
    x_grad = weight_grad = bias_grad = None
    if weight is not None:
        if out_grad.ndim == 2:
            x_grad = _product(flat, weight.T, to_x)
        else:
            x_grad = _product(flat, weight.T).reshape(*out_grad.shape[:-1], weight.shape[0])
    if x is not None:
        weight_grad = _product(_rows(x).T, flat, to_weight)
    if wanted[2]:
        bias_grad = _column_sums(flat, to_bias)
    return x_grad, weight_grad, bias_grad


def _column_sums(x: Array, into: Array | None) -> Array:
    if is_half(x.dtype):
        sums = np.add.reduce(x, axis=0, dtype=FLOAT32).astype(x.dtype)
        if into is None:
            return sums
        np.copyto(into, sums)
        return into
    return np.add.reduce(x, axis=0, out=into)
