"""Kernels for NVIDIA GPUs: CUDA files, and what launches them. Imported when a GPU is used."""

from minipaddle.ops.kernels.gpu import (
    arithmetic,
    cumulative,
    elementwise,
    embedding,
    loss,
    normalization,
    reduction,
    softmax,
    statistics,
    update,
)

__all__ = [
    "arithmetic",
    "cumulative",
    "elementwise",
    "embedding",
    "loss",
    "normalization",
    "reduction",
    "softmax",
    "statistics",
    "update",
]
