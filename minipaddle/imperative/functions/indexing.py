"""Elements by condition, and the ops that everything by position is made of, as users call them.

A flat index counts, in row-major order, the positions on the axes ``first`` to ``last`` (which is
not one of them) of a tensor as if they were one axis. ``flat_index`` and ``flat_index_along`` check
what users give and make one that nobody else can change afterwards.
"""

from __future__ import annotations

from typing import Any

from minipaddle.imperative.dispatch import bound, bound_inplace
from minipaddle.imperative.functions.broadcasting import broadcast_tensors
from minipaddle.imperative.functions.search import nonzero, where_index
from minipaddle.imperative.functions.shape import reshape
from minipaddle.imperative.tensor import Tensor, to_tensor


@bound
def select(
    x: Tensor | float, condition: Tensor, y: Tensor | float, name: str | None = None
) -> Tensor:
    """``where`` with its result in the place of ``x`` in the form ``select_``."""


@bound
def masked_fill(x: Tensor, mask: Tensor, value: Tensor | float, name: str | None = None) -> Tensor:
    """``x`` with ``value`` where ``mask`` is True.

    Args:
        x: Tensor of any shape and dtype.
        mask: Bool tensor; the shapes of all three broadcast.
        value: Number, or tensor of x's dtype.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's dtype, of the broadcast shape.

    Raises:
        TypeError: ``mask`` is not of bool, or ``value`` of another dtype than ``x``.
        ValueError: The shapes do not broadcast.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([1.0, 2.0, 3.0])
        >>> paddle.masked_fill(x, x > 1.5, 0.0).tolist()
        [1.0, 0.0, 0.0]
    """


@bound
def flat_index(x: list[Tensor], lengths: Any, axes: Any, name: str | None = None) -> Tensor:
    """Indices for several axes, which broadcast, as one over all of them.

    Args:
        x: Int tensors, one an axis.
        lengths: Of the axes, which are neighbours.
        axes: Their numbers, for errors.
        name: Unused.

    Raises:
        IndexError: An index is out of range, or the indices do not broadcast.
    """


@bound
def flat_index_along(index: Tensor, shape: Any, axis: int, name: str | None = None) -> Tensor:
    """Indices for one axis of ``shape``, each at its own position on the others, over all axes.

    Raises:
        IndexError: An index is out of range.
    """


@bound
def later_equals(index: Tensor, name: str | None = None) -> Tensor:
    """For each element, which is not negative, how many later ones are equal to it."""


@bound
def gather_flat(x: Tensor, index: Tensor, first: int, last: int, name: str | None = None) -> Tensor:
    """The parts of ``x`` at a flat index, whose axes replace those from ``first`` to ``last``."""


@bound
def scatter_flat(
    x: Tensor,
    index: Tensor,
    value: Tensor | float,
    first: int,
    last: int,
    name: str | None = None,
) -> Tensor:
    """``x`` with ``value``, broadcast, at a flat index; of several for one position the last."""


@bound
def scatter_add_flat(
    x: Tensor,
    index: Tensor,
    value: Tensor | float,
    first: int,
    last: int,
    name: str | None = None,
) -> Tensor:
    """``x`` with ``value``, broadcast, added at a flat index; several for one position add up."""


@bound
def sum_flat(
    x: Tensor, index: Tensor, shape: Any, first: int, last: int, name: str | None = None
) -> Tensor:
    """``x`` added to zeros of ``shape`` at a flat index: the gradient of ``gather_flat``."""


select_ = bound_inplace(select)
masked_fill_ = bound_inplace(masked_fill)
scatter_flat_ = bound_inplace(scatter_flat)
scatter_add_flat_ = bound_inplace(scatter_add_flat)


def where(
    condition: Tensor,
    x: Tensor | float | None = None,
    y: Tensor | float | None = None,
    name: str | None = None,
) -> Any:
    """``x`` where the condition is True and ``y`` elsewhere, element by element.

    Args:
        condition: Bool tensor; the shapes of all three broadcast.
        x: Tensor or number.
        y: Tensor or number. Tensors of different dtypes meet at the wider one.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of the broadcast shape; without x and y what ``nonzero(condition, as_tuple=True)``
        returns.

    Raises:
        TypeError: ``condition`` is not of bool.
        ValueError: Only one of x and y is given, or the shapes do not broadcast.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([-1.0, 2.0])
        >>> paddle.where(x > 0, x, 0.0).tolist()
        [0.0, 2.0]
    """
    if x is None and y is None:
        return nonzero(condition, as_tuple=True)
    if x is None or y is None:
        raise ValueError("where: x and y must both be given, or neither")
    if not isinstance(x, Tensor) and not isinstance(y, Tensor):
        x = to_tensor(x, place=condition.place)
    return select(x, condition, y)


def where_(condition: Tensor, x: Tensor, y: Tensor | float, name: str | None = None) -> Tensor:
    """``where`` that overwrites ``x``, which must have the shape of the result.

    Returns:
        ``x`` itself.
    """
    return select_(x, condition, y)


def flat_nonzero(mask: Tensor) -> Tensor:
    """The flat index of the elements that are True."""
    return reshape(where_index(reshape(mask, (mask.size,))), (-1,))


def masked_select(x: Tensor, mask: Tensor, name: str | None = None) -> Tensor:
    """The elements of ``x`` where ``mask`` is True, in row-major order.

    Args:
        x: Tensor of any shape and dtype.
        mask: Bool tensor; its shape and x's broadcast.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of one axis.

    Raises:
        TypeError: ``mask`` is not of bool.
        ValueError: The shapes do not broadcast.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> paddle.masked_select(x, x > 1.5).tolist()
        [2.0, 3.0, 4.0]
    """
    if mask.dtype != "bool":
        raise TypeError(f"masked_select: mask must be of bool dtype; got {mask.dtype.name}")
    if x.shape != mask.shape:
        x, mask = broadcast_tensors([x, mask])
    return gather_flat(x, flat_nonzero(mask), 0, x.ndim)


API = (
    *("where", "Tensor.where"),
    *("where_", "Tensor.where_"),
    *("masked_select", "Tensor.masked_select"),
)
