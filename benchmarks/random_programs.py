"""``python -m benchmarks.random_programs``: random programs give PyTorch's values and gradients.

A program is made from a seed: leaves, then 5 to 40 steps that share inputs, take views, write in
place and broadcast. The same text runs on minipaddle and on PyTorch in float64, in an environment
that has both; every value and every gradient must agree to 1e-10. ``--record FILE`` writes
PyTorch's numbers, with which tests/benchmarks/test_random_programs.py holds minipaddle to a few of
these programs where no PyTorch is installed.
"""

import argparse
import json
import math
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

TOLERANCE = 1e-10


@dataclass
class Value:
    """What the generator knows of a tensor in the program.

    Attributes:
        shape: Its shape.
        memory: Number of the memory that it shares with its views.
        writable: It is no leaf's memory and no element stands in it twice.
    """

    shape: tuple[int, ...]
    memory: int
    writable: bool


@dataclass(frozen=True)
class Step:
    """``values.append(run(F, *inputs))``; a step that writes in place appends what it wrote to."""

    name: str
    inputs: tuple[int, ...]
    arguments: tuple[Any, ...] = ()


@dataclass
class Program:
    """Leaves, given by shape and whether they want a gradient, and steps."""

    seed: int
    leaves: list[tuple[tuple[int, ...], bool]] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)


def _differs(paddle: Callable[..., Any], torch: Callable[..., Any]) -> Callable[..., Any]:
    """A step whose words differ between the two."""

    def run(F: Any, *args: Any) -> Any:
        return (torch if F.__name__ == "torch" else paddle)(F, *args)

    return run


def _assign(F: Any, x: Any, value: Any, index: Any) -> Any:
    x[index] = value
    return x


# What each step does, with F the package. All keep numbers of order 1.
UNARY: dict[str, Callable[..., Any]] = {
    "tanh": lambda F, x: x.tanh(),
    "sin": lambda F, x: F.sin(x),
    "sigmoid": lambda F, x: x.sigmoid(),
    "bell": lambda F, x: F.exp(-(x * x)),
    "root": lambda F, x: F.sqrt(x * x + 1.0),
    "logarithm": lambda F, x: F.log(x * x + 1.5),
    "square": lambda F, x: F.square(F.sin(x)),
    "clip": lambda F, x: F.clip(x, -0.7, 0.9),
    "gelu": lambda F, x: F.nn.functional.gelu(x),
    "silu": lambda F, x: F.nn.functional.silu(x),
    "softplus": lambda F, x: F.nn.functional.softplus(x) - 1.0,
    "negate": lambda F, x: -x,
}
BINARY: dict[str, Callable[..., Any]] = {
    "add": lambda F, x, y: (x + y) * 0.6,
    "subtract": lambda F, x, y: x - y * 0.5,
    "multiply": lambda F, x, y: x * F.tanh(y),
    "divide": lambda F, x, y: x / (2.0 + F.square(y)),
    "lerp": lambda F, x, y: F.lerp(x, y, 0.3),
    "maximum": lambda F, x, y: F.maximum(x, y),
    "where": lambda F, x, y: F.where(x > y, x * 0.5, y),
}
# These take an axis, in place of keepdim a reduction drops it.
ALONG: dict[str, Callable[..., Any]] = {
    "softmax": lambda F, x, axis: F.nn.functional.softmax(x, axis),
    "log_softmax": lambda F, x, axis: F.nn.functional.log_softmax(x, axis) * 0.3,
    "cumsum": lambda F, x, axis: F.cumsum(x, axis) * 0.4,
    "flip": lambda F, x, axis: F.flip(x, [axis]),
    "roll": lambda F, x, axis: F.roll(x, 1, axis),
}
REDUCTIONS: dict[str, Callable[..., Any]] = {
    "sum": lambda F, x, axis: F.sum(x, axis) * 0.5,
    "mean": lambda F, x, axis: F.mean(x, axis),
    "amax": lambda F, x, axis: F.amax(x, axis),
    "logsumexp": lambda F, x, axis: F.logsumexp(x, axis) - 1.0,
    "prod": lambda F, x, axis: F.prod(F.sin(x), axis),
    "std": lambda F, x, axis: F.sqrt(F.mean(F.square(x), axis) + 0.1),
}
SHAPES: dict[str, Callable[..., Any]] = {
    "reshape": lambda F, x, shape: F.reshape(x, shape),
    "transpose": _differs(
        lambda F, x, perm: F.transpose(x, perm), lambda F, x, perm: F.permute(x, perm)
    ),
    "unsqueeze": lambda F, x, axis: F.unsqueeze(x, axis),
    "part": lambda F, x, index: x[index],
    "expand": lambda F, x, shape: x.expand(shape),
    "chunk": lambda F, x, axis: F.chunk(x, 2, axis)[1],
    "unbind": lambda F, x, axis: F.unbind(x, axis)[0],
    "select": _differs(
        lambda F, x, rows, axis: F.index_select(x, F.to_tensor(rows), axis),
        lambda F, x, rows, axis: F.index_select(x, axis, F.tensor(rows)),
    ),
    "concat": lambda F, x, y, axis: F.concat([x, y, x], axis),
    "stack": lambda F, x, y, axis: F.stack([x, y], axis),
    "matmul": lambda F, x, y: F.matmul(x, y) * 0.4,
}
WRITES: dict[str, Callable[..., Any]] = {
    "add_": lambda F, x, y: x.add_(y),
    "subtract_": lambda F, x, y: x.subtract_(y),
    "multiply_": lambda F, x, factor: x.multiply_(factor),
    "assign": _assign,
    "assign number": _assign,
}
STEPS = {**UNARY, **BINARY, **ALONG, **REDUCTIONS, **SHAPES, **WRITES}
LINEAR = {"negate", "flip", "roll", "cumsum", "sum", "mean", *SHAPES, *WRITES} - {"matmul"}
VIEWS = {"reshape", "transpose", "unsqueeze", "part", "expand", "chunk", "unbind"}
SHAPE_CHOICES = ((), (1,), (3,), (4,), (2, 3), (3, 1), (1, 4), (3, 4), (2, 3, 4), (2, 1, 4))


