"""Records of comparisons, logic and bits."""

from __future__ import annotations

import numpy as np

from tests.ops.samples.sample import ErrorSample, OpSample, Sample, binary_errors, pairs, values

INF = np.inf


def _bool(dtype, attributes):
    return np.dtype(bool)


def _alike():
    """Pairs of which some elements are equal, in every way of broadcasting, and numbers."""
    x = np.rint(2 * values((3, 4)))
    return (
        *(Sample(s.name, tuple(np.asarray(np.rint(o)) for o in s.operands)) for s in pairs()),
        Sample("itself", (x, x.copy())),
        Sample("number", (x, 1.0)),
        Sample("number left", (1.0, x)),
        Sample("0-d and number", (np.asarray(1.0), 1.0)),
        Sample("long rows", (values((3, 1, 25_000)), np.rint(values((2, 1), 1)))),
        Sample("long and number", (np.rint(values((70_000,))), 1.0)),
    )


def _singles():
    return (
        Sample("matrix", (np.rint(values((2, 3))),)),
        Sample("0-d", (np.asarray(0.0),)),
        Sample("empty", (np.zeros((0, 3)),)),
        Sample("long", (np.rint(values((2, 35_000))),)),
    )


def _shifts():
    """Bits to shift, and places: few, so that all of them stay in an int8's width."""
    x, places = values((2, 3)), np.array([0.0, 1 / 3, 2 / 3])
    return (
        Sample("row right", (x, places)),
        Sample("row left", (places, np.abs(values((2, 3), 1)))),
        Sample("0-d", (x, np.asarray(1 / 3))),
        Sample("number", (x, 1)),
        Sample("number left", (1, places)),
        Sample("empty", (np.zeros((0, 3)), places)),
    )


def _is_close(x, y, rtol=1e-5, atol=1e-8, equal_nan=False):
    return np.isclose(x, y, rtol, atol, equal_nan)


def _all_close(x, y, rtol=1e-5, atol=1e-8, equal_nan=False):
    return np.allclose(x, y, rtol, atol, equal_nan)


def _near():
    """Pairs that are near by, far off and infinite; no difference is near its limit."""
    x = values((2, 3), away=0.5)
    odd, other = np.array([1.0, INF, -INF, INF]), np.array([1.0, INF, INF, 1.0])
    return (
        Sample("half of it near", (x, x + np.array([0.0, 1.0, 0.0]))),
        Sample("rtol", (x, x * 1.25), {"rtol": 0.5}),
        Sample("rtol is of y", (np.array([1.0, 4.0]), np.array([4.0, 1.0])), {"rtol": 1.0}),
        Sample("atol", (x, x + np.array([0.25, -0.25, 2.0])), {"atol": 1.0}),
        Sample("infinite", (odd, other)),
        Sample("infinite, the other way", (other, odd), {"rtol": 1.0, "equal_nan": True}),
        Sample("row left", (x[0], x), {"atol": 0.0}),
        Sample("row right", (x, x[0])),
        Sample("0-d", (x, np.asarray(x[0, 0]))),
        Sample("empty", (np.zeros((0, 3)), np.zeros(3))),
    )


def _same():
    x = np.rint(2 * values((2, 3)))
    return (
        Sample("itself", (x, x.copy())),
        Sample("one differs", (x, x + np.array([0.0, 0.0, 9.0]))),
        Sample("row left", (x[0], x)),
        Sample("row right", (x[:1].repeat(2, 0), x[0])),
        Sample("0-d", (np.asarray(1.0), np.asarray(1.0))),
        Sample("empty", (np.zeros((0, 3)), np.zeros((0, 3)))),
        Sample("empty ones of two shapes", (np.zeros((0, 3)), np.zeros((0, 2)))),
    )


_SHAPES = ErrorSample(
    "shapes of ints",
    lambda f, t: f(t((2, 3), "int64"), t((4,), "int64")),
    ValueError,
    ("bitwise", "[2, 3]", "[4]", "x", "y"),
)
_FLOAT = ErrorSample(
    "float", lambda f, t: f(t((2,)), 1), TypeError, ("takes", "ints", "float32", "astype")
)
_FLOAT_LEFT = ErrorSample("float left", lambda f, t: f(1, t((2,))), TypeError, ("ints", "float32"))
_FLOAT_NUMBER = ErrorSample(
    "float number", lambda f, t: f(t((2,), "int64"), 1.5), TypeError, ("ints", "float32")
)
_NOT_A_TENSOR = ErrorSample("number", lambda f, t: f(1.5), TypeError, ("Tensor", "float"))


def _of_two(op, reference):
    return OpSample(op, reference, _alike(), binary_errors(op), result_dtype=_bool)


def _of_bits(op, reference, samples):
    general = [e for e in binary_errors(op) if e.name != "shapes"]
    errors = (*general, _SHAPES, _FLOAT, _FLOAT_LEFT, _FLOAT_NUMBER)
    return OpSample(op, reference, samples, errors)


def _of_one(op, reference):
    return OpSample(op, reference, _singles(), (_NOT_A_TENSOR,), result_dtype=_bool)


def _close(op, reference):
    errors = tuple(e for e in binary_errors(op) if e.name != "no tensor")
    return OpSample(op, reference, _near(), errors, result_dtype=_bool)


SAMPLES = (
    _of_two("equal", np.equal),
    _of_two("not_equal", np.not_equal),
    _of_two("less_than", np.less),
    _of_two("less_equal", np.less_equal),
    _of_two("greater_than", np.greater),
    _of_two("greater_equal", np.greater_equal),
    _of_two("logical_and", lambda x, y: (x != 0) & (y != 0)),
    _of_two("logical_or", lambda x, y: (x != 0) | (y != 0)),
    _of_two("logical_xor", lambda x, y: (x != 0) != (y != 0)),
    _of_one("logical_not", lambda x: x == 0),
    _of_one("isnan", lambda x: x != x),
    _of_one("signbit", np.signbit),
    _of_one("isinf", lambda x: abs(x) == INF),
    _of_one("isfinite", lambda x: abs(x) < INF),
    _of_bits("bitwise_and", np.bitwise_and, _alike()),
    _of_bits("bitwise_or", np.bitwise_or, _alike()),
    _of_bits("bitwise_xor", np.bitwise_xor, _alike()),
    OpSample("bitwise_not", np.invert, _singles(), (_NOT_A_TENSOR,)),
    _of_bits("bitwise_left_shift", lambda x, y: x * 2**y, _shifts()),
    _of_bits(
        "bitwise_right_shift",
        lambda x, y, is_arithmetic=True: x // 2**y,
        # No bit comes in from the left: of numbers that are not negative that is the same.
        (*_shifts(), Sample("bits", (np.abs(values((2, 3))), 1), {"is_arithmetic": False})),
    ),
    _close("isclose", _is_close),
    _close("allclose", _all_close),
    OpSample(
        "equal_all",
        lambda x, y: x.shape == y.shape and (x == y).all(),
        _same(),
        (ErrorSample("text", lambda f, t: f(t((2,)), "2"), TypeError, ("equal_all", "y", "str")),),
        result_dtype=_bool,
    ),
)
