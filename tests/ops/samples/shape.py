"""Records of other views of the same values."""

from __future__ import annotations

import numpy as np

from tests.ops.samples.sample import ErrorSample, OpSample, Sample, values


def _put_slice(x, shape, index):
    out = np.zeros(shape, x.dtype)
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
}
_ORDERS = {
    "matrix": ((2, 3), (1, 0)),
    "cycle": ((2, 3, 4), (1, 2, 0)),
    "negative": ((2, 3, 4), (-1, 0, 1)),
    "list": ((2, 3), [1, 0]),
    "same": ((2, 3), (0, 1)),
    "vector": ((3,), (0,)),
    "0-d": ((), ()),
    "empty": ((0, 3), (1, 0)),
}

SAMPLES = (
    OpSample(
        "reshape",
        lambda x, shape: np.reshape(x, shape),
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
        lambda x, shape: np.broadcast_to(x, tuple(shape)),
        tuple(
            Sample(name, (values(before, 1),), {"shape": after})
            for name, (before, after) in _EXPANSIONS.items()
        ),
        (
            ErrorSample(
                "shape", lambda f, t: f(t((2, 3)), [2, 4]), ValueError, ("expand", "[2, 3]", "4")
            ),
            ErrorSample("rank", lambda f, t: f(t((2, 3)), [3]), ValueError, ("expand", "[2, 3]")),
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
        "put_slice",
        _put_slice,
        tuple(
            Sample(
                name,
                (values(np.zeros(shape)[index].shape, 2),),
                {"shape": shape, "index": index},
            )
            for name, (shape, index) in _INDICES.items()
        ),
    ),
    OpSample(
        "transpose",
        lambda x, perm: np.transpose(x, perm),
        tuple(
            Sample(name, (values(shape, 1),), {"perm": perm})
            for name, (shape, perm) in _ORDERS.items()
        ),
        (
            ErrorSample(
                "rank", lambda f, t: f(t((2, 3)), [0]), ValueError, ("perm", "[2, 3]", "[0]")
            ),
            ErrorSample("twice", lambda f, t: f(t((2, 3)), [0, 0]), ValueError, ("perm", "[0, 0]")),
            ErrorSample("range", lambda f, t: f(t((2, 3)), [0, 2]), ValueError, ("perm", "[0, 2]")),
        ),
    ),
)
