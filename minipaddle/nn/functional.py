"""Functions of ``nn``, without parameters of their own."""

# One name a line would make pages of them; python -m tools.public_names writes this.
# fmt: off
from minipaddle.imperative.functions.activation import (
    gelu, glu, log_sigmoid, log_softmax, mish, sigmoid, sigmoid_, silu, softmax, softmax_,
    softplus, softsign, swish, tanhshrink,
)
from minipaddle.imperative.functions.elementwise import tanh, tanh_
from minipaddle.imperative.functions.embedding import embedding
from minipaddle.imperative.functions.geometry import cosine_similarity
from minipaddle.imperative.functions.linalg import linear
from minipaddle.imperative.functions.loss import mse_loss
from minipaddle.imperative.functions.padding import diag_embed, pad
from minipaddle.imperative.functions.rectifier import (
    celu, elu, elu_, hardshrink, hardsigmoid, hardswish, hardtanh, hardtanh_, leaky_relu,
    leaky_relu_, prelu, relu, relu6, relu_, selu, softshrink, thresholded_relu, thresholded_relu_,
)
# fmt: on


# fmt: off
__all__ = [
    "celu", "cosine_similarity", "diag_embed", "elu", "elu_", "embedding", "gelu", "glu",
    "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "hardtanh_", "leaky_relu",
    "leaky_relu_", "linear", "log_sigmoid", "log_softmax", "mish", "mse_loss", "pad", "prelu",
    "relu", "relu6", "relu_", "selu", "sigmoid", "sigmoid_", "silu", "softmax", "softmax_",
    "softplus", "softshrink", "softsign", "swish", "tanh", "tanh_", "tanhshrink",
    "thresholded_relu", "thresholded_relu_",
]
# fmt: on
