"""Gradients, each written once over a namespace F of ops. Importing this registers them.

With F = a place's kernels a formula runs on arrays; with F = the bound functions it runs on
tensors and is itself recorded, which is where second and higher order come from. A result may
have the broadcast shape: the engine reduces it to the input's.
"""

from minipaddle.ops.formulas import (
    activation,
    arithmetic,
    cumulative,
    elementwise,
    embedding,
    indexing,
    joining,
    linalg,
    loss,
    math,
    normalization,
    padding,
    pointwise_loss,
    random,
    rearrange,
    rectifier,
    reduction,
    shape,
    statistics,
)

__all__ = [
    "activation",
    "arithmetic",
    "cumulative",
    "elementwise",
    "embedding",
    "indexing",
    "joining",
    "linalg",
    "loss",
    "math",
    "normalization",
    "padding",
    "pointwise_loss",
    "random",
    "rearrange",
    "rectifier",
    "reduction",
    "shape",
    "statistics",
]
