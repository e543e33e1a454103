"""The functions that users call, one module a family of ops."""

from minipaddle.imperative.functions import (
    creation,
    einsum,
    elementwise,
    geometry,
    linalg,
    loss,
    matrices,
    products,
    reduction,
    shape,
)

__all__ = [
    "creation",
    "einsum",
    "elementwise",
    "geometry",
    "linalg",
    "loss",
    "matrices",
    "products",
    "reduction",
    "shape",
]
