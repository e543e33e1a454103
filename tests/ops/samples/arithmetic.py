"""Records of arithmetic of two operands beyond the four operations."""

from __future__ import annotations

import numpy as np

from tests.ops.samples.sample import ErrorSample, OpSample, Sample, binary_errors, pairs


def _mapped(function_x, function_y, *numbers):
    """The samples of ``pairs`` with every array put through a function; numbers as they are."""

    def mapped(function, value):
        return np.asarray(function(value)) if isinstance(value, np.ndarray) else value

    return tuple(
        Sample(name=s.name, operands=(mapped(function_x, x), mapped(function_y, y)))
        for s in pairs(*numbers)
        for x, y in [s.operands]
    )


def _dividend(x):
    return np.sign(x) * (4 + abs(x) % 1 * 0.75)


def _divisor(y):
    return np.sign(y) * (2.625 + abs(y) % 1 * 0.25)


def _positive(x):
    return abs(x) % 1 + 0.5


def _away_from_zero(x):
    return np.sign(x) * (abs(x) + 0.5)


# Quotients lie between 1.3 and 1.9 in size, or for a number between 1.6 and 1.9 or 0.6 and 0.7.
_QUOTIENTS = tuple(s for s in _mapped(_dividend, _divisor, 2.5) if s.name != "number 2.5 left")
_OF_A_NUMBER = Sample("of a number", (2.0, np.array([[2.75, -3.0], [3.5, 4.0]])))


def _by_zero(f, t):
    return f(t((2,), "int64"), 0)


_BY_ZERO = ErrorSample("by zero", _by_zero, ValueError, ("y must not be 0", "int64"))
_TO_A_NEGATIVE = ErrorSample(
    "negative power", lambda f, t: f(t((2,), "int64"), -1), ValueError, ("pow", "negative", "int64")
)


def _extremum(op, reference):
    return OpSample(op, reference, pairs(0.5, -0.25), binary_errors(op))


def _whole(op, reference):
    samples = tuple(
        Sample(name, (np.array(x), np.array(y)))
        for name, x, y in (
            ("vectors", [12.0, -8.0, 0.0, 7.0], [18.0, 12.0, 5.0, -21.0]),
            ("column and row", [[6.0], [4.0]], [9.0, 10.0, 0.0]),
            ("row and column", [9.0, 10.0, 0.0], [[6.0], [4.0]]),
            ("0-d", 12.0, 30.0),
            ("empty", np.zeros((0, 3)), np.ones(3)),
        )
    )
    shapes = ErrorSample(
        "shapes",
        lambda f, t: f(t((2, 3), "int64"), t((4,), "int64")),
        ValueError,
        (op, "[2, 3]", "[4]"),
    )
    floats = ErrorSample("float", lambda f, t: f(t((2,)), 1), TypeError, ("ints", "float32"))
    no_tensor = ErrorSample("no tensor", lambda f, t: f(1, 2), TypeError, (op, "Tensor"))
    return OpSample(op, reference, samples, (shapes, floats, no_tensor))


SAMPLES = (
    _whole("gcd", np.gcd),
    _whole("lcm", np.lcm),
    _extremum("maximum", np.maximum),
    _extremum("minimum", np.minimum),
    _extremum("fmax", np.fmax),
    _extremum("fmin", np.fmin),
    OpSample(
        "floor_divide",
        np.floor_divide,
        (*_QUOTIENTS, _OF_A_NUMBER),
        (*binary_errors("floor_divide"), _BY_ZERO),
    ),
    OpSample(
        "remainder",
        np.remainder,
        (*_QUOTIENTS, _OF_A_NUMBER),
        (*binary_errors("remainder"), _BY_ZERO),
        roundings=lambda x, y: 2,  # of the product and of the difference
        magnitude=lambda x, y: abs(x) + abs(y),
    ),
    OpSample(
        "atan2",
        np.arctan2,
        _mapped(_away_from_zero, _away_from_zero, 2.5, -0.5),
        binary_errors("atan2"),
        roundings=lambda x, y: 4,  # NumPy's vector functions are good to 4 units
    ),
    OpSample(
        "pow",
        np.power,
        (
            *_mapped(_positive, _positive, 2.5),
            Sample("square", (np.array([-1.5, 0.5, 3.0]), 2)),
            Sample("cube", (np.array([-1.5, 0.0, 2.0]), 3)),
            Sample("to the 0", (np.array([-1.5, 0.0, 2.0]), 0)),
            Sample("base 1", (1, np.array([0.5, 2.0]))),
        ),
        (*binary_errors("pow"), _TO_A_NEGATIVE),
        roundings=lambda x, y: 4,  # as of the other vector functions
    ),
)
