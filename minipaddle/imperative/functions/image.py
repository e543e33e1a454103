"""Functions that rearrange and resize images, made of other functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from minipaddle.imperative.functions import shape
from minipaddle.imperative.functions.gathering import index_select
from minipaddle.imperative.operand import int_list
from minipaddle.imperative.tensor import Tensor, to_tensor

_MODES = {"linear": 3, "bilinear": 4, "trilinear": 5, "bicubic": 4}  # mode -> axes of x


def _planes(function: str, x: Tensor, data_format: str) -> bool:
    """Whether the channels come last."""
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError(f"{function}: data_format must be NCHW or NHWC; got {data_format!r}")
    if x.ndim != 4:
        raise ValueError(f"{function}: x must have 4 axes; got shape {x.shape}")
    return data_format == "NHWC"


def _divided(function: str, argument: str, length: int, parts: int) -> int:
    if not isinstance(parts, int) or parts < 1 or length % parts:
        raise ValueError(f"{function}: {argument} must divide a length of {length}; got {parts!r}")
    return length // parts


def pixel_shuffle(
    x: Tensor, upscale_factor: int, data_format: str = "NCHW", name: str | None = None
) -> Tensor:
    """Makes images larger by laying groups of channels side by side.

    Args:
        x: Tensor [N, C * f², H, W], or with the channels last.
        upscale_factor: f.
        data_format: ``"NCHW"`` or ``"NHWC"``.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor [N, C, H * f, W * f].

    Raises:
        ValueError: x has not 4 axes, or f² does not divide the channels.

    References:
        Shi et al. (2016), Real-time single image and video super-resolution using an efficient
        sub-pixel convolutional neural network.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([[[[0.0]], [[1.0]], [[2.0]], [[3.0]]]])
        >>> paddle.nn.functional.pixel_shuffle(x, 2).tolist()
        [[[[0.0, 1.0], [2.0, 3.0]]]]
    """
    last, f = _planes("pixel_shuffle", x, data_format), upscale_factor
    x = shape.transpose(x, [0, 3, 1, 2]) if last else x
    n, channels, height, width = x.shape
    c = _divided("pixel_shuffle", "the square of upscale_factor", channels, f * f)
    parts = shape.transpose(shape.reshape(x, [n, c, f, f, height, width]), [0, 1, 4, 2, 5, 3])
    out = shape.reshape(parts, [n, c, height * f, width * f])
    return shape.transpose(out, [0, 2, 3, 1]) if last else out


def pixel_unshuffle(
    x: Tensor, downscale_factor: int, data_format: str = "NCHW", name: str | None = None
) -> Tensor:
    """Undoes ``pixel_shuffle``.

    Args:
        x: Tensor [N, C, H * f, W * f], or with the channels last.
        downscale_factor: f.
        data_format: ``"NCHW"`` or ``"NHWC"``.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor [N, C * f², H, W].

    Raises:
        ValueError: x has not 4 axes, or f does not divide height and width.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([[[[0.0, 1.0], [2.0, 3.0]]]])
        >>> paddle.nn.functional.pixel_unshuffle(x, 2).flatten().tolist()
        [0.0, 1.0, 2.0, 3.0]
    """
    last, f = _planes("pixel_unshuffle", x, data_format), downscale_factor
    x = shape.transpose(x, [0, 3, 1, 2]) if last else x
    n, c, *sides = x.shape
    h, w = (_divided("pixel_unshuffle", "downscale_factor", side, f) for side in sides)
    parts = shape.transpose(shape.reshape(x, [n, c, h, f, w, f]), [0, 1, 3, 5, 2, 4])
    out = shape.reshape(parts, [n, c * f * f, h, w])
    return shape.transpose(out, [0, 2, 3, 1]) if last else out


def channel_shuffle(
    x: Tensor, groups: int, data_format: str = "NCHW", name: str | None = None
) -> Tensor:
    """Takes channels in turn from each of so many groups.

    Args:
        x: Tensor [N, C, H, W], or with the channels last.
        groups: Number of groups, a divisor of C.
        data_format: ``"NCHW"`` or ``"NHWC"``.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape.

    Raises:
        ValueError: x has not 4 axes, or ``groups`` does not divide the channels.

    References:
        Zhang, Zhou, Lin and Sun (2018), ShuffleNet.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.arange(4).reshape([1, 4, 1, 1])
        >>> paddle.nn.functional.channel_shuffle(x, 2).flatten().tolist()
        [0, 2, 1, 3]
    """
    last = _planes("channel_shuffle", x, data_format)
    axis = 3 if last else 1
    lengths = x.shape
    each = _divided("channel_shuffle", "groups", lengths[axis], groups)
    split = [*lengths[:axis], groups, each, *lengths[axis + 1 :]]
    return shape.reshape(shape.swapaxes(shape.reshape(x, split), axis, axis + 1), lengths)


def _cubic(t: Any) -> list[Any]:
    """Weights of the four neighbours at distance t behind the second (Keys, 1981, a = -0.75)."""
    a = -0.75

    def near(d: Any) -> Any:
        return ((a + 2) * d - (a + 3)) * d * d + 1

    def far(d: Any) -> Any:
        return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a

    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


def _neighbours(
    length: int, ratio: float, count: int, mode: str, align: tuple[bool, int]
) -> list[tuple[Any, Any]]:
    """For each place of the result: positions that it is made of, and their weights."""
    corners, align_mode = align
    to, last = np.arange(count), length - 1
    if mode == "nearest":
        return [(np.minimum((to * ratio).astype("int64"), last), np.ones(count))]
    if corners:
        source = to * (last / (count - 1) if count > 1 else 0.0)
    elif align_mode == 1 and mode != "bicubic":
        source = to * ratio
    else:
        source = (to + 0.5) * ratio - 0.5
    if mode != "bicubic":
        source = np.maximum(source, 0.0)
    first = np.floor(source).astype("int64")
    t = source - first
    weights = _cubic(t) if mode == "bicubic" else [1 - t, t]
    offset = -1 if mode == "bicubic" else 0
    return [(np.clip(first + offset + i, 0, last), w) for i, w in enumerate(weights)]


def _resized(x: Tensor, axis: int, taps: list[tuple[Any, Any]]) -> Tensor:
    """The weighted sum of x's elements at the given positions of an axis."""
    lengths = [1] * x.ndim
    lengths[axis] = -1
    total: Tensor | None = None
    for places, weights in taps:
        part = index_select(x, to_tensor(places, place=x.place), axis)
        if len(taps) > 1:
            part = part * to_tensor(weights.reshape(lengths), x.dtype, x.place)
        total = part if total is None else total + part
    assert total is not None
    return total


