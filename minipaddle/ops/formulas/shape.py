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
    return (F.transpose(out_grad, _inverse(perm)),)


def _inverse(perm: tuple[int, ...]) -> tuple[int, ...]:
    """The order of axes that undoes ``perm``."""
    front = [axis % len(perm) for axis in perm]
    return tuple(front.index(axis) for axis in range(len(perm)))


@formula
def setitem_grad(
    F: Any, value_shape: tuple[int, ...], out_grad: Any, index: Any
) -> tuple[Any, ...]:
    return F.setitem(out_grad, 0, index), F.getitem(out_grad, index)


@formula
def reshape_put_back(F: Any, x: Any, out: Any, shape: Any) -> Any:
    return F.reshape(out, tuple(x.shape))


@formula
def getitem_put_back(F: Any, x: Any, out: Any, index: Any) -> Any:
    return F.setitem(x, out, index)


@formula
def transpose_put_back(F: Any, x: Any, out: Any, perm: tuple[int, ...]) -> Any:
    return F.transpose(out, _inverse(perm))
