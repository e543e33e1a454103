"""Kernels on NumPy arrays, one module a family. Importing this registers them."""

from minipaddle.ops.kernels.cpu import (
    block,
    creation,
    elementwise,
    joining,
    lerp,
    linalg,
    loss,
    padding,
    rearrange,
    reduction,
    shape,
    update,
)

__all__ = [
    "block",
    "creation",
    "elementwise",
    "joining",
    "lerp",
    "linalg",
    "loss",
    "padding",
    "rearrange",
    "reduction",
    "shape",
    "update",
]
