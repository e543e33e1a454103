"""Tensors overwritten by random numbers, as ``x.normal_()``.

A tensor keeps shape, dtype and place. No gradient flows to what it held before.
"""

from __future__ import annotations

from math import log1p as _log1p

from minipaddle.imperative.functions import elementwise, math, sampling, shape
from minipaddle.imperative.functions.random import draw_normal, draw_uniform
from minipaddle.imperative.functions.ranges import full_like
from minipaddle.imperative.tensor import Tensor


def _fill(x: Tensor, value: Tensor) -> Tensor:
    return shape.setitem_(x, value, (Ellipsis,))


def uniform_(
    x: Tensor, min: float = -1.0, max: float = 1.0, seed: int = 0, name: str | None = None
) -> Tensor:
    """Overwrites x with numbers spread evenly over [min, max).

    Args:
        x: Float tensor; not a leaf that wants a gradient, but under ``no_grad``.
        min: Lower end.
        max: Upper end.
        seed: 0 draws from the place's generator; another value from a sequence of its own.
        name: Unused; for Paddle's signature.

    Returns:
        x itself.

    Raises:
        TypeError: x is not of a float type.
        ValueError: ``min`` is larger than ``max``, or x is a leaf that wants a gradient.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.zeros([100])
        >>> bool((paddle.uniform_(x, 2.0, 3.0).numpy() >= 2.0).all())
        True
    """
    return _fill(x, draw_uniform(x.place, x.data.shape, x.data.dtype, min, max, seed))


def normal_(x: Tensor, mean: float = 0.0, std: float = 1.0, name: str | None = None) -> Tensor:
    """Overwrites x with normal random numbers.

    Args:
        x: Float tensor; not a leaf that wants a gradient, but under ``no_grad``.
        mean: Mean.
        std: Standard deviation, not negative.
        name: Unused; for Paddle's signature.

    Returns:
        x itself.

    Raises:
        TypeError: x is not of a float type.
        ValueError: ``std`` is negative, or x is a leaf that wants a gradient.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.normal_(paddle.zeros([2]), 5.0, 0.0).tolist()
        [5.0, 5.0]
    """
    return _fill(x, draw_normal(x.place, x.data.shape, x.data.dtype, mean, std))


def log_normal_(x: Tensor, mean: float = 1.0, std: float = 2.0, name: str | None = None) -> Tensor:
    """Overwrites x with numbers whose logarithms are normal; arguments as for ``normal_``.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.log_normal_(paddle.zeros([2]), 0.0, 0.0).tolist()
        [1.0, 1.0]
    """
    return _fill(x, math.exp(draw_normal(x.place, x.data.shape, x.data.dtype, mean, std)))


def bernoulli_(x: Tensor, p: float | Tensor = 0.5, name: str | None = None) -> Tensor:
    """Overwrites x with 1 with probability p, and 0 else.

    Args:
        x: Tensor of any type; not a leaf that wants a gradient, but under ``no_grad``.
        p: Probability, or a float tensor of x's shape of them.
        name: Unused; for Paddle's signature.

    Returns:
        x itself.

    Raises:
        ValueError: p is not in [0, 1], or x is a leaf that wants a gradient.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.bernoulli_(paddle.zeros([2]), 1.0).tolist()
        [1.0, 1.0]
    """
    chances = p if isinstance(p, Tensor) else full_like(x, p, "float32")
    return _fill(x, elementwise.cast(sampling.bernoulli(chances), x.data.dtype))


def exponential_(x: Tensor, lam: float = 1.0, name: str | None = None) -> Tensor:
    """Overwrites x with exponential random numbers, of mean ``1 / lam``.

    Args:
        x: Float tensor; not a leaf that wants a gradient, but under ``no_grad``.
        lam: Rate, above 0.
        name: Unused; for Paddle's signature.

    Returns:
        x itself.

    Raises:
        TypeError: x is not of a float type.
        ValueError: ``lam`` is not above 0, or x is a leaf that wants a gradient.

    Example:
        >>> import minipaddle as paddle
        >>> bool((paddle.zeros([9]).exponential_().numpy() >= 0).all())
        True
    """
    if not lam > 0:
        raise ValueError(f"lam must be above 0; got {lam}")
    return _fill(x, elementwise.multiply(_exponential(x), 1.0 / lam))


def _exponential(x: Tensor) -> Tensor:
    """-log(1 - u), with u in [0, 1), at least in float32, like x in its dtype.

    A half type's u would be rounded up to 1, whose logarithm is infinite.
    """
    double = x.data.dtype.itemsize == 8
    draws = draw_uniform(x.place, x.data.shape, "float64" if double else "float32", 0.0, 1.0)
    return elementwise.cast(math.neg(math.log1p(math.neg(draws))), x.data.dtype)


def geometric_(x: Tensor, probs: float, name: str | None = None) -> Tensor:
    """Overwrites x with how many trials it takes until one comes off.

    Args:
        x: Float tensor; not a leaf that wants a gradient, but under ``no_grad``.
        probs: Probability of one trial, in (0, 1].
        name: Unused; for Paddle's signature.

    Returns:
        x itself, of whole numbers of at least 1.

    Raises:
        ValueError: ``probs`` is not in (0, 1], or x is a leaf that wants a gradient.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.zeros([3]).geometric_(1.0).tolist()
        [1.0, 1.0, 1.0]
    """
    if not 0 < probs <= 1:
        raise ValueError(f"probs must be above 0 and at most 1; got {probs}")
    rate = -_log1p(-probs) if probs < 1 else 1e30  # a time of rate r, in whole steps
    whole = math.floor(elementwise.multiply(_exponential(x), 1.0 / rate))
    return _fill(x, elementwise.add(whole, 1.0))


API = (
    *("uniform_", "normal_", "log_normal_", "bernoulli_", "geometric_"),
    *("Tensor.uniform_", "Tensor.normal_", "Tensor.log_normal_", "Tensor.bernoulli_"),
    *("Tensor.exponential_", "Tensor.geometric_"),
)
