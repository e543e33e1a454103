"""Records of reductions."""

from __future__ import annotations

import numpy as np

from minipaddle.device.dtype import as_dtype
from tests.ops.samples.sample import ErrorSample, OpSample, Sample, values


def _sum(x, axis=None, dtype=None, keepdim=False):
    return np.sum(x, axis=axis, keepdims=keepdim)


def _mean(x, axis=None, keepdim=False):
    return np.mean(x, axis=axis, keepdims=keepdim)


def axes_samples(empty):
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


def as_numpy(reference):
    """NumPy takes a tuple of axes where the op also takes a list."""

    def run(x, axis=None, **attributes):
        axes = tuple(axis) if isinstance(axis, list) else axis
        return reference(x, axis=axes, **attributes)

    return run


def _sum_dtype(dtype, attributes):
    if attributes.get("dtype") is not None:
        return as_dtype(attributes["dtype"])
    return np.dtype(np.int64) if dtype.kind in "biu" else dtype


AXIS_ERRORS = (
    ErrorSample("axis", lambda f, t: f(t((2, 3)), axis=2), ValueError, ("axis 2", "[2, 3]")),
    ErrorSample("axis twice", lambda f, t: f(t((2, 3)), axis=(0, 0)), ValueError, ("axis",)),
    ErrorSample(
        "axis twice, signs", lambda f, t: f(t((2, 3)), axis=(1, -1)), ValueError, ("axis",)
    ),
    ErrorSample("axis type", lambda f, t: f(t((2, 3)), axis=0.5), TypeError, ("axis", "0.5")),
    ErrorSample("number", lambda f, t: f(1.5), TypeError, ("Tensor", "float")),
)


def _numpy(name):
    def run(x, axis=None, keepdim=False):
        return getattr(np, name)(x, axis=axis, keepdims=keepdim)

    return run


def _extreme(name):
    """A maximum or minimum; where several elements reach it, it has no derivative."""
    nothing = ErrorSample(
        "no element", lambda f, t: f(t((0, 3)), axis=0), ValueError, (name, "axis", "[0, 3]")
    )
    return OpSample(
        name,
        as_numpy(_numpy(name)),
        (
            *axes_samples(empty=False),
            Sample("ties", (np.array([[1.0, 1.0, 0.5], [2.0, 2.0, 2.0]]),), {"axis": 1}, False),
        ),
        (*AXIS_ERRORS, nothing),
    )


def _prod(x, axis=None, dtype=None, keepdim=False):
    return np.prod(x, axis=axis, keepdims=keepdim)


def _zeros(count):
    x = values((2, 3, 2), 5)
    x.reshape(-1)[[1, 7, 3][:count]] = 0.0
    return x


def _nanmean(x, axis=None, keepdim=False):
    there = ~np.isnan(x)
    total = np.sum(np.where(there, x, 0), axis=axis, keepdims=keepdim)
    return total / np.sum(there, axis=axis, keepdims=keepdim)


SAMPLES = (
    OpSample(
        "sum",
        as_numpy(_sum),
        (
            *axes_samples(empty=True),
            Sample("to float64", (values((2, 3)),), {"dtype": "float64"}),
            Sample("axis 1 to float64", (values((2, 3)),), {"axis": 1, "dtype": "float64"}),
        ),
        AXIS_ERRORS,
        roundings=lambda x: x.size + 1,
        magnitude=lambda x, **a: as_numpy(_sum)(abs(x), **a),
        result_dtype=_sum_dtype,
    ),
    OpSample(
        "mean",
        as_numpy(_mean),
        tuple(axes_samples(empty=False)),
        (
            *AXIS_ERRORS,
            ErrorSample(
                "int", lambda f, t: f(t((2,), "int64")), TypeError, ("mean", "int64", "astype")
            ),
        ),
        roundings=lambda x: x.size + 2,
        magnitude=lambda x, **a: as_numpy(_mean)(abs(x), **a),
    ),
    *(_extreme(name) for name in ("max", "min", "amax", "amin")),
    *(
        OpSample(
            name,
            as_numpy(_numpy(name)),
            (
                *axes_samples(empty=True),
                Sample("zeros", (np.array([[0.0, 1.0, -0.0], [0.0, 0.0, 0.0]]),), {"axis": 1}),
                Sample("no zeros", (values((2, 3), away=0.5),)),
            ),
            AXIS_ERRORS,
            result_dtype=lambda dtype, attributes: np.dtype(np.bool_),
        )
        for name in ("all", "any")
    ),
    OpSample(
        "prod",
        as_numpy(_prod),
        (
            *axes_samples(empty=True),
            *(
                Sample(f"{count} zeros, axis {axis}", (_zeros(count),), {"axis": axis})
                for count in (1, 2, 3)
                for axis in (None, 0, 1, [0, 2])
            ),
            Sample("to float64", (values((2, 3)),), {"dtype": "float64"}),
        ),
        AXIS_ERRORS,
        roundings=lambda x: x.size + 1,
        result_dtype=_sum_dtype,
    ),
    OpSample(
        "nansum",
        as_numpy(_sum),
        (*axes_samples(empty=True), Sample("to float64", (values((2, 3)),), {"dtype": "float64"})),
        AXIS_ERRORS,
        roundings=lambda x: x.size + 1,
        magnitude=lambda x, **a: as_numpy(_sum)(abs(x), **a),
        result_dtype=_sum_dtype,
    ),
    OpSample(
        "nanmean",
        as_numpy(_nanmean),
        tuple(axes_samples(empty=False)),
        AXIS_ERRORS,
        roundings=lambda x: x.size + 2,
        magnitude=lambda x, **a: as_numpy(_nanmean)(abs(x), **a),
    ),
)
