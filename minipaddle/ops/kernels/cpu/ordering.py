"""Where the largest, the smallest and the most frequent elements are; NaN is the largest of all."""

from __future__ import annotations

import numpy as np

from minipaddle.ops.kernels.cpu.ufunc import widened
from minipaddle.ops.op import Array, kernel


def _lines(x: Array, axis: int) -> Array:
    """``x`` with ``axis`` last, in a type whose order knows NaN."""
    return np.moveaxis(np.atleast_1d(widened(x)), axis, -1)


def _put_back(found: Array, axis: int, rank: int) -> Array:
    return np.ascontiguousarray(np.moveaxis(found, -1, axis)) if rank else found.reshape(())


@kernel("topk_index", "cpu")
def topk_index(x: Array, k: int, axis: int = -1, largest: bool = True) -> Array:
    lines = _lines(x, axis)
    length = lines.shape[-1]
    if not 1 <= k <= length:
        raise ValueError(f"k must lie in [1, {length}], the length of axis {axis}; got {k}")
    if k == length:
        order = np.argsort(lines, axis=-1)
        found = order[..., ::-1] if largest else order
    else:
        # The best k are sorted; no other element is.
        at = length - k if largest else k - 1
        parted = np.argpartition(lines, at, axis=-1)
        found = parted[..., at:] if largest else parted[..., :k]
        order = np.argsort(np.take_along_axis(lines, found, -1), axis=-1)
        found = np.take_along_axis(found, order[..., ::-1] if largest else order, -1)
    return _put_back(found, axis, x.ndim)


@kernel("mode_index", "cpu")
def mode_index(x: Array, axis: int = -1) -> Array:
    lines = _lines(x, axis)
    length = lines.shape[-1]
    if not length:
        raise ValueError(f"axis {axis} has length 0, so no element is the most frequent one")
    order = np.argsort(lines, axis=-1, kind="stable")
    ordered = np.take_along_axis(lines, order, -1)
    new = np.ones(ordered.shape, bool)
    np.not_equal(ordered[..., 1:], ordered[..., :-1], out=new[..., 1:])
    at = np.arange(length)
    start = np.maximum.accumulate(np.where(new, at, 0), axis=-1)
    # How far each element is from the start of its run: the first that is farthest ends the run.
    best = np.argmax(at - start, axis=-1)[..., None]
    return _put_back(np.take_along_axis(order, best, -1), axis, x.ndim)
