"""softmax and log_softmax over one axis, and their gradients, a few whole rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from minipaddle.device.dtype import compute_dtype
from minipaddle.ops.kernels.cpu.block import Block, Into, for_each_block
from minipaddle.ops.op import Array, kernel


def _as_rows(array: Array, axis: int) -> Array:
    """The array with ``axis`` last, as a matrix where that needs no copy."""
    rows = np.moveaxis(np.atleast_1d(array), axis, -1)
    return rows.reshape(-1, rows.shape[-1]) if rows.flags.c_contiguous else rows


def _rowwise(
    compute: Callable[..., None], arrays: tuple[Array, ...], dtype: Any, axis: int
) -> Array:
    """An array of ``dtype`` filled by ``compute(out, *arrays)``, blocks of rows along ``axis``.

    ``compute`` gets copies in float32 of half types and, the operands being read only, a float
    ``out`` to work in.
    """
    first = arrays[0]
    rank = max(1, first.ndim)
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} is out of range; x has {first.ndim} axes")
    out = np.empty(first.shape, dtype)
    if not out.size:
        return out
    wide = compute_dtype(out.dtype)
    target, *sources = (_as_rows(a, axis) for a in (out, *arrays))
    if any(s.ndim != target.ndim for s in sources):  # some are contiguous and some are not
        target, *sources = (np.moveaxis(np.atleast_1d(a), axis, -1) for a in (out, *arrays))

    def work(share: Iterable[Block]) -> None:
        for block in share:
            part = target[block]
            result = part if wide == out.dtype else np.empty(part.shape, wide)
            compute(result, *(s[block].astype(wide, copy=False) for s in sources))
            if result is not part:
                np.copyto(part, result, casting="same_kind")

    for_each_block(work, target.shape[:-1], wide.itemsize * target.shape[-1])
    return out


def _softmax(out: Array, x: Array) -> None:
    np.subtract(x, np.max(x, axis=-1, keepdims=True), out=out)
    np.exp(out, out=out)
    np.divide(out, np.sum(out, axis=-1, keepdims=True), out=out)


def _log_softmax(out: Array, x: Array) -> None:
    np.subtract(x, np.max(x, axis=-1, keepdims=True), out=out)
    total = np.sum(np.exp(out), axis=-1, keepdims=True)
    np.subtract(out, np.log(total), out=out)


def _softmax_grad(x_grad: Array, out: Array, out_grad: Array) -> None:
    np.multiply(out, out_grad, out=x_grad)
    total = np.sum(x_grad, axis=-1, keepdims=True)
    np.subtract(out_grad, total, out=x_grad)
    np.multiply(x_grad, out, out=x_grad)


def _log_softmax_grad(x_grad: Array, out: Array, out_grad: Array) -> None:
    np.exp(out, out=x_grad)
    np.multiply(x_grad, np.sum(out_grad, axis=-1, keepdims=True), out=x_grad)
    np.subtract(out_grad, x_grad, out=x_grad)


@kernel("softmax", "cpu")
def softmax(x: Array, axis: int = -1, dtype: Any = None) -> Array:
    return _rowwise(_softmax, (x,), x.dtype if dtype is None else dtype, axis)


@kernel("log_softmax", "cpu")
def log_softmax(x: Array, axis: int = -1, dtype: Any = None) -> Array:
    return _rowwise(_log_softmax, (x,), x.dtype if dtype is None else dtype, axis)


@kernel("softmax_", "cpu")
def softmax_(x: Array, axis: int = -1, dtype: Any = None) -> Array:
    if dtype is not None and dtype != x.dtype:
        raise ValueError(f"softmax_ writes into x, which is {x.dtype.name} and not {dtype.name}")
    np.copyto(x, softmax(x, axis))
    return x


@kernel("softmax_grad", "cpu")
def softmax_grad(
    out: Array, out_grad: Array, axis: int, wanted: tuple[bool, ...], into: Into
) -> tuple[Array]:
    return (_rowwise(_softmax_grad, (out, out_grad), out.dtype, axis),)


@kernel("log_softmax_grad", "cpu")
def log_softmax_grad(
    out: Array, out_grad: Array, axis: int, wanted: tuple[bool, ...], into: Into
) -> tuple[Array]:
    return (_rowwise(_log_softmax_grad, (out, out_grad), out.dtype, axis),)
