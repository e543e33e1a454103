"""Shapes brought together without copying, as users call it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minipaddle.imperative.functions.shape import expand, reshape, unsqueeze
from minipaddle.imperative.operand import Ints
from minipaddle.imperative.tensor import Tensor


def broadcast_to(x: Tensor, shape: Ints, name: str | None = None) -> Tensor:
    """Repeats axes of length 1, without copying, until ``x`` has the given shape.

    Args:
        x: Tensor whose shape broadcasts to ``shape``.
        shape: Lengths; -1 stands for x's own.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of the given shape, not to be written to.

    Raises:
        ValueError: x's shape does not broadcast to ``shape``.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.broadcast_to(paddle.to_tensor([1, 2]), [2, 2]).tolist()
        [[1, 2], [1, 2]]
    """
    return expand(x, shape)


def expand_as(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Repeats axes of length 1, without copying, until ``x`` has the shape of ``y``.

    Args:
        x: Tensor whose shape broadcasts to that of ``y``.
        y: Tensor of the wanted shape.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of y's shape, not to be written to.

    Raises:
        ValueError: x's shape does not broadcast to that of ``y``.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.expand_as(paddle.to_tensor([1, 2]), paddle.ones([2, 2])).tolist()
        [[1, 2], [1, 2]]
    """
    return expand(x, tuple(y.shape))


def broadcast_shape(x_shape: Any, y_shape: Any) -> list[int]:
    """The shape that tensors of two shapes broadcast to.

    Args:
        x_shape: Lengths.
        y_shape: Lengths.

    Returns:
        The common shape.

    Raises:
        ValueError: The two do not broadcast.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.broadcast_shape([2, 1, 3], [1, 3, 1])
        [2, 3, 3]
    """
    return common_shape("broadcast_shape", x_shape, y_shape)


def common_shape(function: str, *shapes: Sequence[int]) -> list[int]:
    """The shape that several broadcast to; ``function`` is whose operands they are."""
    try:
        return list(np.broadcast_shapes(*map(tuple, shapes)))
    except ValueError:
        listed = " and ".join(str(list(shape)) for shape in shapes)
        raise ValueError(
            f"{function}: the shapes {listed} do not broadcast: from the end, lengths "
            "must be equal or 1"
        ) from None


def broadcast_tensors(input: Any, name: str | None = None) -> list[Tensor]:
    """Expands tensors to the shape that they broadcast to.

    Args:
        input: List of tensors.
        name: Unused; for Paddle's signature.

    Returns:
        List of tensors of one shape, not to be written to.

    Raises:
        ValueError: The shapes do not broadcast.

    Example:
        >>> import minipaddle as paddle
        >>> [x.shape for x in paddle.broadcast_tensors([paddle.ones([2, 1]), paddle.ones([3])])]
        [[2, 3], [2, 3]]
    """
    shape = common_shape("broadcast_tensors", *(x.shape for x in input))
    return [expand(x, shape) for x in input]


def meshgrid(*args: Any, indexing: str = "ij", name: str | None = None) -> list[Tensor]:
    """Coordinates of the points of a grid.

    Args:
        *args: Tensors of at most 1 axis, or one list of them: the coordinates along each axis.
        indexing: ``"ij"`` for axes in the given order, ``"xy"`` for the first two swapped.
        name: Unused; for Paddle's signature.

    Returns:
        For every one a tensor of the grid's shape, not to be written to.

    Raises:
        ValueError: One has more than 1 axis, or ``indexing`` is neither of the two.

    Example:
        >>> import minipaddle as paddle
        >>> rows, columns = paddle.meshgrid(paddle.to_tensor([1, 2]), paddle.to_tensor([3, 4]))
        >>> rows.tolist(), columns.tolist()
        ([[1, 1], [2, 2]], [[3, 4], [3, 4]])
    """
    tensors = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
    if indexing not in ("ij", "xy"):
        raise ValueError(f"meshgrid: indexing must be 'ij' or 'xy'; got {indexing!r}")
    if any(x.ndim > 1 for x in tensors):
        shapes = [x.shape for x in tensors]
        raise ValueError(f"meshgrid takes tensors of at most 1 axis; got shapes {shapes}")
    order = list(range(len(tensors)))
    if indexing == "xy":
        order[:2] = reversed(order[:2])
    shape = tuple(tensors[i].size for i in order)
    return [
        expand(reshape(x, tuple(x.size if i == at else 1 for at in order)), shape)
        for i, x in enumerate(tensors)
    ]


def _atleast(rank: int) -> Any:
    """The function that gives tensors at least ``rank`` axes."""

    def atleast(*inputs: Any, name: str | None = None) -> Any:
        tensors = inputs[0] if isinstance(inputs[0], (list, tuple)) else inputs
        grown = [_grown(x, rank) for x in tensors]
        return grown[0] if len(grown) == 1 else grown

    atleast.__name__ = atleast.__qualname__ = f"atleast_{rank}d"
    atleast.__doc__ = f"""Gives tensors of fewer than {rank} axes new ones of length 1.

    Args:
        *inputs: Tensors of any shape, or one list of them.
        name: Unused; for Paddle's signature.

    Returns:
        A view of the tensor, or a list of them for several.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.atleast_{rank}d(paddle.to_tensor(2.0)).shape
        {[1] * rank}
    """
    return atleast


def _grown(x: Tensor, rank: int) -> Tensor:
    """New axes stand in front, but that of the third dimension at the end, as in NumPy."""
    missing = [0] * max(0, min(rank, 2) - x.ndim)
    return unsqueeze(x, [*missing, -1] if rank == 3 > x.ndim else missing)


atleast_1d = _atleast(1)
atleast_2d = _atleast(2)
atleast_3d = _atleast(3)

API = (
    *("broadcast_to", "Tensor.broadcast_to"),
    *("expand_as", "Tensor.expand_as"),
    "broadcast_shape",
    "broadcast_tensors",
    "meshgrid",
    *("atleast_1d", "Tensor.atleast_1d"),
    *("atleast_2d", "Tensor.atleast_2d"),
    *("atleast_3d", "Tensor.atleast_3d"),
)
