"""Smooth activations and their gradients, each in one pass over memory."""

from __future__ import annotations

import math

import numpy as np

from minipaddle.device.dtype import FLOAT32
from minipaddle.ops.kernels.cpu.block import Into
from minipaddle.ops.kernels.cpu.erf import erf_single, normal_tail
from minipaddle.ops.kernels.cpu.ufunc import filled, fused
from minipaddle.ops.op import Array, kernel

# gelu by tanh: x (1 + tanh(u)) / 2 = x sigmoid(2 u) with 2 u = x (_LINEAR + _CUBIC x²).
_LINEAR = 2.0 * math.sqrt(2.0 / math.pi)
_CUBIC = 0.044715 * _LINEAR
# Beyond this its sigmoid is 0 or 1 in every dtype.
_SATURATED = 30.0


def _sigmoid_of_negative(out: Array, x: Array) -> None:
    """1 / (1 + exp(x)): right to a few units on both sides; exp may overflow, its inverse is 0."""
    np.exp(x, out=out)
    np.add(out, 1, out=out)
    np.divide(1, out, out=out)


def _sigmoid(out: Array, x: Array) -> None:
    np.negative(x, out=out)
    _sigmoid_of_negative(out, out)


@kernel("sigmoid", "cpu")
def sigmoid(x: Array) -> Array:
    return filled(_sigmoid, x)


def _sigmoid_grad(x_grad: Array, out: Array, out_grad: Array) -> None:
    np.subtract(1, out, out=x_grad)
    np.multiply(x_grad, out, out=x_grad)
    np.multiply(x_grad, out_grad, out=x_grad)


fused("sigmoid_grad", _sigmoid_grad)


def _silu(out: Array, x: Array) -> None:
    _sigmoid(out, x)
    np.multiply(out, x, out=out)


@kernel("silu", "cpu")
def silu(x: Array) -> Array:
    return filled(_silu, x)


def _silu_grad(x_grad: Array, x: Array, out_grad: Array) -> None:
    s = np.empty_like(x)
    _sigmoid(s, x)
    np.subtract(1, s, out=x_grad)
    np.multiply(x_grad, x, out=x_grad)
    np.add(x_grad, 1, out=x_grad)
    np.multiply(x_grad, s, out=x_grad)
    np.multiply(x_grad, out_grad, out=x_grad)


fused("silu_grad", _silu_grad)


def _gelu(out: Array, x: Array) -> None:
    if x.dtype == FLOAT32:
        _gelu_single(out, x)
        return
    # max(x, 0) - |x| P(beyond |x|): the left tail keeps its relative accuracy.
    np.maximum(x, 0, out=out)
    np.subtract(out, normal_tail(x, weighted=True), out=out)


def _gelu_single(out: Array, x: Array) -> None:
    """``x / 2 (1 + erf(x / sqrt(2)))``: the error is some units in the last place of x."""
    erf_single(out, x, normal=True)
    np.add(out, 1, out=out)
    try:
        with np.errstate(invalid="raise"):
            np.multiply(out, np.multiply(x, 0.5), out=out)
    except FloatingPointError:  # 0 times -inf
        np.copyto(out, 0, where=np.isneginf(x))


def _gelu_grad(x_grad: Array, x: Array, out: Array, out_grad: Array) -> None:
    """Phi(x) + x phi(x), of Phi(x) = out / x."""
    np.multiply(x, x, out=x_grad)
    np.multiply(x_grad, -0.5, out=x_grad)
    np.exp(x_grad, out=x_grad)
    np.multiply(x_grad, 1.0 / math.sqrt(2.0 * math.pi), out=x_grad)
    np.multiply(x_grad, x, out=x_grad)
    below = np.divide(out, x, out=np.empty_like(x))
    zero = x == 0
    if np.any(zero):
        np.copyto(below, 0.5, where=zero)
    np.add(x_grad, below, out=x_grad)
    np.multiply(x_grad, out_grad, out=x_grad)


def _tanh_gelu(out: Array, x: Array) -> None:
    np.multiply(x, x, out=out)
    np.multiply(out, -_CUBIC, out=out)
    np.subtract(out, _LINEAR, out=out)
    np.multiply(out, x, out=out)
    _sigmoid_of_negative(out, out)
    np.multiply(out, x, out=out)


def _tanh_gelu_grad(x_grad: Array, x: Array, out: Array, out_grad: Array) -> None:
    """``s + x s (1 - s) v'`` of s = sigmoid(v), v = x (_LINEAR + _CUBIC x²)."""
    x = np.clip(x, -_SATURATED, _SATURATED, out=np.empty_like(x))
    square = np.multiply(x, x, out=np.empty_like(x))
    s = np.multiply(square, -_CUBIC, out=np.empty_like(x))
    np.subtract(s, _LINEAR, out=s)
    np.multiply(s, x, out=s)
    _sigmoid_of_negative(s, s)
    np.multiply(square, 3.0 * _CUBIC, out=square)
    np.add(square, _LINEAR, out=square)
    np.multiply(square, x, out=square)
    np.subtract(1, s, out=x_grad)
    np.multiply(x_grad, square, out=x_grad)
    np.add(x_grad, 1, out=x_grad)
    np.multiply(x_grad, s, out=x_grad)
    np.multiply(x_grad, out_grad, out=x_grad)


@kernel("gelu", "cpu")
def gelu(x: Array, approximate: bool = False) -> Array:
    if not isinstance(approximate, bool):
        raise ValueError(f"approximate must be False (by erf) or True (tanh); got {approximate!r}")
    return filled(_tanh_gelu if approximate else _gelu, x)


@kernel("gelu_grad", "cpu")
def gelu_grad(
    x: Array, out: Array, out_grad: Array, approximate: bool, wanted: tuple[bool, ...], into: Into
) -> tuple[Array]:
    return (filled(_tanh_gelu_grad if approximate else _gelu_grad, x, out, out_grad),)


def _softplus(out: Array, x: Array, beta: float, threshold: float) -> None:
    """max(z, 0) + log1p(exp(-|z|)) of z = beta x, over beta; x itself where z > threshold."""
    z = x if beta == 1 else np.multiply(x, beta, out=np.empty_like(x))
    np.absolute(z, out=out)
    np.negative(out, out=out)
    np.exp(out, out=out)
    np.log1p(out, out=out)
    np.add(out, np.maximum(z, 0), out=out)
    if beta != 1:
        np.divide(out, beta, out=out)
    linear = z > threshold
    if np.any(linear):
        np.copyto(out, x, where=linear)


@kernel("softplus", "cpu")
def softplus(x: Array, beta: float = 1.0, threshold: float = 20.0) -> Array:
    return filled(_softplus, x, beta, threshold)


def _softplus_grad(x_grad: Array, x: Array, out_grad: Array, beta: float, threshold: float) -> None:
    np.multiply(x, -beta, out=x_grad)
    linear = x_grad < -threshold
    _sigmoid_of_negative(x_grad, x_grad)
    if np.any(linear):
        np.copyto(x_grad, 1, where=linear)
    np.multiply(x_grad, out_grad, out=x_grad)


fused("softplus_grad", _softplus_grad)
