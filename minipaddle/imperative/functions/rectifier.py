"""relu and its kin, as users call them. The short ones are made of the others."""

from __future__ import annotations

from minipaddle.imperative.dispatch import bound, bound_inplace
from minipaddle.imperative.tensor import Tensor


@bound
def relu(x: Tensor, name: str | None = None) -> Tensor:
    """The larger of x and 0; NaN stays NaN, and the gradient at 0 is 0.

    Args:
        x: Tensor of any shape, float or int.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([-1.0, 2.0])
        >>> paddle.nn.functional.relu(x).tolist()
        [0.0, 2.0]
    """


def relu6(x: Tensor, name: str | None = None) -> Tensor:
    """``x`` cut off below 0 and above 6.

    Args:
        x: Float tensor of any shape.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([-1.0, 2.0, 8.0])
        >>> paddle.nn.functional.relu6(x).tolist()
        [0.0, 2.0, 6.0]
    """
    return hardtanh(x, 0.0, 6.0)


@bound
def leaky_relu(x: Tensor, negative_slope: float = 0.01, name: str | None = None) -> Tensor:
    """``x`` where x > 0, ``negative_slope * x`` elsewhere.

    Args:
        x: Float tensor of any shape.
        negative_slope: Slope to the left of 0, at least 0.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Raises:
        ValueError: The slope is negative.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([-1.0, 2.0])
        >>> paddle.nn.functional.leaky_relu(x, 0.5).tolist()
        [-0.5, 2.0]
    """


