"""Gradients of variances, norms and logarithms of sums of exponentials."""

from __future__ import annotations

import math
from typing import Any

from minipaddle.ops.formulas.cumulative import finite_below
from minipaddle.ops.formulas.elementwise import not_zero, number
from minipaddle.ops.formulas.reduction import kept
from minipaddle.ops.op import formula


def _count(x: Any, out_grad: Any) -> int:
    """How many elements of ``x`` enter one of the result."""
    groups: int = math.prod(tuple(out_grad.shape))
    elements: int = math.prod(tuple(x.shape))
    return elements // max(1, groups)


@formula
def logsumexp_grad(
    F: Any, x: Any, out: Any, out_grad: Any, axis: Any, keepdim: bool
) -> tuple[Any, ...]:
    shape = tuple(x.shape)
    total = finite_below(F, kept(F, out, shape, axis))
    return (F.multiply(F.exp(F.subtract(x, total)), kept(F, out_grad, shape, axis)),)


def _deviations(F: Any, x: Any, factor: Any, axis: Any, divisor: int) -> Any:
    center = F.subtract(x, F.mean(x, axis, True))
    factor = kept(F, factor, tuple(x.shape), axis)
    return F.multiply(center, F.multiply(factor, 1.0 / max(1, divisor)))


@formula
def var_grad(
    F: Any, x: Any, out_grad: Any, axis: Any, unbiased: bool, keepdim: bool
) -> tuple[Any, ...]:
    divisor = _count(x, out_grad) - unbiased
    return (_deviations(F, x, F.multiply(out_grad, 2.0), axis, divisor),)


def _quotient(F: Any, a: Any, b: Any) -> Any:
    """``a / b``, and 0 in this and all derivatives where b is 0: nothing flows there."""
    return F.multiply(F.divide(a, not_zero(F, b)), number(F, F.not_equal(b, 0.0), b))


@formula
def std_grad(
    F: Any, x: Any, out: Any, out_grad: Any, axis: Any, unbiased: bool, keepdim: bool
) -> tuple[Any, ...]:
    divisor = _count(x, out_grad) - unbiased
    return (_deviations(F, x, _quotient(F, out_grad, out), axis, divisor),)


@formula
def norm_grad(
    F: Any, x: Any, out: Any, out_grad: Any, p: Any, axis: Any, keepdim: bool
) -> tuple[Any, ...]:
    order = 2.0 if p is None or p == "fro" else p
    total, g = (kept(F, value, tuple(x.shape), axis) for value in (out, out_grad))
    sign = F.sign(x)
    if order == 2:
        return (F.multiply(x, _quotient(F, g, total)),)
    if order == 0:
        return (F.multiply(sign, F.multiply(g, 0.0)),)
    if order == 1:
        return (F.multiply(sign, g),)
    size = F.multiply(x, sign)
    if math.isinf(order):  # to all that reach it, as max
        return (F.multiply(F.multiply(sign, number(F, F.equal(size, total), x)), g),)
    ratio = F.subtract(F.log(not_zero(F, size)), F.log(not_zero(F, total)))
    return (F.multiply(F.multiply(sign, F.exp(F.multiply(ratio, order - 1.0))), g),)
