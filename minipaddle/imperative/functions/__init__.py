"""The functions that users call, one module a family of ops."""

from minipaddle.imperative.functions import (
    arithmetic,
    broadcasting,
    creation,
    elementwise,
    joining,
    linalg,
    loss,
    math,
    padding,
    ranges,
    rearrange,
    reduction,
    shape,
    slicing,
)

__all__ = [
    "arithmetic",
    "broadcasting",
    "creation",
    "elementwise",
    "joining",
    "linalg",
    "loss",
    "math",
    "padding",
    "ranges",
    "rearrange",
    "reduction",
    "shape",
    "slicing",
]
