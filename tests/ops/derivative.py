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
from minipaddle.imperative.autograd import grad
from minipaddle.imperative.functions import elementwise, reduction
from tests.ops.operands import arrays, call, operands, precise, tensor, where
from tests.ops.samples import RECORDS, Sample
from tests.ops.samples.sample import values

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
    for at in np.ndindex(*args[i].shape):

        def moved(step: Any, at: tuple[int, ...] = at) -> Any:
            array = args[i].copy()
            array[at] += step
            return function([*args[:i], array, *args[i + 1 :]])

        gradient[at] = derivative(moved)
    return gradient


class Expected:
    """What the gradients of one sample must be.

    Attributes:
        cotangent: Gradient of the result that the backward pass starts with.
        first: Gradient by each array operand.
        directions: The numbers that the first-order gradients are summed with.
        second: Gradient of that sum by each array operand, and last by the cotangent.
    """

    def __init__(self, op: str, sample: Sample) -> None:
        reference, attributes = RECORDS[op].reference, sample.attributes
        args = precise(list(sample.operands), np.longdouble)
        where_arrays = arrays(sample)
        shape = np.shape(reference(*args, **attributes))
        self.cotangent = values(shape, 91).astype(np.longdouble)
        self.directions = {
            i: values(args[i].shape, 92 + i).astype(np.longdouble) for i in where_arrays
        }

        def loss(moved: list[Any]) -> Any:
            return np.sum(moved[-1] * reference(*moved[:-1], **attributes))

        def slope(moved: list[Any]) -> Any:
            def along(step: Any) -> Any:
                ahead = list(moved)
                for i, direction in self.directions.items():
                    ahead[i] = ahead[i] + step * direction
                return loss(ahead)

            return derivative(along)

        inputs = [*args, self.cotangent]
        self.first = [numeric_gradient(loss, inputs, i) for i in where_arrays]
        self._slope, self._inputs, self._where = slope, inputs, where_arrays

    @functools.cached_property
    def second(self) -> list[Array]:
        last = len(self._inputs) - 1
        return [numeric_gradient(self._slope, self._inputs, i) for i in [*self._where, last]]


@functools.cache
def _expected(op: str, number: int) -> Expected:
    return Expected(op, RECORDS[op].samples[number])


def expected(op: str, sample: Sample) -> Expected:
    """The numeric gradients of a sample, worked out once."""
    return _expected(op, RECORDS[op].samples.index(sample))


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


def _inputs(op: str, sample: Sample, place: Place) -> tuple[list[Any], list[Any], Any]:
    args = [tensor(value, place, stop_gradient=False) for value in operands(sample)]
    seed = expected(op, sample).cotangent.astype(np.float64)
    return args, [args[i] for i in arrays(sample)], tensor(seed, place, stop_gradient=False)


def check_first_order(op: str, sample: Sample, place: Place) -> None:
    """backward(), grad() and the recorded grad() give the reference's gradient."""
    wanted = expected(op, sample).first
    args, inputs, seed = _inputs(op, sample, place)
    leaves = grad(call(op, args, sample), inputs, seed)
    recorded = grad(call(op, args, sample), inputs, seed, create_graph=True)
    call(op, args, sample).backward(seed.detach())
    for way, found in (
        ("grad", leaves),
        ("grad, create_graph", recorded),
        ("backward", [x.grad for x in inputs]),
    ):
        for i, (one, right) in enumerate(zip(found, wanted, strict=True)):
            assert one is not None, where(RECORDS[op], sample, way, i)
            compare(one, right, where(RECORDS[op], sample, way, "gradient", i, place))


def check_second_order(op: str, sample: Sample, place: Place) -> None:
    """The gradient of a weighted sum of the gradients is the reference's."""
    right = expected(op, sample)
    args, inputs, seed = _inputs(op, sample, place)
    first = grad(call(op, args, sample), inputs, seed, create_graph=True)
    total = None
    for gradient, direction in zip(first, right.directions.values(), strict=True):
        weighted = elementwise.multiply(gradient, tensor(direction.astype(np.float64), place))
        term = reduction.sum(weighted)
        total = term if total is None else elementwise.add(total, term)
    every = [*inputs, seed]
    found = [None] * len(every)
    if not total.stop_gradient:
        found = grad(total, every, allow_unused=True)
    for i, (one, wanted) in enumerate(zip(found, right.second, strict=True)):
        compare(one, wanted, where(RECORDS[op], sample, "second order", i, place))
