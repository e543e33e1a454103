"""The functions that users call, one module a family of ops."""

from minipaddle.imperative.functions import (
    arithmetic,
    creation,
    elementwise,
    linalg,
    loss,
    math,
    reduction,
    shape,
)

__all__ = [
    "arithmetic",
    "creation",
    "elementwise",
    "linalg",
    "loss",
    "math",
    "reduction",
    "shape",
]
