"""Gradients of losses."""

from __future__ import annotations

import math
from typing import Any

from minipaddle.ops.op import formula


@formula
def mse_loss_grad(F: Any, input: Any, label: Any, out_grad: Any, reduction: str) -> tuple[Any, ...]:
    difference = F.subtract(input, label)
    count = math.prod(tuple(difference.shape)) if reduction == "mean" else 1
    input_grad = F.multiply(difference, F.multiply(out_grad, 2.0 / max(1, count)))
    return input_grad, F.multiply(input_grad, -1.0)


@formula
def hard_cross_entropy_grad(
    F: Any,
    input: Any,
    label: Any,
    total: Any,
    out_grad: Any,
    axis: int,
    ignore_index: int,
    label_smoothing: float,
) -> tuple[Any, ...]:
    """The softmax is worked out anew, so that it can be differentiated."""
    shape = tuple(input.shape)
    at = axis % len(shape)
    used = F.multiply(out_grad, F.cast(F.not_equal(label, ignore_index), out_grad.dtype))
    factor = F.reshape(used, (*shape[:at], 1, *shape[at + 1 :]))
    even = F.subtract(F.softmax(input, at, None), label_smoothing / max(1, shape[at]))
    marked = F.put_class(used, label, shape[at], at, ignore_index)
    marked = F.multiply(marked, 1.0 - label_smoothing)
    return (F.subtract(F.multiply(even, factor), marked),)


@formula
def take_class_grad(
    F: Any, x_shape: tuple[int, ...], label: Any, out_grad: Any, axis: int, ignore_index: int
) -> tuple[Any, ...]:
    return (F.put_class(out_grad, label, x_shape[axis], axis, ignore_index),)


@formula
def put_class_grad(
    F: Any, label: Any, out_grad: Any, axis: int, ignore_index: int
) -> tuple[Any, ...]:
    return (F.take_class(out_grad, label, axis, ignore_index),)
