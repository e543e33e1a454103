"""Functions of ``nn``, without parameters of their own."""

from minipaddle.imperative.functions.elementwise import relu, relu_, tanh, tanh_
from minipaddle.imperative.functions.linalg import linear
from minipaddle.imperative.functions.loss import mse_loss

__all__ = ["linear", "mse_loss", "relu", "relu_", "tanh", "tanh_"]
