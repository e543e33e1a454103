"""Records of relu and its kin. Inputs keep away from the bends."""

from __future__ import annotations

import numpy as np

from tests.ops.samples.activation import ERRORS, NOT_A_TENSOR, with_attributes
from tests.ops.samples.sample import ErrorSample, OpSample, Sample, singles

# Away from the bend at 0 by more than the numeric derivative steps.
AWAY = 0.125
_BOTH_SIDES = singles(AWAY)
_AT_ZERO = Sample("at zero", (np.array([-1.0, 0.0, 1.0]),), gradient=False)
_FAR = Sample("beyond 3", (np.array([-5.0, -3.5, 3.5, 20.0]),))


def _leaky_relu(x, negative_slope=0.01):
    return np.where(x > 0, x, negative_slope * x)


def _elu(x, alpha=1.0):
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def _hardtanh(x, min=-1.0, max=1.0):
    return np.minimum(np.maximum(x, min), max)


def _hardsigmoid(x, slope=0.1666667, offset=0.5):
    return _hardtanh(slope * x + offset, 0, 1)


def _off(samples, *bends):
    """The samples with every number near one of ``bends`` moved beyond it."""

    def moved(x):
        for bend in bends:
            x = np.where(abs(x - bend) < 0.0625, bend + 0.0625, x)
        return np.asarray(x)

    return tuple(Sample(s.name, (moved(s.operands[0]),), s.attributes) for s in samples)


def _refused(attribute, value):
    return ErrorSample(
        f"{attribute} {value}",
        lambda f, t: f(t((2,)), **{attribute: value}),
        ValueError,
        (attribute, str(value)),
    )


SAMPLES = (
    OpSample(
        "relu", lambda x: np.where(x > 0, x, 0 * x), (*_BOTH_SIDES, _AT_ZERO), (NOT_A_TENSOR,)
    ),
    OpSample(
        "leaky_relu",
        _leaky_relu,
        (*with_attributes(_BOTH_SIDES, {"negative_slope": 0.25}), _AT_ZERO),
        (*ERRORS, _refused("negative_slope", -0.5)),
        roundings=lambda x: 2,
    ),
    OpSample(
        "elu",
        _elu,
        (*with_attributes(_BOTH_SIDES, {"alpha": 0.5}), _AT_ZERO),
        (*ERRORS, _refused("alpha", -0.5)),
        roundings=lambda x: 5,  # NumPy's vector expm1 is good to 4 units in the last place
    ),
    OpSample(
        "hardtanh",
        _hardtanh,
        (
            *_off(singles(), -1.0, 1.0),
            *with_attributes(_off(singles(), -0.5, 1.5), {"min": -0.5, "max": 1.5})[5:],
        ),
        (*ERRORS, _refused("min", 2.0)),
    ),
    OpSample(
        "hardsigmoid",
        _hardsigmoid,
        (*singles(), _FAR, *with_attributes(_off(singles(), -1, 1), {"slope": 0.5})[5:]),
        ERRORS,
        roundings=lambda x: 4,
        magnitude=lambda x, slope=0.1666667, offset=0.5: abs(slope * x) + offset,
    ),
    OpSample(
        "hardswish",
        lambda x: x * _hardtanh(x + 3, 0, 6) / 6,
        (*singles(), _FAR),
        ERRORS,
        roundings=lambda x: 4,
        magnitude=lambda x: abs(x) * (abs(x) + 3) / 6,
    ),
    OpSample(
        "thresholded_relu",
        lambda x, threshold=1.0, value=0.0: np.where(x > threshold, x, value),
        (
            *_off(singles(), 1.0),
            *with_attributes(_off(singles(), 0.5), {"threshold": 0.5, "value": -2.0})[5:],
        ),
        ERRORS,
    ),
    OpSample(
        "hardshrink",
        lambda x, threshold=0.5: np.where(abs(x) > threshold, x, 0),
        (*_off(singles(), 0.5), *with_attributes(singles(), {"threshold": 0.0})),
        ERRORS,
    ),
    OpSample(
        "softshrink",
        lambda x, threshold=0.5: np.sign(x) * np.maximum(abs(x) - threshold, 0),
        (*_off(singles(), 0.5), *with_attributes(singles(), {"threshold": 0.0})),
        ERRORS,
        roundings=lambda x: 1,
        magnitude=lambda x, threshold=0.5: abs(x) + threshold,
    ),
)
