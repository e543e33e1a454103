"""Records of cumulative sums and products."""

from __future__ import annotations

import numpy as np

from minipaddle.device.dtype import as_dtype
from tests.ops.samples.sample import ErrorSample, OpSample, Sample, values


def _cumsum(x, axis=None, dtype=None):
    return np.cumsum(x, axis, x.dtype)


def _cumprod(x, dim=None, dtype=None):
    return np.cumprod(x, dim, x.dtype)


def _logcumsumexp(x, axis=None, dtype=None):
    return np.log(np.cumsum(np.exp(x), axis))


def _along(axis_name):
    """Samples over ranks and axes."""
    cases = [
        ((2, 3), None),
        ((2, 3), 0),
        ((2, 3), -1),
        ((2, 5, 2), 1),
        ((7,), 0),
        ((1, 3), 0),
        ((), None),
        ((0, 3), 1),
        ((2, 0), 1),
    ]
    made = [
        Sample(f"{list(shape)}, {axis_name} {axis}", (values(shape, 1),), {axis_name: axis})
        for shape, axis in cases
    ]
    given = {axis_name: 1, "dtype": "float64"}
    return (*made, Sample("to float64", (values((2, 3)),), given))


def _errors(name, axis_name):
    return (
        ErrorSample(
            axis_name,
            lambda f, t: f(t((2, 3)), 2),
            ValueError,
            (name, "axis 2", "[2, 3]"),
        ),
        ErrorSample("axis type", lambda f, t: f(t((2, 3)), 0.5), TypeError, (name, "float")),
        ErrorSample("number", lambda f, t: f(1.5), TypeError, ("Tensor", "float")),
    )


def _result_dtype(dtype, attributes):
    return as_dtype(attributes["dtype"]) if "dtype" in attributes else dtype


def _zeros(*places):
    x = values((2, 6), 4)
    x[0, list(places)] = 0.0
    return x


SAMPLES = (
    OpSample(
        "cumsum",
        _cumsum,
        _along("axis"),
        _errors("cumsum", "axis"),
        result_dtype=_result_dtype,
    ),
    OpSample(
        "cumprod",
        _cumprod,
        (
            *_along("dim"),
            Sample("a zero", (_zeros(2),), {"dim": 1}),
            Sample("two zeros", (_zeros(0, 3),), {"dim": 1}),
            Sample("zeros, flattened", (_zeros(1, 2, 5),)),
        ),
        _errors("cumprod", "dim"),
        result_dtype=_result_dtype,
    ),
    OpSample(
        "logcumsumexp",
        _logcumsumexp,
        _along("axis"),
        _errors("logcumsumexp", "axis"),
        # A step adds an error of 4 units at most to numbers of order 1 + |result|.
        roundings=lambda x: 4 * x.size + 4,
        magnitude=lambda x, **a: 1 + abs(_logcumsumexp(x, **a)),
        result_dtype=_result_dtype,
    ),
)
