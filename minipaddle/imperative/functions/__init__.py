"""The functions that users call, one module a family of ops."""

from minipaddle.imperative.functions import (
    creation,
    cumulative,
    elementwise,
    linalg,
    loss,
    reduction,
    shape,
    statistics,
)

__all__ = [
    "creation",
    "cumulative",
    "elementwise",
    "linalg",
    "loss",
    "reduction",
    "shape",
    "statistics",
]
