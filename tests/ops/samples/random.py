"""Records of random ops: what they draw where there is no choice, and their distributions."""

from __future__ import annotations

import functools
import math

import numpy as np

from minipaddle.device.backend import current_place
from minipaddle.device.dtype import as_dtype
from minipaddle.device.generator import Generator
from minipaddle.ops.op import namespace
from minipaddle.testing.sample import RANDOM_SEED
from tests.ops.samples.sample import SHAPES, ErrorSample, OpSample, Sample, values

_LARGE = ((70_000,), (300, 1000))  # one chunk and several
_NOT_FLOAT = ErrorSample("int", lambda f, t: f(t((2,), "int64")), TypeError, ("int64",))


def _created(**attributes):
    shape = attributes.get("shape", (attributes.get("n"),))
    return np.empty(shape, as_dtype(attributes["dtype"]))


def _creations(dtypes, **attributes):
    """Samples and draws of an op without operands."""
    made = [
        Sample(f"{list(shape)} {dtype}", (), {"shape": shape, "dtype": dtype, **attributes})
        for shape in ((2, 3), (), (0, 3), *_LARGE)
        for dtype in dtypes
    ]
    return tuple(made), tuple(one for one in made if one.attributes["shape"] in _LARGE)


def _sure(*numbers):
    """Samples of every shape of numbers that leave no choice."""
    return tuple(
        Sample(f"{name} of {number}", (np.full(shape, number),))
        for name, shape in SHAPES.items()
        for number in numbers
    )


def _large(number):
    return tuple(Sample(f"{shape} of {number}", (np.full(shape, number),)) for shape in _LARGE)


def _steps(found, chances):
    """The distribution of ints from 0 of these chances."""
    sums = np.concatenate([[0.0], np.cumsum(chances)])
    return sums[np.clip(np.floor(found) + 1, 0, len(chances)).astype(int)]


def _normal(found, shape, dtype, mean, std):
    return np.vectorize(math.erfc)((mean - found) / (std * math.sqrt(2))) / 2


def _even(found, shape, dtype, min, max):
    return np.clip((found - min) / (max - min), 0, 1)


def _even_ints(found, low, high, shape=None, dtype=None):
    return np.clip((np.floor(found) + 1 - low) / (high - low), 0, 1)


def _poisson(found, x):
    rate = x.flat[0]
    return _steps(found, [math.exp(-rate) * rate**k / math.factorial(k) for k in range(100)])


def _gamma(found, x):
    assert x.flat[0] == 3  # the time until the third event
    return 1 - np.exp(-found) * (1 + found + found**2 / 2)


def _binomial(found, count, prob):
    n, p = int(count.flat[0]), prob.flat[0]
    return _steps(found, [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)])


def _categories(found, x, **attributes):
    weights = np.atleast_2d(x)[0]
    return _steps(found, weights / weights.sum())


def _dropped(found, x, p, axis=None, scale=1.0):
    """Of ones: 0 with probability p, else ``scale``."""
    return np.where(found < 0, 0.0, np.where(found < scale / 2, p, 1.0))


@functools.cache
def _kept(place, shape, p, axis):
    """What the op keeps of ones: elements do not decide whether they are dropped."""
    run, generator = namespace(place).dropout, Generator(RANDOM_SEED)
    ones = place.backend.from_host(np.ones(shape), place.index)
    return place.backend.to_host(run(ones, generator, p, axis, 1.0)[0]) != 0


def _dropout(x, p=0.5, axis=None, scale=1.0):
    kept = _kept(current_place(), x.shape, p, axis)  # each kind of device draws in its own way
    return np.where(kept, x * x.dtype.type(scale), 0)


def _dropouts():
    every = [
        Sample(f"{name} p {p}", (values(shape, 7),), {"p": p, "scale": scale})
        for name, shape in SHAPES.items()
        for p, scale in ((0.5, 2.0), (0.25, 4 / 3), (0.0, 1.0), (1.0, 1.0))
    ]
    by_axis = [
        Sample(f"axis {axis}", (values((3, 4, 2), 8),), {"p": 0.5, "axis": axis, "scale": 2.0})
        for axis in ((0,), (0, 1), (-1,), (1, -3), ())
    ]
    return (*every, *by_axis)


_ONE_HOT = np.array([[0.0, 0.0, 3.0, 0.0], [0.5, 0.0, 0.0, 0.0]])
_FLOATS = ("float16", "bfloat16", "float32", "float64")


def _int64(dtype, attributes):
    return np.dtype(np.int64)


def _random(op, reference, samples, cdf, *errors, draws=(), **fields):
    return OpSample(op, reference, samples, errors, draws=draws, cdf=cdf, **fields)


def _of_nothing(op, cdf, dtypes, **attributes):
    samples, draws = _creations(dtypes, **attributes)
    return _random(op, _created, samples, cdf, draws=draws)


def _refused(name, number, *words):
    return ErrorSample(name, lambda f, t: f(t((2,)) * number), ValueError, words)


def _binomial_refuses(name, count, prob):
    return ErrorSample(
        name, lambda f, t: f(t((2,), "int64") * count, t((2,)) * prob), ValueError, (name,)
    )


