"""Arrays joined along an axis."""

from __future__ import annotations

import numpy as np

from minipaddle.ops.axes import normal_axis
from minipaddle.ops.op import Array, kernel


@kernel("concat", "cpu")
def concat(x: list[Array], axis: int = 0) -> Array:
    at = normal_axis(axis, x[0].ndim)
    try:
        return np.concatenate(x, at)
    except ValueError:
        raise ValueError(f"the shapes must be equal, but for the length of axis {at}") from None
