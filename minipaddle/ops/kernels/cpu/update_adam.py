"""Updates by a mean of the gradient over the root of one of its square: Adam and its kin."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from minipaddle.ops.kernels.cpu.update import averaged, update
from minipaddle.ops.op import Array, kernel


@lru_cache(maxsize=64)
def _factors(beta1: float, beta2: float, dtype: str) -> list[Array]:
    """The betas and one less them as 0-d arrays, which a ufunc takes in half the time of floats."""
    return [np.asarray(x, dtype) for x in (beta1, 1 - beta1, beta2, 1 - beta2)]


def _adam_change(
    learning_rate: float, beta1: float, beta2: float, epsilon: float, step: int
) -> Callable[..., Array]:
    """Kingma and Ba (2015), algorithm 1; with a third state AMSGrad, Reddi et al. (2018).

    The bias corrections are drawn into rate and epsilon.
    """
    correction2 = math.sqrt(1 - beta2**step)
    rate = learning_rate * correction2 / (1 - beta1**step)
    scaled_epsilon = epsilon * correction2

    def change(g: Array, m: Array, v: Array, largest: Array | None = None) -> Array:
        keep1, take1, keep2, take2 = _factors(beta1, beta2, g.dtype.char)
        scratch = np.multiply(g, take1)
        np.multiply(m, keep1, m)
        np.add(m, scratch, m)
        np.multiply(g, g, scratch)
        np.multiply(scratch, take2, scratch)
        np.multiply(v, keep2, v)
        np.add(v, scratch, v)
        if largest is not None:
            v = np.maximum(largest, v, out=largest)
        np.sqrt(v, scratch)
        np.add(scratch, scaled_epsilon, scratch)
        np.divide(m, scratch, scratch)
        return np.multiply(scratch, rate, scratch)

    return change


@kernel("adam_", "cpu")
def adam_(
    params: list[Array],
    grad: Array,
    master: Array | None,
    moment1: Array,
    moment2: Array,
    moment2_max: Array | None,
    learning_rate: float,
    beta1: float,
    beta2: float,
    epsilon: float,
    decay: float,
    step: int,
    scale: float,
    lowest: float,
    highest: float,
    l1: float,
    l2: float,
) -> None:
    change = _adam_change(learning_rate, beta1, beta2, epsilon, step)
    state = (moment1, moment2) if moment2_max is None else (moment1, moment2, moment2_max)
    # Loshchilov and Hutter (2019), algorithm 2: decay does not go through the moments.
    keep = 1.0 - learning_rate * decay
    update(change, params, (master, grad, state), (scale, lowest, highest, l1, l2), keep)


@kernel("adam_rows_", "cpu")
def adam_rows_(
    param: Array,
    rows: Array,
    value: Array,
    moment1: Array,
    moment2: Array,
    moment2_max: Array | None,
    learning_rate: float,
    beta1: float,
    beta2: float,
    epsilon: float,
    decay: float,
    step: int,
    scale: float,
    lowest: float,
    highest: float,
) -> None:
    whole = [a for a in (param, moment1, moment2, moment2_max) if a is not None]
    taken = [a[rows] for a in whole]
    state = tuple([a.reshape(-1) for a in taken[1:]])
    change = _adam_change(learning_rate, beta1, beta2, epsilon, step)
    arrays = (None, value.reshape(-1), state)
    keep = 1.0 - learning_rate * decay
    update(change, taken[:1], arrays, (scale, lowest, highest, 0.0, 0.0), keep)
    for a, part in zip(whole, taken, strict=True):
        a[rows] = part


@kernel("adamax_", "cpu")
def adamax_(
    params: list[Array],
    grad: Array,
    master: Array | None,
    moment: Array,
    largest: Array,
    learning_rate: float,
    beta1: float,
    beta2: float,
    epsilon: float,
    step: int,
    scale: float,
    lowest: float,
    highest: float,
    l1: float,
    l2: float,
) -> None:
    rate = learning_rate / (1 - beta1**step)

    def change(g: Array, m: Array, u: Array) -> Array:
        averaged(m, np.array(g), beta1)
        np.multiply(u, beta2, out=u)
        np.add(u, epsilon, out=u)
        np.maximum(u, np.abs(g), out=u)
        scratch = np.divide(m, u)
        return np.multiply(scratch, rate, out=scratch)

    update(change, params, (master, grad, (moment, largest)), (scale, lowest, highest, l1, l2))


@kernel("adadelta_", "cpu")
def adadelta_(
    params: list[Array],
    grad: Array,
    master: Array | None,
    mean_square: Array,
    mean_update: Array,
    learning_rate: float,
    rho: float,
    epsilon: float,
    scale: float,
    lowest: float,
    highest: float,
    l1: float,
    l2: float,
) -> None:
    # Zeiler (2012), algorithm 1.
    def change(g: Array, mean_square: Array, mean_update: Array) -> Array:
        averaged(mean_square, np.multiply(g, g), rho)
        step = np.add(mean_update, epsilon)
        np.divide(step, np.add(mean_square, epsilon), out=step)
        np.sqrt(step, out=step)
        np.multiply(step, g, out=step)
        averaged(mean_update, np.multiply(step, step), rho)
        return np.multiply(step, learning_rate, out=step)

    state = (mean_square, mean_update)
    update(change, params, (master, grad, state), (scale, lowest, highest, l1, l2))
