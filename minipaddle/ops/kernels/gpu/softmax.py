"""softmax and log_softmax over one axis, and their gradients.

Rows of up to 16384 elements stay in registers, so that memory is passed over once. Longer ones, and
those of an axis that has others behind it, are read twice.
"""

from __future__ import annotations

import math
from typing import Any

from minipaddle.device.dtype import compute_dtype
from minipaddle.ops.kernels.gpu.elementwise import home
from minipaddle.ops.kernels.gpu.fold import PACK_BYTES, TOTALS, Fold, aligned
from minipaddle.ops.kernels.gpu.launch import FOLDER, compiled, contiguous, empty
from minipaddle.ops.kernels.gpu.row_plan import held
from minipaddle.ops.kernels.gpu.source import type_name
from minipaddle.ops.kernels.gpu.spread import Spread
from minipaddle.ops.op import Array, kernel

Into = Any

_FILE = "softmax.cu"
_sums = Fold("LogSumExp<{T}>", _FILE, 16)
_products = Fold("RowSum<{T}>", _FILE, pairs="Product")
_total = Fold("RowSum<{T}>", _FILE)
_of = {False: Spread("SoftmaxOf<{T}>", _FILE), True: Spread("LogSoftmaxOf<{T}>", _FILE)}
_grad_of = {
    False: Spread("SoftmaxGradOf<{T}>", _FILE, two=True),
    True: Spread("LogSoftmaxGradOf<{T}>", _FILE, two=True),
}
_kernels: dict[Any, Any] = {}


def _middle(x: Array, axis: int) -> tuple[int, int, int]:
    """The shape of ``x`` as [outer, n, inner], where n is ``axis``."""
    rank = max(1, x.ndim)
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} is out of range; x has {x.ndim} axes")
    lengths, at = x.shape or (1,), axis % rank
    return math.prod(lengths[:at]), lengths[at], math.prod(lengths[at + 1 :])


def _by_rows(name: str, shape: tuple[int, int, int], log: bool, arrays: tuple[Array, ...]) -> bool:
    """Runs kernel ``name``, if it can hold the rows."""
    rows, n, inner = shape
    way = held(n, PACK_BYTES // arrays[0].itemsize, all(map(aligned, arrays)))
    if inner != 1 or not way.packs:
        return False
    key = (name, arrays[0].dtype, way, log)
    found = _kernels.get(key)
    if found is None:
        element, last = type_name(arrays[0].dtype), "true" if log else "false"
        expression = f"{name}<{element}, {way.width}, {way.packs}, {way.group}, {last}>"
        found = _kernels[key] = compiled(FOLDER / _FILE, expression)
    found((way.grid(rows),), (way.threads,), (rows, n, *arrays))
    return True


def _forward(x: Array, out: Array, axis: int, log: bool) -> Array:
    """Fills ``out``, which may be ``x``; both C-contiguous."""
    shape = _middle(x, axis)
    if not x.size or _by_rows("softmax_rows", shape, log, (x, out)):
        return out
    totals = _sums(x.reshape(shape), (1,), dtype=TOTALS)
    return _of[log](shape, (x,), out, (totals,))


def _new(x: Array, axis: int, dtype: Any, log: bool) -> Array:
    if dtype is not None and dtype != x.dtype:
        x = x.astype(dtype)
    return _forward(contiguous(x), empty(x.shape, x.dtype), axis, log)


def _backward(out: Array, out_grad: Array, axis: int, log: bool, into: Into) -> tuple[Array]:
    shape = _middle(out, axis)
    out, out_grad = contiguous(out), contiguous(out_grad)
    x_grad = home(into, 0, out.shape, out.dtype)
    if x_grad is None:
        x_grad = empty(out.shape, out.dtype)
    arrays = (out, out_grad)
    if not out.size or _by_rows("softmax_rows_grad", shape, log, (*arrays, x_grad)):
        return (x_grad,)
    dtype, g = compute_dtype(out.dtype), out_grad.reshape(shape)
    if log:
        total = _total(g, (1,), dtype=dtype)
    else:
        total = _products(out.reshape(shape), (1,), dtype=dtype, other=g)
    return (_grad_of[log](shape, arrays, x_grad, (total,)),)


@kernel("softmax", "gpu")
def softmax(x: Array, axis: int = -1, dtype: Any = None) -> Array:
    return _new(x, axis, dtype, False)


@kernel("log_softmax", "gpu")
def log_softmax(x: Array, axis: int = -1, dtype: Any = None) -> Array:
    return _new(x, axis, dtype, True)


@kernel("softmax_", "gpu")
def softmax_(x: Array, axis: int = -1, dtype: Any = None) -> Array:
    if dtype is not None and dtype != x.dtype:
        raise ValueError(f"softmax_ writes into x, which is {x.dtype.name} and not {dtype.name}")
    if x._c_contiguous:
        return _forward(x, x, axis, False)
    x[...] = softmax(x, axis)
    return x


@kernel("softmax_grad", "gpu")
def softmax_grad(
    out: Array, out_grad: Array, axis: int, wanted: tuple[bool, ...], into: Into
) -> tuple[Array]:
    return _backward(out, out_grad, axis, False, into)


@kernel("log_softmax_grad", "gpu")
def log_softmax_grad(
    out: Array, out_grad: Array, axis: int, wanted: tuple[bool, ...], into: Into
) -> tuple[Array]:
    return _backward(out, out_grad, axis, True, into)
