"""Records of losses."""

from __future__ import annotations

import numpy as np

from minipaddle.device.dtype import compute_dtype
from tests.ops.samples.sample import PAIRS, ErrorSample, OpSample, Sample, values


def _mse_loss(input, label, reduction="mean"):
    error = np.square(input - label)
    return {"none": lambda e: e, "sum": np.sum, "mean": np.mean}[reduction](error)


def _magnitude(input, label, reduction="mean"):
    return _mse_loss(abs(input), -abs(label), reduction)


def _log_softmax(x, axis):
    return x - np.logaddexp.reduce(x, axis=axis, keepdims=True)


def _one_hot(label, shape, axis, ignore_index):
    """1 at the labelled places of an array of ``shape``, by comparing every place with them."""
    classes = np.arange(shape[axis])
    rows = np.expand_dims(label, -1) == classes
    rows = rows & (np.expand_dims(label, -1) != ignore_index)
    return np.moveaxis(rows, -1, axis)


def _hard_cross_entropy(input, label, axis=-1, ignore_index=-100, label_smoothing=0.0):
    count = input.shape[axis]
    target = _one_hot(label, input.shape, axis, ignore_index) * (1 - label_smoothing)
    used = np.expand_dims(label != ignore_index, axis)
    target = target + used * (label_smoothing / max(1, count))
    count = max(1, np.count_nonzero(used))
    return -np.sum(target * _log_softmax(input, axis), axis=axis), np.asarray(count, input.dtype)


def _take_class(x, label, axis=-1, ignore_index=-100):
    return np.sum(x * _one_hot(label, x.shape, axis, ignore_index), axis=axis)


def _put_class(x, label, classes, axis=-1, ignore_index=-100):
    at = axis % (x.ndim + 1)
    shape = (*x.shape[:at], classes, *x.shape[at:])
    return np.expand_dims(x, axis) * _one_hot(label, shape, axis, ignore_index)


def _label(shape, classes, *ignored):
    drawn = np.random.default_rng([3, *shape]).integers(0, classes, shape)
    flat = drawn.reshape(-1)
    for at, value in enumerate(ignored):
        flat[at] = value
    return np.asarray(drawn, np.int32 if len(shape) == 2 else np.int64)


def _rows(*several):
    """Rows of classes on every axis, ignored ones among them, with each of the attributes."""
    for extra in ({}, *several):
        yield from (
            Sample(f"matrix, {extra}", (values((4, 5), 1), _label((4,), 5)), extra),
            Sample(f"ignored, {extra}", (values((4, 5), 1), _label((4,), 5, -100)), extra),
            Sample(
                f"axis 1, {extra}",
                (values((2, 3, 4), 2), _label((2, 4), 3, 1, 2)),
                {"axis": 1, "ignore_index": 2, **extra},
            ),
            Sample(f"axis 0, {extra}", (values((3, 2), 3), _label((2,), 3)), {"axis": 0, **extra}),
            Sample(f"one row, {extra}", (values((5,), 4), _label((), 5)), extra),
            Sample(f"one class, {extra}", (values((3, 1), 4), _label((3,), 1)), extra),
            Sample(f"no row, {extra}", (np.zeros((0, 3)), _label((0,), 3)), extra),
        )


def _puts():
    yield Sample("vector", (values((4,), 1), _label((4,), 5, -100)), {"classes": 5})
    yield Sample("axis 1", (values((2, 4), 2), _label((2, 4), 3)), {"classes": 3, "axis": 1})
    yield Sample("0-d", (values((), 4), _label((), 5)), {"classes": 5})
    yield Sample("empty", (np.zeros((0,)), _label((0,), 3)), {"classes": 3})


def _label_errors(*rest):
    return (
        ErrorSample(
            "class",
            lambda f, t: f(t((2, 1)) if not rest else t((2,)), t((2,), "int64"), *rest),
            ValueError,
            ("label 1", "1 classes", "ignore_index"),
        ),
        ErrorSample(
            "shape",
            lambda f, t: f(t((2, 3)) if not rest else t((2,)), t((4,), "int64"), *rest),
            ValueError,
            ("label", "[2]", "[4]"),
        ),
        ErrorSample(
            "float label",
            lambda f, t: f(t((2, 3)) if not rest else t((2,)), t((2,)), *rest),
            TypeError,
            ("label", "int", "float32"),
        ),
    )


SAMPLES = (
    OpSample(
        "hard_cross_entropy",
        _hard_cross_entropy,
        tuple(_rows({"label_smoothing": 0.25})),
        _label_errors(),
        # As log_softmax of scores below 2, whose differences are below 4, and their mean.
        roundings=lambda input, label: 12 + 2 * input.size,
        magnitude=lambda input, label, **attributes: (np.full(label.shape, 8.0), np.zeros(())),
        result_dtype=lambda dtype, attributes: (dtype, compute_dtype(dtype)),
        takes_0d=False,
    ),
    OpSample("take_class", _take_class, tuple(_rows()), _label_errors(), takes_0d=False),
    OpSample("put_class", _put_class, tuple(_puts()), _label_errors(1)),
    OpSample(
        "mse_loss",
        _mse_loss,
        tuple(
            Sample(f"{reduction}, {name}", (values(a, 1), values(b, 2)), {"reduction": reduction})
            for reduction in ("mean", "sum", "none")
            for name, (a, b) in PAIRS.items()
            # The mean of no element is NaN; kernels/cpu/test_kernels.py holds that.
            if not (reduction == "mean" and "empty" in name)
        ),
        (
            ErrorSample(
                "reduction",
                lambda f, t: f(t((2,)), t((2,)), "average"),
                ValueError,
                ("mse_loss", "reduction", "average", "mean"),
            ),
            ErrorSample(
                "shapes",
                lambda f, t: f(t((2, 3)), t((4,))),
                ValueError,
                ("mse_loss", "input", "label", "[2, 3]", "[4]"),
            ),
            ErrorSample(
                "dtypes",
                lambda f, t: f(t((2,)), t((2,), "float64")),
                TypeError,
                ("mse_loss", "float32", "float64"),
            ),
            ErrorSample(
                "int",
                lambda f, t: f(t((2,), "int64"), t((2,), "int64")),
                TypeError,
                ("mse_loss", "int64", "astype"),
            ),
        ),
        roundings=lambda input, label: np.broadcast(input, label).size + 3,
        magnitude=_magnitude,
    ),
)
