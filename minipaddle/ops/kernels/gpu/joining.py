"""Arrays joined along an axis, and cut apart."""

from __future__ import annotations

from itertools import accumulate

import cupy

from minipaddle.ops.axes import normal_axis
from minipaddle.ops.op import Array, kernel


@kernel("concat", "gpu")
def concat(x: list[Array], axis: int = 0) -> Array:
    at = normal_axis(axis, x[0].ndim)
    try:
        return cupy.ascontiguousarray(cupy.concatenate(x, at))
    except ValueError:
        raise ValueError(f"the shapes must be equal, but for the length of axis {at}") from None


@kernel("split_lengths", "gpu")
def split_lengths(x: Array, lengths: tuple[int, ...], axis: int = 0) -> list[Array]:
    before = (slice(None),) * normal_axis(axis, x.ndim)
    ends = list(accumulate(lengths))
    return [x[(*before, slice(a, b))] for a, b in zip([0, *ends], ends, strict=False)]


@kernel("unbind", "gpu")
def unbind(input: Array, axis: int = 0) -> list[Array]:
    before = (slice(None),) * normal_axis(axis, input.ndim)
    return [input[(*before, i, ...)] for i in range(input.shape[len(before)])]
