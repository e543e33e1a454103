"""First values of parameters, and ParamAttr, which asks for them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from minipaddle.imperative.functions import creation, random
from minipaddle.imperative.tensor import Tensor
from minipaddle.regularizer import WeightDecayRegularizer


class Initializer:
    """Makes the first value of a parameter: ``initializer(shape, dtype) -> Tensor``."""

    def __call__(self, shape: list[int], dtype: Any) -> Tensor:
        """A new tensor with the first values.

        Args:
            shape: Lengths of the parameter's axes.
            dtype: Its float element type.
        """
        raise TypeError(f"{type(self).__name__} does not define __call__(shape, dtype)")


@dataclass
class Constant(Initializer):
    """One value everywhere.

    Args:
        value: The value.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.initializer.Constant(0.5)([2], "float32").tolist()
        [0.5, 0.5]
    """

    value: float = 0.0

    def __call__(self, shape: list[int], dtype: Any) -> Tensor:
        """See ``Initializer``."""
        return creation.full(shape, self.value, dtype)


@dataclass
class Uniform(Initializer):
    """Spread evenly over [low, high).

    Args:
        low: Lower end.
        high: Upper end.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.initializer.Uniform(0.0, 1.0)([2, 3], "float32").shape
        [2, 3]
    """

    low: float = -1.0
    high: float = 1.0

    def __call__(self, shape: list[int], dtype: Any) -> Tensor:
        """See ``Initializer``."""
        return random.uniform(shape, dtype, self.low, self.high)


@dataclass
class XavierUniform(Initializer):
    """Even over ±sqrt(6 / (fan_in + fan_out)), so that the spread of values is kept both ways.

    Args:
        fan_in: Inputs of one unit; by default the first axis of a matrix.
        fan_out: Outputs of one unit; by default the second axis.
        gain: Factor on the limit, for the function that follows.

    References:
        Glorot and Bengio (2010), Understanding the difficulty of training deep feedforward neural
        networks, equation 16.

    Example:
        >>> import minipaddle as paddle
        >>> weight = paddle.nn.initializer.XavierUniform()([2, 4], "float32")
        >>> bool(abs(weight.numpy()).max() <= 1.0)
        True
    """

    fan_in: int | None = None
    fan_out: int | None = None
    gain: float = 1.0

    def __call__(self, shape: list[int], dtype: Any) -> Tensor:
        """See ``Initializer``."""
        receptive = math.prod(shape[2:])
        fan_in = (shape[0] if shape else 1) * receptive if self.fan_in is None else self.fan_in
        fan_out = (
            (shape[1] if len(shape) > 1 else fan_in) * receptive
            if self.fan_out is None
            else self.fan_out
        )
        limit = self.gain * math.sqrt(6.0 / max(1, fan_in + fan_out))
        return random.uniform(shape, dtype, -limit, limit)


@dataclass
class ParamAttr:
    """What a layer's ``weight_attr`` or ``bias_attr`` may ask of a parameter.

    Args:
        name: Its name, unique in the process; made up by default.
        initializer: Its first values.
        learning_rate: Factor on the optimizer's rate.
        regularizer: Penalty on it, L1Decay or L2Decay, in place of the optimizer's weight decay.
        trainable: Whether it is trained.
        do_model_average: Unused; for Paddle's signature.
        need_clip: Whether the optimizer may clip its gradient.

    Example:
        >>> import minipaddle as paddle
        >>> attr = paddle.ParamAttr(initializer=paddle.nn.initializer.Constant(1.0))
        >>> paddle.nn.Linear(2, 1, weight_attr=attr).weight.tolist()
        [[1.0], [1.0]]
    """

    name: str | None = None
    initializer: Initializer | None = None
    learning_rate: float = 1.0
    regularizer: WeightDecayRegularizer | None = None
    trainable: bool = True
    do_model_average: bool = True
    need_clip: bool = True

    @staticmethod
    def of(attr: Any) -> ParamAttr:
        """``attr`` as a ParamAttr: None, a name, an Initializer or a ParamAttr.

        Raises:
            TypeError: It is none of these.
        """
        if attr is None:
            return ParamAttr()
        if isinstance(attr, str):
            return ParamAttr(name=attr)
        if isinstance(attr, Initializer):
            return ParamAttr(initializer=attr)
        if isinstance(attr, ParamAttr):
            return attr
        raise TypeError(
            "a parameter's attr must be None, False, a name, an Initializer or a ParamAttr; got "
            f"{type(attr).__name__}"
        )


__all__ = ["Constant", "Initializer", "Uniform", "XavierUniform"]
