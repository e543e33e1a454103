"""Optimizers."""

from minipaddle.optimizer import lr
from minipaddle.optimizer.adadelta import Adadelta
from minipaddle.optimizer.adagrad import Adagrad
from minipaddle.optimizer.adam import Adam, AdamW
from minipaddle.optimizer.adamax import Adamax
from minipaddle.optimizer.momentum import Momentum
from minipaddle.optimizer.optimizer import Optimizer
from minipaddle.optimizer.rmsprop import RMSProp
from minipaddle.optimizer.sgd import SGD

__all__ = [
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Momentum",
    "Optimizer",
    "RMSProp",
    "lr",
]
