"""Records of sums and means."""

from __future__ import annotations

import numpy as np

from minipaddle.device.dtype import as_dtype
from tests.ops.samples.sample import ErrorSample, OpSample, Sample, values


def _sum(x, axis=None, dtype=None, keepdim=False):
    return np.sum(x, axis=axis, keepdims=keepdim)


def _mean(x, axis=None, keepdim=False):
    return np.mean(x, axis=axis, keepdims=keepdim)


def _axes(empty):
    """Samples over ranks and axes; ``empty`` adds those whose result sums nothing."""
    cases = [
        ((2, 3), None),
        ((2, 3), 0),
        ((2, 3), -1),
        ((2, 3, 2), (0, 2)),
        ((2, 3, 2), (-1, 0)),
        ((2, 1, 3), 1),
        ((4,), 0),
        ((), None),
        ((2, 3), ()),
        ((0, 3), 1),
        *([((0, 3), None), ((0, 3), 0)] if empty else []),
    ]
    for shape, axis in cases:
        for keepdim in (False, True):
            given = list(axis) if isinstance(axis, tuple) and keepdim else axis
            yield Sample(
                f"{list(shape)}, axis {given}, keepdim {keepdim}",
                (values(shape, 1),),
                {"axis": given if given != [] else (), "keepdim": keepdim},
            )


def _as_numpy(reference):
    """NumPy takes a tuple of axes where the op also takes a list."""

    def run(x, axis=None, **attributes):
        return reference(x, tuple(axis) if isinstance(axis, list) else axis, **attributes)

    return run


def _sum_dtype(dtype, attributes):
    if attributes.get("dtype") is not None:
        return as_dtype(attributes["dtype"])
    return np.dtype(np.int64) if dtype.kind in "biu" else dtype


_ERRORS = (
    ErrorSample("axis", lambda f, t: f(t((2, 3)), axis=2), ValueError, ("axis 2", "[2, 3]")),
    ErrorSample("axis twice", lambda f, t: f(t((2, 3)), axis=(0, 0)), ValueError, ("axis",)),
    ErrorSample(
        "axis twice, signs", lambda f, t: f(t((2, 3)), axis=(1, -1)), ValueError, ("axis",)
    ),
    ErrorSample("axis type", lambda f, t: f(t((2, 3)), axis=0.5), TypeError, ("axis", "0.5")),
    ErrorSample("number", lambda f, t: f(1.5), TypeError, ("Tensor", "float")),
)

SAMPLES = (
    OpSample(
        "sum",
        _as_numpy(_sum),
        (
            *_axes(empty=True),
            Sample("to float64", (values((2, 3)),), {"dtype": "float64"}),
            Sample("axis 1 to float64", (values((2, 3)),), {"axis": 1, "dtype": "float64"}),
        ),
        _ERRORS,
        roundings=lambda x: x.size + 1,
        magnitude=lambda x, **a: _as_numpy(_sum)(abs(x), **a),
        result_dtype=_sum_dtype,
    ),
    OpSample(
        "mean",
        _as_numpy(_mean),
        tuple(_axes(empty=False)),
        (
            *_ERRORS,
            ErrorSample(
                "int", lambda f, t: f(t((2,), "int64")), TypeError, ("mean", "int64", "astype")
            ),
        ),
        roundings=lambda x: x.size + 2,
        magnitude=lambda x, **a: _as_numpy(_mean)(abs(x), **a),
    ),
)
