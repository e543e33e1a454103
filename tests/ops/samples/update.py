"""Records of optimizer updates: parameters in a list, gradient and moments flat."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.ops.samples.sample import OpSample, Sample, values

# Beside these, the treatment of the gradient: each of its numbers is of use in one of them.
_PLAIN = {"scale": 1.0, "lowest": -np.inf, "highest": np.inf, "l1": 0.0, "l2": 0.0}
_TREATED = {"scale": 0.5, "lowest": -1.0, "highest": 0.75, "l1": 0.25, "l2": 0.125}
_RATE = {"learning_rate": 0.125}
_MOMENTUM = {**_RATE, "momentum": 0.75, "use_nesterov": False}
_ADAGRAD = {**_RATE, "epsilon": 1e-3}
_RMSPROP = {**_RATE, "rho": 0.75, "epsilon": 0.25, "momentum": 0.5, "centered": False}
_CENTERED = {**_RMSPROP, "centered": True}
_ADAM = {**_RATE, "beta1": 0.75, "beta2": 0.875, "epsilon": 1e-3, "decay": 0.0, "step": 3}


def _flat(params):
    return np.concatenate([np.zeros(0, np.longdouble), *(param.reshape(-1) for param in params)])


def _split(flat, params):
    ends = np.cumsum([param.size for param in params])
    parts = np.split(flat, ends[:-1]) if params else []
    return [part.reshape(p.shape) for part, p in zip(parts, params, strict=True)]


def _treated(grad, value, scale, lowest, highest, l1=0.0, l2=0.0):
    return np.clip(grad, lowest, highest) * scale + l2 * value + l1 * np.sign(value)


def _whole(params, grad, master, treatment):
    """What is updated, and the gradient by which."""
    value = _flat(params) if master is None else master
    return value, _treated(grad, value, **treatment)


def _result(new, params, grad, master, *state):
    return [*_split(new, params), grad, master if master is None else new, *state]


def _sgd(params, grad, master, learning_rate, **treatment):
    value, g = _whole(params, grad, master, treatment)
    return _result(value - learning_rate * g, params, grad, master)


def _momentum(params, grad, master, velocity, learning_rate, momentum, use_nesterov, **treatment):
    value, g = _whole(params, grad, master, treatment)
    velocity = momentum * velocity + g
    step = g + momentum * velocity if use_nesterov else velocity
    return _result(value - learning_rate * step, params, grad, master, velocity)


def _adagrad(params, grad, master, moment, learning_rate, epsilon, **treatment):
    value, g = _whole(params, grad, master, treatment)
    moment = moment + g**2
    new = value - learning_rate * g / (np.sqrt(moment) + epsilon)
    return _result(new, params, grad, master, moment)


def _rmsprop(
    params, grad, master, moment, mean_square, mean_grad,
    learning_rate, rho, epsilon, momentum, centered, **treatment,
):  # fmt: skip
    value, g = _whole(params, grad, master, treatment)
    mean_square = rho * mean_square + (1 - rho) * g**2
    if centered:
        mean_grad = rho * mean_grad + (1 - rho) * g
    variance = mean_square - mean_grad**2 if centered else mean_square
    moment = momentum * moment + learning_rate * g / np.sqrt(variance + epsilon)
    return _result(value - moment, params, grad, master, moment, mean_square, mean_grad)


def _adam(
    params, grad, master, moment1, moment2, moment2_max,
    learning_rate, beta1, beta2, epsilon, decay, step, **treatment,
):  # fmt: skip
    """Kingma and Ba's algorithm 1 as it is printed, with corrected moments."""
    value, g = _whole(params, grad, master, treatment)
    moment1 = beta1 * moment1 + (1 - beta1) * g
    moment2 = beta2 * moment2 + (1 - beta2) * g**2
    if moment2_max is not None:
        moment2_max = np.maximum(moment2_max, moment2)
    one = np.longdouble(1)
    corrected1 = moment1 / (one - beta1**step)
    corrected2 = (moment2 if moment2_max is None else moment2_max) / (one - beta2**step)
    new = value * (1 - learning_rate * decay)
    new = new - learning_rate * corrected1 / (np.sqrt(corrected2) + epsilon)
    return _result(new, params, grad, master, moment1, moment2, moment2_max)


def _adamax(
    params, grad, master, moment, largest,
    learning_rate, beta1, beta2, epsilon, step, **treatment,
):  # fmt: skip
    value, g = _whole(params, grad, master, treatment)
    moment = beta1 * moment + (1 - beta1) * g
    largest = np.maximum(abs(g), beta2 * largest + epsilon)
    corrected = moment / (np.longdouble(1) - beta1**step)
    return _result(
        value - learning_rate * corrected / largest, params, grad, master, moment, largest
    )


def _adadelta(
    params, grad, master, mean_square, mean_update, learning_rate, rho, epsilon, **treatment
):
    value, g = _whole(params, grad, master, treatment)
    mean_square = rho * mean_square + (1 - rho) * g**2
    step = np.sqrt((mean_update + epsilon) / (mean_square + epsilon)) * g
    mean_update = rho * mean_update + (1 - rho) * step**2
    new = value - learning_rate * step
    return _result(new, params, grad, master, mean_square, mean_update)


