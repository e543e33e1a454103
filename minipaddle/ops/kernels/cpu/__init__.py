"""Kernels on NumPy arrays, one module a family. Importing this registers them."""

from minipaddle.ops.kernels.cpu import (
    activation,
    block,
    creation,
    elementwise,
    erf,
    lerp,
    linalg,
    loss,
    pointwise,
    rectifier,
    reduction,
    shape,
    softmax,
    update,
)

__all__ = [
    "activation",
    "block",
    "creation",
    "elementwise",
    "erf",
    "lerp",
    "linalg",
    "loss",
    "pointwise",
    "rectifier",
    "reduction",
    "shape",
    "softmax",
    "update",
]
