"""Draws programs: leaves, and steps that fit what is there."""

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from benchmarks.random_programs.steps import (
    ALONG,
    BINARY,
    LINEAR,
    ORDERED,
    REDUCTIONS,
    SHAPES,
    UNARY,
    VIEWS,
    WRITES,
)

SHAPE_CHOICES = ((), (1,), (3,), (4,), (2, 3), (3, 1), (1, 4), (3, 4), (2, 3, 4), (2, 1, 4))


@dataclass
class Value:
    """What the generator knows of a tensor in the program.

    Attributes:
        shape: Its shape.
        memory: Number of the memory that it shares with its views.
        writable: It is no leaf's memory and no element stands in it twice.
        ordered: Its elements surely lie in order and without gaps, so that a reshape is a view. The
            results of most ops take over the order of what they were made of, but not of the same
            ops in both packages.
    """

    shape: tuple[int, ...]
    memory: int
    writable: bool
    ordered: bool = True


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
        draws = [self.unary, self.binary, self.along, self.reduce, self.shape, self.shape]
        draws += [self.write, self.write_shared]
        wanted = self.random.randint(5, 38)  # a draw makes up to three
        while len(self.program.steps) < wanted:
            draw = self.random.choice(draws)
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
        ordered = all(self.values[i].ordered for i in inputs) and name not in VIEWS - ORDERED
        if name == "reshape" and not ordered:  # a view or a copy
            self.kept.add(memory)
        # PyTorch forbids writes to memory of which several views were made in one go.
        if name not in LINEAR or name in ("chunk", "unbind"):
            self.kept.add(memory)
        self.program.steps.append(Step(name, inputs, arguments))
        self.values.append(Value(shape, memory, writable, ordered))

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
        self.move(self.random.choice(list(SHAPES)), x)

    def move(self, name: str, x: int) -> None:
        shape = self.values[x].shape
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
        elif name == "chunk" and shape[axis] % 2 == 0:  # of an odd length PyTorch alone makes two
            self.add(name, (x,), _with(shape, axis, shape[axis] // 2), axis)
        elif name == "select":
            rows = [self.random.randrange(shape[axis]) for _ in range(3)]
            self.add(name, (x,), _with(shape, axis, 3), rows, axis)

    def product(self, x: int) -> None:
        shape = self.values[x].shape
        y = self.pick(lambda v: len(shape) >= 2 and len(v.shape) == 2 and v.shape[0] == shape[-1])
        if y is not None:
            self.add("matmul", (x, y), (*shape[:-1], self.values[y].shape[1]))

    def may_write(self, value: Value) -> bool:
        return value.writable and value.memory not in self.kept

    def write(self) -> None:
        """A step that writes into memory which no gradient needs as it is."""
        x = self.pick(self.may_write)
        if x is not None:
            self.write_to(x)

    def write_shared(self) -> None:
        """A new value, a view of it, and a write to one of the two."""
        x = self.pick()
        assert x is not None
        self.add("negate", (x,), self.values[x].shape)
        new = len(self.values) - 1
        self.move(self.random.choice(sorted(VIEWS - {"chunk", "unbind"})), new)
        fits = [i for i in (new, len(self.values) - 1) if self.may_write(self.values[i])]
        if fits:
            self.write_to(self.random.choice(fits))

    def write_to(self, x: int) -> None:
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
        self.values.append(replace(target))


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
