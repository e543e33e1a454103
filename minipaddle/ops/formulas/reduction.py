"""Gradients of reductions."""

from __future__ import annotations

import math
from typing import Any

from minipaddle.ops.formulas.cumulative import along, backwards
from minipaddle.ops.formulas.elementwise import not_zero, number
from minipaddle.ops.op import formula


def _axes(shape: tuple[int, ...], axis: Any) -> list[int]:
    """The folded axes, counted from the front."""
    return list(range(len(shape))) if axis is None else [a % len(shape) for a in axis]


def kept(F: Any, value: Any, shape: tuple[int, ...], axis: Any) -> Any:
    """``value``, one number a group, with length 1 on the axes of ``shape`` that were folded."""
    axes = _axes(shape, axis)
    return F.reshape(value, tuple(1 if i in axes else n for i, n in enumerate(shape)))


def _spread(F: Any, out_grad: Any, shape: tuple[int, ...], axis: Any, keepdim: bool) -> Any:
    """``out_grad`` back on the axes that were summed away."""
    return F.expand(out_grad if keepdim else kept(F, out_grad, shape, axis), shape)


@formula
def sum_grad(
    F: Any, x_shape: tuple[int, ...], out_grad: Any, axis: Any, keepdim: bool
) -> tuple[Any, ...]:
    return (_spread(F, out_grad, x_shape, axis, keepdim),)


@formula
def mean_grad(
    F: Any, x_shape: tuple[int, ...], out_grad: Any, axis: Any, keepdim: bool
) -> tuple[Any, ...]:
    count = math.prod(x_shape) // max(1, math.prod(tuple(out_grad.shape)))
    return (_spread(F, F.multiply(out_grad, 1.0 / max(1, count)), x_shape, axis, keepdim),)


@formula
def nansum_grad(F: Any, x: Any, out_grad: Any, axis: Any, keepdim: bool) -> tuple[Any, ...]:
    g = kept(F, out_grad, tuple(x.shape), axis)
    return (F.multiply(number(F, F.equal(x, x), out_grad), g),)


@formula
def nanmean_grad(F: Any, x: Any, out_grad: Any, axis: Any, keepdim: bool) -> tuple[Any, ...]:
    there = number(F, F.equal(x, x), x)
    count = F.sum(there, axis, None, True)
    g = F.divide(kept(F, out_grad, tuple(x.shape), axis), not_zero(F, count))
    return (F.multiply(there, g),)


@formula
def prod_grad(F: Any, x: Any, out: Any, out_grad: Any, axis: Any, keepdim: bool) -> tuple[Any, ...]:
    # Axis by axis, each with the product of all others on it; nothing is divided, so zeros need no
    # thought.
    x = F.cast(x, out_grad.dtype) if x.dtype != out_grad.dtype else x
    shape = tuple(x.shape)
    folded = [a for a in _axes(shape, axis) if shape[a] != 1]
    stages = [x]
    for a in folded[:-1]:
        stages.append(F.prod(stages[-1], (a,), True, None))
    g = kept(F, out_grad, shape, axis)
    for a, stage in reversed(list(zip(folded, stages, strict=False))):
        g = F.multiply(_product_of_others(F, stage, a), g)
    return (g,)


def _product_of_others(F: Any, x: Any, axis: int) -> Any:
    """For each element the product of those before it times that of those after it."""
    shape = tuple(x.shape)
    n = shape[axis]
    before = F.cumprod(x, axis, None)
    after = backwards(F, F.cumprod(backwards(F, x, axis), axis, None), axis)
    first = F.getitem(after, along(axis, 1, 2))
    last = F.getitem(before, along(axis, max(0, n - 2), max(0, n - 1)))
    inner = F.multiply(
        F.getitem(before, along(axis, 0, max(0, n - 2))), F.getitem(after, along(axis, 2, None))
    )
    ends = F.add(
        F.put_slice(first, shape, along(axis, 0, min(1, n))),
        F.put_slice(last, shape, along(axis, max(0, n - 1), n)),
    )
    return F.add(ends, F.put_slice(inner, shape, along(axis, min(1, n), max(0, n - 1))))


def _extreme_grad(F: Any, x: Any, out: Any, out_grad: Any, axis: Any, evenly: bool) -> Any:
    shape = tuple(x.shape)
    there = number(F, F.equal(x, kept(F, out, shape, axis)), x)
    g = kept(F, out_grad, shape, axis)
    if evenly:
        g = F.divide(g, not_zero(F, F.sum(there, axis, None, True)))
    return F.multiply(there, g)


def _extreme(name: str, evenly: bool) -> None:
    """Registers the gradient of op ``name``, a maximum or minimum."""

    def gradient(
        F: Any, x: Any, out: Any, out_grad: Any, axis: Any, keepdim: bool
    ) -> tuple[Any, ...]:
        return (_extreme_grad(F, x, out, out_grad, axis, evenly),)

    gradient.__name__ = name + "_grad"
    formula(gradient)


for _name in ("max", "min"):
    _extreme(_name, evenly=False)
    _extreme("a" + _name, evenly=True)
