"""Records of optimizer updates: parameters in a list, gradient and moments flat."""

from __future__ import annotations

import numpy as np

from tests.ops.samples.sample import OpSample, Sample, values

_ADAM = {"learning_rate": 0.125, "beta1": 0.75, "beta2": 0.875, "epsilon": 1e-3, "step": 3}


def _flat(params):
    return np.concatenate([np.zeros(0, np.longdouble), *(param.reshape(-1) for param in params)])


def _split(flat, params):
    ends = np.cumsum([param.size for param in params])
    parts = np.split(flat, ends[:-1]) if params else []
    return [part.reshape(p.shape) for part, p in zip(parts, params, strict=True)]


def _sgd(params, grad, learning_rate):
    return [*_split(_flat(params) - learning_rate * grad, params), grad]


def _adam(params, grad, moment1, moment2, learning_rate, beta1, beta2, epsilon, step):
    """Kingma and Ba's algorithm 1 as it is printed, with corrected moments."""
    moment1 = beta1 * moment1 + (1 - beta1) * grad
    moment2 = beta2 * moment2 + (1 - beta2) * grad**2
    one = np.longdouble(1)
    corrected1 = moment1 / (one - beta1**step)
    corrected2 = moment2 / (one - beta2**step)
    new = _flat(params) - learning_rate * corrected1 / (np.sqrt(corrected2) + epsilon)
    return [*_split(new, params), grad, moment1, moment2]


_SHAPES = {
    "one": [(2, 3)],
    "several": [(2, 3), (3,), (), (1, 4)],
    "empty among them": [(2, 3), (0, 3), (2,)],
    "none": [],
}


def _updates(moments, attributes):
    for name, shapes in _SHAPES.items():
        params = [values(shape, i) for i, shape in enumerate(shapes)]
        size = sum(param.size for param in params)
        # Second moments are never negative.
        rest = (values((size,), 8), abs(values((size,), 9)))[:moments]
        yield Sample(name, (params, values((size,), 7), *rest), attributes)


SAMPLES = (
    OpSample("sgd_", _sgd, tuple(_updates(0, {"learning_rate": 0.125})), roundings=lambda *a: 4),
    OpSample("adam_", _adam, tuple(_updates(2, _ADAM)), roundings=lambda *a: 24),
)
