"""Arithmetic of two operands."""

from __future__ import annotations

from minipaddle.ops.kernels.gpu.elementwise import binary

for _name in ("add", "subtract", "multiply", "divide"):
    binary(_name, _name.capitalize(), "arithmetic.cu")
