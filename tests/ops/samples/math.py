"""Records of the mathematical functions of one tensor."""

from __future__ import annotations

import numpy as np

from tests.ops.samples.sample import SHAPES, ErrorSample, OpSample, Sample, values

_NOT_FLOAT = ErrorSample(
    "int", lambda f, t: f(t((2,), "int64")), TypeError, ("float32", "int64", "astype")
)
_NOT_A_TENSOR = ErrorSample("number", lambda f, t: f(1.5), TypeError, ("Tensor", "float"))
_ERRORS = (_NOT_FLOAT, _NOT_A_TENSOR)


def _singles(low, high):
    """Samples over all SHAPES with numbers between ``low`` and ``high``."""
    return tuple(
        Sample(name, (np.asarray(low + (high - low) * (values(shape, 7) + 2) / 4),))
        for name, shape in SHAPES.items()
    )


def _either_sign(low, high):
    """The same with every other element negative."""
    made = []
    for sample in _singles(low, high):
        (x,) = sample.operands
        signs = np.where(np.arange(x.size) % 2, -1.0, 1.0).reshape(x.shape)
        made.append(Sample(sample.name, (np.asarray(x * signs),)))
    return tuple(made)


def _special(*numbers):
    return Sample("special", (np.array(numbers),), gradient=False)


def _function(op, reference, samples):
    # NumPy's vector functions are good to 4 units in the last place.
    return OpSample(op, reference, samples, _ERRORS, roundings=lambda x: 4)


def _rsqrt_roundings(x):
    return 2  # of the root and of the division


def _to_even(x, decimals=0):
    """The nearest number of so many decimals, halves to the even one."""
    factor = x.dtype.type(10.0) ** decimals
    whole = np.floor(x * factor)
    part = x * factor - whole
    return np.asarray((whole + ((part > 0.5) | ((part == 0.5) & (whole % 2 == 1)))) / factor)


def _numbers(x, nan=0.0, posinf=None, neginf=None):
    for value, wanted in ((np.nan, nan), (np.inf, posinf), (-np.inf, neginf)):
        same = x != x if value != value else x == value
        x = np.where(same, x.dtype.type(0 if wanted is None else wanted), x)
    return x


def _clip(x, min=None, max=None):
    whole = x.dtype.kind in "iu"
    if min is not None:
        x = np.where(x < min, int(min) if whole else min, x)
    if max is not None:
        x = np.where(x > max, int(max) if whole else max, x)
    return x


def _logit(x, eps=None):
    if eps is not None:
        x = np.minimum(np.maximum(x, eps), 1 - eps)
    return np.log(x / (1 - x))


def _logit_size(x, eps=None):
    """1 / (1 - x) and the quotient are rounded before the logarithm."""
    return abs(_logit(x, eps)) + 1


# Between whole numbers, further from them than the numeric derivative steps.
_STEPS = (*_either_sign(1.1, 1.9), Sample("one", (np.array([0.25, -0.75]),)))
_ROUNDED = (*_either_sign(1.6, 2.4), _special(-0.5, 0.5, 2.5, 0.25, -3.0, 0.0))
_FRACTIONS = _singles(0.125, 0.875)
_BOUNDS = {"min": -1.25, "max": 1.5}


def _clipped(name, attributes, shape=(2, 5)):
    # In quarters from an odd eighth on: no element stands at a bound.
    return Sample(name, (np.asarray(np.rint(4 * values(shape, 8)) / 4 + 0.125),), attributes)


SAMPLES = (
    OpSample("abs", abs, (*_either_sign(0.125, 2), _special(0.0, -0.0)), (_NOT_A_TENSOR,)),
    OpSample("neg", lambda x: -x, _either_sign(0.125, 2), (_NOT_A_TENSOR,)),
    _function("exp", np.exp, _either_sign(0, 2)),
    _function("expm1", np.expm1, _either_sign(0.01, 2)),
    _function("log", np.log, _singles(0.25, 4)),
    _function("log2", np.log2, _singles(0.25, 4)),
    _function("log10", np.log10, _singles(0.25, 4)),
    _function("log1p", np.log1p, _singles(-0.75, 2)),
    _function("sqrt", np.sqrt, _singles(0.25, 4)),
    OpSample(
        "rsqrt", lambda x: 1 / np.sqrt(x), _singles(0.25, 4), _ERRORS, roundings=_rsqrt_roundings
    ),
    OpSample("reciprocal", lambda x: 1 / x, _either_sign(0.25, 4), _ERRORS, roundings=lambda x: 1),
    _function("sin", np.sin, _either_sign(0, 3)),
    _function("cos", np.cos, _either_sign(0, 3)),
    _function("tan", np.tan, _either_sign(0, 1.25)),
    _function("asin", np.arcsin, _either_sign(0, 0.875)),
    _function("acos", np.arccos, _either_sign(0, 0.875)),
    _function("atan", np.arctan, _either_sign(0, 3)),
    _function("sinh", np.sinh, _either_sign(0, 2)),
    _function("cosh", np.cosh, _either_sign(0, 2)),
    _function("asinh", np.arcsinh, _either_sign(0, 2)),
    _function("acosh", np.arccosh, _singles(1.25, 3)),
    _function("atanh", np.arctanh, _either_sign(0, 0.875)),
    OpSample("floor", np.floor, _STEPS, _ERRORS, zero_gradient=True),
    OpSample("ceil", np.ceil, _STEPS, _ERRORS, zero_gradient=True),
    OpSample("trunc", np.trunc, _STEPS, (_NOT_A_TENSOR,), zero_gradient=True),
    OpSample(
        "round",
        _to_even,
        (
            *_ROUNDED,
            Sample("decimals", (np.array([1.26, -0.34, 2.5]),), {"decimals": 1}),
            Sample("tens", (np.array([126.0, -34.0, 7.0]),), {"decimals": -1}),
        ),
        _ERRORS,
        roundings=lambda x: 3,  # the product or quotient before, and the one after
        zero_gradient=True,
    ),
    OpSample(
        "clip",
        _clip,
        (
            _clipped("both", _BOUNDS),
            _clipped("low", {"min": -1.0}),
            _clipped("high", {"max": 0.5}),
            _clipped("none", {}),
            _clipped("0-d", _BOUNDS, ()),
            _clipped("empty", _BOUNDS, (0, 3)),
        ),
        (_NOT_A_TENSOR,),
    ),
    OpSample(
        "nan_to_num",
        _numbers,
        (
            *_either_sign(0.5, 2.0),
            Sample(  # NaN: tests/ops/test_arithmetic.py
                "infinite",
                (np.array([np.inf, -np.inf, 0.0]),),
                {"posinf": 3.0, "neginf": -4.0},
                gradient=False,
            ),
        ),
        _ERRORS,
    ),
    OpSample(
        "logit",
        _logit,
        (
            *_FRACTIONS,
            Sample("eps", (np.array([0.05, 0.25, 0.75, 0.95]),), {"eps": 0.125}),
        ),
        _ERRORS,
        roundings=lambda x, eps=None: 8,  # log's 4, and those of difference and quotient
        magnitude=_logit_size,
    ),
)
