"""The same work written by hand in NumPy, without a framework: the floor. Import times, too."""

import subprocess
import sys
from collections.abc import Callable
from itertools import cycle

import numpy as np

from benchmarks.workloads.timing import (
    BATCH,
    LEARNING_RATE,
    POOL,
    batches,
    linear_net_weights,
    loop,
    uniform,
)

Run = Callable[[int], float]
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


def version() -> str:
    return f"numpy {np.__version__}"


class LinearNet:
    """LinearNet 10-10-1 with all parameters in one array, so that Adam is one pass."""

    def __init__(self) -> None:
        weights = linear_net_weights()
        self.data = np.concatenate([w.ravel() for w in weights])
        self.grad, self.moment1, self.moment2 = (np.zeros_like(self.data) for _ in range(3))
        self.w1, self.b1, self.w2, self.b2 = views(self.data, weights)
        self.gw1, self.gb1, self.gw2, self.gb2 = views(self.grad, weights)
        self.steps = 0

    def step(self, x: np.ndarray, y: np.ndarray) -> float:
        """Forward, loss, backward and update; returns the loss."""
        hidden = x @ self.w1 + self.b1
        error = hidden @ self.w2 + self.b2 - y
        loss = float(np.mean(error * error))
        error *= 2.0 / BATCH
        np.matmul(hidden.T, error, out=self.gw2)
        error.sum(0, out=self.gb2)
        back = error @ self.w2.T
        np.matmul(x.T, back, out=self.gw1)
        back.sum(0, out=self.gb1)
        self.update()
        return loss

    def update(self) -> None:
        """Adam over the whole buffer."""
        self.steps += 1
        self.moment1 += (1 - BETA1) * (self.grad - self.moment1)
        self.moment2 += (1 - BETA2) * (self.grad * self.grad - self.moment2)
        correction = (1 - BETA2**self.steps) ** 0.5
        rate = LEARNING_RATE * correction / (1 - BETA1**self.steps)
        self.data -= rate * self.moment1 / (np.sqrt(self.moment2) + EPSILON * correction)


def views(flat: np.ndarray, like: list[np.ndarray]) -> list[np.ndarray]:
    """One view into ``flat`` for each array of ``like``."""
    ends = np.cumsum([a.size for a in like])
    return [flat[e - a.size : e].reshape(a.shape) for e, a in zip(ends, like, strict=True)]


def linear_net() -> Run:
    net, pool = LinearNet(), cycle(batches(0, POOL))
    return loop(lambda: net.step(*next(pool)))


def linear_net_losses(steps: int) -> list[float]:
    net = LinearNet()
    return [net.step(x, y) for x, y in batches(0, steps)]


def lerp(shape: list[int], dtype: str, weight: float) -> Run:
    x, y, cotangent = (uniform(shape, dtype, seed) for seed in (1, 2, 3))

    def step() -> tuple[np.ndarray, ...]:
        out = x + weight * (y - x)
        return out, cotangent * (1 - weight), cotangent * weight

    return loop(step)


def lerp_broadcast(x: list[int], y: list[int], weight: list[int], dtype: str) -> Run:
    a, b, w = (uniform(shape, dtype, seed) for seed, shape in enumerate((x, y, weight)))
    g = uniform(y, dtype, 3)

    def step() -> tuple[np.ndarray, ...]:
        out = a + w * (b - a)
        a_grad = (g * (1 - w)).sum((1, 2, 3), keepdims=True)
        return out, a_grad, g * w, (g * (b - a)).sum((0, 2), keepdims=True)[0]

    return loop(step)


def import_time(module: str) -> Run:
    """Seconds that ``import module`` takes in a fresh interpreter, as that interpreter sees it."""
    program = f"from time import perf_counter as now; t = now(); import {module}; print(now() - t)"

    def once() -> float:
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
        return float(done.stdout.split()[-1])

    return lambda n: sum(once() for _ in range(n))
