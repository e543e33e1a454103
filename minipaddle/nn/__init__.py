"""Layers, losses and initializers."""

from minipaddle.nn import functional, initializer
from minipaddle.nn.layer import Layer
from minipaddle.nn.layers.activation import ReLU, Tanh
from minipaddle.nn.layers.container import Sequential
from minipaddle.nn.layers.linear import Linear
from minipaddle.nn.layers.loss import (
    BCELoss,
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    KLDivLoss,
    L1Loss,
    MSELoss,
    NLLLoss,
    SmoothL1Loss,
)
from minipaddle.nn.layers.norm import LayerNorm, RMSNorm

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CrossEntropyLoss",
    "KLDivLoss",
    "L1Loss",
    "Layer",
    "LayerNorm",
    "Linear",
    "MSELoss",
    "NLLLoss",
    "RMSNorm",
    "ReLU",
    "Sequential",
    "SmoothL1Loss",
    "Tanh",
    "functional",
    "initializer",
]
