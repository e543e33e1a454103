"""The functions that users call, one module a family of ops."""

from minipaddle.imperative.functions import (
    activation,
    creation,
    elementwise,
    linalg,
    loss,
    rectifier,
    reduction,
    shape,
)

__all__ = [
    "activation",
    "creation",
    "elementwise",
    "linalg",
    "loss",
    "rectifier",
    "reduction",
    "shape",
]
