"""Gradients of sums and means."""

from __future__ import annotations

import math
from typing import Any

from minipaddle.ops.op import formula


def _spread(F: Any, out_grad: Any, shape: tuple[int, ...], axis: Any, keepdim: bool) -> Any:
    """``out_grad`` back on the axes that were summed away."""
    if not keepdim:
        axes = range(len(shape)) if axis is None else [a % len(shape) for a in axis]
        kept = tuple(1 if i in axes else n for i, n in enumerate(shape))
        out_grad = F.reshape(out_grad, kept)
    return F.expand(out_grad, shape)


@formula
def sum_grad(
    F: Any, x_shape: tuple[int, ...], out_grad: Any, axis: Any, keepdim: bool
) -> tuple[Any, ...]:
    return (_spread(F, out_grad, x_shape, axis, keepdim),)


@formula
def mean_grad(
    F: Any, x_shape: tuple[int, ...], out_grad: Any, axis: Any, keepdim: bool
) -> tuple[Any, ...]:
    spread = _spread(F, out_grad, x_shape, axis, keepdim)
    count = math.prod(x_shape) // max(1, math.prod(tuple(out_grad.shape)))
    return (F.multiply(spread, 1.0 / max(1, count)),)
