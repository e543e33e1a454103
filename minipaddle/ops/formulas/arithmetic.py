"""Gradients of arithmetic of two operands beyond the four operations."""

from __future__ import annotations

import math
from typing import Any

from minipaddle.ops.formulas.elementwise import not_zero, number
from minipaddle.ops.op import formula


@formula
def atan2_grad(F: Any, x: Any, y: Any, out_grad: Any) -> tuple[Any, ...]:
    part = F.divide(out_grad, F.add(F.square(x), F.square(y)))
    return F.multiply(part, y), F.neg(F.multiply(part, x))


def _split(F: Any, winner: Any, other: Any, out_grad: Any) -> tuple[Any, Any]:
    """The gradient where ``winner`` is ``other``, and where it is not."""
    equal = number(F, F.equal(winner, other), out_grad)
    return F.multiply(out_grad, equal), F.multiply(out_grad, F.subtract(1.0, equal))


@formula
def maximum_grad(F: Any, x: Any, y: Any, out_grad: Any) -> tuple[Any, ...]:
    y_grad, x_grad = _split(F, F.maximum(x, y), y, out_grad)
    return x_grad, y_grad


@formula
def minimum_grad(F: Any, x: Any, y: Any, out_grad: Any) -> tuple[Any, ...]:
    y_grad, x_grad = _split(F, F.minimum(x, y), y, out_grad)
    return x_grad, y_grad


@formula
def fmax_grad(F: Any, x: Any, y: Any, out_grad: Any) -> tuple[Any, ...]:
    return _split(F, F.fmax(x, y), x, out_grad)


@formula
def fmin_grad(F: Any, x: Any, y: Any, out_grad: Any) -> tuple[Any, ...]:
    return _split(F, F.fmin(x, y), x, out_grad)


@formula
def remainder_grad(F: Any, x: Any, y: Any, out_grad: Any) -> tuple[Any, ...]:
    return out_grad, None if x is None else F.neg(F.multiply(out_grad, F.floor_divide(x, y)))


@formula
def pow_grad(F: Any, x: Any, y: Any, out_grad: Any) -> tuple[Any, ...]:
    """The gradients y x^(y - 1) and x^y log(x), where 0 * infinity counts as 0.

    An exponent of 0 is taken for 1 in x^(y - 1), and a base of 0 for 1 in log(x): what they are
    multiplied with is 0.
    """
    x_grad = y_grad = None
    if isinstance(y, (int, float)):
        x_grad = F.multiply(out_grad, F.multiply(F.pow(x, y - 1 + (y == 0)), y))
    else:
        y_grad = F.multiply(out_grad, F.multiply(F.pow(x, y), _log(F, x)))
        if not isinstance(x, (int, float)):
            power = F.pow(x, F.add(F.subtract(y, 1.0), number(F, F.equal(y, 0.0), y)))
            x_grad = F.multiply(out_grad, F.multiply(power, y))
    return x_grad, y_grad


def _log(F: Any, x: Any) -> Any:
    if isinstance(x, (int, float)):
        return math.log(x or 1.0) if x >= 0 else math.nan
    return F.log(not_zero(F, x))
