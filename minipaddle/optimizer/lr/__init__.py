"""Schedulers of the learning rate."""

from minipaddle.optimizer.lr.annealing import (
    CosineAnnealingDecay,
    CosineAnnealingWarmRestarts,
    CyclicLR,
    LinearLR,
    OneCycleLR,
)
from minipaddle.optimizer.lr.decay import (
    ExponentialDecay,
    InverseTimeDecay,
    MultiStepDecay,
    NaturalExpDecay,
    NoamDecay,
    PiecewiseDecay,
    PolynomialDecay,
    StepDecay,
)
from minipaddle.optimizer.lr.function import LambdaDecay, MultiplicativeDecay
from minipaddle.optimizer.lr.plateau import ReduceOnPlateau
from minipaddle.optimizer.lr.scheduler import LRScheduler
from minipaddle.optimizer.lr.warmup import LinearWarmup

__all__ = [
    "CosineAnnealingDecay",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialDecay",
    "InverseTimeDecay",
    "LRScheduler",
    "LambdaDecay",
    "LinearLR",
    "LinearWarmup",
    "MultiStepDecay",
    "MultiplicativeDecay",
    "NaturalExpDecay",
    "NoamDecay",
    "OneCycleLR",
    "PiecewiseDecay",
    "PolynomialDecay",
    "ReduceOnPlateau",
    "StepDecay",
]
