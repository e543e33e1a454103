"""Functions of ``nn``, without parameters of their own."""

from minipaddle.imperative.functions.elementwise import (
    relu,
    relu_,
)
from minipaddle.imperative.functions.gathering import (
    one_hot,
)
from minipaddle.imperative.functions.geometry import (
    cosine_similarity,
)
from minipaddle.imperative.functions.linalg import (
    linear,
)
from minipaddle.imperative.functions.loss import (
    mse_loss,
)
from minipaddle.imperative.functions.padding import (
    diag_embed,
    pad,
)

__all__ = [
    "cosine_similarity",
    "diag_embed",
    "linear",
    "mse_loss",
    "one_hot",
    "pad",
    "relu",
    "relu_",
]
