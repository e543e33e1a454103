"""Activations as layers."""

from __future__ import annotations

from minipaddle.imperative.functions import elementwise, rectifier
from minipaddle.imperative.tensor import Tensor
from minipaddle.nn.layer import Layer


class ReLU(Layer):
    """The larger of x and 0.

    Args:
        name: Unused; for Paddle's signature.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.ReLU()(paddle.to_tensor([-1.0, 2.0])).tolist()
        [0.0, 2.0]
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__()

    def forward(self, x: Tensor) -> Tensor:
        """See ``nn.functional.relu``."""
        return rectifier.relu(x)


class Tanh(Layer):
    """Hyperbolic tangent.

    Args:
        name: Unused; for Paddle's signature.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.Tanh()(paddle.to_tensor([0.0])).tolist()
        [0.0]
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__()

    def forward(self, x: Tensor) -> Tensor:
        """See ``tanh``."""
        return elementwise.tanh(x)
