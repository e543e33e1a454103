"""softmax and log_softmax over one axis, and their gradients, a few whole rows at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from minipaddle.device.dtype import compute_dtype
from minipaddle.ops.kernels.cpu.block import BLOCK_BYTES, Into, share_out
from minipaddle.ops.op import Array, kernel

# Neighbours on the axes behind that are worked together: long enough for NumPy's vector loops.
_WIDE = 128


def _alongside(
    compute: Callable[..., None], arrays: tuple[Array, ...], dtype: Any, axis: int
) -> Array:
    """An array of ``dtype`` filled by ``compute(out, *arrays)``, blocks that have all of ``axis``.

    ``compute`` works along axis 1 of parts [outer, n, inner]. It gets copies in float32 of half
    types and, the operands being read only, a float ``out`` to work in.
    """
    first = arrays[0]
    rank = max(1, first.ndim)
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} is out of range; x has {first.ndim} axes")
    out = np.empty(first.shape, dtype)
    if not out.size:
        return out
    wide = compute_dtype(out.dtype)
    lengths = first.shape or (1,)
    at = axis % rank
    outer, n, inner = math.prod(lengths[:at]), lengths[at], math.prod(lengths[at + 1 :])
    target, *sources = (a.reshape(outer, n, inner) for a in (out, *arrays))

    def work(share: Iterable[tuple[slice, slice]]) -> None:
        for o, i in share:
            part = target[o, :, i]
            result = part if wide == out.dtype else np.empty(part.shape, wide)
            compute(result, *(s[o, :, i].astype(wide, copy=False) for s in sources))
            if result is not part:
                np.copyto(part, result, casting="same_kind")

    share_out(work, _blocks(outer, n, inner, wide.itemsize))
    return out


def _blocks(outer: int, n: int, inner: int, itemsize: int) -> list[tuple[slice, slice]]:
    limit = max(1, BLOCK_BYTES // (itemsize * n))  # rows of n elements
    width = min(inner, max(_WIDE, limit))
    height = max(1, limit // width)
    return [
        (slice(o, o + height), slice(i, i + width))
        for o in range(0, outer, height)
        for i in range(0, inner, width)
    ]


def _softmax(out: Array, x: Array) -> None:
    np.subtract(x, np.max(x, axis=1, keepdims=True), out=out)
    np.exp(out, out=out)
    np.divide(out, np.sum(out, axis=1, keepdims=True), out=out)


def _log_softmax(out: Array, x: Array) -> None:
    np.subtract(x, np.max(x, axis=1, keepdims=True), out=out)
    total = np.sum(np.exp(out), axis=1, keepdims=True)
    np.subtract(out, np.log(total), out=out)


def _softmax_grad(x_grad: Array, out: Array, out_grad: Array) -> None:
    np.multiply(out, out_grad, out=x_grad)
    total = np.sum(x_grad, axis=1, keepdims=True)
    np.subtract(out_grad, total, out=x_grad)
    np.multiply(x_grad, out, out=x_grad)


def _log_softmax_grad(x_grad: Array, out: Array, out_grad: Array) -> None:
    np.exp(out, out=x_grad)
    np.multiply(x_grad, np.sum(out_grad, axis=1, keepdims=True), out=x_grad)
    np.subtract(out_grad, x_grad, out=x_grad)


@kernel("softmax", "cpu")
def softmax(x: Array, axis: int = -1, dtype: Any = None) -> Array:
    return _alongside(_softmax, (x,), x.dtype if dtype is None else dtype, axis)


@kernel("log_softmax", "cpu")
def log_softmax(x: Array, axis: int = -1, dtype: Any = None) -> Array:
    return _alongside(_log_softmax, (x,), x.dtype if dtype is None else dtype, axis)


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
    return (_alongside(_softmax_grad, (out, out_grad), out.dtype, axis),)


@kernel("log_softmax_grad", "cpu")
def log_softmax_grad(
    out: Array, out_grad: Array, axis: int, wanted: tuple[bool, ...], into: Into
) -> tuple[Array]:
    return (_alongside(_log_softmax_grad, (out, out_grad), out.dtype, axis),)
