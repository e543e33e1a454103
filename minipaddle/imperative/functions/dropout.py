"""Dropout in its forms, as users call it."""

from __future__ import annotations

import math
from typing import Any

from minipaddle.imperative.functions import elementwise, sampling
from minipaddle.imperative.functions.ranges import ones_like
from minipaddle.imperative.operand import Ints
from minipaddle.imperative.tensor import Tensor

_MODES = ("upscale_in_train", "downscale_in_infer")

# What SELU goes to for -infinity: -scale * alpha of Klambauer, Unterthiner, Mayr and Hochreiter
# (2017), Self-normalizing neural networks, equation 2.
_SATURATED = -1.0507009873554804934193349852946 * 1.6732632423543772848170429916717


def _probability(p: Any) -> float:
    value = p.item() if isinstance(p, Tensor) else p
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"p must be a number; got {type(p).__name__}")
    if not 0 <= value <= 1:
        raise ValueError(f"p must be from 0 to 1; got {value}")
    return float(value)


def dropout(
    x: Tensor,
    p: float | Tensor = 0.5,
    axis: Ints | None = None,
    training: bool = True,
    mode: str = "upscale_in_train",
    name: str | None = None,
) -> Tensor:
    """Sets elements to 0, each with probability p.

    Args:
        x: Float tensor.
        p: Probability, from 0 to 1.
        axis: Axes along which elements are dropped one by one; along the others all are dropped or
            none. By default every element by itself.
        training: False drops nothing; x itself is returned, unless the mode scales it.
        mode: ``"upscale_in_train"`` divides what is kept by 1 - p in training;
            ``"downscale_in_infer"`` leaves it alone and multiplies by 1 - p elsewhere.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype. Where it is dropped it is 0 even for an infinite or NaN x,
        and no gradient flows.

    Raises:
        ValueError: p is not in [0, 1], ``axis`` is none of x, or ``mode`` neither of the two.

    References:
        Srivastava et al. (2014), Dropout: a simple way to prevent neural networks from overfitting.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.nn.functional.dropout(paddle.ones([100]), 0.5)
        >>> set(x.tolist()) == {0.0, 2.0}
        True
    """
    if mode not in _MODES:
        raise ValueError(f"mode must be one of {', '.join(_MODES)}; got {mode!r}")
    chance = _probability(p)
    upscale = mode == _MODES[0]
    if not training:
        return x if upscale else elementwise.multiply(x, 1.0 - chance)
    if chance == 0:
        return x
    return sampling.dropout(
        x, chance, axis, 1.0 / (1.0 - chance) if upscale and chance < 1 else 1.0
    )


def _maps(x: Tensor, p: Any, training: bool, data_format: str, formats: tuple[str, str]) -> Tensor:
    """Dropout of whole channels."""
    if data_format not in formats:
        raise ValueError(f"data_format must be one of {', '.join(formats)}; got {data_format!r}")
    if x.ndim != len(data_format):
        raise ValueError(f"x must have the axes {data_format}; got shape {x.shape}")
    return dropout(x, p, [0, data_format.index("C")], training)


def dropout2d(
    x: Tensor,
    p: float = 0.5,
    training: bool = True,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """Sets whole channels of images to 0, each with probability p, and upscales the others.

    Args:
        x: Float tensor with 4 axes.
        p: Probability, from 0 to 1.
        training: False returns x itself.
        data_format: ``"NCHW"`` or ``"NHWC"``.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Raises:
        ValueError: p is not in [0, 1], or x has other axes.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.nn.functional.dropout2d(paddle.ones([2, 3, 4, 4]))
        >>> set(x.sum([2, 3]).reshape([6]).tolist()) <= {0.0, 32.0}
        True
    """
    return _maps(x, p, training, data_format, ("NCHW", "NHWC"))


def dropout3d(
    x: Tensor,
    p: float = 0.5,
    training: bool = True,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Tensor:
    """``dropout2d`` for volumes.

    Args:
        x: Float tensor with 5 axes.
        p: Probability, from 0 to 1.
        training: False returns x itself.
        data_format: ``"NCDHW"`` or ``"NDHWC"``.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Raises:
        ValueError: p is not in [0, 1], or x has other axes.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.functional.dropout3d(paddle.ones([1, 1, 2, 2, 2]), 1.0).sum().item()
        0.0
    """
    return _maps(x, p, training, data_format, ("NCDHW", "NDHWC"))


def alpha_dropout(
    x: Tensor, p: float = 0.5, training: bool = True, name: str | None = None
) -> Tensor:
    """Dropout for SELU networks: mean 0 and variance 1 stay as they are.

    Elements become, with probability p, what SELU goes to for -infinity; then all are scaled and
    shifted.

    Args:
        x: Float tensor.
        p: Probability, from 0 to 1; 1 makes zeros.
        training: False returns x itself.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Raises:
        ValueError: p is not in [0, 1].

    References:
        Klambauer, Unterthiner, Mayr and Hochreiter (2017), Self-normalizing neural networks.

    Example:
        >>> import minipaddle as paddle
        >>> len(set(paddle.nn.functional.alpha_dropout(paddle.ones([100])).tolist()))
        2
    """
    return _alpha(x, p, training, None)


def feature_alpha_dropout(
    x: Tensor, p: float = 0.5, training: bool = True, name: str | None = None
) -> Tensor:
    """``alpha_dropout`` of whole channels, the second axis of x.

    Args:
        x: Float tensor with at least 2 axes.
        p: Probability, from 0 to 1; 1 makes zeros.
        training: False returns x itself.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Raises:
        ValueError: p is not in [0, 1], or x has fewer axes.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.nn.functional.feature_alpha_dropout(paddle.ones([2, 3, 4]))
        >>> all(len(set(row)) == 1 for one in x.tolist() for row in one)
        True
    """
    if x.ndim < 2:
        raise ValueError(f"x must have at least 2 axes; got shape {x.shape}")
    return _alpha(x, p, training, [0, 1])


def _alpha(x: Tensor, p: Any, training: bool, axis: list[int] | None) -> Tensor:
    chance = _probability(p)
    if not training or chance == 0:
        return x
    if chance == 1:
        return sampling.dropout(x, 1.0)
    a = 1.0 / math.sqrt((1.0 - chance) * (1.0 + chance * _SATURATED**2))
    keep = sampling.dropout(ones_like(x), chance, axis)
    kept = sampling.mask_scale(x, elementwise.cast(keep, "bool"), a)
    # Where kept 0, elsewhere a * saturated; and the shift -a * p * saturated for all.
    rest = elementwise.multiply(elementwise.subtract(1.0 - chance, keep), a * _SATURATED)
    return elementwise.add(kept, rest)


API = (
    *("nn.functional.dropout", "nn.functional.dropout2d", "nn.functional.dropout3d"),
    *("nn.functional.alpha_dropout", "nn.functional.feature_alpha_dropout"),
)
