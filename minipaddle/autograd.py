"""Automatic differentiation: the public names of ``paddle.autograd``."""

from minipaddle.imperative.anomaly import detect_anomaly, set_detect_anomaly
from minipaddle.imperative.autograd import (
    backward,
    enable_grad,
    grad,
    intercept,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)
from minipaddle.imperative.pylayer import PyLayer, PyLayerContext

__all__ = [
    "PyLayer",
    "PyLayerContext",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "grad",
    "intercept",
    "is_grad_enabled",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
]
