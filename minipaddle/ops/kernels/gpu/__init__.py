"""Kernels for NVIDIA GPUs: CUDA files, and what launches them. Imported when a GPU is used."""

from minipaddle.ops.kernels.gpu import (
    activation,
    arithmetic,
    comparison,
    copying,
    elementwise,
    lerp,
    math,
    pointwise_loss,
    rectifier,
    selection,
)

__all__ = [
    "activation",
    "arithmetic",
    "comparison",
    "copying",
    "elementwise",
    "lerp",
    "math",
    "pointwise_loss",
    "rectifier",
    "selection",
]
