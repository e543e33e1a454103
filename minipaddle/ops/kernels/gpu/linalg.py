"""Matrix products by cuBLAS, and diagonals.

Half types are multiplied and summed in float32 and rounded once. Products in float32 are exact to
float32 unless FLAGS_allow_tf32_cublas lets tensor cores round operands to 10 bits.
"""

from __future__ import annotations

import functools
import math
import threading
from typing import Any

import cupy
import numpy as np
from cupy.cuda.device import get_cublas_handle
from cupy_backends.cuda import libs  # libs.cublas is loaded when it is first used

from minipaddle.device.dtype import FLOATS, compute_dtype
from minipaddle.device.flags import define_effect
from minipaddle.ops.kernels.cpu.linalg import check_diagonal, refuse_product
from minipaddle.ops.kernels.gpu.axis_plan import Batch, matrices, one_step
from minipaddle.ops.kernels.gpu.elementwise import home
from minipaddle.ops.kernels.gpu.fold import PACK_BYTES
from minipaddle.ops.kernels.gpu.launch import FOLDER, THREADS, compiled, contiguous, empty
from minipaddle.ops.kernels.gpu.reduction import sum_to
from minipaddle.ops.kernels.gpu.source import type_name
from minipaddle.ops.op import Array, kernel

Into = Any

_FLOAT32, _FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)

# Of a float type its number in cuBLAS and that of what it is computed in (library_types.h and
# cublas_api.h of CUDA), and where the numbers 0 and 1 of the latter stand.
_SCALARS = {dtype: np.array([0, 1], dtype) for dtype in (_FLOAT32, _FLOAT64)}
_ADDRESSES = {d: (a.ctypes.data, a.ctypes.data + d.itemsize) for d, a in _SCALARS.items()}
_TYPES = {"float32": 0, "float64": 1, "float16": 2, "bfloat16": 14}
_COMPUTED = {_FLOAT32: 68, _FLOAT64: 70}
_DIRECT = {_FLOAT32: "sgemm", _FLOAT64: "dgemm"}
_ANY_ALGORITHM = -1

# Math modes of cuBLAS: never reduced in a half type, and TF32 where it is allowed.
_EXACT, _TF32 = 16, 16 + 3
_mode = [_EXACT]


class _Modes(threading.local):
    """The modes that a thread has set on its handles, which end with it."""

    def __init__(self) -> None:
        self.of: dict[int, int] = {}


_modes = _Modes()


def _allow_tf32(allowed: Any) -> None:
    _mode[0] = _TF32 if allowed else _EXACT


define_effect("FLAGS_allow_tf32_cublas", _allow_tf32)


def _handle() -> int:
    """The handle of this thread and device, in the math mode that is wanted."""
    handle: int = get_cublas_handle()
    if _modes.of.get(handle) != _mode[0]:
        libs.cublas.setMathMode(handle, _mode[0])
        _modes.of[handle] = _mode[0]
    return handle


def _multiply(x: Array, y: Array, out: Array, ways: tuple[Batch, Batch], add: bool) -> None:
    """Writes ``x @ y`` to ``out``, or adds it there; ``ways`` is how x and y lie."""
    dtype = out.dtype
    wide = compute_dtype(dtype)
    zero, one = _ADDRESSES[wide]
    a, b = ways
    (m, k), n = x.shape[-2:], y.shape[-1]
    # The other way round: see axis_plan.
    start = (_handle(), int(b.transposed), int(a.transposed), n, m, k, one)
    left, right, to, beta = x.data.ptr, y.data.ptr, out.data.ptr, one if add else zero
    if out.ndim == 2 and dtype in _DIRECT:
        run = getattr(libs.cublas, _DIRECT[dtype])
        run(*start, right, b.lead, left, a.lead, beta, to, n)
        return
    kind, end = _TYPES[dtype.name], (_COMPUTED[wide], _ANY_ALGORITHM)
    if out.ndim == 2:
        given = (right, kind, b.lead, left, kind, a.lead, beta, to, kind, n)
        libs.cublas.gemmEx(*start, *given, *end)
        return
    operands = (right, kind, b.lead, b.step, left, kind, a.lead, a.step)
    result = (to, kind, n, m * n, math.prod(out.shape[:-2]))
    libs.cublas.gemmStridedBatchedEx(*start, *operands, beta, *result, *end)


