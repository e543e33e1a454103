"""Layers with a matrix of weights."""

from __future__ import annotations

import operator
from typing import Any

from minipaddle.imperative.functions import linalg, products
from minipaddle.imperative.tensor import Tensor
from minipaddle.nn.layer import Layer


class Linear(Layer):
    """``x @ weight + bias``.

    Args:
        in_features: Length of the input's last axis.
        out_features: Length of the output's last axis.
        weight_attr: ParamAttr, Initializer, name or None; Xavier-uniform by default.
        bias_attr: The same, zeros by default; False for no bias.
        name: Name scope of the parameters.

    Attributes:
        weight: Parameter of shape [in_features, out_features].
        bias: Parameter of shape [out_features], or None.

    Raises:
        ValueError: A number of features is not a positive int.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.Linear(3, 2)(paddle.ones([5, 3])).shape
        [5, 2]
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        for argument, value in (("in_features", in_features), ("out_features", out_features)):
            if not hasattr(value, "__index__") or operator.index(value) < 1:
                raise ValueError(f"{argument} must be a positive int; got {value!r}")
        if weight_attr is False:
            raise ValueError("weight_attr must not be False: Linear has no use without a weight")
        in_features, out_features = operator.index(in_features), operator.index(out_features)
        self.in_features, self.out_features = in_features, out_features
        self.weight: Any = self.create_parameter([in_features, out_features], weight_attr)
        self.bias = self.create_parameter([out_features], bias_attr, is_bias=True)

    def forward(self, input: Tensor) -> Tensor:
        """Maps [..., in_features] to [..., out_features]."""
        return linalg.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """The numbers of features."""
        return f"in_features={self.in_features}, out_features={self.out_features}"


class Bilinear(Layer):
    """``nn.functional.bilinear``: ``x1 @ weight[k] @ x2 + bias[k]`` for each k.

    Args:
        in1_features: Length of the first input's last axis.
        in2_features: Length of the second input's last axis.
        out_features: Length of the output's last axis.
        weight_attr: ParamAttr, Initializer, name or None; Xavier-uniform by default.
        bias_attr: The same, zeros by default; False for no bias.
        name: Name scope of the parameters.

    Attributes:
        weight: Parameter of shape [out_features, in1_features, in2_features].
        bias: Parameter of shape [1, out_features], or None.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.Bilinear(2, 3, 4)(paddle.ones([5, 2]), paddle.ones([5, 3])).shape
        [5, 4]
    """

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        lengths = [out_features, in1_features, in2_features]
        self.in1_features, self.in2_features = in1_features, in2_features
        self.out_features = out_features
        self.weight: Any = self.create_parameter(lengths, weight_attr)
        self.bias = self.create_parameter([1, out_features], bias_attr, is_bias=True)

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Maps [N, in1_features] and [N, in2_features] to [N, out_features]."""
        return products.bilinear(x1, x2, self.weight, self.bias)

    def extra_repr(self) -> str:
        """The numbers of features."""
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}"
        )
