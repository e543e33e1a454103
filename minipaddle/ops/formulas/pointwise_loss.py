"""Gradients of losses of single elements."""

from __future__ import annotations

from typing import Any

from minipaddle.ops.op import formula


@formula
def logistic_loss_grad(F: Any, input: Any, label: Any, out_grad: Any) -> tuple[Any, ...]:
    input_grad = F.multiply(out_grad, F.subtract(F.sigmoid(input), label))
    return input_grad, F.multiply(out_grad, F.multiply(input, -1.0))


@formula
def bernoulli_loss_grad(F: Any, input: Any, label: Any, out_grad: Any) -> tuple[Any, ...]:
    rest = F.subtract(1.0, input)
    spread = F.maximum(F.multiply(input, rest), 1e-12)
    input_grad = F.multiply(out_grad, F.divide(F.subtract(input, label), spread))
    of_input, of_rest = (F.maximum(F.log(p), -100.0) for p in (input, rest))
    return input_grad, F.multiply(out_grad, F.subtract(of_rest, of_input))


@formula
def huber_loss_grad(F: Any, input: Any, label: Any, out_grad: Any, delta: float) -> tuple[Any, ...]:
    near = F.clip(F.subtract(input, label), -delta, delta)
    input_grad = F.multiply(out_grad, near)
    return input_grad, F.multiply(input_grad, -1.0)


@formula
def divergence_loss_grad(
    F: Any, input: Any, label: Any, out_grad: Any, log_target: bool
) -> tuple[Any, ...]:
    if log_target:
        target = F.exp(label)
        slope = F.multiply(target, F.add(F.subtract(label, input), 1.0))
    else:
        target = F.relu(label)
        some = F.sign(target)  # 1 where there is a target, else 0
        logarithm = F.log(F.add(target, F.subtract(1.0, some)))
        slope = F.multiply(some, F.add(F.subtract(logarithm, input), 1.0))
    return F.multiply(out_grad, F.multiply(target, -1.0)), F.multiply(out_grad, slope)
