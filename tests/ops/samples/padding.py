"""Records of padding with x's own values and of its transpose."""

from __future__ import annotations

import numpy as np

from tests.ops.samples.sample import ErrorSample, OpSample, Sample, values

_MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}
_PADS = {
    "right": ((2, 3), (0, 0, 0, 2)),
    "left": ((3, 2), (2, 0, 0, 0)),
    "all round": ((3, 4), (1, 2, 3, 1)),
    "rank 4": ((1, 2, 2, 3), (0, 0, 0, 0, 1, 0, 2, 1)),
    "none": ((2, 3), (0, 0, 0, 0)),
    "0-d": ((), ()),
    "empty": ((0, 3), (0, 0, 1, 1)),
}


def _pairs(pads):
    return np.reshape(np.array(pads, int), (-1, 2))


def _pad(x, pads, mode):
    return np.pad(x, _pairs(pads), _MODES[mode]) if x.ndim else x


def _fold(x, pads, mode):
    """The transpose of padding, from where padding takes every element."""
    shape = np.array(x.shape, int) - _pairs(pads).sum(1)
    origin = _pad(np.arange(np.prod(shape, dtype=int)).reshape(shape), pads, mode)
    sums = np.zeros(int(np.prod(shape)), x.dtype)
    np.add.at(sums, origin.reshape(-1), x.reshape(-1))
    return sums.reshape(shape)


def _samples(padded):
    more = [("circular", "three times", ((2,), (5, 4)))]
    every = [(mode, *item) for mode in _MODES for item in _PADS.items()]
    for mode, name, (shape, pads) in every + more:
        given = _pad(np.zeros(shape), pads, mode).shape if padded else shape
        attributes = {"pads": pads, "mode": mode}
        yield Sample(f"{mode}, {name}", (values(given, 1),), attributes)


SAMPLES = (
    OpSample(
        "pad_edges",
        _pad,
        tuple(_samples(padded=False)),
        (
            ErrorSample(
                "reflect",
                lambda f, t: f(t((2, 3)), [0, 0, 3, 0], "reflect"),
                ValueError,
                ("axis 1", "length 3", "reflect", "at most 2"),
            ),
            ErrorSample(
                "empty axis",
                lambda f, t: f(t((0, 3)), [1, 0, 0, 0], "replicate"),
                ValueError,
                ("axis 0", "replicate", "at most 0"),
            ),
            ErrorSample(
                "negative", lambda f, t: f(t((3,)), [-1, 0], "replicate"), ValueError, ("-1",)
            ),
            ErrorSample("count", lambda f, t: f(t((3,)), [1], "reflect"), ValueError, ("2", "[1]")),
        ),
    ),
    OpSample(
        "fold_edges",
        _fold,
        tuple(_samples(padded=True)),
        roundings=lambda x: x.size,
        magnitude=lambda x, **a: _fold(abs(x), **a),
    ),
)
