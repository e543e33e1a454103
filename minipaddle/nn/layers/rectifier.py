"""Activations that bend at a point, as layers; see ``FunctionLayer``."""

from __future__ import annotations

from typing import Any, ClassVar

from minipaddle.imperative.functions import piecewise, rectifier
from minipaddle.imperative.tensor import Tensor
from minipaddle.nn.initializer import Constant
from minipaddle.nn.layer import Layer
from minipaddle.nn.layers.function_layer import FunctionLayer


class CELU(FunctionLayer):
    """x, and ``alpha * (exp(x / alpha) - 1)`` below 0.

    Args:
        alpha: The limit for small x is -alpha; not 0.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.CELU()(paddle.to_tensor([-1000.0, 2.0])).tolist()
        [-1.0, 2.0]
    """

    function = staticmethod(rectifier.celu)
    defaults: ClassVar = {"alpha": 1.0}


class ELU(FunctionLayer):
    """x, and ``alpha * (exp(x) - 1)`` below 0.

    Args:
        alpha: The limit for small x is -alpha.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.ELU()(paddle.to_tensor([-1000.0, 2.0])).tolist()
        [-1.0, 2.0]
    """

    function = staticmethod(rectifier.elu)
    defaults: ClassVar = {"alpha": 1.0}


class Hardshrink(FunctionLayer):
    """x, but 0 within ``threshold`` of 0.

    Args:
        threshold: Not negative.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.Hardshrink()(paddle.to_tensor([0.25, 2.0])).tolist()
        [0.0, 2.0]
    """

    function = staticmethod(rectifier.hardshrink)
    defaults: ClassVar = {"threshold": 0.5}


class Hardsigmoid(FunctionLayer):
    """A line for ``Sigmoid``, cut off at 0 and 1.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.Hardsigmoid()(paddle.to_tensor([-4.0, 0.0, 4.0])).tolist()
        [0.0, 0.5, 1.0]
    """

    function = staticmethod(rectifier.hardsigmoid)


class Hardswish(FunctionLayer):
    """x times a line that is cut off at 0 and 1.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.Hardswish()(paddle.to_tensor([0.0, 4.0])).tolist()
        [0.0, 4.0]
    """

    function = staticmethod(rectifier.hardswish)


class Hardtanh(FunctionLayer):
    """x, cut off at two bounds.

    Args:
        min: The lower bound.
        max: The upper bound.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.Hardtanh()(paddle.to_tensor([-4.0, 0.5, 4.0])).tolist()
        [-1.0, 0.5, 1.0]
    """

    function = staticmethod(rectifier.hardtanh)
    defaults: ClassVar = {"min": -1.0, "max": 1.0}


class LeakyReLU(FunctionLayer):
    """x, and ``negative_slope * x`` below 0.

    Args:
        negative_slope: The slope there.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.LeakyReLU(0.25)(paddle.to_tensor([-4.0, 2.0])).tolist()
        [-1.0, 2.0]
    """

    function = staticmethod(rectifier.leaky_relu)
    defaults: ClassVar = {"negative_slope": 0.01}


class ReLU(FunctionLayer):
    """The larger of x and 0.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.ReLU()(paddle.to_tensor([-1.0, 2.0])).tolist()
        [0.0, 2.0]
    """

    function = staticmethod(rectifier.relu)


class ReLU6(FunctionLayer):
    """x, cut off at 0 and 6.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.ReLU6()(paddle.to_tensor([-1.0, 2.0, 9.0])).tolist()
        [0.0, 2.0, 6.0]
    """

    function = staticmethod(rectifier.relu6)


class SELU(FunctionLayer):
    """``scale`` times ``ELU``.

    Args:
        scale: The factor; above 1.
        alpha: The limit for small x is -scale * alpha.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.SELU(2.0, 1.0)(paddle.to_tensor([-1000.0, 3.0])).tolist()
        [-2.0, 6.0]
    """

    function = staticmethod(rectifier.selu)
    defaults: ClassVar = {"scale": 1.0507009873554805, "alpha": 1.6732632423543772}


class Softshrink(FunctionLayer):
    """x, nearer to 0 by ``threshold``.

    Args:
        threshold: Not negative.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.Softshrink()(paddle.to_tensor([0.25, -2.0])).tolist()
        [0.0, -1.5]
    """

    function = staticmethod(rectifier.softshrink)
    defaults: ClassVar = {"threshold": 0.5}


class ThresholdedReLU(FunctionLayer):
    """x above ``threshold``, else ``value``.

    Args:
        threshold: Where x begins to count.
        value: What stands for smaller ones.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.ThresholdedReLU()(paddle.to_tensor([0.5, 2.0])).tolist()
        [0.0, 2.0]
    """

    function = staticmethod(rectifier.thresholded_relu)
    defaults: ClassVar = {"threshold": 1.0, "value": 0.0}


class PReLU(Layer):
    """x, and a slope that is learned times x below 0.

    Args:
        num_parameters: 1, or one slope for each channel.
        init: The slopes at first.
        weight_attr: ParamAttr, Initializer, name or None.
        data_format: Where the channels are: as ``nn.functional.prelu`` takes it.
        name: Name scope of the parameter.

    Attributes:
        weight: Parameter of shape [num_parameters].

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.PReLU()(paddle.to_tensor([-4.0, 2.0])).tolist()
        [-1.0, 2.0]
    """

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        weight_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        self.data_format = data_format
        self.weight: Any = self.create_parameter(
            [num_parameters], weight_attr, default_initializer=Constant(init)
        )

    def forward(self, x: Tensor) -> Tensor:
        """See ``nn.functional.prelu``."""
        return rectifier.prelu(x, self.weight, self.data_format)


class Maxout(FunctionLayer):
    """The largest of each group of neighbouring channels.

    Args:
        groups: Channels in a group.
        axis: The axis of the channels.
        name: Unused; for Paddle's signature.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.Maxout(2)(paddle.to_tensor([[1.0, 5.0, 2.0, 3.0]])).tolist()
        [[5.0, 3.0]]
    """

    function = staticmethod(piecewise.maxout)
    defaults: ClassVar = {"groups": ..., "axis": 1}


class RReLU(FunctionLayer):
    """x, and below 0 x times a number that is drawn in training and fixed in evaluation.

    Args:
        lower: Smallest factor.
        upper: Largest factor.
        name: Unused; for Paddle's signature.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.RReLU(0.25, 0.75).eval()(paddle.to_tensor([-8.0, 2.0])).tolist()
        [-4.0, 2.0]
    """

    function = staticmethod(piecewise.rrelu)
    defaults: ClassVar = {"lower": 1.0 / 8.0, "upper": 1.0 / 3.0}

    def forward(self, *inputs: Tensor) -> Tensor:
        """See ``nn.functional.rrelu``."""
        (x,) = inputs
        return piecewise.rrelu(x, **self.settings, training=self.training)
