"""Elementwise kernels of several steps: block by block, on all threads, half types in float32."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minipaddle.device.dtype import FLOAT32, is_half
from minipaddle.ops.kernels.cpu.block import blockwise
from minipaddle.ops.op import Array

# Bytes of one operand worked at a time: the four or five arrays of a kernel's steps stay in a
# core's cache. With 64, 96, 128 and 192 KB gelu of [4096, 4096] float32 takes 5.0, 4.6, 4.4 and
# 4.1 ns per element; more gains little.
_PIECE_BYTES = 192 * 1024


def pointwise(compute: Callable[..., Any], *operands: Any, out: Array | None = None) -> Array:
    """``blockwise`` in small pieces, whose ``compute`` never meets a half type.

    Args:
        compute: Called as ``compute(out, *operands)`` with parts of them, in float32 or float64;
            it may use ``out`` for steps on the way, and leaves the operands as they are. A half
            type is rounded once, at the end.
        operands: Arrays of one dtype, and numbers; the first is an array.
        out: Array of that dtype and of the broadcast shape to fill; by default a new one.
    """
    half = is_half(operands[0].dtype)

    def piece(out: Array, *parts: Any) -> None:
        if not half:
            compute(out, *parts)
            return
        wide = np.empty(out.shape, FLOAT32)
        compute(wide, *(p.astype(FLOAT32) if isinstance(p, np.ndarray) else p for p in parts))
        np.copyto(out, wide, casting="same_kind")

    def block(out: Array, *parts: Any) -> None:
        size = _PIECE_BYTES // max(out.itemsize, 4)
        if out.ndim != 1 or out.size <= size:
            piece(out, *parts)
            return
        for start in range(0, out.size, size):
            at = slice(start, start + size)
            piece(out[at], *(p[at] if isinstance(p, np.ndarray) else p for p in parts))

    return blockwise(block, operands, out=out)


def select(out: Array, factor: Array, ones: Array) -> None:
    """``out = 1 where ones is 1, factor where it is 0``, exactly and without a branch.

    On signs without a pattern ``np.where`` costs more than ten passes of arithmetic.
    """
    np.subtract(1, ones, out=out)
    np.multiply(out, factor, out=out)
    np.add(out, ones, out=out)


def is_above(x: Array, bound: float) -> Array:
    """1.0 where ``x > bound``, 0.0 elsewhere, in x's dtype."""
    out = np.empty_like(x)
    np.greater(x, bound, out=out, casting="unsafe")
    return out
