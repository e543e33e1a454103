"""Runs a program on one of the two packages, and compares what came out."""

import math
import random
from typing import Any

import numpy as np

from benchmarks.random_programs.generator import Program
from benchmarks.random_programs.steps import STEPS

TOLERANCE = 1e-10


def leaf_values(program: Program) -> list[np.ndarray[Any, Any]]:
    """The numbers that the leaves hold."""
    rng = random.Random(program.seed + 1_000_000)
    return [
        np.array([rng.uniform(-2.0, 2.0) for _ in range(math.prod(shape))]).reshape(shape)
        for shape, _ in program.leaves
    ]


def run(program: Program, F: Any) -> dict[str, list[Any]]:
    """Every value at the end of the program, and the gradient of every leaf, as nested lists."""
    torch = F.__name__ == "torch"
    tensors = []
    for array, (_, wants) in zip(leaf_values(program), program.leaves, strict=True):
        if torch:
            tensors.append(F.tensor(array, dtype=F.float64, requires_grad=wants))
        else:
            tensors.append(F.to_tensor(array, stop_gradient=not wants))
    leaves = list(tensors)
    for step in program.steps:
        inputs = [tensors[i] for i in step.inputs]
        if torch:  # A view learns only here that its base has got a gradient since; a write to it
            _ = inputs[0].grad_fn  # would take it for a leaf.
        tensors.append(STEPS[step.name](F, *inputs, *step.arguments))
    loss = 0.0
    for i, tensor in enumerate(tensors):
        loss = loss + F.mean(tensor) * math.cos(i + 1.0)
    loss.backward()
    detached = [t.detach() for t in tensors]
    return {
        "values": [t.tolist() for t in detached],
        "gradients": [None if t.grad is None else t.grad.tolist() for t in leaves],
    }


def rounded(numbers: Any) -> Any:
    """The same with so few digits as the comparison needs."""
    if isinstance(numbers, dict):
        return {key: rounded(value) for key, value in numbers.items()}
    if isinstance(numbers, list):
        return [rounded(value) for value in numbers]
    return None if numbers is None else float(f"{numbers:.12g}")


def differences(found: dict[str, list[Any]], right: dict[str, list[Any]]) -> list[str]:
    """What differs by more than the tolerance, in words."""
    wrong = []
    for what, items in right.items():
        for i, (one, other) in enumerate(zip(found[what], items, strict=True)):
            if (one is None) != (other is None):
                wrong.append(f"{what}[{i}]: {one} is not {other}")
            elif one is not None:
                a, b = np.asarray(one), np.asarray(other)
                if a.shape != b.shape or not (abs(a - b) <= TOLERANCE * (1 + abs(b))).all():
                    wrong.append(f"{what}[{i}]: {one} is not {other}")
    return wrong
