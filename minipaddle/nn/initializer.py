"""First values of parameters, and ParamAttr, which asks for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from minipaddle.nn.first_values import Assign, Constant, Dirac, Initializer, Orthogonal

# fmt: off
from minipaddle.nn.random_values import (
    KaimingNormal,
    KaimingUniform,
    Normal,
    TruncatedNormal,
    Uniform,
    XavierNormal,
    XavierUniform,
    calculate_gain,
)

# fmt: on
from minipaddle.regularizer import WeightDecayRegularizer

_global: dict[bool, Initializer | None] = {True: None, False: None}  # of biases, of weights


def set_global_initializer(
    weight_init: Initializer | None, bias_init: Initializer | None = None
) -> None:
    """Says how parameters are initialized whose ``attr`` does not say it.

    Args:
        weight_init: For weights; None for the layers' own ways.
        bias_init: For biases; the same.

    Raises:
        TypeError: One of them is neither an Initializer nor None.

    Example:
        >>> import minipaddle as paddle
        >>> initializer = paddle.nn.initializer
        >>> initializer.set_global_initializer(initializer.Constant(2.0))
        >>> paddle.nn.Linear(1, 2).weight.tolist()
        [[2.0, 2.0]]
        >>> initializer.set_global_initializer(None)
    """
    for name, value in (("weight_init", weight_init), ("bias_init", bias_init)):
        if value is not None and not isinstance(value, Initializer):
            raise TypeError(f"{name} must be an Initializer or None; got {type(value).__name__}")
    _global.update({True: bias_init, False: weight_init})


def default_for(is_bias: bool, layers_own: Initializer | None) -> Initializer:
    """What initializes a parameter whose ``attr`` does not say it.

    Args:
        is_bias: Whether it is a bias: zeros by default, Xavier-uniform otherwise.
        layers_own: What the layer takes by default, if anything.
    """
    fallback = Constant(0.0) if is_bias else XavierUniform()
    return _global[is_bias] or layers_own or fallback


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


# fmt: off
__all__ = [
    "Assign", "Constant", "Dirac", "Initializer", "KaimingNormal", "KaimingUniform", "Normal",
    "Orthogonal", "TruncatedNormal", "Uniform", "XavierNormal", "XavierUniform", "calculate_gain",
    "set_global_initializer",
]
# fmt: on
