"""Records of losses."""

from __future__ import annotations

import numpy as np

from tests.ops.samples.sample import PAIRS, ErrorSample, OpSample, Sample, values


def _mse_loss(input, label, reduction="mean"):
    error = np.square(input - label)
    return {"none": lambda e: e, "sum": np.sum, "mean": np.mean}[reduction](error)


def _magnitude(input, label, reduction="mean"):
    return _mse_loss(abs(input), -abs(label), reduction)


SAMPLES = (
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
