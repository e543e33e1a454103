"""layer_norm and rms_norm and their gradients, in one pass over memory.

A row is what is normalized together: the elements of the axes from ``begin_norm_axis`` on. Up to
16384 of one stay in registers; a longer one is read again in every pass. The gradients by
weight and bias are summed by blocks of rows, and these sums by a second launch, in a fixed order.
"""

from __future__ import annotations

import math
from typing import Any

import cupy

from minipaddle.device.dtype import compute_dtype
from minipaddle.ops.kernels.gpu.elementwise import home
from minipaddle.ops.kernels.gpu.fold import PACK_BYTES, Fold, aligned
from minipaddle.ops.kernels.gpu.launch import FOLDER, Elementwise, compiled, contiguous, empty
from minipaddle.ops.kernels.gpu.row_plan import Held, held
from minipaddle.ops.kernels.gpu.source import type_name
from minipaddle.ops.op import Array, kernel

Into = Any

_FILE = "normalization.cu"
_BLOCKS = 528  # that share the rows of a gradient: some for each processor of a large GPU
_SHARED = 48 * 1024  # bytes of a block's shared memory that need not be asked for
_MOST_SHARED = 200 * 1024

_sum = Fold("Sum<{T}, {T}>", "reduction.cu")
_term = Elementwise("WeightGradTerm", "weight_grad.cu")
_kernels: dict[Any, Any] = {}


def _lengths(x: Array, begin: int) -> tuple[int, int]:
    """Number of rows, and of their elements."""
    return math.prod(x.shape[:begin]), math.prod(x.shape[begin:])


def _flat(name: str, values: Array | None, length: int) -> Any:
    """Weight or bias for a kernel, one value for each element of a row; 0 if there is none."""
    if values is None:
        return 0
    if values.size != length:
        raise ValueError(f"{name} must have {length} elements, as a row; got {list(values.shape)}")
    return contiguous(values)


