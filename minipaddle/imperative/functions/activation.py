"""Smooth activations, as users call them. The short ones are made of the others."""

from __future__ import annotations

import math
from typing import Any

from minipaddle.imperative.dispatch import bound, bound_inplace
from minipaddle.imperative.tensor import Tensor


@bound
def erf(x: Tensor, name: str | None = None) -> Tensor:
    """Error function: the integral of exp(-t²) from 0 to x, times 2 / sqrt(pi).

    Args:
        x: Float tensor of any shape.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.to_tensor([0.0]).erf().tolist()
        [0.0]
    """


@bound
def sigmoid(x: Tensor, name: str | None = None) -> Tensor:
    """1 / (1 + exp(-x)).

    Args:
        x: Float tensor of any shape.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([0.0])
        >>> paddle.nn.functional.sigmoid(x).tolist()
        [0.5]
    """


def log_sigmoid(x: Tensor, name: str | None = None) -> Tensor:
    """The logarithm of ``sigmoid``; x itself, in the limit, for very negative x.

    Args:
        x: Float tensor of any shape.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([-100.0])
        >>> paddle.nn.functional.log_sigmoid(x).tolist()
        [-100.0]
    """
    return -softplus(-x, 1.0, math.inf)


@bound
def silu(x: Tensor, name: str | None = None) -> Tensor:
    """``x sigmoid(x)``.

    Args:
        x: Float tensor of any shape.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([0.0])
        >>> paddle.nn.functional.silu(x).tolist()
        [0.0]
    """


def swish(x: Tensor, name: str | None = None) -> Tensor:
    """``silu`` under its other name.

    Args:
        x: Float tensor of any shape.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([0.0])
        >>> paddle.nn.functional.swish(x).tolist()
        [0.0]
    """
    return silu(x)


def mish(x: Tensor, name: str | None = None) -> Tensor:
    """``x tanh(softplus(x))``.

    Args:
        x: Float tensor of any shape.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([0.0])
        >>> paddle.nn.functional.mish(x).tolist()
        [0.0]
    """
    return x * softplus(x, 1.0, math.inf).tanh()


@bound
def gelu(x: Tensor, approximate: bool = False, name: str | None = None) -> Tensor:
    """``x Phi(x)``, Phi being the distribution function of the standard normal distribution.

    After Hendrycks and Gimpel (2016). The left tail keeps its relative accuracy, except in float32
    by the error function: there the result is good to 2 units in the last place of x.

    Args:
        x: Float tensor of any shape.
        approximate: Use x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x³))) / 2 instead of the error
            function.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Raises:
        ValueError: ``approximate`` is no bool.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([0.0, 10.0])
        >>> paddle.nn.functional.gelu(x).tolist()
        [0.0, 10.0]
    """


@bound
def softplus(
    x: Tensor, beta: float = 1.0, threshold: float = 20.0, name: str | None = None
) -> Tensor:
    """log(1 + exp(beta x)) / beta: a relu without a bend.

    Args:
        x: Float tensor of any shape.
        beta: How sharp the turn is.
        threshold: Where beta x is larger, the result is x.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([-1000.0, 30.0])
        >>> paddle.nn.functional.softplus(x).tolist()
        [0.0, 30.0]
    """


def softsign(x: Tensor, name: str | None = None) -> Tensor:
    """``x / (1 + |x|)``.

    Args:
        x: Float tensor of any shape.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([-1.0, 3.0])
        >>> paddle.nn.functional.softsign(x).tolist()
        [-0.5, 0.75]
    """
    return x / (x * x.sign() + 1.0)


def tanhshrink(x: Tensor, name: str | None = None) -> Tensor:
    """``x - tanh(x)``.

    Args:
        x: Float tensor of any shape.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([0.0])
        >>> paddle.nn.functional.tanhshrink(x).tolist()
        [0.0]
    """
    return x - x.tanh()


def glu(x: Tensor, axis: int = -1, name: str | None = None) -> Tensor:
    """``a sigmoid(b)``, of x's first half a and its second half b along ``axis``.

    Args:
        x: Float tensor of any shape.
        axis: The axis that is halved.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's dtype, half as long along ``axis``.

    Raises:
        ValueError: There is no such axis, or its length is odd.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([2.0, 4.0, 0.0, 0.0])
        >>> paddle.nn.functional.glu(x).tolist()
        [1.0, 2.0]
    """
    if not -x.ndim <= axis < x.ndim or x.shape[axis] % 2:
        raise ValueError(f"glu: axis {axis} of x, {x.shape}, must be there and of even length")
    half = x.shape[axis] // 2
    before = (slice(None),) * (axis % x.ndim)
    return x[(*before, slice(None, half))] * sigmoid(x[(*before, slice(half, None))])


@bound
def softmax(x: Tensor, axis: int = -1, dtype: Any = None, name: str | None = None) -> Tensor:
    """exp(x) / sum(exp(x)) along an axis, for any finite x.

    Args:
        x: Float tensor of any shape.
        axis: Axis over which the results add up to 1.
        dtype: Float type to convert to first; x's by default.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape. A row of nothing but -inf gives NaN.

    Raises:
        ValueError: There is no such axis.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([1000.0, 1000.0])
        >>> paddle.nn.functional.softmax(x).tolist()
        [0.5, 0.5]
    """


@bound
def log_softmax(x: Tensor, axis: int = -1, dtype: Any = None, name: str | None = None) -> Tensor:
    """The logarithm of ``softmax``: x - log(sum(exp(x))) along an axis, for any finite x.

    Args:
        x: Float tensor of any shape.
        axis: Axis over which the results add up to 1.
        dtype: Float type to convert to first; x's by default.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape. A row of nothing but -inf gives NaN.

    Raises:
        ValueError: There is no such axis.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([0.0, -1000.0])
        >>> paddle.nn.functional.log_softmax(x).tolist()
        [0.0, -1000.0]
    """


erf_ = bound_inplace(erf)
sigmoid_ = bound_inplace(sigmoid)
softmax_ = bound_inplace(softmax)

API = (
    "nn.functional.log_sigmoid",
    "nn.functional.swish",
    "nn.functional.mish",
    "nn.functional.softsign",
    "nn.functional.tanhshrink",
    "nn.functional.glu",
)
