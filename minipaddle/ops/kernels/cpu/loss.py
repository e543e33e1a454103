"""Losses in one pass each."""

from __future__ import annotations

import numpy as np

from minipaddle.device.dtype import FLOAT32, is_half
from minipaddle.ops.op import Array, kernel


@kernel("mse_loss", "cpu")
def mse_loss(input: Array, label: Array, reduction: str = "mean") -> Array:
    if is_half(input.dtype):
        loss = mse_loss(input.astype(FLOAT32), label.astype(FLOAT32), reduction)
        return loss.astype(input.dtype)
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"reduction must be 'mean', 'sum' or 'none'; got {reduction!r}")
    difference = np.asarray(np.subtract(input, label))
    if reduction == "none":
        return np.square(difference, out=difference)
    flat = difference.reshape(-1)
    total = np.asarray(np.dot(flat, flat))
    if reduction == "sum":
        return total
    if not flat.size:  # the mean of nothing
        return np.full((), np.nan, total.dtype)
    return np.asarray(np.divide(total, total.dtype.type(flat.size)))


@kernel("mse_loss_grad", "cpu")
def mse_loss_grad(
    input: Array,
    label: Array,
    out_grad: Array,
    reduction: str,
    wanted: tuple[bool, ...],
    into: tuple[Array | None, ...] | None,
) -> tuple[Array | None, Array | None]:
    half = is_half(input.dtype)
    if half:
        input, label = input.astype(FLOAT32), label.astype(FLOAT32)
    gradient = np.asarray(np.subtract(input, label))
    factor = 2.0 / max(1, gradient.size) if reduction == "mean" else 2.0
    np.multiply(gradient, out_grad * gradient.dtype.type(factor), out=gradient)
    if half:
        gradient = np.asarray(gradient.astype(out_grad.dtype))
    return gradient if wanted[0] else None, np.asarray(np.negative(gradient)) if wanted[1] else None
