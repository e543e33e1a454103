"""Records of copies in another order."""

from __future__ import annotations

import numpy as np

from tests.ops.samples.sample import ErrorSample, OpSample, Sample, values

_FLIPS = {
    "rows": ((2, 3), 0),
    "columns": ((2, 3), [-1]),
    "both": ((2, 3), (0, 1)),
    "rank 4": ((2, 1, 2, 3), [1, -1]),
    "none": ((2, 3), []),
    "0-d": ((), []),
    "empty": ((0, 3), 0),
}
_ROLLS = {
    "rows": ((3, 2), 1, 0),
    "back": ((2, 3), -1, -1),
    "round": ((2, 3), 7, 1),
    "both": ((3, 4), [1, -2], [0, 1]),
    "twice": ((5,), [1, 2], [0, 0]),
    "flat": ((2, 3), 2, None),
    "0-d": ((), 1, None),
    "empty": ((0, 3), 1, 1),
}
_TILES = {
    "same rank": ((2, 3), [2, 3]),
    "more times": ((3,), [2, 1, 2]),
    "more axes": ((2, 1, 3), (2,)),
    "int": ((3,), 4),
    "ones": ((2, 3), [1, 1]),
    "no times": ((2, 3), []),
    "nothing": ((2, 3), [0, 2]),
    "0-d": ((), [2, 2]),
    "0-d, no times": ((), []),
    "empty": ((0, 3), [2, 2]),
}
_REPEATS = {
    "rows": ((2, 3), 2, 0),
    "columns": ((2, 3), 3, -1),
    "one by one": ((3, 2), [1, 0, 2], 0),
    "none at the end": ((2, 3), [2, 1, 0], 1),
    "flat": ((2, 2), 2, None),
    "flat, one by one": ((2, 2), [0, 3, 0, 1], None),
    "never": ((2, 3), 0, 1),
    "0-d": ((), 3, None),
    "empty": ((0, 3), 2, 1),
    "empty axis": ((0, 3), 2, 0),
}
_TRIANGLES = {
    "square": ((3, 3), 0),
    "wide": ((2, 4), 0),
    "tall": ((4, 2), 0),
    "above": ((3, 4), 1),
    "below": ((4, 3), -2),
    "far above": ((2, 3), 9),
    "far below": ((3, 2), -9),
    "batch": ((2, 3, 3), 1),
    "no matrices": ((0, 2, 2), 0),
    "empty": ((0, 3), 0),
}


def _sum_repeats(x, shape, repeats, axis):
    """The transpose of repeat_interleave, from where that takes every element."""
    origin = np.repeat(np.arange(np.prod(shape, dtype=int)).reshape(shape), repeats, axis)
    sums = np.zeros(int(np.prod(shape)), x.dtype)
    np.add.at(sums, origin.reshape(-1), x.reshape(-1))
    return sums.reshape(shape)


def _repeat_samples():
    for name, (shape, repeats, axis) in _REPEATS.items():
        repeated = np.repeat(np.zeros(shape), repeats, axis).shape
        attributes = {"shape": shape, "repeats": repeats, "axis": axis}
        yield Sample(name, (values(repeated, 3),), attributes)
    one = {"shape": (), "repeats": [1], "axis": None}
    yield Sample("0-d to 0-d", (values((), 3),), one)


def _axis_errors(*before):
    """What an op with an axis after ``before`` refuses."""
    return (
        ErrorSample(
            "axis",
            lambda f, t: f(t((2, 3)), *before, 2),
            ValueError,
            ("axis 2", "rank 2", "[-2, 1]"),
        ),
        ErrorSample(
            "0-d axis", lambda f, t: f(t(()), *before, 0), ValueError, ("axis 0", "rank 0")
        ),
        ErrorSample(
            "axis type", lambda f, t: f(t((2, 3)), *before, 0.5), TypeError, ("axis", "0.5")
        ),
        ErrorSample(
            "number", lambda f, t: f(1.5, *before, 0), TypeError, ("Tensor", "float")
        ),
    )  # fmt: skip


def _triangle(name, reference):
    return OpSample(
        name,
        lambda x, diagonal: reference(x, diagonal),
        tuple(
            Sample(what, (values(shape, 1),), {"diagonal": diagonal})
            for what, (shape, diagonal) in _TRIANGLES.items()
        ),
        (
            ErrorSample("rank", lambda f, t: f(t((3,))), ValueError, (name, "2 axes", "1")),
            ErrorSample("type", lambda f, t: f(t((2, 2)), 0.5), TypeError, (name, "float")),
        ),
        takes_0d=False,
    )


SAMPLES = (
    OpSample(
        "flip",
        lambda x, axis: np.flip(x, tuple(np.atleast_1d(axis).astype(int))),
        tuple(
            Sample(name, (values(shape, 1),), {"axis": axis})
            for name, (shape, axis) in _FLIPS.items()
        ),
        (
            *_axis_errors(),
            ErrorSample("twice", lambda f, t: f(t((2, 3)), [1, -1]), ValueError, ("twice", "-1")),
        ),
    ),
    OpSample(
        "roll",
        lambda x, shifts, axis: np.roll(x, shifts, axis),
        tuple(
            Sample(name, (values(shape, 1),), {"shifts": shifts, "axis": axis})
            for name, (shape, shifts, axis) in _ROLLS.items()
        ),
        (
            *_axis_errors(1),
            ErrorSample(
                "lengths",
                lambda f, t: f(t((2, 3)), [1, 2], [0]),
                ValueError,
                ("shifts", "axis", "[1, 2]", "[0]"),
            ),
        ),
    ),
    OpSample(
        "tile",
        lambda x, repeat_times: np.tile(x, repeat_times),
        tuple(
            Sample(name, (values(shape, 1),), {"repeat_times": times})
            for name, (shape, times) in _TILES.items()
        ),
        (
            ErrorSample(
                "negative", lambda f, t: f(t((2,)), [-1]), ValueError, ("repeat_times", "[-1]")
            ),
            ErrorSample("type", lambda f, t: f(t((2,)), [0.5]), TypeError, ("repeat_times", "0.5")),
        ),
    ),
    OpSample(
        "repeat_interleave",
        np.repeat,
        tuple(
            Sample(name, (values(shape, 1),), {"repeats": repeats, "axis": axis})
            for name, (shape, repeats, axis) in _REPEATS.items()
        ),
        (
            *_axis_errors(2),
            ErrorSample(
                "count", lambda f, t: f(t((3,)), [1, 2], 0), ValueError, ("repeats", "3", "[1, 2]")
            ),
            ErrorSample(
                "negative", lambda f, t: f(t((3,)), -1, 0), ValueError, ("repeats", "[-1]")
            ),
            ErrorSample("none", lambda f, t: f(t((3,)), [], 0), ValueError, ("repeats", "[]")),
        ),
    ),
    OpSample(
        "sum_repeats",
        _sum_repeats,
        tuple(_repeat_samples()),
        roundings=lambda x: x.size,
        magnitude=lambda x, **a: _sum_repeats(abs(x), **a),
    ),
    _triangle("tril", np.tril),
    _triangle("triu", np.triu),
)
