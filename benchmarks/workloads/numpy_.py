"""The same work written by hand in NumPy, without a framework: the floor. Import times, too."""

import json
import subprocess
import sys
from collections.abc import Callable
from itertools import cycle
from typing import Any

import numpy as np

from benchmarks.workloads.timing import (
    BATCH,
    LEARNING_RATE,
    POOL,
    batches,
    linear_net_weights,
    loop,
    mlp_batches,
    mlp_weights,
    uniform,
)

Run = Callable[[int], float]
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


def version() -> str:
    return f"numpy {np.__version__}"


class Adam:
    """All parameters in one array, so that an update is one pass."""

    def __init__(self, weights: list[np.ndarray]) -> None:
        self.data = np.concatenate([w.ravel() for w in weights])
        self.grad, self.moment1, self.moment2 = (np.zeros_like(self.data) for _ in range(3))
        self.parameters, self.grads = views(self.data, weights), views(self.grad, weights)
        self.scratch = np.empty_like(self.data)
        self.steps = 0

    def update(self) -> None:
        """Adam over the whole buffer, without temporaries."""
        self.steps += 1
        s = self.scratch
        np.subtract(self.grad, self.moment1, out=s)
        s *= 1 - BETA1
        self.moment1 += s
        np.multiply(self.grad, self.grad, out=s)
        s -= self.moment2
        s *= 1 - BETA2
        self.moment2 += s
        correction = (1 - BETA2**self.steps) ** 0.5
        np.sqrt(self.moment2, out=s)
        s += EPSILON * correction
        np.divide(self.moment1, s, out=s)
        s *= LEARNING_RATE * correction / (1 - BETA1**self.steps)
        self.data -= s


class MLP(Adam):
    """An MLP 784-256-256-10 with ReLU and cross entropy."""

    def step(self, x: np.ndarray, labels: np.ndarray) -> float:
        """Forward, loss, backward and update; returns the loss."""
        w1, b1, w2, b2, w3, b3 = self.parameters
        h1 = x @ w1
        h1 += b1
        np.maximum(h1, 0, out=h1)
        h2 = h1 @ w2
        h2 += b2
        np.maximum(h2, 0, out=h2)
        back = h2 @ w3
        back += b3
        rows = np.arange(len(labels))
        back -= back.max(1, keepdims=True)
        chosen = back[rows, labels]
        np.exp(back, out=back)
        sums = back.sum(1, keepdims=True)
        loss = float(np.mean(np.log(sums[:, 0]) - chosen))
        back /= sums
        back[rows, labels] -= 1
        back *= 1 / len(labels)
        for i, (inputs, weight) in enumerate(((h2, w3), (h1, w2), (x, w1))):
            np.matmul(inputs.T, back, out=self.grads[4 - 2 * i])
            back.sum(0, out=self.grads[5 - 2 * i])
            if i < 2:
                back = back @ weight.T
                back *= inputs > 0
        self.update()
        return loss


class LinearNet(Adam):
    """LinearNet 10-10-1."""

    def step(self, x: np.ndarray, y: np.ndarray) -> float:
        """Forward, loss, backward and update; returns the loss."""
        w1, b1, w2, b2 = self.parameters
        gw1, gb1, gw2, gb2 = self.grads
        hidden = x @ w1 + b1
        error = hidden @ w2 + b2 - y
        loss = float(np.mean(error * error))
        error *= 2.0 / BATCH
        np.matmul(hidden.T, error, out=gw2)
        error.sum(0, out=gb2)
        back = error @ w2.T
        np.matmul(x.T, back, out=gw1)
        back.sum(0, out=gb1)
        self.update()
        return loss


def views(flat: np.ndarray, like: list[np.ndarray]) -> list[np.ndarray]:
    """One view into ``flat`` for each array of ``like``."""
    ends = np.cumsum([a.size for a in like])
    return [flat[e - a.size : e].reshape(a.shape) for e, a in zip(ends, like, strict=True)]


def linear_net() -> Run:
    net, pool = LinearNet(linear_net_weights()), cycle(batches(0, POOL))
    return loop(lambda: net.step(*next(pool)))


def linear_net_losses(steps: int) -> list[float]:
    net = LinearNet(linear_net_weights())
    return [net.step(x, y) for x, y in batches(0, steps)]


def mlp(size: str, batch: int) -> Run:
    net, pool = MLP(mlp_weights(size)), cycle(mlp_batches(size, 0, batch))
    return loop(lambda: net.step(*next(pool)))


def mlp_losses(size: str, batch: int, steps: int) -> list[float]:
    net, pool = MLP(mlp_weights(size)), cycle(mlp_batches(size, 0, batch))
    return [net.step(*next(pool)) for _ in range(steps)]


def peak_memory(framework: str, workload: str, args: dict[str, Any]) -> Run:
    """Megabytes that a fresh process held at most, after three calls of a workload.

    Like an import, it is repeated in place of a time, so that ``run(n)`` is the sum of n of them.
    """
    program = (
        "import importlib, json, resource, sys; framework, workload, args = sys.argv[1:]\n"
        "module = importlib.import_module(f'benchmarks.workloads.{framework}_')\n"
        "getattr(module, workload)(**json.loads(args))(3)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )

    def once() -> float:
        command = [sys.executable, "-c", program, framework, workload, json.dumps(args)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
        return float(done.stdout.split()[-1]) / 1024

    return lambda n: sum(once() for _ in range(n))


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
