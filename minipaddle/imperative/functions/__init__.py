"""The functions that users call, one module a family of ops."""

from minipaddle.imperative.functions import (
    comparison,
    creation,
    elementwise,
    linalg,
    loss,
    reduction,
    search,
    shape,
)

__all__ = [
    "comparison",
    "creation",
    "elementwise",
    "linalg",
    "loss",
    "reduction",
    "search",
    "shape",
]
