"""Optimizers."""

from minipaddle.optimizer.adam import Adam
from minipaddle.optimizer.optimizer import Optimizer
from minipaddle.optimizer.sgd import SGD

__all__ = ["SGD", "Adam", "Optimizer"]
