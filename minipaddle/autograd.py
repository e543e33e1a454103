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

__all__ = [
    "backward",
    "enable_grad",
    "grad",
    "intercept",
    "is_grad_enabled",
    "no_grad",
    "set_grad_enabled",
]
