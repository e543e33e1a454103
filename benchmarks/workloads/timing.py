"""What the workloads of all frameworks share: the timed loop and the data."""

from collections.abc import Callable
from itertools import pairwise, repeat
from time import perf_counter

import numpy as np

BATCH = 10
LEARNING_RATE = 0.001
POOL = 16  # batches in turn: a single one would be learned by heart and reach subnormal numbers


def loop(step: Callable[[], object]) -> Callable[[int], float]:
    """Make ``run(n) -> seconds`` of one step."""

    def run(n: int) -> float:
        start = perf_counter()
        for _ in repeat(None, n):
            step()
        return perf_counter() - start

    return run


def linear_net_weights() -> list[np.ndarray]:
    """Weights [in, out] and biases of LinearNet 10-10-1, the same in every framework."""
    rng = np.random.RandomState(7)
    shapes = [(10, 10), (10,), (10, 1), (1,)]
    return [rng.uniform(-0.5, 0.5, shape).astype("float32") for shape in shapes]


def batches(rank: int, count: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Input [10, 10] and target [10, 1] of each of ``count`` steps of one rank."""
    rng = np.random.RandomState(100 + rank)
    return [
        (rng.randn(BATCH, 10).astype("float32"), rng.randn(BATCH, 1).astype("float32"))
        for _ in range(count)
    ]


MLPS = {"small": [784, 256, 256, 10], "large": [1024, 4096, 4096, 1024]}
MLP_POOL = 4


def mlp_weights(size: str) -> list[np.ndarray]:
    """Weights [in, out] and biases of an MLP with ReLU between its layers."""
    rng, sizes = np.random.RandomState(7), MLPS[size]
    weights = []
    for rows, columns in pairwise(sizes):
        bound = rows**-0.5
        for shape in ((rows, columns), (columns,)):
            weights.append(rng.uniform(-bound, bound, shape).astype("float32"))
    return weights


def mlp_batches(size: str, rank: int, batch: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Inputs with labels int64 [batch] for the small MLP (cross entropy), else targets (MSE)."""
    rng, sizes = np.random.RandomState(100 + rank), MLPS[size]
    pairs = []
    for _ in range(MLP_POOL):
        x = rng.randn(batch, sizes[0]).astype("float32")
        labels = rng.randint(0, sizes[-1], batch)
        y = labels if size == "small" else rng.randn(batch, sizes[-1]).astype("float32")
        pairs.append((x, y))
    return pairs


def uniform(shape: list[int], dtype: str, seed: int) -> np.ndarray:
    """Random numbers in [0, 1)."""
    return np.random.RandomState(seed).uniform(size=shape).astype(dtype)
