"""Kernels on NumPy arrays, one module a family. Importing this registers them."""

from minipaddle.ops.kernels.cpu import (
    arithmetic,
    block,
    copying,
    creation,
    elementwise,
    joining,
    lerp,
    linalg,
    loss,
    math,
    padding,
    rearrange,
    reduction,
    shape,
    ufunc,
    update,
)

__all__ = [
    "arithmetic",
    "block",
    "copying",
    "creation",
    "elementwise",
    "joining",
    "lerp",
    "linalg",
    "loss",
    "math",
    "padding",
    "rearrange",
    "reduction",
    "shape",
    "ufunc",
    "update",
]
