"""Layers, losses and initializers."""

from minipaddle.nn import functional, initializer
from minipaddle.nn.layer import Layer
from minipaddle.nn.layers.activation import ReLU, Tanh
from minipaddle.nn.layers.container import Sequential
from minipaddle.nn.layers.dropout import (
    AlphaDropout,
    Dropout,
    Dropout2D,
    Dropout3D,
    FeatureAlphaDropout,
)
from minipaddle.nn.layers.linear import Linear
from minipaddle.nn.layers.loss import MSELoss

__all__ = [
    "AlphaDropout",
    "Dropout",
    "Dropout2D",
    "Dropout3D",
    "FeatureAlphaDropout",
    "Layer",
    "Linear",
    "MSELoss",
    "ReLU",
    "Sequential",
    "Tanh",
    "functional",
    "initializer",
]
