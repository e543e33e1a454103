"""SGD and Adam written down plainly, in float64, one array at a time."""

from collections.abc import Sequence
from typing import Any

import numpy as np

import minipaddle as paddle

Array = np.ndarray[Any, Any]


class ReferenceSGD:
    def __init__(self, rate: float) -> None:
        self.rate = rate

    def step(self, param: Array, grad: Array) -> Array:
        return param - self.rate * grad


class ReferenceAdam:
    """Kingma and Ba (2015), algorithm 1: epsilon is added after the bias corrections."""

    def __init__(
        self, rate: float, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8
    ) -> None:
        self.rate, self.beta1, self.beta2, self.epsilon = rate, beta1, beta2, epsilon
        self.t = 0
        self.m: Any = 0.0
        self.v: Any = 0.0

    def step(self, param: Array, grad: Array) -> Array:
        self.t += 1
        self.m = self.beta1 * self.m + (1 - self.beta1) * grad
        self.v = self.beta2 * self.v + (1 - self.beta2) * grad**2
        m_hat = self.m / (1 - self.beta1**self.t)
        v_hat = self.v / (1 - self.beta2**self.t)
        return param - self.rate * m_hat / (np.sqrt(v_hat) + self.epsilon)


def leaf(values: Any, dtype: str = "float64") -> paddle.Tensor:
    return paddle.to_tensor(np.asarray(values, dtype), stop_gradient=False)


def leaves(shapes: Sequence[tuple[int, ...]], dtype: str = "float64") -> list[paddle.Tensor]:
    rng = np.random.default_rng(len(shapes))
    return [leaf(rng.normal(size=shape), dtype) for shape in shapes]


def send(params: Sequence[paddle.Tensor], grads: Sequence[Any]) -> None:
    """One backward after which each parameter's gradient has grown by the given array."""
    seeds = [
        paddle.to_tensor(np.asarray(g), dtype=p.dtype) for p, g in zip(params, grads, strict=True)
    ]
    paddle.autograd.backward([p * 1.0 for p in params], seeds)
