"""Normalizations of channels within a sample, as layers."""

from __future__ import annotations

from typing import Any, ClassVar

from minipaddle.imperative.functions import channel_norm
from minipaddle.imperative.tensor import Tensor
from minipaddle.nn.initializer import Constant
from minipaddle.nn.layer import Layer
from minipaddle.nn.layers.batch_norm import ChannelNorm
from minipaddle.nn.layers.function_layer import FunctionLayer


class _InstanceNorm(ChannelNorm):
    """Base of those below, which differ by the number of axes.

    Attributes:
        scale: Parameter [num_features], or None.
        bias: The same.
    """

    def __init__(
        self,
        num_features: int,
        epsilon: float = 1e-05,
        momentum: float = 0.9,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.set_up(num_features, data_format, epsilon)
        if (weight_attr is False) != (bias_attr is False):
            raise ValueError("weight_attr and bias_attr must be False both or neither")
        size, one = [num_features], Constant(1.0)
        self.scale: Any = self.create_parameter(size, weight_attr, default_initializer=one)
        self.bias: Any = self.create_parameter(size, bias_attr, is_bias=True)

    def forward(self, input: Tensor) -> Tensor:
        """See ``nn.functional.instance_norm``."""
        self.check(input)
        return channel_norm.instance_norm(
            input,
            weight=self.scale,
            bias=self.bias,
            eps=self.epsilon,
            data_format=self.data_format,
        )

    def extra_repr(self) -> str:
        """The settings."""
        return f"num_features={self.num_features}, epsilon={self.epsilon}"


class InstanceNorm1D(_InstanceNorm):
    """``nn.functional.instance_norm`` of [N, C] or [N, C, L], with learned weight and bias.

    Args:
        num_features: Number of channels.
        epsilon: Added to the variance.
        momentum: Unused; for Paddle's signature.
        weight_attr: ParamAttr, Initializer, name or None for ones; False for no weight.
        bias_attr: The same, zeros by default; False for no bias.
        data_format: Where the channels are: NCL, NC, NLC.
        name: Unused; for Paddle's signature.

    Raises:
        ValueError: ``data_format`` is unknown, or an input has another number of axes.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.InstanceNorm1D(4)(paddle.ones([2, 4, 3])).shape
        [2, 4, 3]
    """

    ranks = (2, 3)
    formats = ("NCL", "NC", "NLC")

    def __init__(
        self,
        num_features: int,
        epsilon: float = 1e-05,
        momentum: float = 0.9,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCL",
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, epsilon, momentum, weight_attr, bias_attr, data_format, name)


class InstanceNorm2D(_InstanceNorm):
    """``nn.functional.instance_norm`` of [N, C, H, W], with learned weight and bias.

    Args:
        num_features: Number of channels.
        epsilon: Added to the variance.
        momentum: Unused; for Paddle's signature.
        weight_attr: ParamAttr, Initializer, name or None for ones; False for no weight.
        bias_attr: The same, zeros by default; False for no bias.
        data_format: Where the channels are: NCHW, NHWC.
        name: Unused; for Paddle's signature.

    Raises:
        ValueError: ``data_format`` is unknown, or an input has another number of axes.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.InstanceNorm2D(4)(paddle.ones([2, 4, 3, 3])).shape
        [2, 4, 3, 3]
    """

    ranks = (4,)
    formats = ("NCHW", "NHWC")

    def __init__(
        self,
        num_features: int,
        epsilon: float = 1e-05,
        momentum: float = 0.9,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, epsilon, momentum, weight_attr, bias_attr, data_format, name)


class InstanceNorm3D(_InstanceNorm):
    """``nn.functional.instance_norm`` of [N, C, D, H, W], with learned weight and bias.

    Args:
        num_features: Number of channels.
        epsilon: Added to the variance.
        momentum: Unused; for Paddle's signature.
        weight_attr: ParamAttr, Initializer, name or None for ones; False for no weight.
        bias_attr: The same, zeros by default; False for no bias.
        data_format: Where the channels are: NCDHW, NDHWC.
        name: Unused; for Paddle's signature.

    Raises:
        ValueError: ``data_format`` is unknown, or an input has another number of axes.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.InstanceNorm3D(4)(paddle.ones([2, 4, 3, 3, 3])).shape
        [2, 4, 3, 3, 3]
    """

    ranks = (5,)
    formats = ("NCDHW", "NDHWC")

    def __init__(
        self,
        num_features: int,
        epsilon: float = 1e-05,
        momentum: float = 0.9,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCDHW",
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, epsilon, momentum, weight_attr, bias_attr, data_format, name)


class GroupNorm(Layer):
    """``nn.functional.group_norm`` with a weight and a bias that are learned.

    Args:
        num_groups: Number of groups, a divisor of ``num_channels``.
        num_channels: Number of channels.
        epsilon: Added to the variance.
        weight_attr: ParamAttr, Initializer, name or None for ones; False for no weight.
        bias_attr: The same, zeros by default; False for no bias.
        data_format: Where the channels are, such as NCHW or NHWC.
        name: Unused; for Paddle's signature.

    Attributes:
        weight: Parameter [num_channels], or None.
        bias: The same.

    Raises:
        ValueError: ``data_format`` is unknown, or ``num_groups`` does not divide the channels.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.GroupNorm(2, 4)(paddle.ones([1, 4, 3, 3])).shape
        [1, 4, 3, 3]
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        epsilon: float = 1e-05,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        if data_format not in channel_norm.FORMATS:
            raise ValueError(
                f"data_format must be one of {channel_norm.FORMATS}; got {data_format!r}"
            )
        if num_groups < 1 or num_channels < 1 or num_channels % num_groups:
            raise ValueError(
                f"num_groups must divide num_channels; got {num_groups} and {num_channels}"
            )
        self.num_groups, self.num_channels = num_groups, num_channels
        self.epsilon, self.data_format = epsilon, data_format
        size, one = [num_channels], Constant(1.0)
        self.weight: Any = self.create_parameter(size, weight_attr, default_initializer=one)
        self.bias: Any = self.create_parameter(size, bias_attr, is_bias=True)

    def forward(self, input: Tensor) -> Tensor:
        """See ``nn.functional.group_norm``."""
        return channel_norm.group_norm(
            input, self.num_groups, self.epsilon, self.weight, self.bias, self.data_format
        )

    def extra_repr(self) -> str:
        """The settings."""
        return (
            f"num_groups={self.num_groups}, num_channels={self.num_channels}, "
            f"epsilon={self.epsilon}"
        )


class LocalResponseNorm(FunctionLayer):
    """``nn.functional.local_response_norm``.

    Args:
        size: Number of channels in a mean.
        alpha: Factor on the mean.
        beta: Exponent.
        k: Added before the power.
        data_format: Where the channels are, such as NCHW or NHWC.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.LocalResponseNorm(1, 1.0, 1.0)(paddle.ones([1, 3, 2])).max().item()
        0.5
    """

    function = staticmethod(channel_norm.local_response_norm)
    defaults: ClassVar = {
        "size": ..., "alpha": 1e-4, "beta": 0.75, "k": 1.0, "data_format": "NCHW"
    }  # fmt: skip
