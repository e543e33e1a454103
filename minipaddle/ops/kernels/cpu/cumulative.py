"""Cumulative sums and products, in float64 and rounded once, and their gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from minipaddle.device.dtype import FLOATS, compute_dtype
from minipaddle.ops.kernels.cpu.block import Into, narrowed, quiet, share_out
from minipaddle.ops.kernels.cpu.fold import Group, as_middle, axes_of, groups
from minipaddle.ops.op import Array, kernel

# Length of the inner axis from which on the Python code around each row is worth it.
_LONG_ROW = 64


def _middle(x: Array, axis: int | None) -> Array:
    """``x`` as [outer, n, inner]: n is ``axis``, or everything where that is None."""
    return as_middle(x, axes_of(None if axis is None else (axis,), x.ndim))


def _scan(x: Array, axis: int | None, dtype: Any, ufunc: Any, backwards: bool = False) -> Array:
    """All results on the way as ``ufunc`` joins the elements along ``axis``, in ``dtype``."""
    source = _middle(x.astype(dtype, copy=False), axis)
    out = np.empty(source.shape, dtype)
    target = out
    if backwards:
        source, target = source[:, ::-1], out[:, ::-1]
    wide = np.float64 if dtype in FLOATS else dtype

    def work(share: Iterable[Group]) -> None:
        for o, i, pieces in share:
            before = None
            for m in pieces:
                block = source[o, m, i].astype(wide)
                if before is not None:
                    block[:, 0] = ufunc(before, block[:, 0])
                _accumulate(ufunc, block)
                before = block[:, -1].copy()
                np.copyto(target[o, m, i], block, casting="unsafe")

    if x.size:
        share_out(work, groups(source.shape, 8))
    return out.reshape(-1 if axis is None else x.shape)


def _accumulate(ufunc: Any, block: Array) -> None:
    if block.shape[2] < _LONG_ROW:
        ufunc.accumulate(block, axis=1, out=block)
        return
    for k in range(1, block.shape[1]):
        ufunc(block[:, k - 1], block[:, k], out=block[:, k])


@kernel("cumsum", "cpu")
def cumsum(x: Array, axis: int | None = None, dtype: Any = None) -> Array:
    return _scan(x, axis, dtype or x.dtype, np.add)


@kernel("cumsum_grad", "cpu")
def cumsum_grad(
    x_shape: tuple[int, ...],
    out_grad: Array,
    axis: int | None,
    wanted: tuple[bool, ...],
    into: Into,
) -> tuple[Array]:
    return (_scan(out_grad, axis, out_grad.dtype, np.add, backwards=True).reshape(x_shape),)


@kernel("cumprod", "cpu")
def cumprod(x: Array, dim: int | None = None, dtype: Any = None) -> Array:
    return _scan(x, dim, dtype or x.dtype, np.multiply)


@kernel("logcumsumexp", "cpu")
def logcumsumexp(x: Array, axis: int | None = None, dtype: Any = None) -> Array:
    return _scan(x, axis, dtype or x.dtype, np.logaddexp)


def _recurrence(
    g: Array,
    axis: int | None,
    ratio: Callable[[slice, slice, slice], Array],
    scale: Callable[[Array, slice, slice, slice], None],
) -> Array:
    """Sums t of ``t[k] = g[k] + ratio[k] * t[k + 1]`` along ``axis``, from the end, in float64.

    Args:
        g: Float array.
        axis: Axis, or None for all elements in a row.
        ratio: The ratios of a block, as a new array [o, m, i]; the last of all is not asked for.
        scale: Multiplies the sums of a block, in place.
    """
    source = _middle(g, axis)
    out = np.empty(source.shape, compute_dtype(g.dtype))

    def work(share: Iterable[Group]) -> None:
        for o, i, pieces in share:
            after = None
            for m in reversed(pieces):
                sums, ratios = source[o, m, i].astype(np.float64), ratio(o, m, i)
                if after is not None:
                    sums[:, -1] += ratios[:, -1] * after
                _solve(sums, ratios[:, : sums.shape[1] - 1])
                after = sums[:, 0].copy()
                scale(sums, o, m, i)
                out[o, m, i] = sums

    if g.size:
        share_out(work, groups(source.shape, 8))
    return out


def _solve(sums: Array, ratios: Array) -> None:
    """The recurrence within a block, in steps of 1, 2, 4, ... elements at once."""
    n, step = sums.shape[1], 1
    while step < n:
        sums[:, : n - step] += ratios * sums[:, step:]
        ratios = ratios[:, : max(0, n - 2 * step)] * ratios[:, step:]
        step *= 2


def _next(m: slice) -> slice:
    return slice(m.start + 1, m.stop + 1)


@kernel("cumprod_grad", "cpu")
def cumprod_grad(
    x: Array,
    out: Array,
    out_grad: Array,
    dim: int | None,
    wanted: tuple[bool, ...],
    into: Into,
) -> tuple[Array]:
    dtype = compute_dtype(out_grad.dtype)
    if np.all(out) and np.all(np.isfinite(out)):  # no zero anywhere: one can divide
        terms = quiet(np.multiply, out_grad.astype(dtype), out.astype(dtype))
        total = _scan(terms, dim, dtype, np.add, backwards=True).reshape(x.shape)
        return (np.asarray(quiet(np.divide, total, x)).astype(x.dtype, copy=False),)
    factors = _middle(x, dim)
    products = out.reshape(factors.shape)

    def ratio(o: slice, m: slice, i: slice) -> Array:
        return factors[o, _next(m), i].astype(np.float64)

    def scale(sums: Array, o: slice, m: slice, i: slice) -> None:
        first = 1 if m.start == 0 else 0  # no product stands before the first element
        sums[:, first:] *= products[o, m.start + first - 1 : m.stop - 1, i]

    grad = _recurrence(out_grad, dim, ratio, scale)
    return (narrowed(grad, x.dtype).reshape(x.shape),)


@kernel("logcumsumexp_grad", "cpu")
def logcumsumexp_grad(
    x: Array,
    out: Array,
    out_grad: Array,
    axis: int | None,
    wanted: tuple[bool, ...],
    into: Into,
) -> tuple[Array]:
    values = _middle(x, axis)
    so_far = out.reshape(values.shape)

    def ratio(o: slice, m: slice, i: slice) -> Array:
        later = so_far[o, _next(m), i].astype(np.float64)
        rise = so_far[o, m.start : m.start + later.shape[1], i] - later
        return np.where(np.isnan(rise), 0.0, np.exp(rise))

    def scale(sums: Array, o: slice, m: slice, i: slice) -> None:
        total = so_far[o, m, i].astype(np.float64)
        sums *= np.exp(values[o, m, i] - np.where(np.isneginf(total), 0.0, total))

    grad = _recurrence(out_grad, axis, ratio, scale)
    return (narrowed(grad, x.dtype).reshape(x.shape),)
