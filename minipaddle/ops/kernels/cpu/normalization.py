"""layer_norm and rms_norm and their gradients, some whole rows at a time.

A row is what is normalized together: the elements of the axes from ``begin_norm_axis`` on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from minipaddle.device.dtype import compute_dtype
from minipaddle.ops.kernels.cpu.block import Block, Into, for_each_block, home
from minipaddle.ops.op import Array, kernel

# Parts of a block of the usual size that rows are worked on in: three to four arrays of that length
# should stay in a core's cache.
_ARRAYS = 2


def _as_rows(array: Array, begin: int) -> Array:
    return array.reshape(math.prod(array.shape[:begin]), math.prod(array.shape[begin:]))


def _flat(name: str, values: Array | None, length: int, dtype: Any) -> Array | None:
    """Weight or bias, one value for each element of a row."""
    if values is None:
        return None
    if values.size != length:
        raise ValueError(f"{name} must have {length} elements, as a row; got {list(values.shape)}")
    return values.astype(dtype, copy=False).reshape(-1)


def _for_rows(work: Callable[[Iterable[Block]], Any], rows: Array, dtype: Any) -> list[Any]:
    if not rows.size:
        return []
    return for_each_block(work, rows.shape[:1], dtype.itemsize * rows.shape[1] * _ARRAYS)


def _squares(rows: Array) -> Array:
    """The mean of the squares of each row."""
    return np.asarray(np.vecdot(rows, rows)) / rows.dtype.type(rows.shape[1])


def _centered(rows: Array, mean: Array | None, rstd: Array, dtype: Any) -> Array:
    """``rows - mean``, where float32 cannot hold the mean well enough in two steps."""
    out = np.empty(rows.shape, dtype)
    if mean is None:
        np.copyto(out, rows)
        return out
    high = mean.astype(dtype)
    np.subtract(rows, high[:, None], out=out, dtype=dtype)
    low = (mean - high).astype(dtype)
    if np.any(np.abs(low) * rstd > np.finfo(dtype).eps):
        np.subtract(out, low[:, None], out=out)
    return out


def _normalize(
    x: Array, weight: Array | None, bias: Array | None, begin: int, epsilon: float, center: bool
) -> tuple[Array, Array, Array]:
    """The result, the means in float64 and the inverse deviations."""
    wide = compute_dtype(x.dtype)
    rows, out = _as_rows(x, begin), np.empty(x.shape, x.dtype)
    target, (count, length) = _as_rows(out, begin), rows.shape
    scale, shift = _flat("weight", weight, length, wide), _flat("bias", bias, length, wide)
    mean, rstd = np.zeros(count, np.float64), np.zeros(count, wide)
    even = np.full(length, 1.0 / max(1, length), wide)  # products with it are means

    def work(share: Iterable[Block]) -> None:
        for block in share:
            part = rows[block].astype(wide, copy=False)
            result = target[block] if wide == x.dtype else np.empty(part.shape, wide)
            centered = part
            if center:
                first = part @ even
                centered = np.subtract(part, first[:, None], out=result)
                low = centered @ even
                mean[block] = first.astype(np.float64) + low
                square = _squares(centered) - low * low
            else:
                square = _squares(part)
            rstd[block] = 1 / np.sqrt(square + wide.type(epsilon))
            if center and np.any(np.abs(low) * rstd[block] > np.finfo(wide).eps):
                np.subtract(result, low[:, None], out=result)
            np.multiply(centered, rstd[block][:, None], out=result)
            if scale is not None:
                np.multiply(result, scale, out=result)
            if shift is not None:
                np.add(result, shift, out=result)
            if wide != x.dtype:
                np.copyto(target[block], result, casting="same_kind")

    _for_rows(work, rows, wide)
    return out, mean, rstd


def _gradients(
    x: Array,
    parameters: Any,
    mean: Array | None,
    rstd: Array,
    out_grad: Array,
    begin: int,
    into: Into,
) -> list[Array | None]:
    """Gradients by x and the parameters, weight and bias.

    Of c = x - mean or x, r = rstd, g = out_grad and u = g weight, that by x is
    ``r u - c r³ mean(u c) - r mean(u)``, without the last term if there is no mean; that by weight
    sums ``r g c`` over the rows, and that by bias ``g``.
    """
    wide = compute_dtype(x.dtype)
    rows, out, (weight, bias) = _as_rows(x, begin), home(into, 0, x.shape, x.dtype), parameters
    target, grads, length = _as_rows(out, begin), _as_rows(out_grad, begin), rows.shape[1]
    scale = _flat("weight", weight, length, wide)

    def work(share: Iterable[Block]) -> Array:
        sums = np.zeros((2, length), np.float64)
        for block in share:
            r, g = rstd[block], grads[block].astype(wide, copy=False)
            c = _centered(rows[block], None if mean is None else mean[block], r, wide)
            result = target[block] if wide == x.dtype else np.empty(g.shape, wide)
            product = np.multiply(g, c, out=result)
            if weight is not None:
                sums[0] += r @ product
            if bias is not None:
                sums[1] += np.ones_like(r) @ g
            _by_rows(result, c, g, r, scale, mean is not None)
            if wide != x.dtype:
                np.copyto(target[block], result, casting="same_kind")
        return sums

    shares = _for_rows(work, rows, wide)
    sums = sum(shares, np.zeros((2, length)))
    found: list[Array | None] = [out]
    for values, total in ((weight, sums[0]), (bias, sums[1])):
        found.append(None if values is None else total.astype(x.dtype).reshape(values.shape))
    return found


def _by_rows(out: Array, c: Array, g: Array, r: Array, scale: Array | None, center: bool) -> None:
    """The gradient by x of some rows, where ``out`` holds ``g c``; overwrites c."""
    length = c.shape[1]
    weights = np.ones(length, out.dtype) if scale is None else scale
    np.multiply(c, ((out @ weights) * r * r / out.dtype.type(length))[:, None], out=c)
    if scale is None:
        np.subtract(g, c, out=out)
    else:
        np.multiply(g, scale, out=out)
        np.subtract(out, c, out=out)
    if center:
        np.subtract(out, ((g @ weights) / out.dtype.type(length))[:, None], out=out)
    np.multiply(out, r[:, None], out=out)


@kernel("layer_norm_rows", "cpu")
def layer_norm_rows(
    x: Array,
    weight: Array | None = None,
    bias: Array | None = None,
    begin_norm_axis: int = 1,
    epsilon: float = 1e-5,
) -> tuple[Array, Array, Array]:
    return _normalize(x, weight, bias, begin_norm_axis, epsilon, True)


@kernel("layer_norm_rows_grad", "cpu")
def layer_norm_rows_grad(
    x: Array,
    weight: Array | None,
    bias: Array | None,
    mean: Array,
    rstd: Array,
    out_grad: Array,
    begin_norm_axis: int,
    epsilon: float,
    wanted: tuple[bool, ...],
    into: Into,
) -> list[Array | None]:
    return _gradients(x, (weight, bias), mean, rstd, out_grad, begin_norm_axis, into)


@kernel("rms_norm_rows", "cpu")
def rms_norm_rows(
    x: Array, weight: Array | None = None, begin_norm_axis: int = 1, epsilon: float = 1e-5
) -> tuple[Array, Array]:
    out, _, rstd = _normalize(x, weight, None, begin_norm_axis, epsilon, False)
    return out, rstd


@kernel("rms_norm_rows_grad", "cpu")
def rms_norm_rows_grad(
    x: Array,
    weight: Array | None,
    rstd: Array,
    out_grad: Array,
    begin_norm_axis: int,
    epsilon: float,
    wanted: tuple[bool, ...],
    into: Into,
) -> list[Array | None]:
    return _gradients(x, (weight, None), None, rstd, out_grad, begin_norm_axis, into)[:2]
