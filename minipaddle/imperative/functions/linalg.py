"""Matrix products, as users call them."""

from __future__ import annotations

from minipaddle.imperative.dispatch import bound
from minipaddle.imperative.operand import Ints
from minipaddle.imperative.tensor import Tensor


@bound
def matmul(
    x: Tensor,
    y: Tensor,
    transpose_x: bool = False,
    transpose_y: bool = False,
    name: str | None = None,
) -> Tensor:
    """Matrix product; leading axes broadcast, a vector is a row on the left, a column on the right.

    Args:
        x: Tensor of shape [k] or [..., m, k].
        y: Tensor of shape [k] or [..., k, n], of x's dtype.
        transpose_x: Take the last two axes of x the other way round.
        transpose_y: Take the last two axes of y the other way round.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of shape [..., m, n], without the axis that a vector lacks.

    Raises:
        TypeError: The dtypes differ.
        ValueError: The inner lengths differ, or an operand is 0-d.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> paddle.matmul(x, paddle.to_tensor([1.0, 1.0])).tolist()
        [3.0, 7.0]
    """


@bound
def linear(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, name: str | None = None
) -> Tensor:
    """``x @ weight + bias``.

    Args:
        x: Float tensor of shape [..., in].
        weight: Tensor of shape [in, out], of x's dtype.
        bias: Tensor of shape [out], of x's dtype, or None.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of shape [..., out].

    Raises:
        TypeError: The dtypes differ.
        ValueError: The shapes do not fit.

    Example:
        >>> import minipaddle as paddle
        >>> x, weight = paddle.ones([1, 2]), paddle.full([2, 3], 0.5)
        >>> paddle.nn.functional.linear(x, weight).tolist()
        [[1.0, 1.0, 1.0]]
    """


@bound
def diagonal(
    x: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None
) -> Tensor:
    """The diagonal of two axes, as a new last axis; a view of ``x``.

    Args:
        x: Tensor of rank two or more.
        offset: How far above the main diagonal; below it where negative.
        axis1: The axis that counts rows.
        axis2: The axis that counts columns.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of the other axes and the diagonal.

    Raises:
        ValueError: x has less than two axes, or ``axis1`` and ``axis2`` name no two of them.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.diagonal(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])).tolist()
        [1.0, 4.0]
    """


@bound
def put_diagonal(
    x: Tensor,
    shape: Ints,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    name: str | None = None,
) -> Tensor:
    """Zeros of ``shape`` with ``x`` on a diagonal: the gradient of ``diagonal``."""


@bound
def dist(x: Tensor, y: Tensor, p: float = 2.0, name: str | None = None) -> Tensor:
    """Distance ``(sum |x - y|**p)**(1 / p)`` of two tensors; shapes broadcast.

    The gradient of the distance of equal tensors is zero.

    Args:
        x: Float tensor.
        y: Tensor of x's dtype.
        p: The power; 0 counts elements that differ, inf and -inf take the largest and the smallest
            difference.
        name: Unused; for Paddle's signature.

    Returns:
        A 0-d tensor.

    Raises:
        TypeError: The dtypes differ or are not float.
        ValueError: The shapes do not broadcast.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.dist(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([4.0, 6.0])).item()
        5.0
    """


@bound
def signed_power(x: Tensor, exponent: float, name: str | None = None) -> Tensor:
    """``sign(x) * |x| ** exponent``, 0 at 0 for every exponent: the slopes of ``dist``."""
