"""A step of training, to see whether an installation works."""

from __future__ import annotations

import sys

from minipaddle.device.backend import get_device
from minipaddle.imperative.functions import creation, reduction
from minipaddle.nn.layers.linear import Linear
from minipaddle.optimizer.sgd import SGD


def run_check() -> None:
    """Trains a layer for one step on the current device, and says so.

    Raises:
        RuntimeError: The step did not change the layer as it should.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.utils.run_check()
        minipaddle works on cpu.
    """
    layer = Linear(2, 1)
    before = layer.weight.numpy()
    reduction.sum(layer(creation.ones([3, 2]))).backward()
    SGD(0.5, layer.parameters()).step()
    change = abs(before - layer.weight.numpy() - 1.5).max()  # three rows of ones, half of it
    if not change < 1e-3:
        raise RuntimeError(f"minipaddle does not train on {get_device()}: off by {change}")
    sys.stdout.write(f"minipaddle works on {get_device()}.\n")
