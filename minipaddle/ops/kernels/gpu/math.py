"""Mathematical functions of one array."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from minipaddle.device.dtype import FLOATS, finfo
from minipaddle.ops.kernels.gpu.elementwise import fused, home, register, unary
from minipaddle.ops.kernels.gpu.launch import Elementwise
from minipaddle.ops.op import Array, kernel

_FILE = "math.cu"
_NAMES = (
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "exp",
    "expm1", "floor", "log", "log10", "log1p", "log2", "neg", "reciprocal", "rsqrt", "sign", "sin",
    "sinh", "sqrt", "square", "tan", "tanh", "trunc",
)  # fmt: skip
for _name in _NAMES:
    unary(_name, _name.capitalize(), _FILE)
for _name in ("abs", "cos", "reciprocal", "rsqrt", "sin", "sqrt", "square", "tan", "tanh"):
    fused(_name + "_grad", _name.capitalize() + "Grad", _FILE)

_round = Elementwise("Round", _FILE)
_round_decimals = Elementwise("RoundDecimals", _FILE)
_round_tens = Elementwise("RoundTens", _FILE)


def _rounded(x: Array, decimals: int = 0, out: Array | None = None) -> Array:
    if not decimals:
        return _round(x, out=out)
    run = _round_decimals if decimals > 0 else _round_tens
    return run(x, 10.0 ** abs(decimals), out=out)


def _bounds(dtype: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """The bounds as ``dtype`` has them: for ints without fraction, and no larger than they get."""
    if dtype in FLOATS:
        return -math.inf if low is None else low, math.inf if high is None else high
    info = np.iinfo(dtype)
    least, largest = int(info.min), int(info.max)
    return (
        least if low is None else math.trunc(min(max(low, least), largest)),
        largest if high is None else math.trunc(min(max(high, least), largest)),
    )


_clip = Elementwise("Clip", _FILE)
_clip_grad = Elementwise("ClipGrad", _FILE)


def _clipped(x: Array, low: Any = None, high: Any = None, out: Array | None = None) -> Array:
    low, high = _bounds(x.dtype, low, high)
    return _clip(x, min(low, high), high, out=out)  # the upper one wins


@kernel("clip_grad", "gpu")
def clip_grad(
    x: Array, out_grad: Array, min: Any, max: Any, wanted: tuple[bool, ...], into: Any
) -> tuple[Array]:
    out = home(into, 0, x.shape, x.dtype)
    return (_clip_grad(x, out_grad, *_bounds(x.dtype, min, max), out=out),)


@functools.cache
def _largest(dtype: Any) -> float:
    return finfo(dtype).max


_nan_to_num = Elementwise("NanToNum", _FILE)


def _numbers(
    x: Array,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
    out: Array | None = None,
) -> Array:
    high = _largest(x.dtype) if posinf is None else posinf
    low = -_largest(x.dtype) if neginf is None else neginf
    return _nan_to_num(x, nan, high, low, out=out)


_logit = Elementwise("Logit", _FILE)
_logit_grad = Elementwise("LogitGrad", _FILE)


def _inside(eps: float | None) -> tuple[float, float]:
    """Where logit is not clipped."""
    return (-math.inf, math.inf) if eps is None else (eps, 1 - eps)


def _log_odds(x: Array, eps: float | None = None, out: Array | None = None) -> Array:
    return _logit(x, *_inside(eps), out=out)


@kernel("logit_grad", "gpu")
def logit_grad(
    x: Array, out_grad: Array, eps: Any, wanted: tuple[bool, ...], into: Any
) -> tuple[Array]:
    out = home(into, 0, x.shape, x.dtype)
    return (_logit_grad(x, out_grad, *_inside(eps), out=out),)


register("round", _rounded)
register("clip", _clipped)
register("nan_to_num", _numbers)
register("logit", _log_odds)
unary("signed_power", "SignedPower", _FILE)
