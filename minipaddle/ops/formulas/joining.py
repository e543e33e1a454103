"""The gradient of joining tensors: each gets its part back."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from minipaddle.ops.axes import normal_axis
from minipaddle.ops.op import formula


@formula
def concat_grad(
    F: Any, x_shape: tuple[tuple[int, ...], ...], out_grad: Any, axis: int
) -> tuple[Any, ...]:
    at = normal_axis(axis, len(x_shape[0]))
    ends = list(accumulate(shape[at] for shape in x_shape))
    before = (slice(None),) * at
    parts = zip([0, *ends], ends, strict=False)
    return tuple(F.getitem(out_grad, (*before, slice(*part))) for part in parts)


@formula
def split_lengths_grad(F: Any, out_grad: list[Any], axis: int) -> tuple[Any, ...]:
    return (F.concat(out_grad, axis),)


@formula
def unbind_grad(F: Any, out_grad: list[Any], axis: int) -> tuple[Any, ...]:
    shape = tuple(out_grad[0].shape)
    at = normal_axis(axis, len(shape) + 1)
    row = (*shape[:at], 1, *shape[at:])
    return (F.concat([F.reshape(g, row) for g in out_grad], at),)
