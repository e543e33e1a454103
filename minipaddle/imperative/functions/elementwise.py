"""Elementwise arithmetic and activations, as users call them."""

from __future__ import annotations

from typing import Any

from minipaddle.imperative.dispatch import bound, bound_inplace
from minipaddle.imperative.tensor import Tensor


@bound
def add(x: Tensor | float, y: Tensor | float, name: str | None = None) -> Tensor:
    """Adds element by element; shapes broadcast.

    Args:
        x: Tensor or number.
        y: Tensor or number. Tensors of different dtypes meet at the wider one.
        name: Unused; for Paddle's signature.

    Returns:
        ``x + y``, of the broadcast shape.

    Raises:
        ValueError: The shapes do not broadcast, or the places differ.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.add(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor(10.0)).tolist()
        [11.0, 12.0]
    """


@bound
def subtract(x: Tensor | float, y: Tensor | float, name: str | None = None) -> Tensor:
    """Subtracts element by element; shapes broadcast.

    Args:
        x: Tensor or number.
        y: Tensor or number. Tensors of different dtypes meet at the wider one.
        name: Unused; for Paddle's signature.

    Returns:
        ``x - y``, of the broadcast shape.

    Raises:
        ValueError: The shapes do not broadcast, or the places differ.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.subtract(paddle.to_tensor([1.0, 2.0]), 1.0).tolist()
        [0.0, 1.0]
    """


@bound
def multiply(x: Tensor | float, y: Tensor | float, name: str | None = None) -> Tensor:
    """Multiplies element by element; shapes broadcast.

    Args:
        x: Tensor or number.
        y: Tensor or number. Tensors of different dtypes meet at the wider one.
        name: Unused; for Paddle's signature.

    Returns:
        ``x * y``, of the broadcast shape.

    Raises:
        ValueError: The shapes do not broadcast, or the places differ.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.multiply(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 4.0])).tolist()
        [3.0, 8.0]
    """


@bound
def divide(x: Tensor | float, y: Tensor | float, name: str | None = None) -> Tensor:
    """Divides float tensors element by element; shapes broadcast.

    Args:
        x: Tensor or number.
        y: Tensor or number. Tensors of different dtypes meet at the wider one.
        name: Unused; for Paddle's signature.

    Returns:
        ``x / y``, of the broadcast shape.

    Raises:
        TypeError: Both are of int or bool dtype; convert one with astype first.
        ValueError: The shapes do not broadcast, or the places differ.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.divide(paddle.to_tensor([1.0, 3.0]), 2.0).tolist()
        [0.5, 1.5]
    """


@bound
def square(x: Tensor, name: str | None = None) -> Tensor:
    """Squares every element.

    Args:
        x: Tensor of any shape, float or int.
        name: Unused; for Paddle's signature.

    Returns:
        ``x * x``, of x's shape and dtype.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.square(paddle.to_tensor([1.0, -3.0])).tolist()
        [1.0, 9.0]
    """


@bound
def sign(x: Tensor, name: str | None = None) -> Tensor:
    """Sign of every element: -1, 0 or 1; its gradient is zero.

    Args:
        x: Tensor of any shape, float or int.
        name: Unused; for Paddle's signature.

    Returns:
        The signs, of x's shape and dtype.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.sign(paddle.to_tensor([2.0, 0.0, -5.0])).tolist()
        [1.0, 0.0, -1.0]
    """


@bound
def tanh(x: Tensor, name: str | None = None) -> Tensor:
    """Hyperbolic tangent of every element.

    Args:
        x: Float tensor of any shape.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.tanh(paddle.to_tensor([0.0])).tolist()
        [0.0]
    """


@bound
def lerp(x: Tensor, y: Tensor, weight: Tensor | float, name: str | None = None) -> Tensor:
    """Linear interpolation ``x + weight * (y - x)``, exact at both ends; all three broadcast.

    Gradients flow to ``x``, ``y`` and ``weight``. Half types are computed in float32, and a weight
    given as a Python number is never rounded to a half type. With finite ends and a weight in
    [0, 1] the result is finite.

    Args:
        x: Start, a float tensor.
        y: End, of x's dtype.
        weight: Number, or tensor of x's dtype. One with a single element acts as a number.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of the broadcast shape of all three and of x's dtype.

    Raises:
        TypeError: An operand is not of x's float dtype.
        ValueError: The shapes do not broadcast, or the places differ.

    Example:
        >>> import minipaddle as paddle
        >>> x, y = paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([5.0, 10.0])
        >>> paddle.lerp(x, y, 0.25).tolist()
        [2.0, 4.0]
    """


@bound
def lerp_(x: Tensor, y: Tensor, weight: Tensor | float, name: str | None = None) -> Tensor:
    """``lerp`` that overwrites ``x``; x's shape must be the broadcast shape of all three.

    Args:
        x: Start, a float tensor; changed in place.
        y: End, of x's dtype.
        weight: Number, or tensor of x's dtype.
        name: Unused; for Paddle's signature.

    Returns:
        ``x`` itself.

    Raises:
        ValueError: The result would be larger than x, or x is a leaf that wants a gradient.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([0.0, 2.0])
        >>> paddle.lerp_(x, paddle.to_tensor([4.0, 4.0]), 0.5) is x
        True
        >>> x.tolist()
        [2.0, 3.0]
    """


@bound
def cast(x: Tensor, dtype: Any, name: str | None = None) -> Tensor:
    """Converts the element type.

    Args:
        x: Tensor of any shape and dtype.
        dtype: Target, as a name or dtype.
        name: Unused; for Paddle's signature.

    Returns:
        A new tensor of x's shape.

    Raises:
        TypeError: ``dtype`` names no element type.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.cast(paddle.to_tensor([1.7]), "int64").tolist()
        [1]
    """


@bound
def assign(x: Tensor, name: str | None = None) -> Tensor:
    """Copies a tensor; the gradient flows through.

    Args:
        x: Tensor of any shape and dtype.
        name: Unused; for Paddle's signature.

    Returns:
        A tensor with memory of its own.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.assign(paddle.to_tensor([1.0])).tolist()
        [1.0]
    """


add_ = bound_inplace(add)
subtract_ = bound_inplace(subtract)
multiply_ = bound_inplace(multiply)
divide_ = bound_inplace(divide)
square_ = bound_inplace(square)
tanh_ = bound_inplace(tanh)
