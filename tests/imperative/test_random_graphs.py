"""Random graphs: shared results, broadcasting, views, constants, frozen leaves.

Every op used is analytic, so the derivative in a direction d is imag(f(x + i h d)) / h, exact to
rounding: the program runs once more on complex NumPy arrays.
"""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minipaddle as paddle

Value = Any
Program = list[tuple[str, list[int]]]  # an op, and the numbers of its operands

SHAPES = [(2, 3), (3,), (1, 3), (2, 1), (), (1,)]
STEP = 1e-30

# name -> (operands, on tensors, on complex arrays)
OPS: dict[str, tuple[int, Callable[..., Value], Callable[..., Value]]] = {
    "add": (2, paddle.add, np.add),
    "subtract": (2, paddle.subtract, np.subtract),
    "multiply": (2, paddle.multiply, np.multiply),
    "square": (1, paddle.square, np.square),
    "tanh": (1, paddle.tanh, np.tanh),
    "scale": (1, lambda x: x * 0.5 - 0.25, lambda x: x * 0.5 - 0.25),
    "lerp": (3, paddle.lerp, lambda x, y, w: x + w * (y - x)),
    "sum": (1, lambda x: paddle.sum(x, axis=-1) if x.ndim else x * 1.0,
            lambda x: np.sum(x, axis=-1) if x.ndim else x),
    "mean": (1, lambda x: paddle.mean(x, keepdim=True), lambda x: np.mean(x, keepdims=True)),
    "flat": (1, lambda x: x.reshape([-1]), lambda x: x.reshape(-1)),
    "part": (1, lambda x: x[..., :1] if x.ndim else x.clone(),
             lambda x: x[..., :1] if x.ndim else x),
    "matmul": (1, lambda x: paddle.matmul(x.reshape([1, -1]), x.reshape([-1, 1])),
               lambda x: x.reshape(1, -1) @ x.reshape(-1, 1)),
}  # fmt: skip


def random_program(rng: random.Random, leaves: int, length: int) -> Program:
    """Each step is an op and the numbers of earlier values; later ones are picked more often."""
    steps = []
    for i in range(length):
        name = rng.choice(list(OPS))
        have = leaves + i
        operands = [max(rng.randrange(have), rng.randrange(have)) for _ in range(OPS[name][0])]
        steps.append((name, operands))
    return steps


def run(steps: Program, inputs: list[Value], which: int) -> list[Value]:
    """All values of the program; a step whose shapes do not fit repeats its first operand."""
    values = list(inputs)
    for name, operands in steps:
        chosen = [values[i] for i in operands]
        try:
            np.broadcast_shapes(*(tuple(v.shape) for v in chosen))
        except ValueError:
            values.append(chosen[0])
        else:
            values.append(OPS[name][which](*chosen))
    return values


def loss(values: list[Value], total: Callable[[Value], Value]) -> Value:
    """A sum over the last values, so that results are shared and some are left over."""
    result = total(values[-1])
    for value in values[-4:-1]:
        result = result + total(value) * 0.5
    return result


def directional(steps: Program, arrays: list[Any], directions: list[Any]) -> float:
    inputs = [np.asarray(a + 1j * STEP * d) for a, d in zip(arrays, directions, strict=True)]
    return float(np.imag(loss(run(steps, inputs, 2), np.sum)) / STEP)


@pytest.fixture(params=range(60))
def case(request: pytest.FixtureRequest) -> tuple[Any, ...]:
    rng, values = random.Random(request.param), np.random.default_rng(request.param)
    arrays = [values.uniform(-1, 1, size=shape) for shape in SHAPES]
    frozen = set(rng.sample(range(len(SHAPES)), 2))
    tensors = [paddle.to_tensor(a, stop_gradient=i in frozen) for i, a in enumerate(arrays)]
    steps = random_program(rng, len(SHAPES), 25)
    return steps, arrays, tensors, values


def products(tensors: list[paddle.Tensor], grads: list[Any], directions: list[Any]) -> float:
    """The derivative in a direction, from gradients; a missing gradient counts as zero."""
    return sum(
        float(np.sum(grad.numpy() * d))
        for tensor, grad, d in zip(tensors, grads, directions, strict=True)
        if grad is not None
    )


def random_directions(tensors: list[paddle.Tensor], values: np.random.Generator) -> list[Any]:
    return [values.normal(size=t.shape) * (not t.stop_gradient) for t in tensors]


def test_backward(case: tuple[Any, ...]) -> None:
    steps, arrays, tensors, values = case
    result = loss(run(steps, tensors, 1), paddle.sum)
    directions = random_directions(tensors, values)
    expected = directional(steps, arrays, directions)
    if result.stop_gradient:  # no leaf that wants a gradient is used
        assert expected == 0.0
        return
    result.backward(retain_graph=True)
    found = products(tensors, [t.grad for t in tensors], directions)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
    for tensor in tensors:
        assert tensor.grad is None or tensor.grad.shape == tensor.shape
        assert tensor.grad is None or not tensor.stop_gradient
    result.backward()  # into gradients that are there, which must double
    found = products(tensors, [t.grad for t in tensors], directions)
    np.testing.assert_allclose(found, 2 * expected, rtol=1e-10, atol=1e-10)
    for tensor in tensors:
        tensor.clear_grad()
    loss(run(steps, tensors, 1), paddle.sum).backward()  # into memory that is used again
    found = products(tensors, [t.grad for t in tensors], directions)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


def test_grad_and_second_order(case: tuple[Any, ...]) -> None:
    """The second derivative in (u, v) is symmetric, and is the change of the first along u."""
    steps, arrays, tensors, values = case
    wanted = [t for t in tensors if not t.stop_gradient]
    result = loss(run(steps, tensors, 1), paddle.sum)
    u, v = random_directions(tensors, values), random_directions(tensors, values)
    if result.stop_gradient:  # no leaf that wants a gradient is used
        assert directional(steps, arrays, u) == 0.0
        return
    first = paddle.grad(result, wanted, create_graph=True, allow_unused=True)
    found = products(
        wanted, first, [d for d, t in zip(u, tensors, strict=True) if not t.stop_gradient]
    )
    np.testing.assert_allclose(found, directional(steps, arrays, u), rtol=1e-10, atol=1e-10)
    second = {}
    for name, along, across in (("uv", u, v), ("vu", v, u)):
        along = [d for d, t in zip(along, tensors, strict=True) if not t.stop_gradient]
        across = [d for d, t in zip(across, tensors, strict=True) if not t.stop_gradient]
        slope = _slope(first, along)
        grads: list[Any] = [None] * len(wanted)
        if not slope.stop_gradient:
            grads = paddle.grad(slope, wanted, retain_graph=True, allow_unused=True)
        second[name] = products(wanted, grads, across)
    np.testing.assert_allclose(second["uv"], second["vu"], rtol=1e-9, atol=1e-9)
    h = 1e-5
    ahead, behind = (
        directional(steps, [a + s * h * d for a, d in zip(arrays, u, strict=True)], v)
        for s in (1, -1)
    )
    np.testing.assert_allclose(second["vu"], (ahead - behind) / (2 * h), rtol=1e-5, atol=1e-5)


def _slope(grads: list[Any], directions: list[Any]) -> paddle.Tensor:
    """The sum of the products, as a tensor."""
    total = paddle.zeros([], "float64")
    for grad, direction in zip(grads, directions, strict=True):
        if grad is not None:
            total = total + (grad * paddle.to_tensor(direction)).sum()
    return total
