"""Layers, losses and initializers."""

from minipaddle.nn import functional, initializer, utils
from minipaddle.nn.clip import ClipGradByGlobalNorm, ClipGradByNorm, ClipGradByValue
from minipaddle.nn.layer import Layer

# fmt: off
from minipaddle.nn.layers.activation import (
    GELU, GLU, LogSigmoid, LogSoftmax, Mish, Sigmoid, Silu, Softmax, Softplus, Softsign, Swish,
    Tanh, Tanhshrink,
)
from minipaddle.nn.layers.container import Sequential
from minipaddle.nn.layers.dropout import (
    AlphaDropout, Dropout, Dropout2D, Dropout3D, FeatureAlphaDropout,
)
from minipaddle.nn.layers.embedding import Embedding
from minipaddle.nn.layers.linear import Linear
from minipaddle.nn.layers.loss import (
    BCELoss, BCEWithLogitsLoss, CrossEntropyLoss, KLDivLoss, L1Loss, MSELoss, NLLLoss, SmoothL1Loss,
)
from minipaddle.nn.layers.norm import LayerNorm, RMSNorm
from minipaddle.nn.layers.rectifier import (
    CELU, ELU, SELU, Hardshrink, Hardsigmoid, Hardswish, Hardtanh, LeakyReLU, PReLU, ReLU, ReLU6,
    Softshrink, ThresholdedReLU,
)

__all__ = [
    "AlphaDropout", "BCELoss", "BCEWithLogitsLoss", "CELU", "ClipGradByGlobalNorm",
    "ClipGradByNorm", "ClipGradByValue", "CrossEntropyLoss", "Dropout", "Dropout2D", "Dropout3D",
    "ELU", "Embedding", "FeatureAlphaDropout", "GELU", "GLU", "Hardshrink", "Hardsigmoid",
    "Hardswish", "Hardtanh", "KLDivLoss", "L1Loss", "Layer", "LayerNorm", "LeakyReLU", "Linear",
    "LogSigmoid", "LogSoftmax", "MSELoss", "Mish", "NLLLoss", "PReLU", "RMSNorm", "ReLU", "ReLU6",
    "SELU", "Sequential", "Sigmoid", "Silu", "SmoothL1Loss", "Softmax", "Softplus", "Softshrink",
    "Softsign", "Swish", "Tanh", "Tanhshrink", "ThresholdedReLU", "functional", "initializer",
    "utils",
]
# fmt: on