class Generator:
    """Draws one program."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.program = Program(seed)
        self.values: list[Value] = []
        self.kept: set[int] = set()  # memories whose values some gradient needs

    def run(self) -> Program:
        """The program of the seed."""
        for i in range(self.random.randint(2, 4)):
            shape = self.random.choice(SHAPE_CHOICES)
            self.program.leaves.append((shape, i == 0 or self.random.random() < 0.8))
            self.values.append(Value(shape, len(self.values), False))
        wanted = self.random.randint(5, 40)
        while len(self.program.steps) < wanted:
            draw = self.random.choice(
                [self.unary, self.binary, self.along, self.reduce, self.shape, self.shape]
                + [self.write] * 2
            )
            draw()
        return self.program

    def pick(self, fits: Callable[[Value], bool] = lambda value: True) -> int | None:
        """One of the values, the latest most likely."""
        found = [i for i, value in enumerate(self.values) if fits(value)]
        if not found:
            return None
        return found[-1 - min(int(self.random.expovariate(0.3)), len(found) - 1)]

    def add(self, name: str, inputs: tuple[int, ...], shape: Any, *arguments: Any) -> None:
        """Appends a step whose result has ``shape``."""
        shape = tuple(shape)
        if math.prod(shape) > 200:
            return
        first = self.values[inputs[0]]
        if name not in LINEAR:  # its gradient may need what it took and what it gave
            self.kept.update(self.values[i].memory for i in inputs)
        memory = first.memory if name in VIEWS else len(self.values) + 1000
        writable = name not in VIEWS or (first.writable and name != "expand")
        # PyTorch forbids writes to memory of which several views were made in one go.
        if name not in LINEAR or name in ("chunk", "unbind"):
            self.kept.add(memory)
        self.program.steps.append(Step(name, inputs, arguments))
        self.values.append(Value(shape, memory, writable))

    def unary(self) -> None:
        x = self.pick()
        assert x is not None
        self.add(self.random.choice(list(UNARY)), (x,), self.values[x].shape)

    def binary(self) -> None:
        x = self.pick()
        assert x is not None
        shape = self.values[x].shape
        y = self.pick(lambda value: _broadcast(shape, value.shape) is not None)
        assert y is not None
        name = self.random.choice(list(BINARY))
        self.add(name, (x, y), _broadcast(shape, self.values[y].shape))

    def along(self) -> None:
        x = self.pick(lambda value: len(value.shape) > 0)
        if x is not None:
            shape = self.values[x].shape
            axis = self.random.randrange(-len(shape), len(shape))
            self.add(self.random.choice(list(ALONG)), (x,), shape, axis)

    def reduce(self) -> None:
        x = self.pick(lambda value: len(value.shape) > 0)
        if x is not None:
            shape = self.values[x].shape
            axis = self.random.randrange(len(shape))
            name = self.random.choice(list(REDUCTIONS))
            self.add(name, (x,), shape[:axis] + shape[axis + 1 :], axis)

    def shape(self) -> None:
        """A step that moves values about: a view, a part, several put together, a product."""
        x = self.pick()
        assert x is not None
        shape = self.values[x].shape
        name = self.random.choice(list(SHAPES))
        axis = self.random.randrange(len(shape)) if shape else 0
        if name == "reshape":
            self.add(name, (x,), *[_reshaped(shape, self.random)] * 2)
        elif name == "transpose":
            perm = self.random.sample(range(len(shape)), len(shape))
            self.add(name, (x,), [shape[i] for i in perm], perm)
        elif name == "unsqueeze":
            self.add(name, (x,), (*shape[:axis], 1, *shape[axis:]), axis)
        elif name == "expand":
            wide = (2, *(n if n > 1 else 3 for n in shape))
            self.add(name, (x,), wide, list(wide))
        elif name in ("concat", "stack"):
            y = self.pick(lambda value: value.shape == shape)
            assert y is not None
            if name == "stack":
                self.add(name, (x, y), (*shape[:axis], 2, *shape[axis:]), axis)
            elif shape:
                self.add(name, (x, y), _with(shape, axis, 3 * shape[axis]), axis)
        elif name == "matmul":
            self.product(x)
        elif shape:
            self.cut(name, x, axis)

    def cut(self, name: str, x: int, axis: int) -> None:
        """A step that takes part of a value."""
        shape = self.values[x].shape
        if name == "part":
            index, left = _random_index(shape, self.random)
            self.add(name, (x,), left, index)
        elif name == "unbind":
            self.add(name, (x,), shape[:axis] + shape[axis + 1 :], axis)
        elif name == "chunk" and shape[axis] > 1:
            rest = shape[axis] - (shape[axis] + 1) // 2
            self.add(name, (x,), _with(shape, axis, rest), axis)
        elif name == "select":
            rows = [self.random.randrange(shape[axis]) for _ in range(3)]
            self.add(name, (x,), _with(shape, axis, 3), rows, axis)

    def product(self, x: int) -> None:
        shape = self.values[x].shape
        y = self.pick(lambda v: len(shape) >= 2 and len(v.shape) == 2 and v.shape[0] == shape[-1])
        if y is not None:
            self.add("matmul", (x, y), (*shape[:-1], self.values[y].shape[1]))

    def write(self) -> None:
        """A step that writes into memory which no gradient needs as it is."""
        x = self.pick(lambda value: value.writable and value.memory not in self.kept)
        if x is None:
            return
        target = self.values[x]
        name = self.random.choice(list(WRITES))
        shape, index = target.shape, ()
        if name.startswith("assign") and shape:
            index, shape = _random_index(shape, self.random)
        if name in ("multiply_", "assign number"):
            number = self.random.uniform(-1.0, 1.0)
            arguments = (number, index) if name == "assign number" else (number,)
            self.program.steps.append(Step(name, (x,), arguments))
        else:
            y = self.pick(
                lambda v: v.memory != target.memory and _broadcast(shape, v.shape) == tuple(shape)
            )
            if y is None:
                return
            arguments = (index,) if name == "assign" else ()
            self.program.steps.append(Step(name, (x, y), arguments))
        self.values.append(Value(target.shape, target.memory, target.writable))


def _broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...] | None:
    try:
        return np.broadcast_shapes(a, b)
    except ValueError:
        return None


def _with(shape: tuple[int, ...], axis: int, length: int) -> tuple[int, ...]:
    return (*shape[:axis], length, *shape[axis + 1 :])


def _reshaped(shape: tuple[int, ...], rng: random.Random) -> list[int]:
    size = math.prod(shape)
    choices = [[size], [1, size], [size, 1]]
    choices += [[n, size // n] for n in (2, 3, 4) if size % n == 0]
    return rng.choice(choices)


def _random_index(shape: tuple[int, ...], rng: random.Random) -> tuple[Any, tuple[int, ...]]:
    """An index of ints, slices and None that leaves something, and the shape it leaves."""
    index: list[Any] = []
    for length in shape[: rng.randint(1, len(shape))]:
        kind = rng.random()
        if kind < 0.35:
            index.append(rng.randrange(-length, length))
        else:
            start = rng.randrange(length)
            index.append(slice(start, rng.randint(start + 1, length), rng.choice([1, 1, 2])))
    if rng.random() < 0.2:
        index.insert(rng.randint(0, len(index)), None)
    return tuple(index), np.zeros(shape)[tuple(index)].shape


def generate(seed: int) -> Program:
    """The program of a seed."""
    return Generator(seed).run()


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
        tensors.append(STEPS[step.name](F, *(tensors[i] for i in step.inputs), *step.arguments))
    loss = 0.0
    for i, tensor in enumerate(tensors):
        loss = loss + F.mean(tensor) * math.cos(i + 1.0)
    loss.backward()
    detached = [t.detach() for t in tensors]
    return {
        "values": [t.tolist() for t in detached],
        "gradients": [None if t.grad is None else t.grad.tolist() for t in leaves],
    }


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


def main() -> int:
    """Runs the programs of the command line; 1 if any differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=300, help="number of programs")
    parser.add_argument("--first", type=int, default=0, help="seed of the first")
    parser.add_argument("--record", help="write PyTorch's numbers to this file")
    options = parser.parse_args()
    try:
        import torch
    except ImportError:
        print("needs PyTorch beside minipaddle: pip install torch")
        return 2
    import minipaddle as paddle

    failed, recorded, steps = 0, {}, 0
    for seed in range(options.first, options.first + options.count):
        program = generate(seed)
        right = run(program, torch)
        steps += len(program.steps)
        recorded[str(seed)] = right
        wrong = differences(run(program, paddle), right)
        if wrong:
            failed += 1
            print(f"program {seed}:", *program.steps, *wrong, sep="\n  ")
    if options.record:
        with open(options.record, "w", encoding="utf-8") as file:
            json.dump(recorded, file)
    print(f"{options.count} programs of {steps} steps: {failed} differ by more than {TOLERANCE}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
