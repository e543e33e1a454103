"""LinearNet 10-10-1 as a program of each framework would write it, with nothing else imported.

``python -m benchmarks.workloads.first_step FRAMEWORK [--once]`` prints as JSON what its process
held after the import and after one training step, in MB, and the seconds of a step; with ``--once``
it ends after the first step. Adam is the framework's own, written out for those that have none.
"""

import importlib
import json
import os
import random
import sys
import time
from collections.abc import Callable
from typing import Any

Rows = list[list[float]]
BATCH, RATE, BETA1, BETA2, EPSILON = 10, 0.001, 0.9, 0.999, 1e-8
SECONDS, SLICE = 2.0, 50


def rows(count: int, columns: int, seed: int) -> Rows:
    """Random numbers, without NumPy: not every framework brings it."""
    rng = random.Random(seed)
    return [[rng.uniform(-0.5, 0.5) for _ in range(columns)] for _ in range(count)]


def paddle(paddle: Any, x: Rows, y: Rows) -> Callable[[], Any]:
    """Also the program of minipaddle."""
    net = paddle.nn.Sequential(paddle.nn.Linear(10, 10), paddle.nn.Linear(10, 1))
    adam = paddle.optimizer.Adam(learning_rate=RATE, parameters=net.parameters())
    inputs, targets, loss_fn = paddle.to_tensor(x), paddle.to_tensor(y), paddle.nn.MSELoss()

    def step() -> Any:
        loss = loss_fn(net(inputs), targets)
        loss.backward()
        adam.step()
        adam.clear_grad()
        return loss

    return step


def torch(torch: Any, x: Rows, y: Rows) -> Callable[[], Any]:
    net = torch.nn.Sequential(torch.nn.Linear(10, 10), torch.nn.Linear(10, 1))
    adam = torch.optim.Adam(net.parameters(), lr=RATE)
    inputs, targets, loss_fn = torch.tensor(x), torch.tensor(y), torch.nn.MSELoss()

    def step() -> Any:
        loss = loss_fn(net(inputs), targets)
        loss.backward()
        adam.step()
        adam.zero_grad()
        return loss.detach()

    return step


def tinygrad(tinygrad: Any, x: Rows, y: Rows) -> Callable[[], Any]:
    """Compiled, as its documentation has it: eager steps take far longer."""
    nn = importlib.import_module("tinygrad.nn")
    optim = importlib.import_module("tinygrad.nn.optim")
    first, second = nn.Linear(10, 10), nn.Linear(10, 1)
    adam = optim.Adam([first.weight, first.bias, second.weight, second.bias], lr=RATE)
    inputs, targets = tinygrad.Tensor(x).realize(), tinygrad.Tensor(y).realize()

    @tinygrad.TinyJit
    def compiled(inputs: Any, targets: Any) -> Any:
        adam.zero_grad()
        loss = ((second(first(inputs)) - targets) ** 2).mean().backward()
        adam.step()
        return loss.realize()

    def step() -> Any:
        with tinygrad.Context(TRAINING=1):
            return compiled(inputs, targets).item()  # waits for the result

    return step


def mygrad(mygrad: Any, x: Rows, y: Rows) -> Callable[[], Any]:
    import numpy as np

    weights = [mygrad.tensor(np.array(rows(*shape, 1), "float32")) for shape in
               ((10, 10), (1, 10), (10, 1), (1, 1))]  # fmt: skip
    moments = [(np.zeros_like(w.data), np.zeros_like(w.data)) for w in weights]
    inputs, targets = np.array(x, "float32"), np.array(y, "float32")
    steps = 0

    def step() -> Any:
        nonlocal steps
        steps += 1
        w1, b1, w2, b2 = weights
        loss = mygrad.mean((mygrad.matmul(mygrad.matmul(inputs, w1) + b1, w2) + b2 - targets) ** 2)
        loss.backward()
        for weight, (first, second) in zip(weights, moments, strict=True):
            weight.data -= adam_change(np, weight.grad, first, second, steps)
            weight.null_grad()
        return loss

    return step


def adam_change(np: Any, grad: Any, first: Any, second: Any, steps: int) -> Any:
    """What Adam subtracts; its moments are updated in place."""
    first += (1 - BETA1) * (grad - first)
    second += (1 - BETA2) * (grad * grad - second)
    correction = (1 - BETA2**steps) ** 0.5
    rate = RATE * correction / (1 - BETA1**steps)
    return rate * first / (np.sqrt(second) + EPSILON * correction)


def jax(jax: Any, x: Rows, y: Rows) -> Callable[[], Any]:
    """Compiled, as its documentation has it."""
    np = importlib.import_module("jax.numpy")
    weights = [np.array(rows(*shape, 1)) for shape in ((10, 10), (1, 10), (10, 1), (1, 1))]
    state = [(w, np.zeros_like(w), np.zeros_like(w)) for w in weights]
    inputs, targets, steps = np.array(x), np.array(y), np.array(0.0)

    def loss_of(weights: Any, inputs: Any, targets: Any) -> Any:
        w1, b1, w2, b2 = weights
        return (((inputs @ w1 + b1) @ w2 + b2 - targets) ** 2).mean()

    @jax.jit
    def compiled(state: Any, steps: Any, inputs: Any, targets: Any) -> Any:
        given = [w for w, _, _ in state]
        loss, grads = jax.value_and_grad(loss_of)(given, inputs, targets)
        steps = steps + 1
        updated = []
        for (w, first, second), grad in zip(state, grads, strict=True):
            first = first + (1 - BETA1) * (grad - first)
            second = second + (1 - BETA2) * (grad * grad - second)
            correction = (1 - BETA2**steps) ** 0.5
            rate = RATE * correction / (1 - BETA1**steps)
            change = rate * first / (np.sqrt(second) + EPSILON * correction)
            updated.append((w - change, first, second))
        return updated, steps, loss

    def step() -> Any:
        nonlocal state, steps
        state, steps, loss = compiled(state, steps, inputs, targets)
        return loss.block_until_ready()

    return step


PROGRAMS = {"minipaddle": paddle, "paddle": paddle, "torch": torch, "tinygrad": tinygrad,
            "mygrad": mygrad, "jax": jax}  # fmt: skip


def resident() -> float:
    """Megabytes of memory that this process has in use now (Linux)."""
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def main(framework: str, once: bool) -> None:
    module = importlib.import_module(framework)
    figures = {"imported_mb": resident()}
    step = PROGRAMS[framework](module, rows(BATCH, 10, 2), rows(BATCH, 1, 3))
    losses = [float(step())]
    figures["trained_mb"] = resident()
    best, end = float("inf"), time.perf_counter() + (0.0 if once else SECONDS)
    while time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(SLICE):
            loss = step()
        best = min(best, (time.perf_counter() - start) / SLICE)
        losses.append(float(loss))
    if not once and not losses[-1] < losses[0]:
        raise SystemExit(f"{framework} did not learn: {losses[0]} became {losses[-1]}")
    print(json.dumps({**figures, "step_s": best} if not once else figures))


if __name__ == "__main__":
    main(sys.argv[1], "--once" in sys.argv[2:])
