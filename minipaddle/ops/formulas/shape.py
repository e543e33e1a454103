"""Gradients of other views of the same values."""

from __future__ import annotations

from typing import Any

from minipaddle.ops.op import formula


@formula
def reshape_grad(F: Any, x_shape: tuple[int, ...], out_grad: Any) -> tuple[Any, ...]:
    return (F.reshape(out_grad, x_shape),)


@formula
def expand_grad(F: Any, out_grad: Any) -> tuple[Any, ...]:
    return (out_grad,)  # the engine sums over the axes that were expanded


@formula
def getitem_grad(F: Any, x_shape: tuple[int, ...], out_grad: Any, index: Any) -> tuple[Any, ...]:
    return (F.put_slice(out_grad, x_shape, index),)


@formula
def put_slice_grad(F: Any, out_grad: Any, index: Any) -> tuple[Any, ...]:
    return (F.getitem(out_grad, index),)


@formula
def transpose_grad(F: Any, out_grad: Any, perm: tuple[int, ...]) -> tuple[Any, ...]:
    inverse = [0] * len(perm)
    for place, axis in enumerate(perm):
        inverse[axis] = place
    return (F.transpose(out_grad, tuple(inverse)),)
