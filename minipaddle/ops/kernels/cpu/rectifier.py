"""relu and its kin, which bend at one or two points, and their gradients; no branch an element."""

from __future__ import annotations

from typing import Any

import numpy as np

from minipaddle.ops.kernels.cpu.block import BLOCK_BYTES, blockwise
from minipaddle.ops.kernels.cpu.ufunc import filled, fused
from minipaddle.ops.op import Array, kernel


def _is_above(x: Array, bound: float) -> Array:
    """1.0 where ``x > bound``, 0.0 elsewhere, in x's dtype."""
    out = np.empty_like(x)
    np.greater(x, bound, out=out, casting="unsafe")
    return out


def _one_or(out: Array, factor: Any, ones: Array) -> None:
    """``out = 1 where ones is 1, factor where it is 0``, exactly and without a branch.

    On signs without a pattern ``np.where`` costs more than ten passes of arithmetic.
    """
    np.subtract(1, ones, out=out)
    np.multiply(out, factor, out=out)
    np.add(out, ones, out=out)


def _relu(out: Array, x: Array) -> None:
    np.maximum(x, x.dtype.type(0), out=out)  # maximum keeps NaN


@kernel("relu", "cpu")
def relu(x: Array) -> Array:
    if x.nbytes > BLOCK_BYTES:
        return blockwise(_relu, (x,))
    return np.asarray(np.maximum(x, x.dtype.type(0)))


def _leaky_relu(out: Array, x: Array, negative_slope: float) -> None:
    np.minimum(x, 0, out=out)
    np.multiply(out, negative_slope, out=out)
    np.add(out, np.maximum(x, 0), out=out)


@kernel("leaky_relu", "cpu")
def leaky_relu(x: Array, negative_slope: float = 0.01) -> Array:
    _check_not_negative("negative_slope", negative_slope)
    return filled(_leaky_relu, x, negative_slope)


def _check_not_negative(name: str, value: float) -> None:
    """The gradient tells the two sides apart by the sign of the result."""
    if not value >= 0:
        raise ValueError(f"{name} must be at least 0; got {value!r}")


def _leaky_relu_grad(x_grad: Array, out: Array, out_grad: Array, negative_slope: float) -> None:
    _one_or(x_grad, negative_slope, _is_above(out, 0.0))
    np.multiply(x_grad, out_grad, out=x_grad)


fused("leaky_relu_grad", _leaky_relu_grad)


def _elu(out: Array, x: Array, alpha: float) -> None:
    np.minimum(x, 0, out=out)
    np.expm1(out, out=out)
    np.multiply(out, alpha, out=out)
    np.add(out, np.maximum(x, 0), out=out)


@kernel("elu", "cpu")
def elu(x: Array, alpha: float = 1.0) -> Array:
    _check_not_negative("alpha", alpha)
    return filled(_elu, x, alpha)


def _elu_grad(x_grad: Array, out: Array, out_grad: Array, alpha: float) -> None:
    left = np.minimum(out, 0, out=np.empty_like(out))
    np.add(left, alpha, out=left)
    _one_or(x_grad, left, _is_above(out, 0.0))
    np.multiply(x_grad, out_grad, out=x_grad)


fused("elu_grad", _elu_grad)


def _hardtanh(out: Array, x: Array, min: float, max: float) -> None:
    np.clip(x, min, max, out=out)


@kernel("hardtanh", "cpu")
def hardtanh(x: Array, min: float = -1.0, max: float = 1.0) -> Array:
    if not min <= max:
        raise ValueError(f"min must not be above max; got min={min!r}, max={max!r}")
    return filled(_hardtanh, x, min, max)


def _is_between(out: Array, y: Array, low: float, high: float) -> None:
    """``out = 1.0 where low < y < high``, 0.0 elsewhere."""
    np.copyto(out, (y > low) & (y < high))


def _hardtanh_grad(x_grad: Array, out: Array, out_grad: Array, min: float, max: float) -> None:
    _is_between(x_grad, out, min, max)
    np.multiply(x_grad, out_grad, out=x_grad)


fused("hardtanh_grad", _hardtanh_grad)


def _hardsigmoid(out: Array, x: Array, slope: float, offset: float) -> None:
    np.multiply(x, slope, out=out)
    np.add(out, offset, out=out)
    np.clip(out, 0, 1, out=out)


@kernel("hardsigmoid", "cpu")
def hardsigmoid(x: Array, slope: float = 0.1666667, offset: float = 0.5) -> Array:
    return filled(_hardsigmoid, x, slope, offset)


def _hardsigmoid_grad(x_grad: Array, out: Array, out_grad: Array, slope: float) -> None:
    _is_between(x_grad, out, 0, 1)
    np.multiply(x_grad, slope, out=x_grad)
    np.multiply(x_grad, out_grad, out=x_grad)


fused("hardsigmoid_grad", _hardsigmoid_grad)


def _gate(out: Array, x: Array) -> None:
    """``relu6(x + 3) / 6``."""
    np.add(x, 3, out=out)
    np.multiply(out, 1 / 6, out=out)
    np.clip(out, 0, 1, out=out)


def _hardswish(out: Array, x: Array) -> None:
    _gate(out, x)
    np.multiply(out, x, out=out)


@kernel("hardswish", "cpu")
def hardswish(x: Array) -> Array:
    return filled(_hardswish, x)


def _hardswish_grad(x_grad: Array, x: Array, out_grad: Array) -> None:
    gate, slope = np.empty_like(x), np.clip(x, -3, 3, out=np.empty_like(x))
    _gate(gate, x)
    np.multiply(slope, 1 / 6, out=slope)
    _is_between(x_grad, gate, 0, 1)
    np.multiply(x_grad, slope, out=x_grad)
    np.add(x_grad, gate, out=x_grad)
    np.multiply(x_grad, out_grad, out=x_grad)


fused("hardswish_grad", _hardswish_grad)


def _thresholded_relu(out: Array, x: Array, threshold: float, value: float) -> None:
    limits = np.finfo(x.dtype)
    threshold = float(np.clip(threshold, limits.min, limits.max))
    above = _is_above(x, threshold)
    np.maximum(x, threshold, out=out)  # what is replaced becomes finite, so that times 0 is 0
    np.multiply(out, above, out=out)
    if value:
        np.subtract(1, above, out=above)
        np.multiply(above, value, out=above)
        np.add(out, above, out=out)


@kernel("thresholded_relu", "cpu")
def thresholded_relu(x: Array, threshold: float = 1.0, value: float = 0.0) -> Array:
    return filled(_thresholded_relu, x, threshold, value)


def _hardshrink(out: Array, x: Array, threshold: float) -> None:
    np.abs(x, out=out)
    np.multiply(x, _is_above(out, threshold), out=out)


@kernel("hardshrink", "cpu")
def hardshrink(x: Array, threshold: float = 0.5) -> Array:
    _check_not_negative("threshold", threshold)
    return filled(_hardshrink, x, threshold)


def _softshrink(out: Array, x: Array, threshold: float) -> None:
    np.clip(x, -threshold, threshold, out=out)
    np.subtract(x, out, out=out)


@kernel("softshrink", "cpu")
def softshrink(x: Array, threshold: float = 0.5) -> Array:
    _check_not_negative("threshold", threshold)
    return filled(_softshrink, x, threshold)


def _where_not_zero(x_grad: Array, out: Array, out_grad: Array) -> None:
    np.abs(out, out=x_grad)
    np.multiply(out_grad, _is_above(x_grad, 0.0), out=x_grad)


fused("hardshrink_grad", _where_not_zero)


fused("softshrink_grad", _where_not_zero)
