"""Random numbers whose distribution the elements of a tensor give, and the op under dropout."""

from __future__ import annotations

from minipaddle.imperative.dispatch import bound
from minipaddle.imperative.operand import Ints
from minipaddle.imperative.tensor import Tensor


@bound
def bernoulli(x: Tensor, name: str | None = None) -> Tensor:
    """1 with the probability that each element gives, else 0.

    Args:
        x: Float tensor of any shape of probabilities.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype, without a gradient.

    Raises:
        ValueError: An element is not in [0, 1].

    Example:
        >>> import minipaddle as paddle
        >>> paddle.bernoulli(paddle.to_tensor([0.0, 1.0])).tolist()
        [0.0, 1.0]
    """


@bound
def binomial(count: Tensor, prob: Tensor, name: str | None = None) -> Tensor:
    """How many of ``count`` trials come off, each with probability ``prob``; shapes broadcast.

    Args:
        count: Int tensor of numbers of trials.
        prob: Float tensor of probabilities.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of int64 of the broadcast shape.

    Raises:
        ValueError: A count is negative, or a probability not in [0, 1].

    Example:
        >>> import minipaddle as paddle
        >>> paddle.binomial(paddle.to_tensor([3, 5]), paddle.to_tensor([0.0, 1.0])).tolist()
        [0, 5]
    """


@bound
def poisson(x: Tensor, name: str | None = None) -> Tensor:
    """Poisson random numbers of the rates that a tensor gives.

    Args:
        x: Float tensor of any shape of rates, not negative.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype, without a gradient.

    Raises:
        ValueError: A rate is negative.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.poisson(paddle.to_tensor([0.0, 0.0])).tolist()
        [0.0, 0.0]
    """


@bound
def standard_gamma(x: Tensor, name: str | None = None) -> Tensor:
    """Gamma random numbers of scale 1 and the shape parameters that a tensor gives.

    Args:
        x: Float tensor of any shape of parameters, not negative.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype, without a gradient.

    Raises:
        ValueError: A parameter is negative.

    Example:
        >>> import minipaddle as paddle
        >>> bool((paddle.standard_gamma(paddle.full([9], 2.0)).numpy() > 0).all())
        True
    """


@bound
def multinomial(
    x: Tensor, num_samples: int = 1, replacement: bool = False, name: str | None = None
) -> Tensor:
    """Categories drawn with probabilities in proportion to the weights of a row.

    Args:
        x: Float tensor of shape [categories] or [rows, categories], not negative.
        num_samples: How many to draw for each row.
        replacement: Whether one may be drawn again; else those of a row differ.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of int64 of shape [num_samples] or [rows, num_samples].

    Raises:
        ValueError: A weight is negative, infinite or NaN, or a row has too few above 0.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.multinomial(paddle.to_tensor([0.0, 5.0, 0.0])).tolist()
        [1]
    """


@bound
def dropout(
    x: Tensor,
    p: float = 0.5,
    axis: Ints | None = None,
    scale: float = 1.0,
    name: str | None = None,
) -> Tensor:
    """Elements are dropped, that is 0, with probability p, and multiplied by ``scale`` if not.

    Along an axis that ``axis`` does not name, all are dropped or none.
    """


@bound
def mask_scale(x: Tensor, mask: Tensor, scale: float = 1.0, name: str | None = None) -> Tensor:
    """``x * scale`` where ``mask`` is True, and 0 elsewhere, whatever x is there."""
