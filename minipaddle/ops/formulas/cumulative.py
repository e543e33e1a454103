"""Gradients of cumulative sums and products."""

from __future__ import annotations

import math
from typing import Any

from minipaddle.ops.formulas.elementwise import number
from minipaddle.ops.op import formula


def along(axis: int, start: int | None, stop: int | None, step: int | None = None) -> Any:
    """The index of a stretch of one axis."""
    return (*(slice(None),) * axis, slice(start, stop, step))


def backwards(F: Any, x: Any, axis: int) -> Any:
    """``x`` from its end."""
    return F.getitem(x, along(axis, None, None, -1))


def _flat(F: Any, x: Any, axis: int | None) -> tuple[Any, int]:
    """``x`` and a non-negative axis; without an axis a vector and its only one."""
    if axis is None:
        return F.reshape(x, (math.prod(tuple(x.shape)),)), 0
    return x, axis % len(x.shape)


def _recurrence(F: Any, g: Any, ratios: Any, axis: int) -> Any:
    """Sums t of ``t[k] = g[k] + ratios[k] * t[k + 1]`` from the end, by steps of 1, 2, 4, ..."""
    shape = tuple(g.shape)
    n, step = shape[axis], 1
    while step < n:
        carried = F.multiply(ratios, F.getitem(g, along(axis, step, None)))
        g = F.add(g, F.put_slice(carried, shape, along(axis, 0, n - step)))
        rest = max(0, n - 2 * step)
        ratios = F.multiply(
            F.getitem(ratios, along(axis, 0, rest)), F.getitem(ratios, along(axis, step, None))
        )
        step *= 2
    return g


@formula
def cumsum_grad(
    F: Any, x_shape: tuple[int, ...], out_grad: Any, axis: int | None
) -> tuple[Any, ...]:
    at = 0 if axis is None else axis % len(x_shape)
    total = F.cumsum(backwards(F, out_grad, at), at, None)
    return (F.reshape(backwards(F, total, at), x_shape),)


@formula
def cumprod_grad(F: Any, x: Any, out: Any, out_grad: Any, dim: int | None) -> tuple[Any, ...]:
    # x[k] is in all products from the k-th on: that before k times the sum of g[i] x[k+1] ... x[i].
    # Nothing is divided, so zeros need no thought.
    y, axis = _flat(F, x, dim)
    shape = tuple(y.shape)
    n = shape[axis]
    sums = _recurrence(F, out_grad, F.getitem(y, along(axis, 1, None)), axis)
    before = F.getitem(out, along(axis, 0, max(0, n - 1)))
    rest = F.multiply(before, F.getitem(sums, along(axis, 1, None)))
    first = F.put_slice(F.getitem(sums, along(axis, 0, 1)), shape, along(axis, 0, 1))
    grad = F.add(first, F.put_slice(rest, shape, along(axis, 1, None)))
    return (F.reshape(grad, tuple(x.shape)),)


@formula
def logcumsumexp_grad(F: Any, x: Any, out: Any, out_grad: Any, axis: int | None) -> tuple[Any, ...]:
    # The sum of g[i] exp(x[k] - out[i]) over i >= k, by ratios that are at most 1 as out rises.
    y, at = _flat(F, x, axis)
    n = tuple(y.shape)[at]
    earlier = F.getitem(out, along(at, 0, max(0, n - 1)))
    rise = F.subtract(earlier, F.getitem(out, along(at, 1, None)))
    ratios = F.nansum(F.exp(rise), (), None, False)  # -inf less -inf: nothing to carry
    sums = _recurrence(F, out_grad, ratios, at)
    grad = F.multiply(F.exp(F.subtract(y, finite_below(F, out))), sums)
    return (F.reshape(grad, tuple(x.shape)),)


def finite_below(F: Any, out: Any) -> Any:
    """``out`` with 0 for -inf, from which nothing but -inf is subtracted."""
    lost = number(F, F.equal(out, float("-inf")), out)
    return F.nansum(F.multiply(out, F.subtract(1.0, lost)), (), None, False)
