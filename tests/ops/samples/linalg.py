"""Records of matrix products and diagonals."""

from __future__ import annotations

import numpy as np

from tests.ops.samples.sample import (
    PAIRS,
    SHAPES,
    ErrorSample,
    OpSample,
    Sample,
    binary_errors,
    values,
)


def _matmul(x, y, transpose_x=False, transpose_y=False):
    if transpose_x and x.ndim > 1:
        x = np.swapaxes(x, -1, -2)
    if transpose_y and y.ndim > 1:
        y = np.swapaxes(y, -1, -2)
    return np.matmul(x, y)


def _linear(x, weight, bias=None):
    return np.matmul(x, weight) + (0 if bias is None else bias)


def _linear_magnitude(x, weight, bias=None):
    return _linear(abs(x), abs(weight), None if bias is None else abs(bias))


# Shapes of x and y as the product takes them, before an operand is given transposed.
_PRODUCTS = {
    "matrices": ((2, 4), (4, 3)),
    "vectors": ((4,), (4,)),
    "vector left": ((4,), (4, 3)),
    "vector right": ((2, 4), (4,)),
    "vector left of a batch": ((4,), (2, 4, 3)),
    "vector right of a batch": ((2, 3, 4), (4,)),
    "batches": ((2, 2, 4), (2, 4, 3)),
    "batch left": ((2, 2, 4), (4, 3)),
    "batch right": ((2, 4), (2, 4, 3)),
    "batches broadcast": ((2, 1, 2, 4), (3, 4, 2)),
    "large batch left": ((2, 3, 2, 4), (4, 3)),
    "lengths 1": ((1, 1), (1, 1)),
    "one row": ((1, 4), (4, 3)),
    "empty inside": ((2, 0), (0, 3)),
    "empty outside": ((0, 4), (4, 3)),
    "empty batch": ((0, 2, 4), (4, 3)),
}


def _products():
    for name, (x, y) in _PRODUCTS.items():
        for tx in (False, True):
            for ty in (False, True):
                a, b = values(x, 1), values(y, 2)
                if tx and a.ndim > 1:
                    a = np.ascontiguousarray(np.swapaxes(a, -1, -2))
                if ty and b.ndim > 1:
                    b = np.ascontiguousarray(np.swapaxes(b, -1, -2))
                flags = {"transpose_x": tx, "transpose_y": ty}
                yield Sample(f"{name}, transposed {tx} {ty}", (a, b), flags)


def _layers():
    shapes = {
        "matrix": (2, 4),
        "vector": (4,),
        "rank 3": (2, 3, 4),
        "rank 4": (2, 1, 3, 4),
        "empty": (0, 4),
        "no features": (2, 0),
    }
    for name, shape in shapes.items():
        weight = values((shape[-1], 3), 2)
        yield Sample(f"{name}, bias", (values(shape, 1), weight, values((3,), 3)))
        yield Sample(f"{name}, no bias", (values(shape, 1), weight, None))


# Shape of x, offset, and the two axes.
_DIAGONALS = {
    "square": ((3, 3), 0, 0, 1),
    "wide": ((2, 4), 0, 0, 1),
    "above": ((3, 4), 2, 0, 1),
    "below": ((4, 3), -2, 0, 1),
    "other axes": ((2, 3, 4), 1, 0, 2),
    "axes swapped": ((2, 3, 4), 1, -1, 1),
    "empty": ((0, 3), 0, 0, 1),
    "beside the matrix": ((2, 3), 5, 0, 1),
}


def _put_diagonal(x, shape, **place):
    out = np.zeros(shape, x.dtype)
    at = np.diagonal(np.arange(out.size).reshape(shape), **place)
    out.reshape(-1)[at.reshape(-1)] = x.reshape(-1)
    return out


def _diagonals(put):
    for name, (shape, *where) in _DIAGONALS.items():
        place = dict(zip(("offset", "axis1", "axis2"), where, strict=True))
        if put:
            x = np.diagonal(values(shape, 1), **place)
            yield Sample(name, (x.copy(),), {"shape": shape, **place})
        else:
            yield Sample(name, (values(shape, 1),), place)


def _dist(x, y, p=2.0):
    apart = abs(x - y)
    if not apart.size:
        return np.sum(apart)
    if np.isinf(p):
        return apart.max() if p > 0 else apart.min()
    return np.sum(apart != 0, dtype=apart.dtype) if p == 0 else np.sum(apart**p) ** (1 / p)


def _distances():
    for name, (a, b) in PAIRS.items():
        # No two differences of one size, and none near 0: x spreads over less than 2, and y's
        # elements are 4 apart, of both signs.
        x = 0.1 * np.arange(np.prod(a)).reshape(a)
        y = np.cos(np.pi * np.arange(np.prod(b))) * 4 * (1 + np.arange(np.prod(b)))
        pair = (x, y.reshape(b))
        yield Sample(f"{name}, p=2", pair)
        for p in (0, 1, 3.0, 1.5, -2.0, float("inf"), float("-inf")):
            yield Sample(f"{name}, p={p}", pair, {"p": p})
    for p in (1.0, 2.0, 3.0, float("inf")):
        yield Sample(f"equal, p={p}", (values((2, 3)), values((2, 3))), {"p": p}, gradient=False)


