"""The functions that users call, one module a family of ops."""

from minipaddle.imperative.functions import (
    creation,
    elementwise,
    linalg,
    loss,
    reduction,
    shape,
)

__all__ = ["creation", "elementwise", "linalg", "loss", "reduction", "shape"]
