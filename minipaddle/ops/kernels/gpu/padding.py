"""Padding with an array's own values, and its transpose; half types are summed in float32."""

from __future__ import annotations

import cupy
import numpy as np

from minipaddle.ops.kernels.cpu.padding import MODES, check_edges, padded_pairs
from minipaddle.ops.kernels.gpu.positions import gather, widened
from minipaddle.ops.kernels.gpu.rearrange import add_by_host
from minipaddle.ops.op import Array, kernel


@kernel("pad_edges", "gpu")
def pad_edges(x: Array, pads: tuple[int, ...], mode: str) -> Array:
    pairs = padded_pairs(pads, x.shape)
    check_edges(pairs, x.shape, mode)
    out = x
    for axis, pair in enumerate(pairs):
        if max(pair):
            origin = cupy.asarray(np.pad(np.arange(x.shape[axis]), pair, MODES[mode]))
            out = gather(out, origin, axis, axis + 1)
    return x.copy() if out is x else out


@kernel("fold_edges", "gpu")
def fold_edges(x: Array, pads: tuple[int, ...], mode: str) -> Array:
    """Every element added to the one that ``pad_edges`` took it from."""
    total = widened(x)
    for axis, pair in enumerate(padded_pairs(pads, x.shape)):
        if max(pair):
            length = x.shape[axis] - sum(pair)
            origin = np.pad(np.arange(length), pair, MODES[mode])
            sums = cupy.zeros((*total.shape[:axis], length, *total.shape[axis + 1 :]), total.dtype)
            add_by_host(sums, origin, total, axis)
            total = sums
    return x.copy() if total is x else total.astype(x.dtype, order="C", copy=False)
