"""Gradients checked against the reference, differentiated numerically in extended precision.

With the five-point central difference of step h the error is h**4 / 30 times a fifth derivative
plus eps / h times the values. In np.longdouble (64 bits of mantissa, eps 1e-19) and with h = 1e-3
both are below 1e-12 for the samples' numbers of order 1, also where the rule is applied twice. So
1e-7 relative to each element holds with room to spare, and the floor for elements that are small
because large terms cancel is 1e-10 of the largest.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from minipaddle.device.backend import Place
from minipaddle.imperative.autograd import backward, grad
from minipaddle.imperative.functions import elementwise, reduction
from minipaddle.testing.operands import (
    at,
    call,
    inputs,
    leaves,
    operands,
    precise,
    replaced,
    smooth_results,
    tensor,
    where,
)
from minipaddle.testing.sample import OpSample, Sample, values

RELATIVE, FLOOR = 1e-7, 1e-10
STEP = np.longdouble(1e-3)

Array = np.ndarray[Any, Any]


def derivative(function: Callable[[Any], Any]) -> Any:
    """The derivative of ``function`` at 0 by the five-point rule."""
    near = function(STEP) - function(-STEP)
    far = function(2 * STEP) - function(-2 * STEP)
    return (8 * near - far) / (12 * STEP)


def numeric_gradient(function: Callable[[list[Any]], Any], args: list[Any], i: int) -> Array:
    """The gradient of a number-valued ``function`` by ``args[i]``, element by element."""
    gradient = np.zeros(args[i].shape, np.longdouble)
    for index in np.ndindex(*args[i].shape):

        def moved(step: Any, index: tuple[int, ...] = index) -> Any:
            array = args[i].copy()
            array[index] += step
            return function([*args[:i], array, *args[i + 1 :]])

        gradient[index] = derivative(moved)
    return gradient


class Expected:
    """What the gradients of one sample must be.

    Attributes:
        cotangents: Gradient of each result that the backward pass starts with.
        first: Gradient by each input.
        directions: The numbers that the first-order gradients are summed with.
        second: Gradient of that sum by each input, and last by the cotangents.
    """

    def __init__(self, record: OpSample, sample: Sample) -> None:
        paths = inputs(record, sample)
        args = precise(record, sample, list(sample.operands), np.longdouble)
        given = [at(args, path) for path in paths]

        def run(moved: list[Any]) -> list[Any]:
            found = record.reference(*replaced(args, paths, moved), **sample.attributes)
            return smooth_results(found)

        def drawn(like: list[Any], salt: int) -> list[Any]:
            pairs = enumerate(map(np.shape, like), salt)
            return [values(shape, i).astype(np.longdouble) for i, shape in pairs]

        self.cotangents, self.directions = drawn(run(given), 191), drawn(given, 92)

        def loss(moved: list[Any]) -> Any:
            outs = run(moved[: len(given)])
            return sum(np.sum(c * o) for c, o in zip(moved[len(given) :], outs, strict=True))

        def slope(moved: list[Any]) -> Any:
            def along(step: Any) -> Any:
                ahead = [x + step * d for x, d in zip(moved, self.directions, strict=False)]
                return loss([*ahead, *moved[len(given) :]])

            return derivative(along)

        self._slope, self._moved = slope, [*given, *self.cotangents]
        self.first = [numeric_gradient(loss, self._moved, i) for i in range(len(given))]

    @functools.cached_property
    def second(self) -> list[Array]:
        """Worked out where the second order is asked for."""
        return [numeric_gradient(self._slope, self._moved, i) for i in range(len(self._moved))]


@functools.cache
def expected(record: OpSample, sample: Sample) -> Expected:
    """The numeric gradients of a sample, worked out once."""
    return Expected(record, sample)


def compare(found: Any, wanted: Array, what: str) -> None:
    """Fails unless ``found``, a tensor or None for zeros, is the gradient ``wanted``."""
    if found is None:
        found_values = np.zeros(wanted.shape)
    else:
        found_values = found.numpy()
        assert found_values.dtype == np.float64, what
    assert found_values.shape == wanted.shape, f"{what}: {found_values.shape} {wanted.shape}"
    size = abs(wanted)
    limit = RELATIVE * size + FLOOR * max(1.0, float(size.max(initial=0.0)))
    wrong = abs(found_values - wanted)
    assert (wrong <= limit).all(), f"{what}:\n{found_values}\nis not\n{wanted.astype(float)}"


def _started(
    record: OpSample, sample: Sample, place: Place
) -> tuple[list[Any], list[Any], list[Any]]:
    """The operands, the inputs among them, and the gradients that backward starts with."""
    args, found = leaves(record, sample, operands(record, sample), place)
    seeds = expected(record, sample).cotangents
    return args, found, [tensor(c.astype(np.float64), place, stop_gradient=False) for c in seeds]


def check_first_order(record: OpSample, sample: Sample, place: Place) -> None:
    """backward(), grad() and the recorded grad() give the reference's gradient."""
    wanted = expected(record, sample).first
    args, given, seeds = _started(record, sample, place)

    def run() -> list[Any]:
        return smooth_results(call(record, args, sample))

    plain = grad(run(), given, seeds)
    recorded = grad(run(), given, seeds, create_graph=True)
    backward(run(), [seed.detach() for seed in seeds])
    for way, found in (
        ("grad", plain),
        ("grad, create_graph", recorded),
        ("backward", [x.grad for x in given]),
    ):
        for i, (one, right) in enumerate(zip(found, wanted, strict=True)):
            assert one is not None, where(record, sample, way, i)
            compare(one, right, where(record, sample, way, "gradient", i, place))


def check_second_order(record: OpSample, sample: Sample, place: Place) -> None:
    """The gradient of a weighted sum of the gradients is the reference's."""
    right = expected(record, sample)
    args, given, seeds = _started(record, sample, place)
    first: list[Any] = grad(
        smooth_results(call(record, args, sample)), given, seeds, create_graph=True
    )
    total = None
    for gradient, direction in zip(first, right.directions, strict=True):
        weighted = elementwise.multiply(gradient, tensor(direction.astype(np.float64), place))
        term = reduction.sum(weighted)
        total = term if total is None else elementwise.add(total, term)
    every = [*given, *seeds]
    found: list[Any] = [None] * len(every)
    if total is not None and not total.stop_gradient:
        found = grad(total, every, allow_unused=True)
    for i, (one, wanted) in enumerate(zip(found, right.second, strict=True)):
        compare(one, wanted, where(record, sample, "second order", i, place))
