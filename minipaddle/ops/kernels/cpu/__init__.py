"""Kernels on NumPy arrays, one module a family. Importing this registers them."""

from minipaddle.ops.kernels.cpu import (
    block,
    comparison,
    creation,
    elementwise,
    lerp,
    linalg,
    loss,
    reduction,
    search,
    shape,
    update,
)

__all__ = [
    "block",
    "comparison",
    "creation",
    "elementwise",
    "lerp",
    "linalg",
    "loss",
    "reduction",
    "search",
    "shape",
    "update",
]
