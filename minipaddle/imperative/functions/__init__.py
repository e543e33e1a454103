"""The functions that users call, one module a family of ops."""

from minipaddle.imperative.functions import (
    broadcasting,
    creation,
    elementwise,
    joining,
    linalg,
    loss,
    padding,
    ranges,
    rearrange,
    reduction,
    shape,
    slicing,
)

__all__ = [
    "broadcasting",
    "creation",
    "elementwise",
    "joining",
    "linalg",
    "loss",
    "padding",
    "ranges",
    "rearrange",
    "reduction",
    "shape",
    "slicing",
]
