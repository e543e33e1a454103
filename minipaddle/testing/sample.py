"""One record an op: what it computes, on which inputs, and what it refuses.

A record drives every generic test of its op, so that adding an op means adding a record.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

# What the place's generator is restarted at before each call of a random op.
RANDOM_SEED = 20


@dataclass(frozen=True, eq=False)
class Sample:
    """One set of inputs.

    Attributes:
        name: What is special about it.
        operands: float64 arrays, Python numbers, lists of arrays, or None, in the op's order; for
            an operand declared with a dtype, as ``Tensor:int index``, arrays of that dtype.
        attributes: The op's other arguments.
        gradient: Whether the op is differentiable here; False at a kink and for rounding casts.
    """

    name: str
    operands: tuple[Any, ...]
    attributes: dict[str, Any] = field(default_factory=dict)
    gradient: bool = True


@dataclass(frozen=True)
class ErrorSample:
    """Inputs that the op refuses.

    Attributes:
        name: What is wrong with them.
        call: ``call(function, tensor)``, where ``tensor(shape, dtype="float32")`` makes one on
            the place under test.
        error: The exception.
        words: What its text has to say.
    """

    name: str
    call: Callable[[Callable[..., Any], Callable[..., Any]], Any]
    error: type[Exception]
    words: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class OpSample:
    """The record of one op.

    Attributes:
        op: Its name in ops.yaml.
        reference: The same on NumPy arrays of any precision, written from the definition. Several
            results are a tuple, of which the first has a gradient, and a list of results is a list,
            each with one. For an op that only writes its operands: the new values of all of them.
        samples: Inputs.
        errors: Inputs that are refused.
        roundings: Bound on the rounding errors of one result element, in units of the computing
            type's eps times ``magnitude``. None means that the result is the reference rounded
            once, so it must be equal. A function gets the operands.
        magnitude: The size of the numbers that enter one result element; by default the result's.
        result_dtype: Result dtype, from the dtype under test and the attributes. It is that of the
            first result and of all of a list; further results have the reference's dtype where
            that is int or bool. A tuple names the dtype of each.
        takes_0d: Whether operands may be 0-d.
        draws: Of a random op, samples with results of many elements, which are held to ``cdf``
            alone. Its other samples have the reference's results, also where that depends on what
            a generator of ``RANDOM_SEED`` draws.
        cdf: The distribution that all elements of a result have: the probability of an element up
            to each of some values, from these, the operands and the attributes.
    """

    op: str
    reference: Callable[..., Any]
    samples: tuple[Sample, ...]
    errors: tuple[ErrorSample, ...] = ()
    roundings: Callable[..., int] | None = None
    magnitude: Callable[..., Any] | None = None
    result_dtype: Callable[[Any, dict[str, Any]], Any] = lambda dtype, attributes: dtype
    zero_gradient: bool = False
    takes_0d: bool = True
    draws: tuple[Sample, ...] = ()
    cdf: Callable[..., Array] | None = None


def values(shape: tuple[int, ...], salt: int = 0, away: float = 0.0) -> Array:
    """Reproducible numbers in [-2, 2), none nearer to 0 than ``away``."""
    drawn = np.random.default_rng([salt, *shape]).uniform(-2.0, 2.0, shape)
    return np.asarray(np.where(drawn < 0, np.minimum(drawn, -away), np.maximum(drawn, away)))


# Every way in which two shapes broadcast: x smaller and y smaller, equal and different rank, 0-d,
# and axes of length 0. "tails" is what Paddle's lerp_grad got wrong.
PAIRS: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "same": ((2, 3), (2, 3)),
    "row right": ((2, 3), (3,)),
    "row left": ((3,), (2, 3)),
    "column": ((2, 3), (2, 1)),
    "both": ((2, 1, 3), (1, 2, 1)),
    "tails": ((2, 3), (2, 2, 3)),
    "tails swapped": ((2, 2, 3), (2, 3)),
    "length 1": ((1,), (3, 1)),
    "0-d right": ((2, 3), ()),
    "0-d left": ((), (2, 3)),
    "0-d": ((), ()),
    "empty": ((0, 3), (0, 3)),
    "one side empty": ((1, 3), (0, 3)),
    "other side empty": ((0, 3), (3,)),
}
SHAPES: dict[str, tuple[int, ...]] = {
    "matrix": (2, 3),
    "rank 4": (2, 1, 2, 3),
    "vector": (5,),
    "0-d": (),
    "empty": (0, 3),
}


def pairs(*numbers: float) -> tuple[Sample, ...]:
    """Samples of a binary op over all PAIRS; with ``numbers``, also with each on either side."""
    made = [Sample(name, (values(a, 1), values(b, 2))) for name, (a, b) in PAIRS.items()]
    for number in numbers:
        made.append(Sample(f"number {number} right", (values((2, 3), 3), number)))
        made.append(Sample(f"number {number} left", (number, values((2, 3), 4))))
        made.append(Sample(f"number {number}, 0-d", (values((), 5), number)))
    return tuple(made)


def singles(away: float = 0.0) -> tuple[Sample, ...]:
    """Samples of a unary op over all SHAPES."""
    return tuple(Sample(name, (values(shape, 6, away),)) for name, shape in SHAPES.items())


def binary_errors(name: str) -> tuple[ErrorSample, ...]:
    """What every op of two broadcasting tensors refuses."""
    return (
        ErrorSample(
            "shapes",
            lambda f, t: f(t((2, 3)), t((4,))),
            ValueError,
            (name, "[2, 3]", "[4]", "x", "y"),
        ),
        ErrorSample("no tensor", lambda f, t: f(1.0, 2.0), TypeError, (name, "Tensor", "float")),
        ErrorSample("text", lambda f, t: f(t((2,)), "2"), TypeError, (name, "y", "str")),
        ErrorSample("None", lambda f, t: f(None, t((2,))), TypeError, (name, "x", "NoneType")),
    )


def terms(x: Array, axis: Any) -> int:
    """Number of elements that enter one sum of ``x`` over ``axis``."""
    axes = range(x.ndim) if axis is None else np.atleast_1d(axis)
    return math.prod(x.shape[a] for a in axes)
