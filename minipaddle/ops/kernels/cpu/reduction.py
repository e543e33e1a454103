"""Reductions; half types are computed in float32 and rounded once."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minipaddle.device.dtype import compute_dtype
from minipaddle.ops.kernels.cpu.block import BLOCK_BYTES, Into, blockwise, narrowed, quiet
from minipaddle.ops.kernels.cpu.fold import (
    Axis,
    Part,
    axes_of,
    fold,
    kept_shape,
    product_part,
    sum_join,
    sum_part,
    ufunc_join,
    ufunc_part,
)
from minipaddle.ops.kernels.cpu.ufunc import widened
from minipaddle.ops.op import Array, kernel

_INT64 = np.dtype(np.int64)


def _reduce(
    ufunc: Any, x: Array, axis: Axis, keepdim: bool, part: Part, join: Part | None = None
) -> Array:
    """``x`` reduced by ``ufunc``, in the computing type; the small ones by NumPy alone."""
    if x.nbytes > BLOCK_BYTES:
        return fold(x, axis, keepdim, part, join or ufunc_join(ufunc))
    x = widened(x)
    return np.asarray(quiet(ufunc.reduce, x, axis, None, None, keepdim), order="C")


def _total(x: Array, axis: Axis, keepdim: bool) -> Array:
    return _reduce(np.add, x, axis, keepdim, sum_part, sum_join)


def _converted(x: Array, dtype: Any) -> Array:
    """``x`` in the type that its sum or product has."""
    if dtype is None and x.dtype.kind in "biu":
        dtype = _INT64
    return x if dtype is None else x.astype(dtype, copy=False)


@kernel("sum", "cpu")
def sum(x: Array, axis: Axis = None, dtype: Any = None, keepdim: bool = False) -> Array:
    if dtype is None and x.itemsize >= 4 and x.dtype.kind == "f" and x.nbytes <= BLOCK_BYTES:
        return np.asarray(quiet(np.add.reduce, x, axis, None, None, keepdim), order="C")
    x = _converted(x, dtype)
    return narrowed(_total(x, axis, keepdim), x.dtype)


@kernel("mean", "cpu")
def mean(x: Array, axis: Axis = None, keepdim: bool = False) -> Array:
    return _mean(x, axis, keepdim).astype(x.dtype, copy=False)


def _mean(x: Array, axis: Axis, keepdim: bool) -> Array:
    total = _total(x, axis, keepdim)
    if not x.size:  # the mean of nothing
        return np.full_like(total, np.nan)
    return np.divide(total, total.dtype.type(x.size // total.size), out=total)


@kernel("nansum", "cpu")
def nansum(x: Array, axis: Axis = None, dtype: Any = None, keepdim: bool = False) -> Array:
    x = _converted(x, dtype)
    if x.dtype.kind in "biu":
        return sum(x, axis, None, keepdim)

    def part(block: Array) -> Array:
        return sum_part(np.where(np.isnan(block), block.dtype.type(0), block))

    return narrowed(fold(x, axis, keepdim, part, sum_join), x.dtype)


@kernel("nanmean", "cpu")
def nanmean(x: Array, axis: Axis = None, keepdim: bool = False) -> Array:
    def count(block: Array) -> Array:
        return np.asarray(np.count_nonzero(np.equal(block, block), axis=1))

    total = nansum(widened(x), axis, None, keepdim)
    found = fold(x, axis, keepdim, count, ufunc_join(np.add)).astype(total.dtype)
    mean = quiet(np.divide, total, found)  # NaN is the mean of nothing
    return np.asarray(mean).astype(x.dtype, copy=False)


@kernel("prod", "cpu")
def prod(x: Array, axis: Axis = None, keepdim: bool = False, dtype: Any = None) -> Array:
    x = _converted(x, dtype)
    out = _reduce(np.multiply, x, axis, keepdim, product_part)
    return narrowed(out, x.dtype)


def _divide(out: Array, x: Array, y: Array) -> None:
    np.divide(x, y, out=out, casting="same_kind")


@kernel("prod_grad", "cpu")
def prod_grad(
    x: Array,
    out: Array,
    out_grad: Array,
    axis: Axis,
    keepdim: bool,
    wanted: tuple[bool, ...],
    into: Into,
) -> tuple[Array]:
    kept = kept_shape(x.shape, axis)
    g, product = out_grad.reshape(kept), out.reshape(kept)
    # Without a zero and an infinity anywhere the others' product is a quotient.
    if quiet(_is_plain, product):
        dtype = compute_dtype(out_grad.dtype)
        factor = quiet(np.multiply, g.astype(dtype), product.astype(dtype))
        return (blockwise(_divide, (factor, x), x.dtype),)
    return (quiet(_prod_grad_by_sides, x, g, axes_of(axis, x.ndim)),)


def _is_plain(product: Array) -> bool:
    return bool(np.all(np.isfinite(product)) and np.all(product))


def _prod_grad_by_sides(x: Array, g: Array, axes: tuple[int, ...]) -> Array:
    """The product of all others as that of those before times that of those after."""
    order = [*(a for a in range(x.ndim) if a not in axes), *axes]
    moved = x.astype(compute_dtype(g.dtype)).transpose(order)
    values = moved.reshape(-1, math.prod(x.shape[a] for a in axes)) if x.size else moved
    before, after = np.ones_like(values), np.ones_like(values)
    if x.size:
        np.multiply.accumulate(values[:, :-1], axis=1, out=before[:, 1:])
        np.multiply.accumulate(values[:, :0:-1], axis=1, out=after[:, -2::-1])
    others = np.multiply(before, after).reshape(moved.shape).transpose(np.argsort(order))
    return np.asarray(np.multiply(others, g)).astype(x.dtype)


def _extreme(name: str, ufunc: np.ufunc) -> None:
    """Registers ``ufunc``, a maximum or minimum, as the kernel of op ``name``."""

    def compute(x: Array, axis: Axis = None, keepdim: bool = False) -> Array:
        if 0 in [x.shape[a] for a in axes_of(axis, x.ndim)]:
            raise ValueError(f"no element has no {name}; axis {axis} must not have length 0")
        out = _reduce(ufunc, x, axis, keepdim, ufunc_part(ufunc))
        return out.astype(x.dtype, copy=False)

    kernel(name, "cpu")(compute)


def _extreme_grad(name: str, evenly: bool) -> None:
    """Registers the gradient of an extreme: to all elements that reach it, or shared among them."""

    def compute(
        x: Array,
        out: Array,
        out_grad: Array,
        axis: Axis,
        keepdim: bool,
        wanted: tuple[bool, ...],
        into: Into,
    ) -> tuple[Array]:
        kept = kept_shape(x.shape, axis)
        extreme, g = out.reshape(kept), out_grad.reshape(kept)
        if evenly:
            count = fold(x, axis, True, _count_equal, ufunc_join(np.add), (extreme,))
            g = np.divide(g, np.maximum(count, 1)).astype(compute_dtype(g.dtype))
        return (blockwise(_where_equal, (x, extreme, g)),)

    kernel(name, "cpu")(compute)


def _count_equal(block: Array, extreme: Array) -> Array:
    return np.asarray(np.count_nonzero(np.equal(block, extreme), axis=1))


def _where_equal(out: Array, x: Array, extreme: Array, g: Array) -> None:
    np.multiply(g, np.equal(x, extreme), out=out, casting="same_kind")


for _name, _ufunc in (("max", np.maximum), ("min", np.minimum)):
    _extreme(_name, _ufunc)
    _extreme("a" + _name, _ufunc)
    _extreme_grad(_name + "_grad", evenly=False)
    _extreme_grad(f"a{_name}_grad", evenly=True)


@kernel("all", "cpu")
def all(x: Array, axis: Axis = None, keepdim: bool = False) -> Array:
    return _reduce(np.logical_and, x, axis, keepdim, ufunc_part(np.logical_and))


@kernel("any", "cpu")
def any(x: Array, axis: Axis = None, keepdim: bool = False) -> Array:
    return _reduce(np.logical_or, x, axis, keepdim, ufunc_part(np.logical_or))
