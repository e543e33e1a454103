"""Records of other views of the same values."""

from __future__ import annotations

import numpy as np

from tests.ops.samples.sample import ErrorSample, OpSample, Sample, values


def _setitem(x, value, index):
    out = np.array(x)
    out[index] = value
    return out


def _put_slice(x, shape, index, fill_value=0):
    out = np.full(shape, fill_value, x.dtype)
    out[index] = x
    return out


_INDICES = {
    "int": ((2, 3), (1,)),
    "negative int": ((2, 3), (-1,)),
    "all ints": ((2, 3), (1, 2)),
    "slice": ((4, 3), (slice(1, 3),)),
    "step": ((5, 3), (slice(None, None, 2), slice(None, None, -1))),
    "ellipsis": ((2, 3, 2), (Ellipsis, 1)),
    "None": ((2, 3), (None, slice(None), None)),
    "nothing": ((2, 3), ()),
    "empty slice": ((2, 3), (slice(1, 1),)),
    "0-d": ((), (Ellipsis,)),
    "empty": ((0, 3), (slice(None), 1)),
}
# Shape, index, and the shape of what is put there; None stands for a number.
_ASSIGNMENTS = {
    "row": ((2, 3), (1,), (3,)),
    "row from 0-d": ((2, 3), (1,), ()),
    "number": ((2, 3), (1,), None),
    "element": ((2, 3), (1, 2), ()),
    "slice": ((4, 3), (slice(1, 3),), (2, 3)),
    "slice from a row": ((4, 3), (slice(1, 3),), (3,)),
    "steps": ((5, 3), (slice(None, None, 2), slice(None, None, -1)), (3, 3)),
    "ellipsis": ((2, 3, 2), (Ellipsis, 1), (2, 1)),
    "None": ((2, 3), (None, slice(None), 1), (1, 2)),
    "everything": ((2, 3), (), (2, 3)),
    "longer rank": ((3,), (slice(1, 3),), (1, 2)),
    "nothing": ((2, 3), (slice(1, 1),), (0, 3)),
    "0-d": ((), (Ellipsis,), ()),
    "empty": ((0, 3), (slice(None), 1), (0,)),
}
_RESHAPES = {
    "split": ((2, 6), (2, 3, 2)),
    "merge": ((2, 3, 2), (12,)),
    "-1": ((2, 6), (3, -1)),
    "to 0-d": ((1, 1), ()),
    "from 0-d": ((), (1, 1)),
    "list": ((2, 3), [3, 2]),
    "int": ((2, 3), 6),
    "empty": ((0, 3), (3, 0)),
    "same": ((2, 3), (2, 3)),
    "x's own": ((2, 6), (0, 3, -1)),
}
_EXPANSIONS = {
    "row": ((3,), (2, 3)),
    "column": ((2, 1), (2, 3)),
    "middle": ((2, 1, 3), (2, 2, 3)),
    "0-d": ((), (2, 3)),
    "same": ((2, 3), (2, 3)),
    "empty": ((0, 3), (2, 0, 3)),
    "to nothing": ((1, 3), (0, 3)),
    "list": ((1, 1), [2, 2]),
    "x's own": ((2, 1), [3, -1, 4]),
}
_PERMUTATIONS = {
    "matrix": ((2, 3), (1, 0)),
    "rank 4": ((2, 1, 3, 2), [3, 0, 2, 1]),
    "cycle": ((2, 3, 4), (1, 2, 0)),
    "negative": ((2, 3, 4), [-1, 0, -2]),
    "same": ((2, 3), (0, 1)),
    "0-d": ((), ()),
    "empty": ((0, 3), (1, 0)),
}


def _reshape(x, shape):
    shape = np.atleast_1d(shape).astype(int)
    kept = [x.shape[i] if n == 0 and x.size else n for i, n in enumerate(shape)]
    return np.reshape(x, kept)


