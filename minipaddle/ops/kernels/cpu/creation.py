"""Arrays made from nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from minipaddle.ops.op import Array, kernel


@kernel("full", "cpu")
def full(shape: tuple[int, ...], fill_value: Any, dtype: Any = None) -> Array:
    return np.full(shape, fill_value, dtype)
