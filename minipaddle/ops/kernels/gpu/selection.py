"""One value or another, by a condition."""

from __future__ import annotations

from typing import Any

from minipaddle.ops.kernels.gpu.elementwise import register, unary
from minipaddle.ops.kernels.gpu.launch import Elementwise
from minipaddle.ops.op import Array

_FILE = "selection.cu"
_select = Elementwise("Select", _FILE)
mask_scale = Elementwise("MaskScale", _FILE)


def select(x: Any, condition: Array, y: Any, out: Array | None = None) -> Array:
    """``x`` where the condition holds, ``y`` elsewhere; one of the two is an array."""
    return _select(x, y, condition, out=out)


register("select", select)
unary("masked_fill", "MaskedFill", _FILE)
register("mask_scale", mask_scale)
