"""Losses of single elements and their gradients, each in one pass over memory."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from minipaddle.ops.kernels.cpu.block import home
from minipaddle.ops.kernels.cpu.ufunc import Fill, filled
from minipaddle.ops.op import Array, kernel

# log(0) counts as this, and p (1 - p) as at least _LEAST, as in Paddle and PyTorch.
_LOWEST = -100.0
_LEAST = 1e-12


def _constant(gradient: Array) -> Any:
    """A gradient that a mean or a sum has spread, as the number that it is."""
    if gradient.size and not any(gradient.strides):
        return float(gradient.flat[0])
    return gradient


def _loss(name: str, fill: Fill, input_grad: Fill, label_grad: Fill | None) -> None:
    """Registers op ``name`` and its gradient.

    Args:
        name: An op of ``input`` and ``label``, and perhaps one attribute.
        fill: Called as ``fill(out, input, label, *attributes)``.
        input_grad: ``input_grad(out, input, label, *attributes)`` fills in the derivative by input.
        label_grad: The same by label; None if it is the negative of the other.
    """

    def slope(out: Array, input: Array, label: Array, factor: Any, rule: Fill, *rest: Any) -> None:
        rule(out, input, label, *rest)
        np.multiply(out, factor, out=out)

    def compute(input: Array, label: Array, *rest: Any) -> Array:
        return filled(fill, *np.broadcast_arrays(input, label), *rest)

    def compute_grad(*args: Any) -> tuple[Array | None, Array | None]:
        input, label, out_grad, *rest, wanted, into = args
        input, label = np.broadcast_arrays(input, label)
        factor = _constant(out_grad)
        found: Any = [None, None]
        if wanted[0] or (wanted[1] and label_grad is None):
            out = home(into, 0, input.shape, input.dtype)
            found[0] = filled(slope, input, label, factor, input_grad, *rest, out=out)
        if wanted[1] and label_grad is None:
            out = home(into, 1, input.shape, input.dtype)
            found[1] = np.negative(found[0], out=out)
        elif wanted[1]:
            out = home(into, 1, input.shape, input.dtype)
            found[1] = filled(slope, input, label, factor, label_grad, *rest, out=out)
        return found[0] if wanted[0] else None, found[1]

    kernel(name, "cpu")(functools.partial(compute))
    kernel(name + "_grad", "cpu")(functools.partial(compute_grad))


def _logistic(out: Array, x: Array, y: Array) -> None:
    """max(x, 0) - x y + log(1 + exp(-|x|))."""
    np.absolute(x, out=out)
    np.negative(out, out=out)
    np.exp(out, out=out)
    np.log1p(out, out=out)
    np.add(out, np.maximum(x, 0), out=out)
    np.subtract(out, np.multiply(x, y), out=out)


def _logistic_by_input(out: Array, x: Array, y: Array) -> None:
    np.negative(x, out=out)
    np.exp(out, out=out)
    np.add(out, 1, out=out)
    np.divide(1, out, out=out)
    np.subtract(out, y, out=out)


def _logistic_by_label(out: Array, x: Array, y: Array) -> None:
    np.negative(x, out=out)


def _logarithms(p: Array) -> tuple[Array, Array]:
    """log(p) and log(1 - p), not below _LOWEST."""
    of_p = np.asarray(np.log(p))
    of_rest = np.asarray(np.log1p(np.negative(p)))
    return np.maximum(of_p, _LOWEST), np.maximum(of_rest, _LOWEST)


def _bernoulli(out: Array, p: Array, y: Array) -> None:
    """-(y log(p) + (1 - y) log(1 - p))."""
    if np.min(p, initial=0) < 0 or np.max(p, initial=1) > 1:
        found = p[(p < 0) | (p > 1)].flat[0]
        raise ValueError(f"input must be probabilities in [0, 1]; got {found}")
    of_p, of_rest = _logarithms(p)
    np.subtract(of_rest, of_p, out=out)
    np.multiply(out, y, out=out)
    np.subtract(out, of_rest, out=out)


def _bernoulli_by_input(out: Array, p: Array, y: Array) -> None:
    np.subtract(1, p, out=out)
    np.multiply(out, p, out=out)
    np.maximum(out, _LEAST, out=out)
    np.divide(np.subtract(p, y), out, out=out)


def _bernoulli_by_label(out: Array, p: Array, y: Array) -> None:
    of_p, of_rest = _logarithms(p)
    np.subtract(of_rest, of_p, out=out)


def _huber(out: Array, x: Array, y: Array, delta: float) -> None:
    """``c (|d| - c / 2)``, where d = x - y and c is |d|, at most delta."""
    np.subtract(x, y, out=out)
    np.absolute(out, out=out)
    near = np.minimum(out, delta)
    np.subtract(out, np.multiply(near, 0.5), out=out)
    np.multiply(out, near, out=out)


def _huber_by_input(out: Array, x: Array, y: Array, delta: float) -> None:
    np.subtract(x, y, out=out)
    np.clip(out, -delta, delta, out=out)


def _divergence(out: Array, x: Array, y: Array, log_target: bool) -> None:
    """``y (log(y) - x)``, 0 where y is not positive; of exp(y) for y, if that is given by log."""
    if log_target:
        np.subtract(y, x, out=out)
        np.multiply(out, np.exp(y), out=out)
        return
    np.subtract(np.log(y), x, out=out)
    np.multiply(out, y, out=out)
    _clear(out, y)


def _clear(out: Array, y: Array) -> None:
    empty = np.less_equal(y, 0)
    if np.any(empty):
        np.copyto(out, 0, where=empty)


def _divergence_by_input(out: Array, x: Array, y: Array, log_target: bool) -> None:
    np.copyto(out, np.exp(y) if log_target else np.maximum(y, 0))
    np.negative(out, out=out)


def _divergence_by_label(out: Array, x: Array, y: Array, log_target: bool) -> None:
    if log_target:
        np.subtract(y, x, out=out)
        np.add(out, 1, out=out)
        np.multiply(out, np.exp(y), out=out)
        return
    np.subtract(np.log(y), x, out=out)
    np.add(out, 1, out=out)
    _clear(out, y)


_loss("logistic_loss", _logistic, _logistic_by_input, _logistic_by_label)
_loss("bernoulli_loss", _bernoulli, _bernoulli_by_input, _bernoulli_by_label)
_loss("huber_loss", _huber, _huber_by_input, None)
_loss("divergence_loss", _divergence, _divergence_by_input, _divergence_by_label)
