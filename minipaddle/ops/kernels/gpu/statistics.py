"""Variances, norms, distances and logarithms of sums of exponentials, each in one pass."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minipaddle.device.dtype import compute_dtype
from minipaddle.ops.kernels.gpu.elementwise import home
from minipaddle.ops.kernels.gpu.fold import Axis, Fold, count_of, kept_shape
from minipaddle.ops.kernels.gpu.launch import Elementwise
from minipaddle.ops.kernels.gpu.reduction import mean_in
from minipaddle.ops.op import Array, kernel

Into = Any

_FLOAT64 = np.dtype(np.float64)

_FILE, _AFTER = "statistics.cu", "statistics_grad.cu"

_logsumexp = Fold("LogSumExp<{T}>", _FILE, 16)
_logsumexp_grad = Elementwise("LogSumExpGrad", _AFTER)
_variance = Fold("Variance<{T}>", _FILE, 32)
_squared_norm = Fold("SquaredNorm<{T}>", _FILE)
_deviation = Fold("Deviation<{T}>", _FILE, 32)
_variance_grad = Elementwise("VarianceGrad", _AFTER)
_deviation_grad = Elementwise("DeviationGrad", _AFTER)
_apart, _beside, _scaled = (Elementwise(n, _AFTER) for n in ("Apart", "Beside", "Scaled"))


def norm_functor(order: float) -> str:
    """The functor of norms.cuh for norms of one order."""
    names = {0: "0", 1: "1", 2: "2", math.inf: "Max", -math.inf: "Min"}
    return f"Norm{names.get(order, 'P')}<{{T}}>"


_NORMS = {order: Fold(norm_functor(order), _FILE) for order in (0, 1, 2, 3, math.inf, -math.inf)}


def _norm_fold(order: float) -> Fold:
    return _NORMS.get(order, _NORMS[3])


@kernel("squared_norm", "gpu")
def squared_norm(x: Array) -> Array:
    return _squared_norm(x, dtype=_FLOAT64)


@kernel("logsumexp", "gpu")
def logsumexp(x: Array, axis: Axis = None, keepdim: bool = False) -> Array:
    return _logsumexp(x, axis, keepdim)


@kernel("logsumexp_grad", "gpu")
def logsumexp_grad(
    x: Array,
    out: Array,
    out_grad: Array,
    axis: Axis,
    keepdim: bool,
    wanted: tuple[bool, ...],
    into: Into,
) -> tuple[Array]:
    kept = kept_shape(x.shape, axis)
    to = home(into, 0, x.shape, x.dtype)
    return (_logsumexp_grad(x, out.reshape(kept), out_grad.reshape(kept), out=to),)


@kernel("var", "gpu")
def var(x: Array, axis: Axis = None, unbiased: bool = True, keepdim: bool = False) -> Array:
    return _variance(x, axis, keepdim, number=-float(unbiased), per_count=True)


@kernel("std", "gpu")
def std(x: Array, axis: Axis = None, unbiased: bool = True, keepdim: bool = False) -> Array:
    return _deviation(x, axis, keepdim, number=-float(unbiased), per_count=True)


def _mean_and_divisor(x: Array, axis: Axis, unbiased: bool) -> tuple[Array, int]:
    mean = mean_in(x, axis, True, compute_dtype(x.dtype))
    return mean, max(1, count_of(x.shape, axis) - unbiased)


@kernel("var_grad", "gpu")
def var_grad(
    x: Array,
    out_grad: Array,
    axis: Axis,
    unbiased: bool,
    keepdim: bool,
    wanted: tuple[bool, ...],
    into: Into,
) -> tuple[Array]:
    mean, divisor = _mean_and_divisor(x, axis, unbiased)
    g = out_grad.reshape(mean.shape)
    return (_variance_grad(x, mean, g, 2 / divisor, out=home(into, 0, x.shape, x.dtype)),)


@kernel("std_grad", "gpu")
def std_grad(
    x: Array,
    out: Array,
    out_grad: Array,
    axis: Axis,
    unbiased: bool,
    keepdim: bool,
    wanted: tuple[bool, ...],
    into: Into,
) -> tuple[Array]:
    mean, divisor = _mean_and_divisor(x, axis, unbiased)
    deviation, g = out.reshape(mean.shape), out_grad.reshape(mean.shape)
    to = home(into, 0, x.shape, x.dtype)
    return (_deviation_grad(x, mean, deviation, g, 1 / divisor, out=to),)


@kernel("norm", "gpu")
def norm(x: Array, p: Any = None, axis: Axis = None, keepdim: bool = False) -> Array:
    order = 2.0 if p is None or p == "fro" else p
    if isinstance(order, bool) or not isinstance(order, (int, float)):
        raise ValueError(f"p must be 'fro', inf, -inf or a number; got {p!r}")
    if math.isinf(order) and not count_of(x.shape, axis):
        raise ValueError(f"no element has no norm of order {p}; axis {axis} has length 0")
    return _norm_fold(order)(x, axis, keepdim, number=order)


@kernel("dist", "gpu")
def dist(x: Array, y: Array, p: float = 2.0) -> Array:
    sizes = _apart(x, y, dtype=compute_dtype(x.dtype))
    if p in (0, 1) or math.isinf(p) or not sizes.size:
        # Nothing is 0 apart, by any order.
        return _norm_fold(p if sizes.size else 1)(sizes, dtype=x.dtype, number=p)
    largest = _NORMS[math.inf if p > 0 else -math.inf](sizes)
    norms = _norm_fold(p)(_beside(sizes, largest, out=sizes), number=p)
    return _scaled(norms, largest, dtype=x.dtype)