def _sgd_rows(param, rows, value, learning_rate, **treatment):
    new = param.copy()
    for i, gradient in zip(rows, _treated(value, value, **treatment), strict=True):
        new[i] = new[i] - learning_rate * gradient
    return [new, rows, value]


def _adam_rows(param, rows, value, moment1, moment2, moment2_max, **attributes):
    treatment = {name: attributes.pop(name) for name in ("scale", "lowest", "highest")}
    arrays = [param, moment1, moment2, moment2_max]
    arrays = [None if a is None else a.copy() for a in arrays]
    param, *state = [None if a is None else a[rows].reshape(-1) for a in arrays]
    new, _, _, *state = _adam([param], value.reshape(-1), None, *state, **attributes, **treatment)
    for array, part in zip(arrays, [new, *state], strict=True):
        if array is not None:
            array[rows] = part.reshape(array[rows].shape)
    return [arrays[0], rows, value, *arrays[1:]]


_SHAPES = {
    "one": [(2, 3)],
    "several": [(2, 3), (3,), (), (1, 4)],
    "empty among them": [(2, 3), (0, 3), (2,)],
    "none": [],
}


def _sample(name, state, attributes, treatment=_PLAIN, shapes="several", master=False):
    """``state`` says of each array whether it may be negative, or None where it is left out."""
    params = [values(shape, i) for i, shape in enumerate(_SHAPES[shapes])]
    size = sum(param.size for param in params)
    arrays = [None if s is None else values((size,), 8 + i) for i, s in enumerate(state)]
    arrays = [abs(a) if s is False else a for a, s in zip(arrays, state, strict=True)]
    held = _flat(params).astype(np.float64) if master else None
    return Sample(name, (params, values((size,), 7), held, *arrays), {**attributes, **treatment})


def _samples(state, *variants):
    for shapes in _SHAPES:
        yield _sample(shapes, state, variants[0], shapes=shapes)
    for i, attributes in enumerate(variants):
        yield _sample(f"variant {i}, treated", state, attributes, _TREATED)
        yield _sample(f"variant {i}, master", state, attributes, master=True)
        yield _sample(f"variant {i}, master, treated", state, attributes, _TREATED, master=True)


def _centered():
    """Mean squares that are larger than the square of any mean."""
    for treatment in (_PLAIN, _TREATED):
        sample = _sample("centered", (True, False, True), {**_RMSPROP, "centered": True}, treatment)
        yield replace(
            sample, operands=(*sample.operands[:4], sample.operands[4] + 4, *sample.operands[5:])
        )


def _rows(state, attributes, treatment):
    for name, rows in (("rows", [3, 0]), ("no rows", [])):
        arrays = [None if s is None else values((4, 3), 8 + i) for i, s in enumerate(state)]
        arrays = [abs(a) if s is False else a for a, s in zip(arrays, state, strict=True)]
        given = (values((4, 3), 3), np.array(rows, np.int64), values((len(rows), 3), 4), *arrays)
        yield Sample(name, given, {**attributes, **dict(list(treatment.items())[:3])})


_ADAMAX = {**_RATE, "beta1": 0.75, "beta2": 0.875, "epsilon": 0.25, "step": 3}
_ADADELTA = {**_RATE, "rho": 0.75, "epsilon": 0.25}
_AMSGRAD = {**_ADAM, "decay": 0.5}
SAMPLES = (
    OpSample("sgd_", _sgd, tuple(_samples((), _RATE)), roundings=lambda *a: 8),
    OpSample(
        "momentum_",
        _momentum,
        tuple(_samples((True,), _MOMENTUM, {**_MOMENTUM, "use_nesterov": True})),
        roundings=lambda *a: 16,
    ),
    OpSample("adagrad_", _adagrad, tuple(_samples((False,), _ADAGRAD)), roundings=lambda *a: 24),
    OpSample(
        "rmsprop_",
        _rmsprop,
        (*_samples((True, False, False), _RMSPROP), *_centered()),
        roundings=lambda *a: 24,
    ),
    OpSample("adamax_", _adamax, tuple(_samples((True, False), _ADAMAX)), roundings=lambda *a: 64),
    OpSample(
        "adadelta_", _adadelta, tuple(_samples((False, False), _ADADELTA)), roundings=lambda *a: 32
    ),
    OpSample(
        "adam_",
        _adam,
        (
            *_samples((True, False, None), _ADAM, {**_ADAM, "decay": 0.5}),
            *_samples((True, False, False), _AMSGRAD),
        ),
        roundings=lambda *a: 32,
    ),
    OpSample(
        "sgd_rows_",
        _sgd_rows,
        (*_rows((), _RATE, _PLAIN), *_rows((), _RATE, _TREATED)),
        roundings=lambda *a: 8,
    ),
    OpSample(
        "adam_rows_",
        _adam_rows,
        (
            *_rows((True, False, None), _ADAM, _PLAIN),
            *_rows((True, False, False), _AMSGRAD, _TREATED),
        ),
        roundings=lambda *a: 32,
    ),
)