def _held(n: int, x: Array, *others: Any) -> Held:
    """How rows of ``x`` are held beside other arrays that lie alike; of these some may be 0."""
    well = all(isinstance(a, int) or aligned(a) for a in (x, *others))
    return held(n, PACK_BYTES // x.itemsize, well)


def _compiled(name: str, dtype: Any, way: Held, center: bool) -> Any:
    key = (name, dtype, way, center)
    found = _kernels.get(key)
    if found is None:
        last = "true" if center else "false"
        expression = f"{name}<{type_name(dtype)}, {way.width}, {way.packs}, {way.group}, {last}>"
        found = _kernels[key] = compiled(FOLDER / _FILE, expression)
    return found


def _normalize(
    x: Array, weight: Array | None, bias: Array | None, begin: int, epsilon: float, center: bool
) -> tuple[Array, Any, Array]:
    """The result, the means in float64 and the inverse deviations."""
    (rows, n), wide = _lengths(x, begin), compute_dtype(x.dtype)
    scale, shift = _flat("weight", weight, n), _flat("bias", bias, n)
    out, rstd = empty(x.shape, x.dtype), empty((rows,), wide)
    mean: Any = empty((rows,), "float64") if center else 0
    if not x.size:
        return out, cupy.zeros((rows,)), cupy.zeros((rows,), wide)
    x = contiguous(x)
    way = _held(n, x, scale, shift)
    run = _compiled("norm_rows", x.dtype, way, center)
    arrays = (x, scale, shift, out, mean, rstd)
    run((way.grid(rows),), (way.threads,), (rows, n, *arrays, float(epsilon)))
    return out, mean, rstd


def _gradients(
    x: Array,
    parameters: tuple[Array | None, Array | None],
    saved: tuple[Any, Array],
    out_grad: Array,
    begin: int,
    wanted: tuple[bool, ...],
    into: Into,
) -> list[Array | None]:
    """Gradients by x, and by weight and bias as far as they are wanted."""
    (rows, n), (weight, _), (mean, rstd) = _lengths(x, begin), parameters, saved
    asked = (*wanted[1:], False)
    chosen = [p if want else None for p, want in zip(parameters, asked, strict=False)]
    to = home(into, 0, x.shape, x.dtype)
    x_grad = empty(x.shape, x.dtype) if to is None else to
    if not x.size:
        return [x_grad, *(None if p is None else cupy.zeros(p.shape, p.dtype) for p in chosen)]
    x, g = contiguous(x), contiguous(out_grad)
    sums = [p is not None for p in chosen]
    scale, wide = _flat("weight", weight, n), compute_dtype(x.dtype)
    way = _held(n, x, g, scale, x_grad)
    shared = sum(sums) * way.threads * way.packs * way.width * wide.itemsize
    apart = any(sums) and (not way.packs or shared > _MOST_SHARED)
    if apart:
        shared = 0
    blocks = min(way.grid(rows), _BLOCKS if shared else 2**31 - 1)
    partial: Any = empty((sum(sums), blocks, n), wide) if shared else 0
    run = _compiled("norm_rows_grad", x.dtype, way, not isinstance(mean, int))
    if shared > _SHARED:
        run.allow_shared(_MOST_SHARED)
    arrays = (x, g, scale, mean, rstd, x_grad, partial)
    given = (rows, n, *arrays, (sums[0] + 2 * sums[1]) if shared else 0)
    run((blocks,), (way.threads,), given, shared_mem=shared)
    if apart:
        totals = _sums_of_long_rows((rows, n), x, g, saved, sums)
    else:
        totals = list(_sum(partial, (1,), dtype=x.dtype)) if shared else []
    found = iter(totals)
    return [x_grad, *(None if p is None else next(found).reshape(p.shape) for p in chosen)]


def _sums_of_long_rows(
    shape: tuple[int, int], x: Array, g: Array, saved: tuple[Any, Array], sums: list[bool]
) -> list[Array]:
    mean, rstd = saved
    grads, totals = g.reshape(shape), []
    if sums[0]:
        means = cupy.zeros((1, 1)) if isinstance(mean, int) else mean.reshape(-1, 1)
        operands = (x.reshape(shape), means, rstd.reshape(-1, 1), grads)
        terms = _term(*operands, dtype=rstd.dtype)
        totals.append(_sum(terms, (0,), dtype=x.dtype))
    if sums[1]:
        totals.append(_sum(grads, (0,)))
    return totals


@kernel("layer_norm_rows", "gpu")
def layer_norm_rows(
    x: Array,
    weight: Array | None = None,
    bias: Array | None = None,
    begin_norm_axis: int = 1,
    epsilon: float = 1e-5,
) -> tuple[Array, Array, Array]:
    return _normalize(x, weight, bias, begin_norm_axis, epsilon, True)


@kernel("layer_norm_rows_grad", "gpu")
def layer_norm_rows_grad(
    x: Array,
    weight: Array | None,
    bias: Array | None,
    mean: Array,
    rstd: Array,
    out_grad: Array,
    begin_norm_axis: int,
    epsilon: float,
    wanted: tuple[bool, ...],
    into: Into,
) -> list[Array | None]:
    saved = (mean, rstd)
    return _gradients(x, (weight, bias), saved, out_grad, begin_norm_axis, wanted, into)


@kernel("rms_norm_rows", "gpu")
def rms_norm_rows(
    x: Array, weight: Array | None = None, begin_norm_axis: int = 1, epsilon: float = 1e-5
) -> tuple[Array, Array]:
    out, _, rstd = _normalize(x, weight, None, begin_norm_axis, epsilon, False)
    return out, rstd


@kernel("rms_norm_rows_grad", "gpu")
def rms_norm_rows_grad(
    x: Array,
    weight: Array | None,
    rstd: Array,
    out_grad: Array,
    begin_norm_axis: int,
    epsilon: float,
    wanted: tuple[bool, ...],
    into: Into,
) -> list[Array | None]:
    saved = (0, rstd)
    return _gradients(x, (weight, None), saved, out_grad, begin_norm_axis, wanted, into)[:2]