def _expand(x, shape):
    lengths = [0] * (len(shape) - x.ndim) + list(x.shape)
    return np.broadcast_to(x, [m if n == -1 else n for n, m in zip(shape, lengths, strict=True)])


SAMPLES = (
    OpSample(
        "reshape",
        _reshape,
        tuple(
            Sample(name, (values(before, 1),), {"shape": after})
            for name, (before, after) in _RESHAPES.items()
        ),
        (
            ErrorSample(
                "size", lambda f, t: f(t((2, 3)), [4]), ValueError, ("reshape", "[2, 3]", "4")
            ),
            ErrorSample("two -1", lambda f, t: f(t((2, 3)), [-1, -1]), ValueError, ("reshape",)),
            ErrorSample("type", lambda f, t: f(t((2, 3)), [2.0, 3]), TypeError, ("shape", "2.0")),
        ),
    ),
    OpSample(
        "expand",
        _expand,
        tuple(
            Sample(name, (values(before, 1),), {"shape": after})
            for name, (before, after) in _EXPANSIONS.items()
        ),
        (
            ErrorSample(
                "shape", lambda f, t: f(t((2, 3)), [2, 4]), ValueError, ("expand", "[2, 3]", "4")
            ),
            ErrorSample("rank", lambda f, t: f(t((2, 3)), [3]), ValueError, ("expand", "[2, 3]")),
            ErrorSample("no own", lambda f, t: f(t((3,)), [-1, 3]), ValueError, ("expand", "[3]")),
        ),
    ),
    OpSample(
        "transpose",
        lambda x, perm: np.transpose(x, perm),
        tuple(
            Sample(name, (values(shape, 1),), {"perm": perm})
            for name, (shape, perm) in _PERMUTATIONS.items()
        ),
        (
            ErrorSample(
                "short", lambda f, t: f(t((2, 3)), [0]), ValueError, ("perm", "[0, 1]", "[0]")
            ),
            ErrorSample("twice", lambda f, t: f(t((2, 3)), [0, 0]), ValueError, ("perm", "[0, 0]")),
            ErrorSample("range", lambda f, t: f(t((2, 3)), [0, 2]), ValueError, ("perm", "[0, 2]")),
            ErrorSample("type", lambda f, t: f(t((2,)), [0.5]), TypeError, ("perm", "0.5")),
        ),
    ),
    OpSample(
        "getitem",
        lambda x, index: x[index],
        tuple(
            Sample(name, (values(shape, 1),), {"index": index})
            for name, (shape, index) in _INDICES.items()
        ),
        (
            ErrorSample("range", lambda f, t: t((2, 3))[2], IndexError, ("2", "[2, 3]")),
            ErrorSample("rank", lambda f, t: t((2, 3))[0, 0, 0], IndexError, ("[2, 3]",)),
            ErrorSample("type", lambda f, t: t((2, 3))["a"], TypeError, ("int", "str")),
        ),
    ),
    OpSample(
        "setitem",
        _setitem,
        tuple(
            Sample(
                name,
                (values(shape, 1), 0.5 if part is None else values(part, 2)),
                {"index": index},
            )
            for name, (shape, index, part) in _ASSIGNMENTS.items()
        ),
        (
            ErrorSample(
                "shape",
                lambda f, t: f(t((2, 3)), t((2,)), (0,)),
                ValueError,
                ("setitem", "[2, 3]", "[2]"),
            ),
            ErrorSample("range", lambda f, t: f(t((2, 3)), 1.0, (2,)), IndexError, ("[2, 3]",)),
        ),
    ),
    OpSample(
        "put_slice",
        _put_slice,
        tuple(
            Sample(
                f"{name} {fill}",
                (values(np.zeros(shape)[index].shape, 2),),
                {"shape": shape, "index": index, "fill_value": fill},
            )
            for name, (shape, index) in _INDICES.items()
            for fill in (0, 7)
        ),
    ),
)
