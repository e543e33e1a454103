"""Layers, losses and initializers."""

from minipaddle.nn import functional, initializer
from minipaddle.nn.layer import Layer

# fmt: off
from minipaddle.nn.layers.activation import (
    GELU, GLU, LogSigmoid, LogSoftmax, Mish, Sigmoid, Silu, Softmax, Softplus, Softsign, Swish,
    Tanh, Tanhshrink,
)
from minipaddle.nn.layers.container import Sequential
from minipaddle.nn.layers.embedding import Embedding
from minipaddle.nn.layers.linear import Linear
from minipaddle.nn.layers.loss import MSELoss
from minipaddle.nn.layers.rectifier import (
    CELU, ELU, SELU, Hardshrink, Hardsigmoid, Hardswish, Hardtanh, LeakyReLU, PReLU, ReLU, ReLU6,
    Softshrink, ThresholdedReLU,
)

__all__ = [
    "CELU", "ELU", "GELU", "GLU", "SELU", "Embedding", "Hardshrink", "Hardsigmoid", "Hardswish",
    "Hardtanh", "Layer", "LeakyReLU", "Linear", "LogSigmoid", "LogSoftmax", "MSELoss", "Mish",
    "PReLU", "ReLU", "ReLU6", "Sequential", "Sigmoid", "Silu", "Softmax", "Softplus", "Softshrink",
    "Softsign", "Swish", "Tanh", "Tanhshrink", "ThresholdedReLU", "functional", "initializer",
]
# fmt: on