def _direct(x: Array, y: Array, out: Array, turned: tuple[int, int], add: bool = False) -> bool:
    """Writes the product of matrices to ``out``, or adds it there, if all lie without gaps.

    Args:
        x: A matrix of floats.
        y: One of the same type that fits it.
        out: Their product's place.
        turned: Of x and y 1 if it is to be transposed, else 0.
        add: See ``_product``.

    Returns:
        Whether it was done.
    """
    dtype = out.dtype
    k, wide = x.shape[1 - turned[0]], y.shape[1]
    if not (x._c_contiguous and y._c_contiguous and k and out.size and dtype in _DIRECT):
        return False
    zero, one = _ADDRESSES[dtype]
    m, n = out.shape
    sizes = (_handle(), turned[1], turned[0], n, m, k, one)
    operands = (y.data.ptr, wide, x.data.ptr, x.shape[1])
    getattr(libs.cublas, _DIRECT[dtype])(*sizes, *operands, one if add else zero, out.data.ptr, n)
    return True


def _product(x: Array, y: Array, out: Array | None = None, add: bool = False) -> Array:
    """``x @ y`` for arrays of rank two and more, those of floats into ``out`` if that is given.

    Args:
        x: Array of shape [..., m, k].
        y: Array of shape [..., k, n], of x's dtype.
        out: Array without gaps of the result's shape.
        add: The product is added to what ``out`` holds.

    Raises:
        ValueError: The shapes have no product.
    """
    if x.shape[-1] != y.shape[-2]:
        raise ValueError
    batch = x.shape[:-2]
    if batch != y.shape[:-2]:
        batch = np.broadcast_shapes(batch, y.shape[:-2])
    if out is None:
        out = empty((*batch, x.shape[-2], y.shape[-1]), x.dtype)
    if not out.size:
        return out
    if not x.shape[-1]:
        if not add:
            out.fill(0)
        return out
    if x.dtype not in FLOATS:
        return cupy.matmul(x, y)
    x, a = _as_matrices(x, batch)
    y, b = _as_matrices(y, batch)
    _multiply(x, y, out, (a, b), add)
    return out


def _as_matrices(x: Array, batch: tuple[int, ...]) -> tuple[Array, Batch]:
    """``x``, or a copy that cuBLAS can take, and how its matrices lie."""
    found = matrices(x.shape, x.strides, x.itemsize, batch)
    if found is None and not x._c_contiguous:
        x = contiguous(x)
        found = matrices(x.shape, x.strides, x.itemsize, batch)
    if found is None:  # broadcast along some of several axes
        x = cupy.broadcast_to(x, (*batch, *x.shape[-2:])).copy()
        found = matrices(x.shape, x.strides, x.itemsize, batch)
    assert found is not None
    return x, found


@kernel("matmul", "gpu")
def matmul(x: Array, y: Array, transpose_x: bool = False, transpose_y: bool = False) -> Array:
    if transpose_x and x.ndim > 1:
        x = x.swapaxes(-1, -2)
    if transpose_y and y.ndim > 1:
        y = y.swapaxes(-1, -2)
    try:
        if x.ndim == 2 == y.ndim:
            return _product(x, y)
        return _product_of_ranks(x, y)
    except ValueError:
        refuse_product(x, y)


