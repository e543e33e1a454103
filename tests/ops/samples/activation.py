"""Records of smooth activations, softmax among them."""

from __future__ import annotations

import numpy as np

from minipaddle.device.dtype import as_dtype
from tests.ops.samples.sample import ErrorSample, OpSample, Sample, singles, terms, values

NOT_FLOAT = ErrorSample(
    "int", lambda f, t: f(t((2,), "int64")), TypeError, ("float32", "int64", "astype")
)
NOT_A_TENSOR = ErrorSample("number", lambda f, t: f(1.5), TypeError, ("Tensor", "float"))
ERRORS = (NOT_FLOAT, NOT_A_TENSOR)
_AXIS = ErrorSample("axis", lambda f, t: f(t((2, 3)), axis=2), ValueError, ("axis 2", "2 axes"))


def with_attributes(samples, *several):
    """Each sample as it is and with each of the attributes."""
    return (
        *samples,
        *(
            Sample(f"{s.name}, {given}", s.operands, given, s.gradient)
            for given in several
            for s in samples
        ),
    )


def erf(x):
    """2 / sqrt(pi) exp(-x²) (x + 2 x³ / 3 + 4 x⁵ / (3 * 5) + ...), all of one sign."""
    x = np.asarray(x)
    total = term = x
    for n in range(1, 120):
        term = term * 2 * x * x / (2 * n + 1)
        total = total + term
    return np.exp(-x * x) * total * 2 / np.sqrt(np.pi * np.ones((), x.dtype))


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _gelu(x, approximate=False):
    one = np.ones((), x.dtype)
    if approximate:
        pi = 4 * np.arctan(one)
        return x / 2 * (1 + np.tanh(np.sqrt(2 / pi) * (x + 0.044715 * x**3)))
    return x * (1 + erf(x / np.sqrt(2 * one))) / 2


def _softplus(x, beta=1.0, threshold=20.0):
    return np.where(beta * x > threshold, x, np.log1p(np.exp(beta * x)) / beta)


def _softmax(x, axis=-1, dtype=None):
    if not x.ndim:
        return np.ones_like(x)
    e = np.exp(x)
    return e / np.sum(e, axis=axis, keepdims=True)


def _log_softmax(x, axis=-1, dtype=None):
    return x - np.logaddexp.reduce(x, axis=axis, keepdims=True) if x.ndim else 0 * x


def _rows():
    """Every shape along its last axis, the other axes, and another dtype."""
    return (
        *singles(),
        Sample("axis 0", (values((4, 3), 7),), {"axis": 0}),
        Sample("axis -2", (values((2, 4, 3), 8),), {"axis": -2}),
        Sample("axis 0 of nothing", (np.zeros((0, 3)),), {"axis": 0}),
        Sample("length 1", (values((3, 1), 9),)),
        Sample("to float64", (values((2, 3), 10),), {"axis": 1, "dtype": "float64"}),
    )


def _dtype(dtype, attributes):
    return dtype if attributes.get("dtype") is None else as_dtype(attributes["dtype"])


SAMPLES = (
    # 2.3 units were measured in float32, where tanh may have 2 more elsewhere; 1.4 in float64.
    OpSample("erf", erf, singles(), ERRORS, roundings=lambda x: 6),
    # NumPy's vector exp is good to 3 units, a sum and a quotient follow.
    OpSample("sigmoid", _sigmoid, singles(), ERRORS, roundings=lambda x: 4),
    OpSample("silu", lambda x: x * _sigmoid(x), singles(), ERRORS, roundings=lambda x: 5),
    OpSample(
        "gelu",
        _gelu,
        with_attributes(singles(), {"approximate": True}),
        (
            *ERRORS,
            ErrorSample(
                "text", lambda f, t: f(t((2,)), "none"), ValueError, ("gelu", "approximate", "none")
            ),
        ),
        # By tanh: exp 3, its argument 2 u (below 7 here) 5, the quotient 3, and the products.
        # By erf 2 units of x, since 1 + erf cancels in float32 (1.3 were measured).
        roundings=lambda x: 16,
        magnitude=lambda x, approximate=False: abs(_gelu(x, True)) if approximate else abs(x) / 8,
    ),
    OpSample(
        "softplus",
        _softplus,
        with_attributes(singles(), {"beta": 2.5}, {"beta": 0.5, "threshold": 0.25}),
        ERRORS,
        # exp and log1p are good to 3 units each, and beta x is below 5.
        roundings=lambda x: 12,
    ),
    OpSample(
        "softmax",
        _softmax,
        _rows(),
        (*ERRORS, _AXIS),
        # Of x - max, which is below 4, and of exp, its sum and the quotient.
        roundings=lambda x: 10 + (terms(x, -1) if x.ndim else 1),
        result_dtype=_dtype,
    ),
    OpSample(
        "log_softmax",
        _log_softmax,
        _rows(),
        (*ERRORS, _AXIS),
        roundings=lambda x: 10 + (terms(x, -1) if x.ndim else 1),
        magnitude=lambda x, **attributes: 4 + abs(_log_softmax(x, **attributes)),
        result_dtype=_dtype,
    ),
)