def _sizes(
    x: Tensor, sides: list[int], size: Any, scale_factor: Any
) -> list[tuple[int, float | None]]:
    """Length of each side of the result, and the given factor, if one is."""
    if (size is None) == (scale_factor is None):
        raise ValueError("interpolate: give one of size and scale_factor")
    if size is not None:
        wanted = int_list("size", size.tolist() if isinstance(size, Tensor) else size) or ()
        if len(wanted) != len(sides) or min(wanted) < 1:
            raise ValueError(
                f"interpolate: size must be {len(sides)} positive ints; got {list(wanted)}"
            )
        return [(length, None) for length in wanted]
    scale = scale_factor.tolist() if isinstance(scale_factor, Tensor) else scale_factor
    scales = list(scale) if isinstance(scale, Sequence) else [scale] * len(sides)
    if len(scales) != len(sides) or min(scales) <= 0:
        raise ValueError(
            f"interpolate: scale_factor must be {len(sides)} positive numbers, or one; got {scale}"
        )
    return [(int(x.shape[a] * s), s) for a, s in zip(sides, scales, strict=True)]


def interpolate(
    x: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool = False,
    align_mode: int = 0,
    data_format: str | None = None,
    recompute_scale_factor: bool | None = None,
    name: str | None = None,
) -> Tensor:
    """Resizes images.

    Args:
        x: Float tensor of 3, 4 or 5 axes: a batch of lines, images or volumes.
        size: Lengths of the sides of the result.
        scale_factor: Factor on all sides, or one for each; instead of ``size``.
        mode: ``"nearest"`` (4 or 5 axes), ``"linear"`` (3), ``"bilinear"`` (4), ``"trilinear"``
            (5) or ``"bicubic"`` (4).
        align_corners: Whether the centres of the corner elements lie on each other, rather than
            the corners of the images.
        align_mode: 1 takes element 0 of both for aligned, where corners are not.
        data_format: NCW, NCHW, NCDHW, or with the channels last; they are first by default.
        recompute_scale_factor: Whether the factor follows from the lengths, after rounding.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's dtype.

    Raises:
        ValueError: An argument does not fit x or another one.

    References:
        Keys (1981), Cubic convolution interpolation for digital image processing.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([[[0.0, 1.0]]])
        >>> y = paddle.nn.functional.interpolate(x, 3, mode="linear", align_corners=True)
        >>> y.tolist()
        [[[0.0, 0.5, 1.0]]]
    """
    if mode != "nearest" and mode not in _MODES:
        raise ValueError(f"interpolate: mode must be one of {['nearest', *_MODES]}; got {mode!r}")
    if x.ndim not in ((4, 5) if mode == "nearest" else (_MODES[mode],)):
        raise ValueError(f"interpolate: mode {mode!r} does not fit x of {x.ndim} axes")
    if align_mode not in (0, 1):
        raise ValueError(f"interpolate: align_mode must be 0 or 1; got {align_mode!r}")
    if align_corners and mode == "nearest":
        raise ValueError("interpolate: align_corners has no effect with mode='nearest'; leave it")
    if size is not None and recompute_scale_factor:
        raise ValueError("interpolate: recompute_scale_factor needs scale_factor, not size")
    first = "NC" + "DHW"[5 - x.ndim :]
    known = [first, "N" + first[2:] + "C"]
    if (data_format or first).upper() not in known:
        raise ValueError(f"interpolate: data_format must be one of {known}; got {data_format!r}")
    begin = 2 if (data_format or first).upper() == first else 1
    sides = list(range(begin, begin + x.ndim - 2))
    for axis, (count, factor) in zip(sides, _sizes(x, sides, size, scale_factor), strict=True):
        length = x.shape[axis]
        given = factor is not None and not recompute_scale_factor and not align_corners
        ratio = 1.0 / factor if given and factor is not None else length / count
        if count != length or not math.isclose(ratio, 1.0):
            taps = _neighbours(length, ratio, count, mode, (align_corners, align_mode))
            x = _resized(x, axis, taps)
    return x


def upsample(
    x: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool = False,
    align_mode: int = 0,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """``interpolate`` under another name.

    Args:
        x: See ``interpolate``, as all others.
        size: See there.
        scale_factor: See there.
        mode: See there.
        align_corners: See there.
        align_mode: See there.
        data_format: See there.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's dtype.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.functional.upsample(paddle.ones([1, 1, 2, 2]), scale_factor=2).shape
        [1, 1, 4, 4]
    """
    return interpolate(x, size, scale_factor, mode, align_corners, align_mode, data_format)


API = tuple(
    f"nn.functional.{name}"
    for name in ("channel_shuffle", "interpolate", "pixel_shuffle", "pixel_unshuffle", "upsample")
)
