"""Batch normalization as layers."""

from __future__ import annotations

from typing import Any, ClassVar

from minipaddle.device.dtype import FLOAT32, is_half
from minipaddle.imperative.functions import channel_norm
from minipaddle.imperative.tensor import Tensor
from minipaddle.nn.initializer import Constant, ParamAttr
from minipaddle.nn.layer import Layer


class ChannelNorm(Layer):
    """What batch and instance normalization share: the number of channels and axes."""

    ranks: ClassVar[tuple[int, ...]]
    formats: ClassVar[tuple[str, ...]]

    def set_up(self, num_features: int, data_format: str, epsilon: float) -> None:
        """Checks the arguments and keeps them."""
        kind = type(self).__name__
        if data_format not in self.formats:
            raise ValueError(
                f"{kind}: data_format must be one of {self.formats}; got {data_format!r}"
            )
        if num_features < 1:
            raise ValueError(f"{kind}: num_features must be a positive int; got {num_features!r}")
        self.num_features, self.data_format, self.epsilon = num_features, data_format, epsilon

    def check(self, input: Tensor) -> None:
        """Refuses another number of axes."""
        if input.ndim not in self.ranks:
            wanted = " or ".join(map(str, self.ranks))
            raise ValueError(
                f"{type(self).__name__} takes {wanted} axes, the channels among them; got shape "
                f"{input.shape}"
            )


class _BatchNorm(ChannelNorm):
    """Base of those below, which differ by the number of axes.

    Attributes:
        weight: Parameter [num_features], or None.
        bias: The same.
        _mean: Running mean, a parameter that is not trained.
        _variance: Running variance, the same.
    """

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-05,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "",
        use_global_stats: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.set_up(num_features, data_format, epsilon)
        self.momentum, self.use_global_stats = momentum, use_global_stats
        if is_half(self._dtype):  # as in Paddle: statistics of half types are kept in float32
            self.__dict__["_dtype"] = FLOAT32
        size, one = [num_features], Constant(1.0)
        self.weight: Any = self.create_parameter(size, weight_attr, default_initializer=one)
        self.bias: Any = self.create_parameter(size, bias_attr, is_bias=True)
        for kind, value in (("_mean", 0.0), ("_variance", 1.0)):
            attr = ParamAttr(name and name + kind, Constant(value), trainable=False)
            self.add_parameter(kind, self.create_parameter(size, attr))

    def forward(self, input: Tensor) -> Tensor:
        """See ``nn.functional.batch_norm``."""
        self.check(input)
        return channel_norm.batch_norm(
            input,
            self._mean,
            self._variance,
            self.weight,
            self.bias,
            self.training,
            self.momentum,
            self.epsilon,
            self.data_format,
            self.use_global_stats,
        )

    def extra_repr(self) -> str:
        """The settings."""
        return (
            f"num_features={self.num_features}, momentum={self.momentum}, epsilon={self.epsilon}, "
            f"data_format={self.data_format}"
        )


class BatchNorm1D(_BatchNorm):
    """``nn.functional.batch_norm`` of [N, C] or [N, C, L], with learned weight and bias.

    Args:
        num_features: Number of channels.
        momentum: Share of the running values that is kept.
        epsilon: Added to the variance.
        weight_attr: ParamAttr, Initializer, name or None for ones; False for no weight.
        bias_attr: The same, zeros by default; False for no bias.
        data_format: Where the channels are: NCL, NC, NLC.
        use_global_stats: Whether the running values are taken; by default in evaluation mode.
        name: First part of the names of the running values.

    Raises:
        ValueError: ``data_format`` is unknown, or an input has another number of axes.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.BatchNorm1D(4)(paddle.ones([2, 4])).shape
        [2, 4]
    """

    ranks = (2, 3)
    formats = ("NCL", "NC", "NLC")

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-05,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCL",
        use_global_stats: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(
            num_features,
            momentum,
            epsilon,
            weight_attr,
            bias_attr,
            data_format,
            use_global_stats,
            name,
        )


class BatchNorm2D(_BatchNorm):
    """``nn.functional.batch_norm`` of [N, C, H, W], with learned weight and bias.

    Args:
        num_features: Number of channels.
        momentum: Share of the running values that is kept.
        epsilon: Added to the variance.
        weight_attr: ParamAttr, Initializer, name or None for ones; False for no weight.
        bias_attr: The same, zeros by default; False for no bias.
        data_format: Where the channels are: NCHW, NHWC.
        use_global_stats: Whether the running values are taken; by default in evaluation mode.
        name: First part of the names of the running values.

    Raises:
        ValueError: ``data_format`` is unknown, or an input has another number of axes.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.BatchNorm2D(4)(paddle.ones([2, 4, 3, 3])).shape
        [2, 4, 3, 3]
    """

    ranks = (4,)
    formats = ("NCHW", "NHWC")

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-05,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        use_global_stats: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(
            num_features,
            momentum,
            epsilon,
            weight_attr,
            bias_attr,
            data_format,
            use_global_stats,
            name,
        )


class BatchNorm3D(_BatchNorm):
    """``nn.functional.batch_norm`` of [N, C, D, H, W], with learned weight and bias.

    Args:
        num_features: Number of channels.
        momentum: Share of the running values that is kept.
        epsilon: Added to the variance.
        weight_attr: ParamAttr, Initializer, name or None for ones; False for no weight.
        bias_attr: The same, zeros by default; False for no bias.
        data_format: Where the channels are: NCDHW, NDHWC.
        use_global_stats: Whether the running values are taken; by default in evaluation mode.
        name: First part of the names of the running values.

    Raises:
        ValueError: ``data_format`` is unknown, or an input has another number of axes.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.BatchNorm3D(4)(paddle.ones([2, 4, 3, 3, 3])).shape
        [2, 4, 3, 3, 3]
    """

    ranks = (5,)
    formats = ("NCDHW", "NDHWC")

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-05,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCDHW",
        use_global_stats: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(
            num_features,
            momentum,
            epsilon,
            weight_attr,
            bias_attr,
            data_format,
            use_global_stats,
            name,
        )
