"""Records of normalizations over rows."""

from __future__ import annotations

import math

import numpy as np

from tests.ops.samples.sample import ErrorSample, OpSample, Sample, values


def _normalized(x, weight, bias, begin, epsilon, center):
    shape = np.shape(x)
    rows = np.reshape(x, (math.prod(shape[:begin]), math.prod(shape[begin:])))
    if center:
        rows = rows - np.mean(rows, axis=1, keepdims=True)
    out = rows / np.sqrt(np.mean(rows * rows, axis=1, keepdims=True) + np.asarray(epsilon, x.dtype))
    out = out if weight is None else out * np.reshape(weight, -1)
    out = out if bias is None else out + np.reshape(bias, -1)
    return np.reshape(out, shape)


def _layer_norm(x, weight=None, bias=None, begin_norm_axis=1, epsilon=1e-5):
    return _normalized(x, weight, bias, begin_norm_axis, epsilon, True)


def _rms_norm(x, weight=None, begin_norm_axis=1, epsilon=1e-5):
    return _normalized(x, weight, None, begin_norm_axis, epsilon, False)


def _layer_magnitude(x, weight=None, bias=None, begin_norm_axis=1, epsilon=1e-5):
    """The largest of x beside each deviation: of that size are the numbers that are subtracted."""
    shape = np.shape(x)
    rows = np.reshape(x, (math.prod(shape[:begin_norm_axis]), math.prod(shape[begin_norm_axis:])))
    if not rows.size:
        return np.zeros(shape)
    largest = (
        2
        * np.max(abs(rows), axis=1, keepdims=True)
        / np.sqrt(np.var(rows, axis=1, keepdims=True) + epsilon)
    )
    out = np.broadcast_to(largest, rows.shape)
    out = out if weight is None else out * abs(np.reshape(weight, -1))
    out = out if bias is None else out + abs(np.reshape(bias, -1))
    return np.reshape(out, shape)


def _operands(biased):
    """x and the parameters, with and without each, of one rank or another, and where rows begin."""

    def parameters(shape, *present):
        several = [values(shape, 2 + i) if there else None for i, there in enumerate(present)]
        return tuple(several if biased else several[:1])

    given = {
        "matrix": (values((3, 5), 1), (5,), (True, True), 1),
        "no weight": (values((3, 5), 1), (5,), (False, True), 1),
        "no bias": (values((3, 5), 1), (5,), (True, False), 1),
        "neither": (values((3, 5), 1), (5,), (False, False), 1),
        "two axes": (values((2, 2, 3), 1), (2, 3), (True, True), 1),
        "two axes, flat": (values((2, 2, 3), 1), (6,), (True, True), 1),
        "vector, weight of rank 2": (values((6,), 1), (2, 3), (True, True), 0),
        "rank 3": (values((2, 2, 4), 1), (4,), (True, True), 2),
        "far": (values((2, 4), 1) + 9, (4,), (True, True), 1),
        "0-d": (values((), 1, away=0.5), (), (False, False), 0),
        "empty": (np.zeros((0, 3)), (3,), (True, True), 1),
    }
    for name, (x, shape, present, begin) in given.items():
        yield Sample(name, (x, *parameters(shape, *present)), {"begin_norm_axis": begin})
    x = values((2, 4), 5)
    yield Sample("epsilon", (x, *parameters((4,), True, True)), {"epsilon": 0.5})


def _errors(name):
    return (
        ErrorSample(
            "weight",
            lambda f, t: f(t((2, 3)), t((2,))),
            ValueError,
            (name, "weight", "3 elements", "[2]"),
        ),
        ErrorSample(
            "dtypes",
            lambda f, t: f(t((2, 3)), t((3,), "float64")),
            TypeError,
            (name, "float32", "float64"),
        ),
    )


SAMPLES = (
    OpSample(
        "layer_norm_rows",
        _layer_norm,
        tuple(_operands(True)),
        (
            *_errors("layer_norm_rows"),
            ErrorSample(
                "bias",
                lambda f, t: f(t((2, 3)), None, t((2,))),
                ValueError,
                ("layer_norm_rows", "bias", "3 elements", "[2]"),
            ),
        ),
        # The mean of a row, the mean of its squares, and five operations on each element.
        roundings=lambda x, *parameters: 2 * x.size + 6,
        magnitude=_layer_magnitude,
    ),
    OpSample(
        "rms_norm_rows",
        _rms_norm,
        tuple(_operands(False)),
        _errors("rms_norm_rows"),
        roundings=lambda x, *parameters: x.size + 6,
    ),
)
