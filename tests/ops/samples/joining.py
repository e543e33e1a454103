"""Records of joining tensors."""

from __future__ import annotations

import numpy as np

from tests.ops.samples.sample import ErrorSample, OpSample, Sample, values

_JOINTS = {
    "rows": ([(2, 3), (1, 3)], 0),
    "columns": ([(2, 1), (2, 3), (2, 2)], -1),
    "one": ([(2, 3)], 1),
    "vectors": ([(2,), (3,)], 0),
    "rank 4": ([(2, 1, 2, 3), (2, 2, 2, 3)], -3),
    "empty among them": ([(2, 3), (0, 3), (1, 3)], 0),
    "empty": ([(0, 3), (0, 2)], 1),
}
# Shape, lengths of the parts, axis.
_PARTS = {
    "rows": ((4, 3), [1, 3], 0),
    "columns": ((2, 6), [1, 2, 3], -1),
    "middle": ((2, 4, 3), [2, 2], 1),
    "one": ((2, 3), [3], 1),
    "an empty one": ((3,), [0, 3], 0),
    "empty": ((0, 4), [2, 2], 1),
}
_UNBOUND = {
    "rows": ((2, 3), 0),
    "columns": ((2, 3), -1),
    "middle": ((2, 3, 2), 1),
    "vector": ((3,), 0),
    "empty": ((2, 0), 0),
}

SAMPLES = (
    OpSample(
        "concat",
        lambda x, axis: np.concatenate(x, axis),
        tuple(
            Sample(name, ([values(shape, i) for i, shape in enumerate(shapes)],), {"axis": axis})
            for name, (shapes, axis) in _JOINTS.items()
        ),
        (
            ErrorSample(
                "axis",
                lambda f, t: f([t((2, 3)), t((2, 3))], 2),
                ValueError,
                ("concat", "axis 2", "rank 2", "[-2, 1]"),
            ),
            ErrorSample("0-d", lambda f, t: f([t(()), t(())]), ValueError, ("axis 0", "0-d")),
            ErrorSample("axis type", lambda f, t: f([t((2,))], 0.5), TypeError, ("axis", "0.5")),
            ErrorSample(
                "shapes",
                lambda f, t: f([t((2, 3)), t((2, 4))], 0),
                ValueError,
                ("concat", "[2, 3]", "[2, 4]", "axis 0"),
            ),
            ErrorSample(
                "ranks", lambda f, t: f([t((2, 3)), t((3,))]), ValueError, ("[2, 3]", "[3]")
            ),
            ErrorSample("no list", lambda f, t: f(t((2,))), TypeError, ("concat", "list")),
            ErrorSample("no items", lambda f, t: f([]), TypeError, ("concat", "empty")),
            ErrorSample("item", lambda f, t: f([t((2,)), "a"]), TypeError, ("x[1]", "str")),
        ),
        takes_0d=False,
    ),
    OpSample(
        "split_lengths",
        lambda x, lengths, axis: np.split(x, np.cumsum(lengths)[:-1], axis),
        tuple(
            Sample(name, (values(shape, 1),), {"lengths": lengths, "axis": axis})
            for name, (shape, lengths, axis) in _PARTS.items()
        ),
        (
            ErrorSample(
                "axis",
                lambda f, t: f(t((2, 3)), [1, 1], 2),
                ValueError,
                ("split_lengths", "axis 2", "rank 2"),
            ),
        ),
        takes_0d=False,
    ),
    OpSample(
        "unbind",
        lambda input, axis: list(np.moveaxis(input, axis, 0)),
        tuple(
            Sample(name, (values(shape, 1),), {"axis": axis})
            for name, (shape, axis) in _UNBOUND.items()
        ),
        (
            ErrorSample(
                "axis", lambda f, t: f(t((2, 3)), -3), ValueError, ("unbind", "axis -3", "rank 2")
            ),
            ErrorSample("0-d", lambda f, t: f(t(())), ValueError, ("axis 0", "0-d")),
        ),
        takes_0d=False,
    ),
)
