"""Automatic differentiation: the public names of ``paddle.autograd``."""

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
    "enable_grad",
    "grad",
    "intercept",
    "is_grad_enabled",
    "no_grad",
    "set_grad_enabled",
]
