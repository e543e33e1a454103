"""Padding with an array's own values, and its transpose; half types are summed in float32."""

from __future__ import annotations

from typing import Any

import numpy as np

from minipaddle.device.dtype import compute_dtype
from minipaddle.ops.op import Array, kernel

# Paddle's names and NumPy's.
MODES: dict[str, Any] = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def padded_pairs(pads: tuple[int, ...], shape: tuple[int, ...]) -> list[tuple[int, int]]:
    """Counts before and after each axis of ``shape``."""
    if len(pads) != 2 * len(shape) or min(pads, default=0) < 0:
        raise ValueError(f"pads must be {2 * len(shape)} counts, not negative; got {list(pads)}")
    return list(zip(pads[::2], pads[1::2], strict=True))


def check_edges(pairs: list[tuple[int, int]], shape: tuple[int, ...], mode: str) -> None:
    """Refuses padding that an array of ``shape`` has no values for."""
    for axis, (pair, length) in enumerate(zip(pairs, shape, strict=True)):
        if max(pair) and max(pair) >= length and (mode == "reflect" or not length):
            most = max(0, length - 1)
            raise ValueError(f"axis {axis} of length {length} is padded by {max(pair)}; {mode} "
                             f"takes at most {most}")  # fmt: skip


@kernel("pad_edges", "cpu")
def pad_edges(x: Array, pads: tuple[int, ...], mode: str) -> Array:
    pairs = padded_pairs(pads, x.shape)
    check_edges(pairs, x.shape, mode)
    return np.pad(x, pairs, MODES[mode]) if pairs else x.copy()


@kernel("fold_edges", "cpu")
def fold_edges(x: Array, pads: tuple[int, ...], mode: str) -> Array:
    """Every element added to the one that ``pad_edges`` took it from."""
    total = x.astype(compute_dtype(x.dtype))
    for axis, (before, after) in enumerate(padded_pairs(pads, x.shape)):
        padded = np.moveaxis(total, axis, 0)
        length = len(padded) - before - after
        core = padded[before : before + length]
        origin = np.pad(np.arange(length), (before, after), MODES[mode])
        for i in (*range(before), *range(before + length, len(padded))):
            core[origin[i]] += padded[i]
        total = np.moveaxis(core, 0, axis)
    return np.array(total, x.dtype, order="C")
