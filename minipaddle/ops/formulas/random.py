"""Gradients of the ops that drop elements: what was dropped forward is dropped again."""

from __future__ import annotations

from typing import Any

from minipaddle.ops.op import formula


@formula
def dropout_grad(F: Any, mask: Any, out_grad: Any, scale: float) -> tuple[Any, ...]:
    return (F.mask_scale(out_grad, mask, scale),)


@formula
def mask_scale_grad(F: Any, mask: Any, out_grad: Any, scale: float) -> tuple[Any, ...]:
    return (F.mask_scale(out_grad, mask, scale),)
