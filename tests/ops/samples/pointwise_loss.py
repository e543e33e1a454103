"""Records of losses of single elements."""

from __future__ import annotations

import numpy as np

from tests.ops.samples.sample import PAIRS, ErrorSample, OpSample, Sample, values


def _logistic(input, label):
    return np.log1p(np.exp(input)) - input * label


def _bernoulli(input, label):
    return -label * np.log(input) - (1 - label) * np.log1p(-input)


def _huber(input, label, delta=1.0):
    d = abs(input - label)
    return np.where(d < delta, d * d / 2, delta * (d - np.asarray(delta, d.dtype) / 2))


def _divergence(input, label, log_target=False):
    if log_target:
        return np.exp(label) * (label - input)
    positive = label > 0
    return np.where(positive, label * (np.log(np.where(positive, label, 1)) - input), 0 * input)


def _chance(shape, salt):
    """Numbers in [0.3, 0.7): far from the ends numeric derivatives are good ones."""
    return np.asarray((values(shape, salt) + 5) / 10)


def _near(shape, salt):
    """Numbers in [-0.25, 0.25)."""
    return np.asarray(values(shape, salt) / 8)


def _stepped(shape, salt):
    """-1.5, 0 and 1.5, from which ``_near`` is nowhere 1 or 0.625 away."""
    return np.asarray(1.5 * np.rint(values(shape, salt) / 1.5))


def _pairs(first, second, *several):
    return tuple(
        Sample(f"{name}, {extra}", (first(a, 1), second(b, 2)), extra)
        for extra in ({}, *several)
        for name, (a, b) in PAIRS.items()
    )


def _log_targets():
    return tuple(
        Sample(f"{name}, logarithms", (values(a, 1), values(b, 2)), {"log_target": True})
        for name, (a, b) in PAIRS.items()
    )


def _errors(name):
    return (
        ErrorSample(
            "shapes",
            lambda f, t: f(t((2, 3)), t((4,))),
            ValueError,
            (name, "input", "label", "[2, 3]", "[4]"),
        ),
        ErrorSample(
            "dtypes",
            lambda f, t: f(t((2,)), t((2,), "float64")),
            TypeError,
            (name, "float32", "float64"),
        ),
    )


SAMPLES = (
    OpSample(
        "logistic_loss",
        _logistic,
        _pairs(values, values),
        _errors("logistic_loss"),
        # exp and log1p are good to 3 units each; a product, a sum and a difference follow.
        roundings=lambda input, label: 12,
        magnitude=lambda input, label: _logistic(abs(input), -abs(label)),
    ),
    OpSample(
        "bernoulli_loss",
        _bernoulli,
        _pairs(_chance, _chance),
        (
            *_errors("bernoulli_loss"),
            ErrorSample(
                "no probability",
                lambda f, t: f(t((2,)) * 2.0, t((2,))),
                ValueError,
                ("bernoulli_loss", "[0, 1]", "2.0"),
            ),
        ),
        # Two logarithms good to 4 units, both weighted.
        roundings=lambda input, label: 12,
        magnitude=lambda input, label: -np.log(input) - np.log1p(-input) + 0 * label,
    ),
    OpSample(
        "huber_loss",
        _huber,
        _pairs(_near, _stepped, {"delta": 0.625}),
        _errors("huber_loss"),
        # The difference loses what its terms, below 2, are rounded by; two products follow.
        roundings=lambda input, label: 6,
        magnitude=lambda input, label, delta=1.0: _huber(abs(input), -abs(label), delta),
    ),
    OpSample(
        "divergence_loss",
        _divergence,
        (
            *_pairs(values, _chance),
            *_log_targets(),
            Sample("no target", (values((2, 2), 1), np.array([[0.0, 0.5], [1.0, 0.0]])), {}, False),
        ),
        _errors("divergence_loss"),
        roundings=lambda input, label: 12,
        magnitude=lambda input, label, log_target=False: (
            np.exp(label) * (abs(label) + abs(input) + 1)
            if log_target
            else abs(label) * (abs(input) + 3) + abs(_divergence(input, label))
        ),
    ),
)
