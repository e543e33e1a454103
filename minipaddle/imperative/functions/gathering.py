"""Elements by position, read: rows, single elements, elements along an axis."""

from __future__ import annotations

from typing import Any

from minipaddle.device.dtype import get_default_dtype
from minipaddle.imperative.functions import arithmetic, reduction
from minipaddle.imperative.functions.broadcasting import broadcast_shape
from minipaddle.imperative.functions.indexing import (
    flat_index,
    flat_index_along,
    gather_flat,
    scatter_flat,
)
from minipaddle.imperative.functions.shape import expand, reshape
from minipaddle.imperative.tensor import Tensor, to_tensor
from minipaddle.ops.axes import normal_axis


def along(x: Tensor, index: Tensor, axis: int) -> Tensor:
    """The elements at ``index`` along an axis, each at its own position on the other axes."""
    if not x.ndim:
        return gather_flat(x, flat_index([index], (1,), (0,)), 0, 0)
    return gather_flat(x, flat_index_along(index, tuple(x.shape), axis), 0, x.ndim)


def as_index(index: Any, like: Tensor) -> Tensor:
    """Indices that may be a number or a list, as a tensor on the place of ``like``."""
    return index if isinstance(index, Tensor) else to_tensor(index, place=like.place)


def on_axis(what: str, x: Tensor, index: Any, axis: Any) -> tuple[Tensor, int]:
    """``index``, of at most one axis, checked for an axis of ``x``; and that axis."""
    at = normal_axis(axis.item() if isinstance(axis, Tensor) else axis, x.ndim, f"{what}: axis")
    index = as_index(index, x)
    if index.ndim > 1:
        raise ValueError(f"{what}: index must have at most 1 axis; got shape {index.shape}")
    return flat_index([index], (x.shape[at],), (at,)), at


def columns(what: str, index: Tensor, shape: list[int]) -> tuple[Tensor, int]:
    """Rows of indices as one flat index over the first axes of ``shape``, and their number."""
    count = index.shape[-1] if index.ndim else 0
    if not 1 <= count <= len(shape):
        raise ValueError(
            f"{what}: the last axis of index must have 1 to {len(shape)} elements, one for each "
            f"axis that is indexed of shape {shape}; got index of shape {index.shape}"
        )
    parts = [index[..., i] for i in range(count)]
    return flat_index(parts, shape[:count], list(range(count))), count


def gather(x: Tensor, index: Tensor, axis: Any = None, name: str | None = None) -> Tensor:
    """The parts of ``x`` at indices along one axis.

    Args:
        x: Tensor of at least 1 axis.
        index: Int tensor of at most 1 axis; negative ones count from the end. A 0-d one takes the
            axis away.
        axis: The axis; 0 by default.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape but for the length of ``axis``, which is index's.

    Raises:
        IndexError: An index is out of range.
        TypeError: ``index`` is not of int dtype.
        ValueError: There is no such axis, or ``index`` has more than 1.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([[1, 2], [3, 4], [5, 6]])
        >>> paddle.gather(x, paddle.to_tensor([2, 0])).tolist()
        [[5, 6], [1, 2]]
    """
    found, at = on_axis("gather", x, index, 0 if axis is None else axis)
    return gather_flat(x, found, at, at + 1)


def index_select(x: Tensor, index: Tensor, axis: int = 0, name: str | None = None) -> Tensor:
    """The parts of ``x`` at indices along one axis, as ``gather``.

    Args:
        x: Tensor of at least 1 axis.
        index: Int tensor of 1 axis; negative ones count from the end.
        axis: The axis.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape but for the length of ``axis``, which is index's.

    Raises:
        IndexError: An index is out of range.
        TypeError: ``index`` is not of int dtype.
        ValueError: There is no such axis, or ``index`` has more than 1.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([[1, 2, 3], [4, 5, 6]])
        >>> paddle.index_select(x, paddle.to_tensor([2, 0, 0]), axis=1).tolist()
        [[3, 1, 1], [6, 4, 4]]
    """
    found, at = on_axis("index_select", x, index, axis)
    return gather_flat(x, found, at, at + 1)


def gather_nd(x: Tensor, index: Tensor, name: str | None = None) -> Tensor:
    """The parts ``x[row]`` for every row of indices.

    Args:
        x: Tensor of at least 1 axis.
        index: Int tensor; its last axis holds indices for the first axes of x.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of index's shape without its last axis, followed by the axes of x that are left.

    Raises:
        IndexError: An index is out of range.
        ValueError: The last axis of ``index`` is longer than x has axes.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([[1, 2], [3, 4]])
        >>> paddle.gather_nd(x, paddle.to_tensor([[0, 1], [1, 0]])).tolist()
        [2, 3]
    """
    found, count = columns("gather_nd", as_index(index, x), x.shape)
    return gather_flat(x, found, 0, count)