SAMPLES = (
    OpSample(
        "matmul",
        _matmul,
        tuple(_products()),
        (
            ErrorSample(
                "inner lengths",
                lambda f, t: f(t((2, 3)), t((2, 3))),
                ValueError,
                ("matmul", "[2, 3]", "3", "2", "transpose_y"),
            ),
            ErrorSample(
                "inner lengths, other way",
                lambda f, t: f(t((2, 3)), t((2, 5))),
                ValueError,
                ("matmul", "[2, 3]", "[2, 5]", "transpose_x"),
            ),
            ErrorSample(
                "inner lengths of a batch",
                lambda f, t: f(t((5, 2, 3)), t((4, 5))),
                ValueError,
                ("matmul", "[5, 2, 3]", "[4, 5]", "3", "4"),
            ),
            ErrorSample(
                "vector",
                lambda f, t: f(t((2, 3)), t((4,))),
                ValueError,
                ("matmul", "[2, 3]", "[4]"),
            ),
            ErrorSample(
                "batches",
                lambda f, t: f(t((2, 2, 3)), t((3, 3, 2))),
                ValueError,
                ("matmul", "[2]", "[3]", "leading", "broadcast"),
            ),
            ErrorSample("0-d", lambda f, t: f(t(()), t((2,))), ValueError, ("matmul", "0-d")),
            ErrorSample(
                "dtypes",
                lambda f, t: f(t((2, 2)), t((2, 2), "float64")),
                TypeError,
                ("matmul", "float32", "float64", "astype"),
            ),
            ErrorSample(
                "number", lambda f, t: f(t((2, 2)), "2"), TypeError, ("matmul", "y", "str")
            ),
        ),
        roundings=lambda x, y: max(x.shape) + 1 if x.size else 1,
        magnitude=lambda x, y, **flags: _matmul(abs(x), abs(y), **flags),
        takes_0d=False,
    ),
    OpSample(
        "linear",
        _linear,
        tuple(_layers()),
        (
            ErrorSample(
                "features",
                lambda f, t: f(t((2, 3)), t((4, 5))),
                ValueError,
                ("linear", "[2, 3]", "[4, 5]", "weight", "[in, out]"),
            ),
            ErrorSample(
                "bias",
                lambda f, t: f(t((2, 3)), t((3, 5)), t((4,))),
                ValueError,
                ("linear", "bias", "[4]", "[5]"),
            ),
            ErrorSample(
                "dtypes",
                lambda f, t: f(t((2, 3)), t((3, 5), "float64")),
                TypeError,
                ("linear", "x: float32", "weight: float64"),
            ),
            ErrorSample(
                "int",
                lambda f, t: f(t((2, 3), "int32"), t((3, 5), "int32")),
                TypeError,
                ("linear", "int32", "astype"),
            ),
        ),
        # One more rounding than terms; a half-type product is rounded before the bias is added.
        roundings=lambda x, weight, bias: x.shape[-1] + 2,
        magnitude=_linear_magnitude,
        takes_0d=False,
    ),
    OpSample(
        "diagonal",
        lambda x, **place: np.diagonal(x, **place),
        tuple(_diagonals(put=False)),
        (
            ErrorSample("rank", lambda f, t: f(t((3,))), ValueError, ("diagonal", "[3]", "two")),
            ErrorSample(
                "one axis", lambda f, t: f(t((3, 3)), 0, 1, -1), ValueError, ("axis1", "1", "-1")
            ),
            ErrorSample("range", lambda f, t: f(t((3, 3)), 0, 0, 2), ValueError, ("axis2", "2")),
        ),
        takes_0d=False,
    ),
    OpSample(
        "put_diagonal",
        _put_diagonal,
        tuple(_diagonals(put=True)),
        takes_0d=False,
    ),
    OpSample(
        "dist",
        _dist,
        tuple(_distances()),
        tuple(error for error in binary_errors("dist") if error.name in ("shapes", "text")),
        # The sum's terms, and a power before and after it whose error grows with the power.
        roundings=lambda x, y: np.broadcast(x, y).size + 8,
    ),
    OpSample(
        "signed_power",
        lambda x, exponent: np.sign(x) * abs(x) ** exponent,
        tuple(
            Sample(f"{name}, {exponent}", (values(shape, 1, away=0.5),), {"exponent": exponent})
            for name, shape in SHAPES.items()
            for exponent in (0.0, 0.5, 1.0, 2.0, 3.5, -1.0)
        ),
        roundings=lambda x: 4,  # NumPy's vector power is good to 4 units in the last place
    ),
)
