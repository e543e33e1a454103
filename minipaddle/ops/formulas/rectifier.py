"""Gradients of relu and its kin. The sign of a relu is the step: 1 to the right of 0, else 0."""

from __future__ import annotations

from typing import Any

from minipaddle.ops.formulas.elementwise import number
from minipaddle.ops.op import formula


def _is_above(F: Any, x: Any, bound: float) -> Any:
    return F.sign(F.relu(F.subtract(x, bound)))


def _is_between(F: Any, x: Any, low: float, high: float) -> Any:
    return F.multiply(_is_above(F, x, low), F.sign(F.relu(F.subtract(high, x))))


def _select(F: Any, ones: Any, factor: Any) -> Any:
    """1 where ``ones`` is 1, ``factor`` where it is 0."""
    return F.add(ones, F.multiply(F.subtract(1.0, ones), factor))


@formula
def relu_grad(F: Any, out: Any, out_grad: Any) -> tuple[Any, ...]:
    return (F.multiply(out_grad, F.sign(out)),)  # sign(relu(x)) is 1 where x > 0 and 0 elsewhere


@formula
def leaky_relu_grad(F: Any, out: Any, out_grad: Any, negative_slope: float) -> tuple[Any, ...]:
    return (F.multiply(out_grad, _select(F, F.sign(F.relu(out)), negative_slope)),)


@formula
def elu_grad(F: Any, out: Any, out_grad: Any, alpha: float) -> tuple[Any, ...]:
    left = F.subtract(alpha, F.relu(F.multiply(out, -1.0)))
    return (F.multiply(out_grad, _select(F, F.sign(F.relu(out)), left)),)


@formula
def hardtanh_grad(F: Any, out: Any, out_grad: Any, min: float, max: float) -> tuple[Any, ...]:
    return (F.multiply(out_grad, _is_between(F, out, min, max)),)


@formula
def hardsigmoid_grad(F: Any, out: Any, out_grad: Any, slope: float) -> tuple[Any, ...]:
    return (F.multiply(out_grad, F.multiply(_is_between(F, out, 0.0, 1.0), slope)),)


@formula
def hardswish_grad(F: Any, x: Any, out_grad: Any) -> tuple[Any, ...]:
    gate = F.hardsigmoid(x, 1 / 6, 0.5)
    bend = F.multiply(_is_between(F, gate, 0.0, 1.0), F.multiply(x, 1 / 6))
    return (F.multiply(out_grad, F.add(gate, bend)),)


@formula
def thresholded_relu_grad(F: Any, x: Any, out_grad: Any, threshold: float) -> tuple[Any, ...]:
    return (F.multiply(out_grad, _is_above(F, x, threshold)),)


@formula
def hardshrink_grad(F: Any, out: Any, out_grad: Any) -> tuple[Any, ...]:
    return (F.multiply(out_grad, number(F, F.not_equal(out, 0), out)),)


@formula
def softshrink_grad(F: Any, out: Any, out_grad: Any) -> tuple[Any, ...]:
    return (F.multiply(out_grad, number(F, F.not_equal(out, 0), out)),)