def take_along_axis(arr: Tensor, indices: Tensor, axis: int, broadcast: bool = True) -> Tensor:
    """The elements at indices along one axis, each at its own position on the other axes.

    Args:
        arr: Tensor of at least 1 axis.
        indices: Int tensor of as many axes; negative ones count from the end.
        axis: The axis.
        broadcast: Let the other axes of the two broadcast; without it those of ``indices`` may only
            be shorter than arr's.

    Returns:
        Tensor of the shape of ``indices`` after broadcasting, of arr's dtype.

    Raises:
        IndexError: An index is out of range.
        TypeError: ``indices`` is not of int dtype.
        ValueError: The axis is not there, or the shapes do not fit.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([[1, 2, 3], [4, 5, 6]])
        >>> paddle.take_along_axis(x, paddle.to_tensor([[2], [0]]), axis=1).tolist()
        [[3], [4]]
    """
    at = normal_axis(axis, arr.ndim, "take_along_axis: axis")
    if broadcast:
        others = fit_along("take_along_axis", arr, indices, at)
        arr = expand(arr, (*others[:at], arr.shape[at], *others[at + 1 :]))
        indices = expand(indices, (*others[:at], indices.shape[at], *others[at + 1 :]))
    check_along("take_along_axis", arr, indices, at)
    return along(arr, indices, at)


def fit_along(what: str, arr: Tensor, indices: Tensor, axis: int) -> list[int]:
    """The common shape of two tensors of one rank, whatever they are along ``axis``."""
    if arr.ndim != indices.ndim:
        raise ValueError(
            f"{what}: arr and indices must have as many axes; got {arr.shape} and {indices.shape}"
        )
    ours, theirs = arr.shape, indices.shape
    ours[axis] = theirs[axis] = 1
    try:
        return broadcast_shape(ours, theirs)
    except ValueError as error:
        raise ValueError(f"{what}: but for axis {axis}, {error}") from None


def check_along(what: str, arr: Tensor, indices: Tensor, axis: int) -> None:
    """Refuses indices that reach beyond ``arr`` on another axis than ``axis``."""
    pairs = enumerate(zip(arr.shape, indices.shape, strict=False))
    if arr.ndim != indices.ndim or any(n > m for i, (m, n) in pairs if i != axis):
        raise ValueError(
            f"{what}: indices of shape {indices.shape} do not lie in arr of shape {arr.shape}; but "
            f"for axis {axis} no axis may be longer"
        )


def index_sample(x: Tensor, index: Tensor) -> Tensor:
    """The elements of each row of ``x`` at the indices in the same row of ``index``.

    Args:
        x: Tensor of shape [n, m].
        index: Int tensor of shape [n, k].

    Returns:
        Tensor of shape [n, k].

    Raises:
        IndexError: An index is out of range.
        ValueError: The shapes are not such.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([[1, 2, 3], [4, 5, 6]])
        >>> paddle.index_sample(x, paddle.to_tensor([[0, 2], [1, 1]])).tolist()
        [[1, 3], [5, 5]]
    """
    if x.ndim != 2 or index.ndim != 2 or x.shape[0] != index.shape[0]:
        raise ValueError(
            f"index_sample: x and index must have shapes [n, m] and [n, k]; got {x.shape} and "
            f"{index.shape}"
        )
    return along(x, index, 1)


def take(x: Tensor, index: Tensor, mode: str = "raise", name: str | None = None) -> Tensor:
    """The elements of ``x``, seen as a vector, at indices.

    Args:
        x: Tensor of any shape.
        index: Int tensor of any shape.
        mode: What happens to an index that is out of range: ``"raise"`` an error; ``"wrap"`` takes
            the remainder; ``"clip"`` takes the nearest element, the first one for negative indices.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of index's shape.

    Raises:
        IndexError: An index is out of range and ``mode`` is ``"raise"``.
        TypeError: ``index`` is not of int dtype.
        ValueError: ``mode`` is none of the three.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([[1, 2], [3, 4]])
        >>> paddle.take(x, paddle.to_tensor([0, 5, -1]), mode="wrap").tolist()
        [1, 2, 4]
    """
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"take: mode must be 'raise', 'wrap' or 'clip'; got {mode!r}")
    index = as_index(index, x)
    if mode == "wrap" and x.size:
        index = arithmetic.remainder(index, x.size)
    elif mode == "clip" and x.size:
        index = arithmetic.minimum(arithmetic.maximum(index, 0), x.size - 1)
    flat = flat_index([index], (x.size,), (0,))
    return gather_flat(reshape(x, (x.size,)), flat, 0, 1)


def one_hot(x: Tensor, num_classes: int = -1, name: str | None = None) -> Tensor:
    """A vector for each class number, with 1 at that number and 0 elsewhere.

    Args:
        x: Int tensor of any shape.
        num_classes: Length of the vectors; -1 stands for the largest number plus 1.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of the default float dtype, of x's shape followed by ``num_classes``.

    Raises:
        IndexError: A number is negative, or not below ``num_classes``.
        TypeError: ``x`` is not of int dtype.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.functional.one_hot(paddle.to_tensor([0, 2]), num_classes=3).tolist()
        [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    if num_classes == -1:
        num_classes = int(reduction.max(x)) + 1
    if x.size and (low := int(reduction.min(x))) < 0:
        raise IndexError(f"one_hot: x must not be negative; got {low}")
    place = reshape(x, (*x.shape, 1))
    shape = (*x.shape, num_classes)
    zeros = expand(to_tensor(0.0, get_default_dtype(), x.place), shape)
    flat = flat_index_along(place, shape, len(shape) - 1)
    return scatter_flat(zeros, flat, 1.0, 0, len(shape))


API = (
    *("gather", "Tensor.gather"),
    *("gather_nd", "Tensor.gather_nd"),
    *("index_sample", "Tensor.index_sample"),
    *("index_select", "Tensor.index_select"),
    *("take", "Tensor.take"),
    *("take_along_axis", "Tensor.take_along_axis"),
    "nn.functional.one_hot",
)
