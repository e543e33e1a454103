"""Records of where the largest and the most frequent elements are."""

from __future__ import annotations

import numpy as np

from tests.ops.samples.sample import ErrorSample, OpSample, Sample

_NUMBER = ErrorSample("number", lambda f, t: f(1.5, 1), TypeError, ("Tensor", "float"))


def _int64(dtype, attributes):
    return np.dtype(np.int64)


def _distinct(*shape):
    count = int(np.prod(shape))
    order = np.random.default_rng(count).permutation(count)
    return np.asarray(order.reshape(shape), np.float64)


def _tied(*shape):
    return np.asarray(np.random.default_rng(shape).integers(0, 3, shape), np.float64)


def _topk_index(x, k, axis=-1, largest=True):
    if not x.ndim:
        return np.asarray(0)

    def best(line):
        return np.array(sorted(range(len(line)), key=lambda i: line[i], reverse=largest)[:k], int)

    if not x.size:
        return np.zeros([k if i == axis % x.ndim else n for i, n in enumerate(x.shape)], int)
    return np.apply_along_axis(best, axis, x)


def _tops():
    for largest in (True, False):
        for axis in (0, 1, -1):
            for k in (1, 3, 4):
                how = {"k": k, "axis": axis, "largest": largest}
                yield Sample(f"{k} along {axis} {largest}", (_distinct(4, 5, 4),), how)
        yield Sample(f"0-d {largest}", (np.asarray(1.0),), {"k": 1, "largest": largest})
        yield Sample(f"empty {largest}", (np.zeros((0, 3)),), {"k": 2, "largest": largest})


def _mode_index(x, axis=-1):
    if not x.ndim:
        return np.asarray(0)

    def last(line):
        counts = {value: np.sum(line == value) for value in line}
        value = min(v for v, count in counts.items() if count == max(counts.values()))
        return np.array([np.flatnonzero(line == value)[-1]])

    if not x.size:
        return np.zeros([1 if i == axis % x.ndim else n for i, n in enumerate(x.shape)], int)
    return np.apply_along_axis(last, axis, x)


def _modes():
    for axis in (0, 1, -1):
        yield Sample(f"axis {axis}", (_tied(4, 5, 6),), {"axis": axis})
    yield Sample("all equal", (np.ones((2, 3)),))
    yield Sample("all different", (_distinct(2, 3),))
    yield Sample("0-d", (np.asarray(1.0),))
    yield Sample("empty", (np.zeros((0, 3)),))


SAMPLES = (
    OpSample(
        "topk_index",
        _topk_index,
        tuple(_tops()),
        (
            _NUMBER,
            ErrorSample("k", lambda f, t: f(t((2, 3)), 4), ValueError, ("k", "[1, 3]", "4")),
            ErrorSample("k 0", lambda f, t: f(t((2, 3)), 0), ValueError, ("k", "[1, 3]", "0")),
        ),
        result_dtype=_int64,
    ),
    OpSample(
        "mode_index",
        _mode_index,
        tuple(_modes()),
        (ErrorSample("empty", lambda f, t: f(t((2, 0))), ValueError, ("axis -1", "length 0")),),
        result_dtype=_int64,
    ),
)
