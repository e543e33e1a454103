"""Optimizers."""

from minipaddle.optimizer import lr
from minipaddle.optimizer.adagrad import Adagrad
from minipaddle.optimizer.adam import Adam, AdamW
from minipaddle.optimizer.momentum import Momentum
from minipaddle.optimizer.optimizer import Optimizer
from minipaddle.optimizer.rmsprop import RMSProp
from minipaddle.optimizer.sgd import SGD

__all__ = ["SGD", "Adagrad", "Adam", "AdamW", "Momentum", "Optimizer", "RMSProp", "lr"]