def _product_of_ranks(x: Array, y: Array) -> Array:
    """The product where not both are matrices."""
    if x.ndim == 0 or y.ndim == 0:
        raise ValueError
    rows, columns = x.ndim == 1, y.ndim == 1
    a, b = x[None, :] if rows else x, y[:, None] if columns else y
    # One large product, not many small ones.
    if a.ndim > 2 == b.ndim and one_step(a.shape[:-1], a.strides[:-1]) is not None:
        out = _product(_rows(a), b).reshape((*a.shape[:-1], b.shape[-1]))
    else:
        out = _product(a, b)
    shape = out.shape
    if rows:
        shape = (*shape[:-2], shape[-1])
    return out.reshape(shape[:-1] if columns else shape)


def _rows(x: Array) -> Array:
    """``x`` as a matrix."""
    return x if x.ndim == 2 else x.reshape((math.prod(x.shape[:-1]), x.shape[-1]))


@functools.cache
def _fill(dtype: Any, width: int) -> Any:
    return compiled(FOLDER / "linalg.cu", f"fill_rows<{type_name(dtype)}, {width}>")


def _fill_rows(out: Array, row: Array) -> None:
    """Makes every row of the matrix ``out`` equal to ``row``."""
    width, row = PACK_BYTES // out.itemsize, contiguous(row)
    if row.size % width or row.data.ptr % PACK_BYTES or out.data.ptr % PACK_BYTES:
        width = 1
    n = out.size // width
    given = (n, row.size // width, row, out)
    _fill(out.dtype, width)((-(-n // THREADS),), (THREADS,), given)


@kernel("linear", "gpu")
def linear(x: Array, weight: Array, bias: Array | None = None) -> Array:
    if weight.ndim != 2 or not x.ndim or x.shape[-1] != weight.shape[0]:
        raise ValueError(
            "x must have shape [..., in] and weight [in, out], with the same number of features in"
        )
    wide = weight.shape[1]
    if bias is not None and bias.shape != (wide,):
        raise ValueError(f"bias must have one element a feature out, shape [{wide}]")
    rows = _rows(x)
    out = empty((rows.shape[0], wide), x.dtype)
    # The bias is there before the product is added to it, and joins before the only rounding.
    if bias is not None and out.size:
        _fill_rows(out, bias)
    if not _direct(rows, weight, out, (0, 0), bias is not None):
        _product(rows, weight, out, bias is not None)
    return out if x.ndim == 2 else out.reshape((*x.shape[:-1], wide))


@kernel("linear_grad", "gpu")
def linear_grad(
    x: Array | None,
    weight: Array | None,
    out_grad: Array,
    wanted: tuple[bool, ...],
    into: Into,
) -> tuple[Array | None, Array | None, Array | None]:
    flat, dtype = _rows(out_grad), out_grad.dtype
    x_grad = weight_grad = bias_grad = None
    if weight is not None:
        shape = (*out_grad.shape[:-1], weight.shape[0])
        x_grad = home(into, 0, shape, dtype)
        if x_grad is None:
            x_grad = empty(shape, dtype)
        if not _direct(flat, weight, _rows(x_grad), (0, 1)):
            _product(flat, weight.T, _rows(x_grad))
    if x is not None:
        rows = _rows(x)
        shape = (rows.shape[1], flat.shape[1])
        weight_grad = home(into, 1, shape, dtype)
        if weight_grad is None:
            weight_grad = empty(shape, dtype)
        if not _direct(rows, flat, weight_grad, (1, 0)):
            _product(rows.T, flat, weight_grad)
    if wanted[2]:
        bias_grad = sum_to(flat, (0,), home(into, 2, flat.shape[1:], dtype))
    return x_grad, weight_grad, bias_grad


@kernel("diagonal", "gpu")
def diagonal(x: Array, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    check_diagonal(x, axis1, axis2)
    return x.diagonal(offset, axis1, axis2)


@kernel("put_diagonal", "gpu")
def put_diagonal(
    x: Array, shape: tuple[int, ...], offset: int = 0, axis1: int = 0, axis2: int = 1
) -> Array:
    out = cupy.zeros(shape, x.dtype)
    out.diagonal(offset, axis1, axis2)[...] = x
    return out
