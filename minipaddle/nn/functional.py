"""Functions of ``nn``, without parameters of their own."""

from minipaddle.imperative.functions.dropout import (
    alpha_dropout,
    dropout,
    dropout2d,
    dropout3d,
    feature_alpha_dropout,
)
from minipaddle.imperative.functions.elementwise import (
    relu,
    relu_,
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
    "alpha_dropout",
    "cosine_similarity",
    "diag_embed",
    "dropout",
    "dropout2d",
    "dropout3d",
    "feature_alpha_dropout",
    "linear",
    "mse_loss",
    "pad",
    "relu",
    "relu_",
]
