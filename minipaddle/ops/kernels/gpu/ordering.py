"""Where the largest, the smallest and the most frequent elements are; NaN is the largest of all."""

from __future__ import annotations

import cupy
import numpy as np

from minipaddle.ops.kernels.gpu.launch import contiguous, empty
from minipaddle.ops.kernels.gpu.positions import widened
from minipaddle.ops.kernels.gpu.search import argsort, search_rows
from minipaddle.ops.op import Array, kernel


@kernel("topk_index", "gpu")
def topk_index(x: Array, k: int, axis: int = -1, largest: bool = True) -> Array:
    length = x.shape[axis] if x.ndim else 1
    if not 1 <= k <= length:
        raise ValueError(f"k must lie in [1, {length}], the length of axis {axis}; got {k}")
    order = argsort(x, axis, largest, True)
    if k == length:
        return order
    before = (slice(None),) * (axis % x.ndim)
    return contiguous(order[(*before, slice(0, k))])


@kernel("mode_index", "gpu")
def mode_index(x: Array, axis: int = -1) -> Array:
    lines = cupy.moveaxis(cupy.atleast_1d(widened(x)), axis, -1)
    length = lines.shape[-1]
    if not length:
        raise ValueError(f"axis {axis} has length 0, so no element is the most frequent one")
    if not lines.size:
        return empty(tuple(1 if i == axis % x.ndim else n for i, n in enumerate(x.shape)), np.int64)
    lines = contiguous(lines)
    order = argsort(lines, -1, False, True)
    ordered = cupy.take_along_axis(lines, order, -1)
    # How far each element is from the start of its run: the first that is farthest ends the run.
    # No NaN equals another.
    run = cupy.arange(length) - search_rows(ordered, ordered, False)
    run *= ordered == ordered
    best = cupy.argmax(run, axis=-1)[..., None]
    found = cupy.take_along_axis(order, best, -1)
    return contiguous(cupy.moveaxis(found, -1, axis)) if x.ndim else found.reshape(())
