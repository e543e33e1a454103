"""Gradients of smooth activations."""

from __future__ import annotations

import math
from typing import Any

from minipaddle.ops.op import formula


@formula
def erf_grad(F: Any, x: Any, out_grad: Any) -> tuple[Any, ...]:
    bell = F.exp(F.multiply(F.square(x), -1.0))
    return (F.multiply(out_grad, F.multiply(bell, 2.0 / math.sqrt(math.pi))),)


@formula
def sigmoid_grad(F: Any, out: Any, out_grad: Any) -> tuple[Any, ...]:
    return (F.multiply(out_grad, F.multiply(out, F.subtract(1.0, out))),)


def _gated_slope(F: Any, x: Any, s: Any, slope: Any) -> Any:
    """The derivative of ``x s`` where ``s = sigmoid(v)`` and v has the derivative ``slope``."""
    inner = F.multiply(F.multiply(x, F.subtract(1.0, s)), slope)
    return F.multiply(s, F.add(inner, 1.0))


@formula
def silu_grad(F: Any, x: Any, out_grad: Any) -> tuple[Any, ...]:
    return (F.multiply(out_grad, _gated_slope(F, x, F.sigmoid(x), 1.0)),)


@formula
def gelu_grad(F: Any, x: Any, out: Any, out_grad: Any, approximate: bool) -> tuple[Any, ...]:
    square = F.square(x)
    if approximate:  # x (1 + tanh(u)) / 2 = x sigmoid(2 u)
        linear = 2.0 * math.sqrt(2.0 / math.pi)
        cubic = 0.044715 * linear
        s = F.sigmoid(F.multiply(x, F.add(F.multiply(square, cubic), linear)))
        slope = F.add(F.multiply(square, 3.0 * cubic), linear)
        return (F.multiply(out_grad, _gated_slope(F, x, s, slope)),)
    below = F.multiply(F.add(F.erf(F.multiply(x, math.sqrt(0.5))), 1.0), 0.5)
    density = F.multiply(F.exp(F.multiply(square, -0.5)), 1.0 / math.sqrt(2.0 * math.pi))
    return (F.multiply(out_grad, F.add(below, F.multiply(x, density))),)


@formula
def softplus_grad(F: Any, x: Any, out_grad: Any, beta: float, threshold: float) -> tuple[Any, ...]:
    z = F.multiply(x, beta)
    slope = F.sigmoid(z)
    if math.isfinite(threshold):
        linear = F.sign(F.relu(F.subtract(z, threshold)))  # 1 where z > threshold, else 0
        slope = F.add(slope, F.multiply(linear, F.subtract(1.0, slope)))
    return (F.multiply(out_grad, slope),)


def _row_sum(F: Any, x: Any, axis: int) -> Any:
    return F.sum(x, (axis,), None, True) if x.shape else x  # a 0-d row has one element


@formula
def softmax_grad(F: Any, out: Any, out_grad: Any, axis: int) -> tuple[Any, ...]:
    total = _row_sum(F, F.multiply(out, out_grad), axis)
    return (F.multiply(out, F.subtract(out_grad, total)),)


@formula
def log_softmax_grad(F: Any, out: Any, out_grad: Any, axis: int) -> tuple[Any, ...]:
    total = _row_sum(F, out_grad, axis)
    return (F.subtract(out_grad, F.multiply(F.exp(out), total)),)
