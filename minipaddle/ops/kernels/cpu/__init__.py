"""Kernels on NumPy arrays, one module a family. Importing this registers them."""

from minipaddle.ops.kernels.cpu import (
    block,
    creation,
    cumulative,
    elementwise,
    fold,
    lerp,
    linalg,
    loss,
    reduction,
    shape,
    statistics,
    update,
)

__all__ = [
    "block",
    "creation",
    "cumulative",
    "elementwise",
    "fold",
    "lerp",
    "linalg",
    "loss",
    "reduction",
    "shape",
    "statistics",
    "update",
]
