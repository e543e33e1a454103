"""Gradients of the mathematical functions of one tensor."""

from __future__ import annotations

import math
from typing import Any

from minipaddle.ops.formulas.elementwise import number
from minipaddle.ops.op import formula


@formula
def abs_grad(F: Any, x: Any, out_grad: Any) -> tuple[Any, ...]:
    return (F.multiply(out_grad, F.sign(x)),)


@formula
def neg_grad(F: Any, out_grad: Any) -> tuple[Any, ...]:
    return (F.neg(out_grad),)


# ---- exponentials, logarithms, roots ----


@formula
def exp_grad(F: Any, out: Any, out_grad: Any) -> tuple[Any, ...]:
    return (F.multiply(out_grad, out),)


@formula
def expm1_grad(F: Any, out: Any, out_grad: Any) -> tuple[Any, ...]:
    return (F.multiply(out_grad, F.add(out, 1.0)),)


@formula
def log_grad(F: Any, x: Any, out_grad: Any) -> tuple[Any, ...]:
    return (F.divide(out_grad, x),)


@formula
def log2_grad(F: Any, x: Any, out_grad: Any) -> tuple[Any, ...]:
    return (F.divide(out_grad, F.multiply(x, math.log(2.0))),)


@formula
def log10_grad(F: Any, x: Any, out_grad: Any) -> tuple[Any, ...]:
    return (F.divide(out_grad, F.multiply(x, math.log(10.0))),)


@formula
def log1p_grad(F: Any, x: Any, out_grad: Any) -> tuple[Any, ...]:
    return (F.divide(out_grad, F.add(x, 1.0)),)


@formula
def sqrt_grad(F: Any, out: Any, out_grad: Any) -> tuple[Any, ...]:
    return (F.divide(F.multiply(out_grad, 0.5), out),)


@formula
def rsqrt_grad(F: Any, out: Any, out_grad: Any) -> tuple[Any, ...]:
    return (F.multiply(F.multiply(out_grad, -0.5), F.pow(out, 3.0)),)


@formula
def reciprocal_grad(F: Any, out: Any, out_grad: Any) -> tuple[Any, ...]:
    return (F.neg(F.multiply(out_grad, F.square(out))),)


# ---- circular and hyperbolic functions ----


@formula
def sin_grad(F: Any, x: Any, out_grad: Any) -> tuple[Any, ...]:
    return (F.multiply(out_grad, F.cos(x)),)


@formula
def cos_grad(F: Any, x: Any, out_grad: Any) -> tuple[Any, ...]:
    return (F.neg(F.multiply(out_grad, F.sin(x))),)


@formula
def tan_grad(F: Any, out: Any, out_grad: Any) -> tuple[Any, ...]:
    return (F.multiply(out_grad, F.add(F.square(out), 1.0)),)


@formula
def asin_grad(F: Any, x: Any, out_grad: Any) -> tuple[Any, ...]:
    return (F.multiply(out_grad, F.rsqrt(F.subtract(1.0, F.square(x)))),)


@formula
def acos_grad(F: Any, x: Any, out_grad: Any) -> tuple[Any, ...]:
    return (F.neg(F.multiply(out_grad, F.rsqrt(F.subtract(1.0, F.square(x))))),)


@formula
def atan_grad(F: Any, x: Any, out_grad: Any) -> tuple[Any, ...]:
    return (F.divide(out_grad, F.add(F.square(x), 1.0)),)


@formula
def sinh_grad(F: Any, x: Any, out_grad: Any) -> tuple[Any, ...]:
    return (F.multiply(out_grad, F.cosh(x)),)


@formula
def cosh_grad(F: Any, x: Any, out_grad: Any) -> tuple[Any, ...]:
    return (F.multiply(out_grad, F.sinh(x)),)


@formula
def asinh_grad(F: Any, x: Any, out_grad: Any) -> tuple[Any, ...]:
    return (F.multiply(out_grad, F.rsqrt(F.add(F.square(x), 1.0))),)


@formula
def acosh_grad(F: Any, x: Any, out_grad: Any) -> tuple[Any, ...]:
    return (F.multiply(out_grad, F.rsqrt(F.subtract(F.square(x), 1.0))),)


@formula
def atanh_grad(F: Any, x: Any, out_grad: Any) -> tuple[Any, ...]:
    return (F.divide(out_grad, F.subtract(1.0, F.square(x))),)


# ---- steps and bounds ----


def _step(name: str) -> None:
    """Registers the gradient of op ``name``, which is flat between its steps."""

    def gradient(F: Any, out_grad: Any) -> tuple[Any, ...]:
        return (F.multiply(out_grad, 0.0),)

    gradient.__name__ = name + "_grad"
    formula(gradient)


for _name in ("ceil", "floor", "round", "trunc"):
    _step(_name)


@formula
def nan_to_num_grad(F: Any, x: Any, out_grad: Any) -> tuple[Any, ...]:
    return (F.multiply(out_grad, F.isfinite(x)),)


@formula
def clip_grad(F: Any, x: Any, out_grad: Any, min: Any, max: Any) -> tuple[Any, ...]:
    gradient = out_grad
    if min is not None:
        gradient = F.multiply(gradient, F.greater_equal(x, min))
    if max is not None:
        gradient = F.multiply(gradient, F.less_equal(x, max))
    return (gradient,)


@formula
def logit_grad(F: Any, x: Any, out_grad: Any, eps: Any) -> tuple[Any, ...]:
    gradient = F.divide(out_grad, F.multiply(x, F.subtract(1.0, x)))
    if eps is not None:
        inside = F.equal(F.clip(x, eps, 1 - eps), x)
        gradient = F.multiply(gradient, number(F, inside, out_grad))
    return (gradient,)
