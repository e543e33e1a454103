"""Records of variances, norms and logarithms of sums of exponentials."""

from __future__ import annotations

import numpy as np

from tests.ops.samples.reduction import AXIS_ERRORS, as_numpy, axes_samples
from tests.ops.samples.sample import ErrorSample, OpSample, Sample, singles, values


def _logsumexp(x, axis=None, keepdim=False):
    return np.log(np.sum(np.exp(x), axis=axis, keepdims=keepdim))


def _squares(x, axis=None, unbiased=True, keepdim=False):
    """What the variance is if the mean is 0: the size of the numbers that it is made of."""
    total = np.sum(x * x, axis=axis, keepdims=keepdim)
    return total / (x.size // max(1, total.size) - unbiased if total.size else 1)


def _var(x, axis=None, unbiased=True, keepdim=False):
    mean = np.sum(x, axis=axis, keepdims=True) / _terms(x, axis)
    return _squares(x - mean, axis, unbiased, keepdim)


def _terms(x, axis):
    return x.size // max(1, np.sum(x, axis=axis).size) if x.size else 1


def _std(x, **attributes):
    return np.sqrt(_var(x, **attributes))


def _std_magnitude(x, **attributes):
    # The error of a root is that of its operand divided by twice the root.
    out = as_numpy(_std)(x, **attributes)
    return as_numpy(_squares)(x, **attributes) / np.where(out == 0, 1, out)


_SPREADS = tuple(
    Sample(
        f"{list(shape)}, axis {axis}, unbiased {unbiased}, keepdim {keepdim}",
        (values(shape, 2),),
        {"axis": axis, "unbiased": unbiased, "keepdim": keepdim},
    )
    for shape, axis in [
        ((2, 3), None),
        ((2, 3), 0),
        ((2, 3), -1),
        ((2, 3, 2), [0, 2]),
        ((4,), 0),
        ((0, 3), 1),
    ]
    for unbiased, keepdim in [(True, False), (False, True)]
)
_ALONE = {"unbiased": False}


def _norm(x, p=None, axis=None, keepdim=False):
    order = 2 if p in (None, "fro") else p
    if order == 0:
        return np.sum(x != 0, axis=axis, keepdims=keepdim).astype(x.dtype)
    if np.isinf(order):
        return (np.max if order > 0 else np.min)(abs(x), axis=axis, keepdims=keepdim)
    return np.sum(abs(x) ** order, axis=axis, keepdims=keepdim) ** (1 / x.dtype.type(order))


def _spread_out(shape, p):
    """Away from 0; for p infinite no two of nearly one size."""
    if p in (float("inf"), float("-inf")):
        sizes = np.linspace(0.5, 2.0, int(np.prod(shape))).reshape(shape)
        return np.asarray(sizes * np.sign(values(shape, 3, away=0.3)))
    return values(shape, 3, away=0.3)


_NORMS = tuple(
    Sample(
        f"p {p}, {list(shape)}, axis {axis}, keepdim {keepdim}",
        (_spread_out(shape, p),),
        {"p": p, "axis": axis, "keepdim": keepdim},
    )
    for p in (None, "fro", 0, 1, 2, 3, 0.5, -1, float("inf"), float("-inf"))
    for shape, axis, keepdim in [
        ((2, 3), None, False),
        ((2, 3), 1, True),
        ((2, 3, 2), [0, 2], False),
        ((), None, False),
        ((0, 3), 1, False),
    ]
)

SAMPLES = (
    OpSample(
        "logsumexp",
        as_numpy(_logsumexp),
        (*axes_samples(empty=False), Sample("far apart", (np.array([0.0, -50.0, 3.0]),))),
        AXIS_ERRORS,
        # The differences from the largest are at most 53 here, exact to half a unit of that.
        roundings=lambda x: x.size + 8 + 53,
        magnitude=lambda x, **a: 1 + abs(as_numpy(_logsumexp)(x, **a)),
    ),
    OpSample(
        "var",
        as_numpy(_var),
        (*_SPREADS, Sample("0-d", (values(()),), _ALONE)),
        AXIS_ERRORS,
        roundings=lambda x: 3 * x.size + 6,
        magnitude=as_numpy(_squares),
    ),
    OpSample(
        "std",
        as_numpy(_std),
        (*_SPREADS, Sample("0-d", (values(()),), _ALONE, gradient=False)),
        AXIS_ERRORS,
        roundings=lambda x: 3 * x.size + 6,
        magnitude=_std_magnitude,
    ),
    OpSample(
        "norm",
        as_numpy(_norm),
        _NORMS,
        (
            *AXIS_ERRORS,
            ErrorSample("nuc", lambda f, t: f(t((2, 3)), "nuc"), ValueError, ("norm", "p", "nuc")),
            ErrorSample(
                "no element",
                lambda f, t: f(t((0, 3)), float("inf")),
                ValueError,
                ("norm", "inf", "[0, 3]"),
            ),
        ),
        # A power is good to 4 units, and the last one takes errors times 1/p, at most 2.
        roundings=lambda x: 2 * (x.size + 4) + 4,
    ),
    OpSample(
        "squared_norm",
        lambda x: np.sum(x * x),
        (*singles(), Sample("large", (np.array([1e4, -3e4, 2.0]),))),
        roundings=lambda x: x.size + 2,
        result_dtype=lambda dtype, attributes: np.dtype("float64"),
    ),
)