_PERMUTED = tuple(
    Sample(f"{n} {dtype}", (), {"n": n, "dtype": dtype})
    for n in (1, 5, 20_000)
    for dtype in ("int32", "int64", "float32", "float64")
)

SAMPLES = (
    _of_nothing("gaussian", _normal, _FLOATS, mean=3.0, std=0.5),
    _of_nothing("uniform", _even, _FLOATS, min=2.0, max=5.0),
    _of_nothing("randint", _even_ints, ("uint8", "int32", "int64"), low=3, high=10),
    _random(
        "randperm",
        _created,
        _PERMUTED,
        lambda found, n, dtype: _even_ints(found, 0, n),
        draws=_PERMUTED[-4:],
    ),
    _random(
        "bernoulli",
        lambda x: x,
        _sure(0.0, 1.0),
        lambda found, x: _steps(found, [1 - x.flat[0], x.flat[0]]),
        _NOT_FLOAT,
        _refused("above 1", 1.5, "x", "1.5"),
        _refused("negative", -0.5, "x", "-0.5"),
        _refused("NaN", math.nan, "x", "nan"),
        draws=_large(0.3),
    ),
    _random(
        "poisson",
        lambda x: x,
        _sure(0.0),
        _poisson,
        _NOT_FLOAT,
        _refused("negative", -1.0, "x", "-1.0"),
        draws=_large(3.5),
    ),
    _random(
        "standard_gamma",
        lambda x: x,
        _sure(0.0),
        _gamma,
        _NOT_FLOAT,
        _refused("negative", -1.0, "x", "-1.0"),
        draws=_large(3.0),
    ),
    _random(
        "binomial",
        lambda count, prob: count * prob,
        tuple(
            Sample(f"{a} {b} {p}", (np.full(a, 3), np.full(b, p)))
            for a, b in (((2, 3), (2, 3)), ((3,), (2, 1)), ((), (4,)), ((), ()), ((3,), (0, 3)))
            for p in (0.0, 1.0)
        ),
        _binomial,
        ErrorSample(
            "above 1", lambda f, t: f(t((2,), "int64"), t((2,)) * 2), ValueError, ("prob",)
        ),
        ErrorSample(
            "count", lambda f, t: f(t((2,), "int64") * -1, t((2,))), ValueError, ("count",)
        ),
        ErrorSample("float count", lambda f, t: f(t((2,)), t((2,))), TypeError, ("count", "int")),
        draws=tuple(
            Sample(f"10 of {shape}", (np.full((), 10), np.full(shape, 0.3))) for shape in _LARGE
        ),
        result_dtype=_int64,
    ),
    _random(
        "multinomial",
        lambda x, num_samples=1, replacement=False: np.repeat(
            (x > 0).argmax(-1)[..., None], num_samples, -1
        ),
        (
            Sample("row", (_ONE_HOT[0],)),
            Sample("rows", (_ONE_HOT,)),
            Sample("several", (_ONE_HOT,), {"num_samples": 3, "replacement": True}),
            Sample("none", (_ONE_HOT[:0],), {"num_samples": 2}),
        ),
        _categories,
        _NOT_FLOAT,
        _refused("negative", -1.0, "x", "-1.0"),
        _refused("zeros", 0.0, "x", "above 0"),
        _refused("infinite", math.inf, "x", "inf"),
        ErrorSample("too many", lambda f, t: f(t((2,)), 3), ValueError, ("num_samples", "3")),
        ErrorSample("none", lambda f, t: f(t((2,)), 0), ValueError, ("num_samples", "0")),
        ErrorSample("axes", lambda f, t: f(t((2, 2, 2))), ValueError, ("x", "[2, 2, 2]")),
        draws=(
            Sample(
                "many",
                (np.array([1.0, 0.0, 2.0, 5.0]),),
                {"num_samples": 70_000, "replacement": True},
            ),
            Sample("first", (np.tile([1.0, 0.0, 2.0, 5.0], (30_000, 1)),)),
        ),
        result_dtype=_int64,
        takes_0d=False,
    ),
    _random(
        "dropout",
        _dropout,
        _dropouts(),
        _dropped,
        _NOT_FLOAT,
        ErrorSample("axis", lambda f, t: f(t((2, 3)), 0.5, 2), IndexError, ("dropout",)),
        draws=tuple(
            Sample(f"{shape} p {p}", (np.ones(shape),), {"p": p, "scale": 1 / (1 - p)})
            for shape in _LARGE
            for p in (0.5, 0.1)
        ),
        roundings=lambda *operands: 2,  # of the scale and of the product
    ),
    OpSample(
        "mask_scale",
        lambda x, mask, scale=1.0: np.where(mask, x * x.dtype.type(scale), 0),
        tuple(
            Sample(f"{a} {scale}", (values(a, 9), values(b, 10) > 0), {"scale": scale})
            for a, b in (*((a, a) for a in SHAPES.values()), ((2, 3), (2, 1)))
            for scale in (1.0, 1.7)
        ),
        (ErrorSample("mask", lambda f, t: f(t((2,)), t((2,))), TypeError, ("mask", "bool")),),
        roundings=lambda *operands: 2,  # of the scale and of the product
    ),
)
