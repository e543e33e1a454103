"""Kernels on NumPy arrays, one module a family. Importing this registers them."""

from minipaddle.ops.kernels.cpu import (
    arithmetic,
    block,
    creation,
    elementwise,
    lerp,
    linalg,
    loss,
    math,
    reduction,
    shape,
    ufunc,
    update,
)

__all__ = [
    "arithmetic",
    "block",
    "creation",
    "elementwise",
    "lerp",
    "linalg",
    "loss",
    "math",
    "reduction",
    "shape",
    "ufunc",
    "update",
]
