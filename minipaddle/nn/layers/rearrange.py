"""Layers without parameters that hand on, reshape, rearrange or resize what they get."""

from __future__ import annotations

from typing import Any, ClassVar

from minipaddle.imperative.functions import image, shape
from minipaddle.imperative.operand import Ints
from minipaddle.imperative.tensor import Tensor
from minipaddle.nn.layer import Layer
from minipaddle.nn.layers.function_layer import FunctionLayer


class Identity(Layer):
    """Hands its input on.

    Args:
        args: Anything; unused.
        kwargs: The same.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.ones([2])
        >>> paddle.nn.Identity()(x) is x
        True
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """The input."""
        return input


class Flatten(FunctionLayer):
    """Joins neighbouring axes to one.

    Args:
        start_axis: The first of them; the batch stays by default.
        stop_axis: The last of them.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.Flatten()(paddle.ones([2, 3, 4])).shape
        [2, 12]
    """

    function = staticmethod(shape.flatten)
    defaults: ClassVar = {"start_axis": 1, "stop_axis": -1}


class Unflatten(FunctionLayer):
    """Splits an axis into several.

    Args:
        axis: Which.
        shape: Their lengths, one of which may be -1.
        name: Unused; for Paddle's signature.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.Unflatten(1, [3, -1])(paddle.ones([2, 12])).shape
        [2, 3, 4]
    """

    function = staticmethod(shape.unflatten)
    defaults: ClassVar = {"axis": ..., "shape": ...}


class PixelShuffle(FunctionLayer):
    """``nn.functional.pixel_shuffle``: larger images from groups of channels.

    Args:
        upscale_factor: By how much larger.
        data_format: ``"NCHW"`` or ``"NHWC"``.
        name: Unused; for Paddle's signature.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.PixelShuffle(2)(paddle.ones([1, 8, 3, 3])).shape
        [1, 2, 6, 6]
    """

    function = staticmethod(image.pixel_shuffle)
    defaults: ClassVar = {"upscale_factor": ..., "data_format": "NCHW"}


class PixelUnshuffle(FunctionLayer):
    """``nn.functional.pixel_unshuffle``, which undoes ``PixelShuffle``.

    Args:
        downscale_factor: By how much smaller.
        data_format: ``"NCHW"`` or ``"NHWC"``.
        name: Unused; for Paddle's signature.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.PixelUnshuffle(2)(paddle.ones([1, 2, 6, 6])).shape
        [1, 8, 3, 3]
    """

    function = staticmethod(image.pixel_unshuffle)
    defaults: ClassVar = {"downscale_factor": ..., "data_format": "NCHW"}


class ChannelShuffle(FunctionLayer):
    """``nn.functional.channel_shuffle``: channels in turn from each of several groups.

    Args:
        groups: Number of groups.
        data_format: ``"NCHW"`` or ``"NHWC"``.
        name: Unused; for Paddle's signature.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.arange(4).reshape([1, 4, 1, 1])
        >>> paddle.nn.ChannelShuffle(2)(x).flatten().tolist()
        [0, 2, 1, 3]
    """

    function = staticmethod(image.channel_shuffle)
    defaults: ClassVar = {"groups": ..., "data_format": "NCHW"}


class Upsample(FunctionLayer):
    """``nn.functional.interpolate``: resizes images.

    Args:
        size: Lengths of the sides of the result.
        scale_factor: Factor on all sides, or one for each; instead of ``size``.
        mode: ``"nearest"``, ``"linear"``, ``"bilinear"``, ``"trilinear"`` or ``"bicubic"``.
        align_corners: Whether the centres of the corner elements lie on each other.
        align_mode: 1 takes element 0 of both for aligned, where corners are not.
        data_format: Where the channels are; first by default.
        recompute_scale_factor: Whether the factor follows from the lengths, after rounding.
        name: Unused; for Paddle's signature.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.Upsample(scale_factor=2)(paddle.ones([1, 1, 2, 3])).shape
        [1, 1, 4, 6]
    """

    function = staticmethod(image.interpolate)
    defaults: ClassVar = {
        "size": None, "scale_factor": None, "mode": "nearest", "align_corners": False,
        "align_mode": 0, "data_format": None, "recompute_scale_factor": None,
    }  # fmt: skip


class _Upsampling2D(Layer):
    """Base of the next two, which differ by mode."""

    mode: ClassVar[tuple[str, bool]]

    def __init__(
        self,
        size: Ints | None = None,
        scale_factor: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.size = [size, size] if isinstance(size, int) else size
        self.scale_factor, self.data_format = scale_factor, data_format

    def forward(self, x: Tensor) -> Tensor:
        """See ``nn.functional.interpolate``."""
        mode, align_corners = self.mode
        return image.interpolate(
            x, self.size, self.scale_factor, mode, align_corners, 0, self.data_format
        )

    def extra_repr(self) -> str:
        """The settings."""
        given = f"size={self.size}" if self.size else f"scale_factor={self.scale_factor}"
        return f"{given}, data_format={self.data_format}"


class UpsamplingNearest2D(_Upsampling2D):
    """Resizes images by repeating elements.

    Args:
        size: Height and width of the result, or one int for both.
        scale_factor: Factor on both, or one for each; instead of ``size``.
        data_format: ``"NCHW"`` or ``"NHWC"``.
        name: Unused; for Paddle's signature.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.UpsamplingNearest2D(scale_factor=2)(paddle.ones([1, 1, 2, 3])).shape
        [1, 1, 4, 6]
    """

    mode = ("nearest", False)


class UpsamplingBilinear2D(_Upsampling2D):
    """Resizes images by weighing four neighbours; the corners stay where they are.

    Args:
        size: Height and width of the result, or one int for both.
        scale_factor: Factor on both, or one for each; instead of ``size``.
        data_format: ``"NCHW"`` or ``"NHWC"``.
        name: Unused; for Paddle's signature.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([[[[0.0, 1.0]]]])
        >>> paddle.nn.UpsamplingBilinear2D([1, 3])(x).tolist()
        [[[[0.0, 0.5, 1.0]]]]
    """

    mode = ("bilinear", True)
