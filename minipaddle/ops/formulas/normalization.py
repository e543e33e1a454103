"""Gradients of normalizations, of the rows alone, so that they can be differentiated again."""

from __future__ import annotations

import math
from typing import Any

from minipaddle.ops.op import formula


def _row_means(F: Any, x: Any) -> Any:
    return F.mean(x, (1,), True)


def _gradients(
    F: Any, x: Any, weight: Any, out_grad: Any, begin: int, epsilon: float, center: bool
) -> tuple[Any, Any, Any]:
    """By x, by weight, and ``out_grad`` summed over the rows."""
    shape = tuple(x.shape)
    matrix = (math.prod(shape[:begin]), math.prod(shape[begin:]))
    rows, g = F.reshape(x, matrix), F.reshape(out_grad, matrix)
    if center:
        rows = F.subtract(rows, _row_means(F, rows))
    inverse = F.rsqrt(F.add(_row_means(F, F.square(rows)), epsilon))
    normal = F.multiply(rows, inverse)
    u = g if weight is None else F.multiply(g, F.reshape(weight, (matrix[1],)))
    slope = F.subtract(u, F.multiply(normal, _row_means(F, F.multiply(u, normal))))
    if center:
        slope = F.subtract(slope, _row_means(F, u))
    x_grad = F.reshape(F.multiply(slope, inverse), shape)
    if weight is None:
        return x_grad, None, g
    by_weight = F.sum(F.multiply(g, normal), (0,), None, False)
    return x_grad, F.reshape(by_weight, tuple(weight.shape)), g


@formula
def layer_norm_rows_grad(
    F: Any,
    x: Any,
    weight: Any,
    bias: Any,
    mean: Any,
    rstd: Any,
    out_grad: Any,
    begin_norm_axis: int,
    epsilon: float,
) -> tuple[Any, ...]:
    by_x, by_weight, g = _gradients(F, x, weight, out_grad, begin_norm_axis, epsilon, True)
    if bias is None:
        return by_x, by_weight, None
    return by_x, by_weight, F.reshape(F.sum(g, (0,), None, False), tuple(bias.shape))


@formula
def rms_norm_rows_grad(
    F: Any, x: Any, weight: Any, rstd: Any, out_grad: Any, begin_norm_axis: int, epsilon: float
) -> tuple[Any, ...]:
    return _gradients(F, x, weight, out_grad, begin_norm_axis, epsilon, False)[:2]
