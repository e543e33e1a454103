"""Normalizations without a memory of other batches, as users call them."""

from __future__ import annotations

from typing import Any

import numpy as np

from minipaddle.device.dtype import FLOAT32, is_half
from minipaddle.imperative.dispatch import bound
from minipaddle.imperative.functions import math, statistics
from minipaddle.imperative.functions.products import in_float32
from minipaddle.imperative.operand import Ints, int_list
from minipaddle.imperative.tensor import Tensor
from minipaddle.ops.axes import normal_axis


@bound
def layer_norm_rows(
    x: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    begin_norm_axis: int = 1,
    epsilon: float = 1e-5,
    name: str | None = None,
) -> Tensor:
    """Part of ``layer_norm``, which says by an axis where a row begins."""


@bound
def rms_norm_rows(
    x: Tensor,
    weight: Tensor | None = None,
    begin_norm_axis: int = 1,
    epsilon: float = 1e-5,
    name: str | None = None,
) -> Tensor:
    """Part of ``rms_norm``, which says by an axis where a row begins."""


def _begin(function: str, x: Tensor, normalized_shape: Any) -> int:
    """The axis that ``normalized_shape`` begins with."""
    lengths = int_list("normalized_shape", normalized_shape) or ()
    begin = x.ndim - len(lengths)
    if not lengths or begin < 0 or tuple(x.shape[begin:]) != lengths:
        raise ValueError(
            f"{function}: normalized_shape must be the last lengths of x, {x.shape}; got "
            f"{list(lengths)}"
        )
    return begin


def layer_norm(
    x: Tensor,
    normalized_shape: Ints,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    epsilon: float = 1e-05,
    name: str | None = None,
) -> Tensor:
    """``(x - mean) / sqrt(variance + epsilon) * weight + bias`` over the last axes.

    Mean and variance stay exact where the mean is large (Ba, Kiros and Hinton, 2016).

    Args:
        x: Float tensor.
        normalized_shape: The lengths of the axes that are normalized together.
        weight: Tensor of as many elements and x's dtype, or None for 1.
        bias: The same, or None for 0.
        epsilon: Added to the variance.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype; half types are computed in float32.

    Raises:
        TypeError: The dtypes differ or are not float.
        ValueError: x does not end in ``normalized_shape``, or weight or bias does not fit.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([[1.0, 3.0]])
        >>> paddle.nn.functional.layer_norm(x, 2, epsilon=0.0).tolist()
        [[-1.0, 1.0]]
    """
    return layer_norm_rows(x, weight, bias, _begin("layer_norm", x, normalized_shape), epsilon)


def rms_norm(
    x: Tensor,
    normalized_shape: Ints,
    weight: Tensor | None = None,
    epsilon: float | None = 1e-05,
    name: str | None = None,
) -> Tensor:
    """``x / sqrt(mean(x²) + epsilon) * weight`` over the last axes (Zhang and Sennrich, 2019).

    Args:
        x: Float tensor.
        normalized_shape: The lengths of the axes that are normalized together.
        weight: Tensor of as many elements and x's dtype, or None for 1.
        epsilon: Added to the mean; None for the step of the computing type at 1.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype; half types are computed in float32.

    Raises:
        TypeError: The dtypes differ or are not float.
        ValueError: x does not end in ``normalized_shape``, or weight does not fit.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([[2.0, -2.0]])
        >>> paddle.nn.functional.rms_norm(x, 2, epsilon=0.0).tolist()
        [[1.0, -1.0]]
    """
    if epsilon is None:
        epsilon = float(np.finfo(FLOAT32 if is_half(x.dtype) else x.dtype).eps)
    return rms_norm_rows(x, weight, _begin("rms_norm", x, normalized_shape), epsilon)


def normalize(
    x: Tensor, p: float = 2, axis: int = 1, epsilon: float = 1e-12, name: str | None = None
) -> Tensor:
    """``x / max(norm(x, p), epsilon)`` along an axis.

    Args:
        x: Float tensor.
        p: Order of the norm.
        axis: Axis of the vectors; of a vector itself the only one.
        epsilon: Least number to divide by.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype; half types are computed in float32.

    Raises:
        ValueError: There is no such axis.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([[3.0, 4.0], [0.0, 0.0]])
        >>> paddle.nn.functional.normalize(x).sum(1).tolist()
        [1.4000000953674316, 0.0]
    """
    at = 0 if x.ndim == 1 else normal_axis(axis, x.ndim)

    def scaled(x: Tensor) -> Tensor:
        return x / math.clip(statistics.norm(x, float(p), at, True), min=epsilon)

    return in_float32(scaled, x)


API = ("nn.functional.layer_norm", "nn.functional.normalize", "nn.functional.rms_norm")
