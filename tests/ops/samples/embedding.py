"""Records of looking rows up and of what its gradients and updates are made of."""

from __future__ import annotations

import numpy as np

from tests.ops.samples.sample import ErrorSample, OpSample, Sample, values


def _lookup(x, weight, padding_idx=None, sparse=False, scale_grad_by_freq=False):
    rows = [weight[i] * (padding_idx is None or i != padding_idx % len(weight)) for i in x.flat]
    return np.array(rows, weight.dtype).reshape(*x.shape, *weight.shape[1:])


def _scatter(index, x, height, padding_idx=None):
    out = np.zeros((height, *x.shape[index.ndim :]), x.dtype)
    for at in np.ndindex(*index.shape):
        if padding_idx is None or index[at] != padding_idx % height:
            out[index[at]] += x[at]
    return out


def _renorm(weight, x, max_norm, norm_type):
    new = weight.copy()
    for i in set(x.flat):
        norm = (abs(weight[i]) ** norm_type).sum() ** (1 / norm_type)
        if norm > max_norm:
            new[i] = weight[i] * (max_norm / (norm + 1e-7))
    return [new, x]


_MATRIX = np.array([[1, 0, 1], [3, 1, 1]])
_IDS = {
    "matrix": (_MATRIX, (4, 3)),
    "int32": (np.array([2, 2, 0], np.int32), (4, 3)),
    "uint8": (np.array([2, 2, 0], np.uint8), (4, 3)),
    "0-d": (np.asarray(2), (4, 3)),
    "none": (np.zeros((0, 2), np.int64), (4, 3)),
    "no rows": (np.zeros((0,), np.int64), (0, 3)),
    "rows of no element": (np.array([1, 1]), (2, 0)),
    "numbers": (np.array([1, 0, 1, 1]), (3,)),
    "rank 3": (np.array([1, 0, 1]), (2, 2, 3)),
    "wide": (np.array([1, 0, 4, 1, 1, 0]), (5, 20)),  # summed by rows, not by columns
    "one number often": (np.array([1] * 70 + [3, 2, 3]), (5, 20)),
}


def _lookups():
    for name, (ids, shape) in _IDS.items():
        yield Sample(name, (ids, values(shape, 1)))
    for padding in (1, -3):
        for name in ("matrix", "wide"):
            ids, shape = _IDS[name]
            yield Sample(f"{name}, padding {padding}", (ids, values(shape, 1)),
                         {"padding_idx": padding})  # fmt: skip


def _scatters():
    for name, (ids, shape) in _IDS.items():
        x = values((*ids.shape, *shape[1:]), 2)
        yield Sample(name, (ids, x), {"height": shape[0]})
        if shape[0] > 1:
            yield Sample(f"{name}, padding", (ids, x), {"height": shape[0], "padding_idx": 1})


_ERRORS = (
    ErrorSample(
        "id",
        lambda f, t: f(np.array([1, 4]), t((4, 3))),
        IndexError,
        ("embedding_lookup", "id 4", "0..3", "[2] int64", "[4, 3]"),
    ),
    ErrorSample(
        "negative id", lambda f, t: f(np.array([-1]), t((4, 3))), IndexError, ("id -1", "0..3")
    ),
    ErrorSample(
        "padding", lambda f, t: f(np.array([1]), t((4, 3)), 4), ValueError,
        ("padding_idx", "[-4, 4)", "got 4"),
    ),
    ErrorSample(
        "float ids", lambda f, t: f(t((2,)), t((4, 3))), TypeError, ("x", "int", "float32")
    ),
    ErrorSample("0-d", lambda f, t: f(np.array([0]), t(())), ValueError, ("weight", "0-d")),
)  # fmt: skip

SAMPLES = (
    OpSample("embedding_lookup", _lookup, tuple(_lookups()), _ERRORS, takes_0d=False),
    OpSample(
        "scatter_rows",
        _scatter,
        tuple(_scatters()),
        (
            ErrorSample(
                "id", lambda f, t: f(np.array([4]), t((1, 3)), 4), IndexError, ("id 4", "0..3")
            ),
            ErrorSample(
                "shape",
                lambda f, t: f(np.array([1, 2]), t((3, 2)), 4),
                ValueError,
                ("scatter_rows", "begin", "[2]", "[3, 2]"),
            ),
        ),
        roundings=lambda index, x: index.size,  # that many terms may enter one sum
        magnitude=lambda index, x, *a, **k: _scatter(index, abs(x), *a, **k),
        takes_0d=False,
    ),
    OpSample(
        "embedding_renorm_",
        _renorm,
        (
            Sample("matrix", (values((4, 3), 3), _MATRIX), {"max_norm": 1.5, "norm_type": 2.0}),
            Sample("norm 1", (values((4, 3), 3), _MATRIX), {"max_norm": 1.5, "norm_type": 1.0}),
            Sample("0-d", (values((4, 3), 3), np.asarray(2)), {"max_norm": 0.5, "norm_type": 3.0}),
            Sample(
                "none",
                (values((4, 3), 3), np.zeros(0, np.int64)),
                {"max_norm": 1.5, "norm_type": 2.0},
            ),
        ),
        roundings=lambda *a: 8,
    ),
)
