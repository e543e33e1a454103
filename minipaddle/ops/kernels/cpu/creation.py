"""Arrays made from nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from minipaddle.device.dtype import compute_dtype
from minipaddle.device.generator import Generator
from minipaddle.ops.op import Array, kernel


@kernel("full", "cpu")
def full(shape: tuple[int, ...], fill_value: Any, dtype: Any = None) -> Array:
    return np.full(shape, fill_value, dtype)


@kernel("gaussian", "cpu")
def gaussian(
    generator: Generator,
    shape: tuple[int, ...],
    mean: float = 0.0,
    std: float = 1.0,
    dtype: Any = None,
) -> Array:
    drawn = compute_dtype(dtype)
    values = np.asarray(generator.bits.standard_normal(shape, dtype=drawn))
    np.multiply(values, std, out=values)
    return np.add(values, mean, out=values).astype(dtype, copy=False)


@kernel("uniform", "cpu")
def uniform(
    generator: Generator,
    shape: tuple[int, ...],
    dtype: Any = None,
    min: float = -1.0,
    max: float = 1.0,
) -> Array:
    drawn = compute_dtype(dtype)
    values = np.asarray(generator.bits.random(shape, dtype=drawn))
    np.multiply(values, max - min, out=values)
    return np.add(values, min, out=values).astype(dtype, copy=False)