def prelu(x: Tensor, weight: Tensor, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """``x`` where x > 0, ``weight * x`` elsewhere, with a learnt weight; the gradient at 0 is 0.

    Args:
        x: Float tensor of any shape.
        weight: Tensor of one element, or of one a channel.
        data_format: Where the channels are: "NCHW" and its like for axis 1, "NHWC" and its like
            for the last.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Raises:
        ValueError: There are not as many weights as channels, or no such format.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([-4.0, 2.0])
        >>> paddle.nn.functional.prelu(x, paddle.to_tensor([0.25])).tolist()
        [-1.0, 2.0]
    """
    if data_format not in ("NC", "NCL", "NCHW", "NCDHW", "NLC", "NHWC", "NDHWC"):
        raise ValueError(f"prelu: data_format must be such as NCHW or NHWC; got {data_format!r}")
    if weight.size > 1:
        axis = 1 if data_format[1] == "C" else x.ndim - 1
        if x.ndim <= axis or [weight.size] != [x.shape[axis]]:
            raise ValueError(f"prelu: weight, {weight.shape}, must fit axis {axis} of x, {x.shape}")
        weight = weight.reshape([-1] + [1] * (x.ndim - 1 - axis))
    elif not x.ndim:
        weight = weight.reshape([])
    return relu(x) - weight * relu(-x)


@bound
def elu(x: Tensor, alpha: float = 1.0, name: str | None = None) -> Tensor:
    """``x`` where x > 0, ``alpha * (exp(x) - 1)`` elsewhere.

    Args:
        x: Float tensor of any shape.
        alpha: How far below 0 it goes, at least 0.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Raises:
        ValueError: ``alpha`` is negative.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([-1000.0, 2.0])
        >>> paddle.nn.functional.elu(x).tolist()
        [-1.0, 2.0]
    """


def selu(
    x: Tensor,
    scale: float = 1.0507009873554805,
    alpha: float = 1.6732632423543772,
    name: str | None = None,
) -> Tensor:
    """``scale * elu(x, alpha)``; the defaults keep mean 0 and variance 1 from layer to layer.

    Args:
        x: Float tensor of any shape.
        scale: Factor, above 1.
        alpha: As for ``elu``.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Raises:
        ValueError: ``scale`` is not above 1, or ``alpha`` is negative.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([0.0])
        >>> paddle.nn.functional.selu(x).tolist()
        [0.0]
    """
    if not scale > 1.0:
        raise ValueError(f"selu: scale must be above 1; got {scale!r}")
    return elu(x, alpha) * scale


def celu(x: Tensor, alpha: float = 1.0, name: str | None = None) -> Tensor:
    """``alpha * elu(x / alpha)``: an elu without a bend for any alpha.

    Args:
        x: Float tensor of any shape.
        alpha: How far below 0 it goes, above 0.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Raises:
        ValueError: ``alpha`` is not above 0.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([-1000.0, 2.0])
        >>> paddle.nn.functional.celu(x).tolist()
        [-1.0, 2.0]
    """
    if not alpha > 0.0:
        raise ValueError(f"celu: alpha must be above 0; got {alpha!r}")
    return elu(x) if alpha == 1.0 else elu(x / alpha) * alpha


@bound
def hardtanh(x: Tensor, min: float = -1.0, max: float = 1.0, name: str | None = None) -> Tensor:
    """``x`` cut off below ``min`` and above ``max``, where the gradient is 0.

    Args:
        x: Float tensor of any shape.
        min: Lower bound.
        max: Upper bound.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Raises:
        ValueError: ``min`` is above ``max``.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([-2.0, 0.5])
        >>> paddle.nn.functional.hardtanh(x).tolist()
        [-1.0, 0.5]
    """


@bound
def hardsigmoid(
    x: Tensor, slope: float = 0.1666667, offset: float = 0.5, name: str | None = None
) -> Tensor:
    """``slope * x + offset`` cut off below 0 and above 1.

    Args:
        x: Float tensor of any shape.
        slope: Factor on x.
        offset: Value at 0.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([-4.0, 0.0, 4.0])
        >>> paddle.nn.functional.hardsigmoid(x).tolist()
        [0.0, 0.5, 1.0]
    """


@bound
def hardswish(x: Tensor, name: str | None = None) -> Tensor:
    """``x * relu6(x + 3) / 6``.

    Args:
        x: Float tensor of any shape.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([-4.0, 0.0, 4.0])
        >>> paddle.nn.functional.hardswish(x).tolist()
        [-0.0, 0.0, 4.0]
    """


@bound
def hardshrink(x: Tensor, threshold: float = 0.5, name: str | None = None) -> Tensor:
    """``x`` where |x| > ``threshold``, 0 elsewhere.

    Args:
        x: Float tensor of any shape.
        threshold: Bound, at least 0.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Raises:
        ValueError: ``threshold`` is negative.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([-1.0, 0.25])
        >>> paddle.nn.functional.hardshrink(x).tolist()
        [-1.0, 0.0]
    """


@bound
def softshrink(x: Tensor, threshold: float = 0.5, name: str | None = None) -> Tensor:
    """``x`` brought nearer to 0 by ``threshold``; 0 where |x| is no larger.

    Args:
        x: Float tensor of any shape.
        threshold: Distance, at least 0.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Raises:
        ValueError: ``threshold`` is negative.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([-1.0, 0.25])
        >>> paddle.nn.functional.softshrink(x).tolist()
        [-0.5, 0.0]
    """


@bound
def thresholded_relu(
    x: Tensor, threshold: float = 1.0, value: float = 0.0, name: str | None = None
) -> Tensor:
    """``x`` where x > ``threshold``, ``value`` elsewhere.

    Args:
        x: Float tensor of any shape.
        threshold: Bound.
        value: Finite number to put in place of smaller x.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([0.5, 2.0])
        >>> paddle.nn.functional.thresholded_relu(x).tolist()
        [0.0, 2.0]
    """


relu_ = bound_inplace(relu)
leaky_relu_ = bound_inplace(leaky_relu)
elu_ = bound_inplace(elu)
hardtanh_ = bound_inplace(hardtanh)
thresholded_relu_ = bound_inplace(thresholded_relu)

API = (
    "nn.functional.relu6",
    "nn.functional.prelu",
    "nn.functional.selu",
    "nn.functional.celu",
)
