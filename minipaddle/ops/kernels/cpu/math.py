"""Mathematical functions of one tensor."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minipaddle.device.dtype import finfo
from minipaddle.ops.kernels.cpu.ufunc import filled, fused, unary
from minipaddle.ops.op import Array, kernel

# Op -> NumPy's function, where it is one.
_UFUNCS = {
    "abs": np.absolute,
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atanh": np.arctanh,
    "ceil": np.ceil,
    "cos": np.cos,
    "cosh": np.cosh,
    "exp": np.exp,
    "expm1": np.expm1,
    "floor": np.floor,
    "log": np.log,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "neg": np.negative,
    "reciprocal": np.reciprocal,
    "sin": np.sin,
    "sinh": np.sinh,
    "sqrt": np.sqrt,
    "tan": np.tan,
    "trunc": np.trunc,
}
for _name, _ufunc in _UFUNCS.items():
    unary(_name, _ufunc)


def _rsqrt(out: Array, x: Array) -> None:
    np.sqrt(x, out=out)
    np.reciprocal(out, out=out)


@kernel("rsqrt", "cpu")
def rsqrt(x: Array) -> Array:
    return filled(_rsqrt, x)


def _round(out: Array, x: Array, decimals: int) -> None:
    factor = 10.0 ** abs(decimals)
    if decimals:
        x = np.multiply(x, factor) if decimals > 0 else np.divide(x, factor)
    np.rint(x, out=out)
    if decimals:
        (np.divide if decimals > 0 else np.multiply)(out, factor, out=out)


@kernel("round", "cpu")
def round(x: Array, decimals: int = 0) -> Array:
    return filled(_round, x, decimals)


def _bound(value: Any, x: Array) -> Any:
    """A bound as x's dtype has it: for ints without its fraction, and no larger than they get."""
    if value is None or x.dtype.kind not in "iu":
        return value
    info = np.iinfo(x.dtype)
    return math.trunc(min(max(value, info.min), info.max))


def _clip(out: Array, x: Array, low: Any, high: Any) -> None:
    if low is not None:
        x = np.maximum(x, low, out=out)
    if high is not None:
        x = np.minimum(x, high, out=out)
    if x is not out:
        np.copyto(out, x)


@kernel("clip", "cpu")
def clip(x: Array, min: Any = None, max: Any = None) -> Array:
    return filled(_clip, x, _bound(min, x), _bound(max, x))


def _clip_grad(x_grad: Array, x: Array, out_grad: Array, low: Any, high: Any) -> None:
    inside = True if low is None else np.greater_equal(x, low)
    if high is not None:
        inside = np.logical_and(inside, np.less_equal(x, high))
    np.multiply(out_grad, inside, out=x_grad)


def _nan_to_num(out: Array, x: Array, nan: float, high: float, low: float) -> None:
    np.copyto(out, x)
    np.nan_to_num(out, copy=False, nan=nan, posinf=high, neginf=low)


@kernel("nan_to_num", "cpu")
def nan_to_num(x: Array, nan: float = 0.0, posinf: Any = None, neginf: Any = None) -> Array:
    largest = finfo(x.dtype).max  # of x's own type, in which a half type is not computed
    high, low = (
        largest if posinf is None else posinf,
        -largest if neginf is None else neginf,
    )
    return filled(_nan_to_num, x, nan, high, low)


def _logit(out: Array, x: Array, eps: float | None) -> None:
    if eps is not None:
        x = np.minimum(np.maximum(x, eps), 1 - eps)
    np.subtract(1, x, out=out)
    np.divide(x, out, out=out)
    np.log(out, out=out)


@kernel("logit", "cpu")
def logit(x: Array, eps: Any = None) -> Array:
    return filled(_logit, x, eps)


def _logit_grad(x_grad: Array, x: Array, out_grad: Array, eps: float | None) -> None:
    np.subtract(1, x, out=x_grad)
    np.multiply(x_grad, x, out=x_grad)
    np.divide(out_grad, x_grad, out=x_grad)
    if eps is not None:
        np.copyto(x_grad, 0, where=(x < eps) | (x > 1 - eps))


fused("clip_grad", _clip_grad)
fused("logit_grad", _logit_grad)
