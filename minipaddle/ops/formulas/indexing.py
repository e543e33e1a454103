"""Gradients of what is gathered, overwritten and added to by position or condition."""

from __future__ import annotations

from typing import Any

from minipaddle.ops.op import formula


@formula
def select_grad(
    F: Any, x_shape: Any, condition: Any, y_shape: Any, out_grad: Any
) -> tuple[Any, ...]:
    return (
        None if x_shape is None else F.select(out_grad, condition, 0.0),
        None if y_shape is None else F.select(0.0, condition, out_grad),
    )


@formula
def masked_fill_grad(
    F: Any, x_shape: Any, mask: Any, value_shape: Any, out_grad: Any
) -> tuple[Any, ...]:
    return (
        None if x_shape is None else F.masked_fill(out_grad, mask, 0.0),
        None if value_shape is None else F.select(out_grad, mask, 0.0),
    )


@formula
def gather_flat_grad(
    F: Any, x_shape: tuple[int, ...], index: Any, out_grad: Any, first: int, last: int
) -> tuple[Any, ...]:
    return (F.sum_flat(out_grad, index, x_shape, first, last),)


@formula
def sum_flat_grad(F: Any, index: Any, out_grad: Any, first: int, last: int) -> tuple[Any, ...]:
    return (F.gather_flat(out_grad, index, first, last),)


@formula
def scatter_add_flat_grad(
    F: Any, index: Any, out_grad: Any, first: int, last: int
) -> tuple[Any, ...]:
    return out_grad, None if index is None else F.gather_flat(out_grad, index, first, last)


@formula
def scatter_flat_grad(
    F: Any, x_shape: Any, index: Any, value_shape: Any, out_grad: Any, first: int, last: int
) -> tuple[Any, ...]:
    x_grad = None if x_shape is None else F.scatter_flat(out_grad, index, 0.0, first, last)
    if value_shape is None:
        return x_grad, None
    # Of several values for one position the last one stays, and it alone has a gradient.
    stays = F.equal(F.later_equals(index), 0)
    after = len(out_grad.shape) - last
    stays = F.reshape(stays, (*index.shape, *[1] * after))
    return x_grad, F.select(F.gather_flat(out_grad, index, first, last), stays, 0.0)
