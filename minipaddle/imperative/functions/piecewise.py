"""Activations that choose among pieces, and choices at random."""

from __future__ import annotations

from minipaddle.imperative.functions import (
    activation,
    comparison,
    elementwise,
    math,
    random,
    shape,
)
from minipaddle.imperative.functions.gathering import one_hot, take_along_axis
from minipaddle.imperative.functions.indexing import where
from minipaddle.imperative.functions.rectifier import leaky_relu
from minipaddle.imperative.functions.search import argmax
from minipaddle.imperative.functions.slicing import split
from minipaddle.imperative.tensor import Tensor
from minipaddle.ops.axes import normal_axis


def maxout(x: Tensor, groups: int, axis: int = 1, name: str | None = None) -> Tensor:
    """The largest of each group of neighbouring channels.

    Args:
        x: Float tensor.
        groups: Channels in a group, a divisor of their number.
        axis: The axis of the channels.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor whose axis is so many times shorter.

    Raises:
        ValueError: ``groups`` is not larger than 1, or does not divide the channels.

    References:
        Goodfellow et al. (2013), Maxout networks.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([[1.0, 5.0, 2.0, 3.0]])
        >>> paddle.nn.functional.maxout(x, 2).tolist()
        [[5.0, 3.0]]
    """
    at = normal_axis(axis, x.ndim)
    if groups < 2 or x.shape[at] % groups:
        raise ValueError(
            f"maxout: groups must be larger than 1 and divide the {x.shape[at]} channels; got "
            f"{groups}"
        )
    lengths = [*x.shape[:at], x.shape[at] // groups, groups, *x.shape[at + 1 :]]
    grouped = shape.reshape(x, lengths)
    largest = argmax(grouped, at + 1, keepdim=True)  # of equal ones the first has the gradient
    return shape.squeeze(take_along_axis(grouped, largest, at + 1), at + 1)


def rrelu(
    x: Tensor,
    lower: float = 1.0 / 8.0,
    upper: float = 1.0 / 3.0,
    training: bool = True,
    name: str | None = None,
) -> Tensor:
    """x, and below 0 x times a number that is drawn for each element.

    Args:
        x: Float tensor.
        lower: Smallest factor, from 0 to ``upper``.
        upper: Largest factor, up to 1.
        training: Whether factors are drawn; otherwise all are the middle of both.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Raises:
        ValueError: The factors do not lie in order between 0 and 1.

    References:
        Xu, Wang, Chen and Li (2015), Empirical evaluation of rectified activations.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.functional.rrelu(paddle.to_tensor([-8.0, 2.0]), 0.5, 0.5).tolist()
        [-4.0, 2.0]
    """
    if not 0 <= lower <= upper <= 1:
        raise ValueError(f"rrelu: needs 0 <= lower <= upper <= 1; got {lower} and {upper}")
    if not training:
        return leaky_relu(x, (lower + upper) / 2)
    factors = random.draw_uniform(x.place, x.shape, x.dtype, lower, upper)
    kept: Tensor = where(comparison.greater_equal(x, 0.0), x, x * factors)
    return kept


def swiglu(x: Tensor, y: Tensor | None = None, name: str | None = None) -> Tensor:
    """``silu(x) * y``.

    Args:
        x: Float tensor.
        y: Tensor of its shape; by default x is halved along its last axis and y is the second half.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of the shape of y.

    References:
        Shazeer (2020), GLU variants improve transformer.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.functional.swiglu(paddle.to_tensor([100.0, 2.0])).tolist()
        [200.0]
    """
    if y is None:
        x, y = split(x, 2, -1)
    return elementwise.multiply(activation.silu(x), y)


def gumbel_softmax(
    x: Tensor,
    temperature: float = 1.0,
    hard: bool = False,
    axis: int = -1,
    name: str | None = None,
) -> Tensor:
    """Draws classes in a way that has a gradient: softmax of scores with Gumbel noise.

    Args:
        x: Float tensor of scores.
        temperature: Low for results near 0 and 1, larger than 0.
        hard: Give exactly 0 and 1; the gradient is that of the softmax.
        axis: The axis of the classes.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Raises:
        ValueError: ``temperature`` is not larger than 0.

    References:
        Jang, Gu and Poole (2017), Categorical reparameterization with Gumbel-softmax.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([[0.0, 1000.0]])
        >>> paddle.nn.functional.gumbel_softmax(x, hard=True).tolist()
        [[0.0, 1.0]]
    """
    if not temperature > 0:
        raise ValueError(f"gumbel_softmax: temperature must be larger than 0; got {temperature}")
    drawn = random.draw_uniform(x.place, x.shape, x.dtype, 0.0, 1.0)
    noise = -math.log(-math.log(math.clip(drawn, 1e-20, 1.0 - 1e-7)))
    soft = activation.softmax((x + noise) / temperature, axis)
    if not hard:
        return soft
    at = normal_axis(axis, x.ndim)
    chosen = one_hot(argmax(soft, at), x.shape[at]).astype(x.dtype)
    return shape.moveaxis(chosen, -1, at) + soft - soft.detach()


API = tuple(f"nn.functional.{name}" for name in ("gumbel_softmax", "maxout", "rrelu", "swiglu"))
