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
