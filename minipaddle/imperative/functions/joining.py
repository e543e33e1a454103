"""Tensors joined into one, as users call it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minipaddle.imperative.dispatch import bound
from minipaddle.imperative.functions.broadcasting import atleast_1d, atleast_2d, atleast_3d
from minipaddle.imperative.functions.shape import reshape, unsqueeze
from minipaddle.imperative.tensor import Tensor
from minipaddle.ops.axes import normal_axis


@bound
def concat(x: Sequence[Tensor], axis: int = 0, name: str | None = None) -> Tensor:
    """Joins tensors along an axis that they have.

    Args:
        x: List of tensors, whose shapes are equal but for that axis. Different dtypes meet at the
            wider one.
        axis: The axis.
        name: Unused; for Paddle's signature.

    Returns:
        The joined tensor.

    Raises:
        TypeError: x is no list of at least one tensor.
        ValueError: There is no such axis, or the shapes do not fit.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.concat([paddle.ones([2, 3]), paddle.ones([2, 1])], axis=1).shape
        [2, 4]
    """


def stack(x: Sequence[Tensor], axis: int = 0, name: str | None = None) -> Tensor:
    """Joins tensors along a new axis.

    Args:
        x: List of tensors of one shape. Different dtypes meet at the wider one.
        axis: Where the new axis is in the result.
        name: Unused; for Paddle's signature.

    Returns:
        The joined tensor.

    Raises:
        TypeError: x is no list of at least one tensor.
        ValueError: The result has no such axis, or the shapes differ.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.stack([paddle.to_tensor([1, 2]), paddle.to_tensor([3, 4])], axis=1).tolist()
        [[1, 3], [2, 4]]
    """
    tensors = _listed(x, "stack")
    if any(one.shape != tensors[0].shape for one in tensors):
        shapes = [one.shape for one in tensors]
        raise ValueError(f"stack: the tensors must be of one shape; got {shapes}")
    at = normal_axis(axis, tensors[0].ndim + 1, "stack: axis")
    return concat([unsqueeze(one, at) for one in tensors], at)


def _listed(x: Any, function: str) -> list[Tensor]:
    """``x`` as a list of tensors."""
    if not isinstance(x, (list, tuple)) or not x or not all(isinstance(n, Tensor) for n in x):
        found = [type(n).__name__ for n in x] if isinstance(x, (list, tuple)) else type(x).__name__
        raise TypeError(f"{function}: x must be a list of at least one Tensor; got {found}")
    return list(x)


def hstack(x: Sequence[Tensor], name: str | None = None) -> Tensor:
    """Joins tensors side by side: along the second axis, vectors along the only one.

    Args:
        x: List of tensors.
        name: Unused; for Paddle's signature.

    Returns:
        The joined tensor.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.hstack([paddle.ones([2, 1]), paddle.ones([2, 3])]).shape
        [2, 4]
    """
    grown = [atleast_1d(one) for one in _listed(x, "hstack")]
    return concat(grown, min(1, grown[0].ndim - 1))


def vstack(x: Sequence[Tensor], name: str | None = None) -> Tensor:
    """Joins tensors one below the other: along the first axis, vectors as rows.

    Args:
        x: List of tensors.
        name: Unused; for Paddle's signature.

    Returns:
        The joined tensor.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.vstack([paddle.ones([3]), paddle.ones([2, 3])]).shape
        [3, 3]
    """
    return concat([atleast_2d(one) for one in _listed(x, "vstack")], 0)


def row_stack(x: Sequence[Tensor], name: str | None = None) -> Tensor:
    """Joins tensors one below the other, as ``vstack``.

    Args:
        x: List of tensors.
        name: Unused; for Paddle's signature.

    Returns:
        The joined tensor.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.row_stack([paddle.ones([3]), paddle.ones([2, 3])]).shape
        [3, 3]
    """
    return vstack(x)


def dstack(x: Sequence[Tensor], name: str | None = None) -> Tensor:
    """Joins tensors along the third axis, which vectors and matrices get.

    Args:
        x: List of tensors.
        name: Unused; for Paddle's signature.

    Returns:
        The joined tensor.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.dstack([paddle.ones([2, 3]), paddle.ones([2, 3])]).shape
        [2, 3, 2]
    """
    return concat([atleast_3d(one) for one in _listed(x, "dstack")], 2)


def column_stack(x: Sequence[Tensor], name: str | None = None) -> Tensor:
    """Joins tensors side by side, vectors as columns.

    Args:
        x: List of tensors.
        name: Unused; for Paddle's signature.

    Returns:
        The joined tensor.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.column_stack([paddle.ones([3]), paddle.ones([3, 2])]).shape
        [3, 3]
    """
    tensors = _listed(x, "column_stack")
    return concat([reshape(one, (one.size, 1)) if one.ndim < 2 else one for one in tensors], 1)


API = ("stack", "hstack", "vstack", "row_stack", "dstack", "column_stack")
