"""Optimizers written down plainly, in float64, one array at a time."""

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


class ReferenceMomentum:
    def __init__(self, rate: float, momentum: float = 0.9, use_nesterov: bool = False) -> None:
        self.rate, self.momentum, self.nesterov = rate, momentum, use_nesterov
        self.velocity: Any = 0.0

    def step(self, param: Array, grad: Array) -> Array:
        self.velocity = self.momentum * self.velocity + grad
        ahead = grad + self.momentum * self.velocity
        return param - self.rate * (ahead if self.nesterov else self.velocity)


class ReferenceAdamW(ReferenceAdam):
    """Loshchilov and Hutter (2019), algorithm 2."""

    def __init__(self, rate: float, weight_decay: float = 0.01, **settings: float) -> None:
        super().__init__(rate, **settings)
        self.decay = weight_decay

    def step(self, param: Array, grad: Array) -> Array:
        return super().step(param, grad) - self.rate * self.decay * param


class ReferenceAMSGrad(ReferenceAdam):
    """The largest second moment is taken before its bias correction, as all frameworks do."""

    largest: Any = 0.0

    def step(self, param: Array, grad: Array) -> Array:
        super().step(param, grad)
        self.largest = np.maximum(self.largest, self.v)
        m_hat = self.m / (1 - self.beta1**self.t)
        v_hat = self.largest / (1 - self.beta2**self.t)
        return param - self.rate * m_hat / (np.sqrt(v_hat) + self.epsilon)


class ReferenceAdagrad:
    def __init__(self, rate: float, epsilon: float = 1e-6, first: float = 0.0) -> None:
        self.rate, self.epsilon = rate, epsilon
        self.total: Any = first

    def step(self, param: Array, grad: Array) -> Array:
        self.total = self.total + grad**2
        return param - self.rate * grad / (np.sqrt(self.total) + self.epsilon)


class ReferenceRMSProp:
    def __init__(
        self, rate: float, rho: float = 0.95, epsilon: float = 1e-6, momentum: float = 0.0,
        centered: bool = False,
    ) -> None:  # fmt: skip
        self.rate, self.rho, self.epsilon = rate, rho, epsilon
        self.momentum, self.centered = momentum, centered
        self.square: Any = 0.0
        self.mean: Any = 0.0
        self.moment: Any = 0.0

    def step(self, param: Array, grad: Array) -> Array:
        self.square = self.rho * self.square + (1 - self.rho) * grad**2
        self.mean = self.rho * self.mean + (1 - self.rho) * grad
        variance = self.square - (self.mean**2 if self.centered else 0.0)
        step = self.rate * grad / np.sqrt(variance + self.epsilon)
        self.moment = self.momentum * self.moment + step
        return param - self.moment


class ReferenceAdadelta:
    """Zeiler (2012), algorithm 1."""

    def __init__(self, rate: float, epsilon: float = 1e-6, rho: float = 0.95) -> None:
        self.rate, self.epsilon, self.rho = rate, epsilon, rho
        self.square: Any = 0.0
        self.moved: Any = 0.0

    def step(self, param: Array, grad: Array) -> Array:
        self.square = self.rho * self.square + (1 - self.rho) * grad**2
        step = np.sqrt(self.moved + self.epsilon) / np.sqrt(self.square + self.epsilon) * grad
        self.moved = self.rho * self.moved + (1 - self.rho) * step**2
        return param - self.rate * step


class ReferenceAdamax:
    """Kingma and Ba (2015), algorithm 2, with Paddle's epsilon."""

    def __init__(
        self, rate: float, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8
    ) -> None:
        self.rate, self.beta1, self.beta2, self.epsilon = rate, beta1, beta2, epsilon
        self.t = 0
        self.m: Any = 0.0
        self.u: Any = 0.0

    def step(self, param: Array, grad: Array) -> Array:
        self.t += 1
        self.m = self.beta1 * self.m + (1 - self.beta1) * grad
        self.u = np.maximum(abs(grad), self.beta2 * self.u + self.epsilon)
        return param - self.rate / (1 - self.beta1**self.t) * self.m / self.u


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
