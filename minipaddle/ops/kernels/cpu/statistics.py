"""Variances, norms and logarithms of sums of exponentials: folds in more than one pass."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minipaddle.device.dtype import compute_dtype
from minipaddle.ops.kernels.cpu.block import Into, blockwise, narrowed, quiet
from minipaddle.ops.kernels.cpu.fold import (
    Axis,
    Part,
    axes_of,
    fold,
    kept_shape,
    square_sum_part,
    sum_join,
    sum_part,
    ufunc_join,
    ufunc_part,
)
from minipaddle.ops.kernels.cpu.ufunc import widened
from minipaddle.ops.op import Array, kernel


def _count(x: Array, axis: Axis) -> int:
    return math.prod(x.shape[a] for a in axes_of(axis, x.ndim))


@kernel("logsumexp", "cpu")
def logsumexp(x: Array, axis: Axis = None, keepdim: bool = False) -> Array:
    kept = kept_shape(x.shape, axis)
    if _count(x, axis):
        top = fold(x, axis, True, ufunc_part(np.maximum), ufunc_join(np.maximum))
        top = np.where(np.isfinite(top), top, top.dtype.type(0))
    else:
        top = np.zeros(kept, compute_dtype(x.dtype))
    out = fold(x, axis, keepdim, _exponentials, sum_join, (top,))
    out = np.asarray(np.add(quiet(np.log, out), top.reshape(out.shape)))
    return narrowed(out, x.dtype)


def _exponentials(block: Array, top: Array) -> Array:
    shifted = np.subtract(block, top)
    return sum_part(np.exp(shifted, out=shifted))


@kernel("logsumexp_grad", "cpu")
def logsumexp_grad(
    x: Array,
    out: Array,
    out_grad: Array,
    axis: Axis,
    keepdim: bool,
    wanted: tuple[bool, ...],
    into: Into,
) -> tuple[Array]:
    kept = kept_shape(x.shape, axis)
    total = np.where(np.isneginf(out), out.dtype.type(0), out).reshape(kept)
    operands = (widened(x), widened(total), widened(out_grad.reshape(kept)))
    return (blockwise(_softmax, operands).astype(x.dtype, copy=False),)


def _softmax(out: Array, x: Array, total: Array, g: Array) -> None:
    np.subtract(x, total, out=out)
    np.exp(out, out=out)
    np.multiply(out, g, out=out)


def _mean(x: Array, axis: Axis) -> Array:
    """Means that are off by one rounding: a second pass adds the mean of what the first left."""
    count = max(1, _count(x, axis))
    first = np.asarray(fold(x, axis, True, sum_part, sum_join) / count)
    rest = fold(x, axis, True, _sum_of_deviations, sum_join, (first,))
    return np.asarray(quiet(np.add, first, rest / count))


def _sum_of_deviations(block: Array, mean: Array) -> Array:
    return sum_part(np.subtract(block, mean))


def _variance(x: Array, axis: Axis, unbiased: bool, keepdim: bool) -> Array:
    """In two passes: squares of the deviations from the mean, which lose nothing."""
    squares = fold(x, axis, keepdim, _squares, sum_join, (_mean(x, axis),))
    divisor = _count(x, axis) - unbiased
    return np.divide(squares, squares.dtype.type(divisor if divisor > 0 else np.nan), out=squares)


def _squares(block: Array, mean: Array) -> Array:
    return square_sum_part(np.subtract(block, mean))


@kernel("var", "cpu")
def var(x: Array, axis: Axis = None, unbiased: bool = True, keepdim: bool = False) -> Array:
    return narrowed(_variance(x, axis, unbiased, keepdim), x.dtype)


@kernel("std", "cpu")
def std(x: Array, axis: Axis = None, unbiased: bool = True, keepdim: bool = False) -> Array:
    return np.asarray(np.sqrt(_variance(x, axis, unbiased, keepdim))).astype(x.dtype, copy=False)


def _deviations(x: Array, axis: Axis, factor: Array) -> tuple[Array]:
    operands = (widened(x), _mean(x, axis), factor.reshape(kept_shape(x.shape, axis)))
    return (blockwise(_scaled_deviation, operands).astype(x.dtype, copy=False),)


def _scaled_deviation(out: Array, x: Array, mean: Array, factor: Array) -> None:
    np.subtract(x, mean, out=out)
    np.multiply(out, factor, out=out)


@kernel("var_grad", "cpu")
def var_grad(
    x: Array,
    out_grad: Array,
    axis: Axis,
    unbiased: bool,
    keepdim: bool,
    wanted: tuple[bool, ...],
    into: Into,
) -> tuple[Array]:
    g = widened(out_grad)
    divisor = max(1, _count(x, axis) - unbiased)
    return _deviations(x, axis, np.asarray(np.multiply(g, g.dtype.type(2 / divisor))))


@kernel("std_grad", "cpu")
def std_grad(
    x: Array,
    out: Array,
    out_grad: Array,
    axis: Axis,
    unbiased: bool,
    keepdim: bool,
    wanted: tuple[bool, ...],
    into: Into,
) -> tuple[Array]:
    g, deviation = widened(out_grad), widened(out)
    divisor = max(1, _count(x, axis) - unbiased)
    divisors = np.where(deviation == 0, 1, deviation) * g.dtype.type(divisor)
    return _deviations(x, axis, np.asarray(quiet(np.divide, g, divisors.astype(g.dtype))))


@kernel("norm", "cpu")
def norm(x: Array, p: Any = None, axis: Axis = None, keepdim: bool = False) -> Array:
    order = 2.0 if p is None or p == "fro" else p
    if isinstance(order, bool) or not isinstance(order, (int, float)):
        raise ValueError(f"p must be 'fro', inf, -inf or a number; got {p!r}")
    if math.isinf(order):
        ufunc = np.maximum if order > 0 else np.minimum
        if not _count(x, axis):
            raise ValueError(f"no element has no norm of order {p}; axis {axis} has length 0")
        out = fold(x, axis, keepdim, _powers(None, ufunc_part(ufunc)), ufunc_join(ufunc))
        return narrowed(out, x.dtype)
    part = square_sum_part if order == 2 else _powers(order, sum_part)
    out = fold(x, axis, keepdim, part, sum_join)
    if order not in (0, 1):
        out = np.asarray(np.sqrt(out) if order == 2 else quiet(np.power, out, 1 / order))
    return narrowed(out, x.dtype)


def _powers(order: float | None, then: Part) -> Part:
    """The part that folds the elements' absolute values, to a power, by another part."""

    def part(block: Array) -> Array:
        if order == 0:
            return then(np.not_equal(block, 0).astype(block.dtype))
        size = np.abs(block)
        if order is not None and order != 1:
            np.power(size, block.dtype.type(order), out=size)
        return then(size)

    return part
