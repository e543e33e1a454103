"""Leaves and failures that several test modules of this folder use."""

from typing import Any

import numpy as np

import minipaddle as paddle
from minipaddle.imperative.grad_node import grad_state


def leaf(values: Any, dtype: str = "float64") -> paddle.Tensor:
    return paddle.to_tensor(np.asarray(values, dtype), stop_gradient=False)


def constant(values: Any, dtype: str = "float64") -> paddle.Tensor:
    return paddle.to_tensor(np.asarray(values, dtype))


def send(x: paddle.Tensor, factor: float) -> None:
    """One backward that adds ``factor`` to every element of x's gradient."""
    (x * factor).sum().backward()


def status(x: paddle.Tensor) -> str:
    return x.leaf_node().status.name


class Broken(Exception):
    """What the tests' own hooks, kernels and callbacks raise."""


def fail(*args: Any) -> None:
    raise Broken("on purpose")


def assert_engine_is_usable() -> None:
    """After a failure: nothing is left over, and an ordinary backward gives the right gradient."""
    assert grad_state.depth == 0
    assert grad_state.recording
    assert grad_state.interceptor is None
    assert grad_state.callbacks == []
    x = leaf([2.0])
    y = x * x
    assert not y.stop_gradient
    (y + x).backward()
    assert x.grad.tolist() == [5.0]
