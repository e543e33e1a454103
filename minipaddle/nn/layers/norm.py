"""Normalizations as layers."""

from __future__ import annotations

import math
from typing import Any

from minipaddle.imperative.functions import normalization
from minipaddle.imperative.operand import Ints, int_list
from minipaddle.imperative.tensor import Tensor
from minipaddle.nn.initializer import Constant
from minipaddle.nn.layer import Layer


def _lengths(normalized_shape: Any) -> list[int]:
    lengths = list(int_list("normalized_shape", normalized_shape) or ())
    if not lengths or min(lengths) < 1:
        raise ValueError(f"normalized_shape must be positive ints; got {normalized_shape!r}")
    return lengths


class LayerNorm(Layer):
    """``nn.functional.layer_norm`` with a weight and a bias that are learned.

    Args:
        normalized_shape: The lengths of the last axes, which are normalized together.
        epsilon: Added to the variance.
        weight_attr: ParamAttr, Initializer, name or None for ones; False for no weight.
        bias_attr: The same, zeros by default; False for no bias.
        name: Name scope of the parameters.

    Attributes:
        weight: Parameter with one axis, for all elements that are normalized together, or None.
        bias: The same.

    Raises:
        ValueError: ``normalized_shape`` is not of positive ints.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.LayerNorm(2, epsilon=0.0)(paddle.to_tensor([[1.0, 3.0]])).tolist()
        [[-1.0, 1.0]]
    """

    def __init__(
        self,
        normalized_shape: Ints,
        epsilon: float = 1e-05,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        self.normalized_shape, self.epsilon = _lengths(normalized_shape), epsilon
        count = [math.prod(self.normalized_shape)]
        one = Constant(1.0)
        self.weight: Any = self.create_parameter(count, weight_attr, default_initializer=one)
        self.bias: Any = self.create_parameter(count, bias_attr, is_bias=True)

    def forward(self, input: Tensor) -> Tensor:
        """See ``nn.functional.layer_norm``."""
        return normalization.layer_norm(
            input, self.normalized_shape, self.weight, self.bias, self.epsilon
        )

    def extra_repr(self) -> str:
        """The lengths and epsilon."""
        return f"normalized_shape={self.normalized_shape}, epsilon={self.epsilon}"


class RMSNorm(Layer):
    """``nn.functional.rms_norm`` with a weight that is learned.

    Args:
        normalized_shape: The lengths of the last axes, which are normalized together.
        epsilon: Added to the mean of the squares; None for the step of the computing type at 1.
        weight_attr: ParamAttr, Initializer, name or None for ones; False for no weight.
        name: Name scope of the parameters.

    Attributes:
        weight: Parameter of shape ``normalized_shape``, or None.

    Raises:
        ValueError: ``normalized_shape`` is not of positive ints.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.RMSNorm(2, epsilon=0.0)(paddle.to_tensor([[2.0, -2.0]])).tolist()
        [[1.0, -1.0]]
    """

    def __init__(
        self,
        normalized_shape: Ints,
        epsilon: float | None = 1e-05,
        weight_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        self.normalized_shape, self.epsilon = _lengths(normalized_shape), epsilon
        self.weight: Any = self.create_parameter(
            self.normalized_shape, weight_attr, default_initializer=Constant(1.0)
        )

    def forward(self, input: Tensor) -> Tensor:
        """See ``nn.functional.rms_norm``."""
        return normalization.rms_norm(input, self.normalized_shape, self.weight, self.epsilon)

    def extra_repr(self) -> str:
        """The lengths and epsilon."""
        return f"normalized_shape={self.normalized_shape}, epsilon={self.epsilon}"
