"""Elements by position, written: overwritten, added to, or folded in another way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minipaddle.imperative.functions import arithmetic, comparison, elementwise, reduction
from minipaddle.imperative.functions.gathering import (
    as_index,
    check_along,
    columns,
    fit_along,
    on_axis,
)
from minipaddle.imperative.functions.indexing import (
    flat_index_along,
    flat_nonzero,
    gather_flat,
    later_equals,
    scatter_add_flat,
    scatter_add_flat_,
    scatter_flat,
    scatter_flat_,
    sum_flat,
)
from minipaddle.imperative.functions.shape import expand, reshape, setitem_
from minipaddle.imperative.tensor import Tensor, to_tensor
from minipaddle.ops.axes import normal_axis

Write = Callable[..., Tensor]


def _index_add(write: Write, x: Tensor, index: Tensor, axis: int, value: Tensor) -> Tensor:
    found, at = on_axis("index_add", x, index, axis)
    return write(x, found, value, at, at + 1)


def index_add(
    x: Tensor, index: Tensor, axis: int, value: Tensor, name: str | None = None
) -> Tensor:
    """``x`` with ``value`` added to its parts at indices along one axis.

    Args:
        x: Tensor of at least 1 axis.
        index: Int tensor of 1 axis; what is added for equal indices adds up.
        axis: The axis.
        value: Tensor of x's shape but for the length of ``axis``, which is index's, or one that
            broadcasts to it.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape.

    Raises:
        IndexError: An index is out of range.
        ValueError: There is no such axis, or the shapes do not fit.

    Example:
        >>> import minipaddle as paddle
        >>> index, value = paddle.to_tensor([0, 0]), paddle.to_tensor([[1.0], [2.0]])
        >>> paddle.index_add(paddle.ones([2, 1]), index, 0, value).tolist()
        [[4.0], [1.0]]
    """
    return _index_add(scatter_add_flat, x, index, axis, value)


def index_add_(
    x: Tensor, index: Tensor, axis: int, value: Tensor, name: str | None = None
) -> Tensor:
    """``index_add`` that overwrites ``x``.

    Returns:
        ``x`` itself.
    """
    return _index_add(scatter_add_flat_, x, index, axis, value)


def _index_fill(write: Write, x: Tensor, index: Tensor, axis: int, value: Any) -> Tensor:
    found, at = on_axis("index_fill", x, index, axis)
    if isinstance(value, Tensor) and value.ndim:
        raise ValueError(f"index_fill: value must be a number or 0-d; got shape {value.shape}")
    return write(x, found, value, at, at + 1)


def index_fill(
    x: Tensor, index: Tensor, axis: int, value: Tensor | float, name: str | None = None
) -> Tensor:
    """``x`` with one value in all of its parts at indices along one axis.

    Args:
        x: Tensor of at least 1 axis.
        index: Int tensor of 1 axis.
        axis: The axis.
        value: Number, or 0-d tensor of x's dtype.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape.

    Raises:
        IndexError: An index is out of range.
        ValueError: There is no such axis, or ``value`` has one.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.index_fill(paddle.ones([2, 3]), paddle.to_tensor([0, 2]), 1, 5.0).tolist()
        [[5.0, 1.0, 5.0], [5.0, 1.0, 5.0]]
    """
    return _index_fill(scatter_flat, x, index, axis, value)


def index_fill_(
    x: Tensor, index: Tensor, axis: int, value: Tensor | float, name: str | None = None
) -> Tensor:
    """``index_fill`` that overwrites ``x``.

    Returns:
        ``x`` itself.
    """
    return _index_fill(scatter_flat_, x, index, axis, value)


def scatter(
    x: Tensor, index: Tensor, updates: Tensor, overwrite: bool = True, name: str | None = None
) -> Tensor:
    """``x`` with other rows at indices along its first axis.

    Args:
        x: Tensor of at least 1 axis.
        index: Int tensor of at most 1 axis.
        updates: The rows, of x's dtype: of x's shape but for the first length, which is index's.
        overwrite: Of several rows for one index the last one counts, and has the gradient. False
            adds them up, instead of what was there.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape.

    Raises:
        IndexError: An index is out of range.
        ValueError: The shapes do not fit.

    Example:
        >>> import minipaddle as paddle
        >>> index, rows = paddle.to_tensor([1, 1]), paddle.to_tensor([[2.0], [3.0]])
        >>> paddle.scatter(paddle.ones([2, 1]), index, rows).tolist()
        [[1.0], [3.0]]
        >>> paddle.scatter(paddle.ones([2, 1]), index, rows, overwrite=False).tolist()
        [[1.0], [5.0]]
    """
    found, _ = on_axis("scatter", x, index, 0)
    if overwrite:
        return scatter_flat(x, found, updates, 0, 1)
    return scatter_add_flat(scatter_flat(x, found, 0, 0, 1), found, updates, 0, 1)


def scatter_(
    x: Tensor, index: Tensor, updates: Tensor, overwrite: bool = True, name: str | None = None
) -> Tensor:
    """``scatter`` that overwrites ``x``.

    Returns:
        ``x`` itself.
    """
    found, _ = on_axis("scatter", x, index, 0)
    if overwrite:
        return scatter_flat_(x, found, updates, 0, 1)
    return scatter_add_flat_(scatter_flat_(x, found, 0, 0, 1), found, updates, 0, 1)


def scatter_nd(index: Tensor, updates: Tensor, shape: Any, name: str | None = None) -> Tensor:
    """Zeros with ``updates`` added to the parts that rows of indices name.

    Args:
        index: Int tensor; its last axis holds indices for the first axes of ``shape``.
        updates: Tensor of index's shape without its last axis, followed by the lengths of
            ``shape`` that are left.
        shape: Lengths of the result.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of ``shape``, of updates' dtype.

    Raises:
        IndexError: An index is out of range.
        ValueError: The shapes do not fit.

    Example:
        >>> import minipaddle as paddle
        >>> index, updates = paddle.to_tensor([[1], [3], [1]]), paddle.to_tensor([9.0, 10.0, 1.0])
        >>> paddle.scatter_nd(index, updates, [4]).tolist()
        [0.0, 10.0, 0.0, 10.0]
    """
    lengths = [int(n) for n in (shape.tolist() if isinstance(shape, Tensor) else shape)]
    found, count = columns("scatter_nd", as_index(index, updates), lengths)
    return sum_flat(updates, found, tuple(lengths), 0, count)


def scatter_nd_add(x: Tensor, index: Tensor, updates: Tensor, name: str | None = None) -> Tensor:
    """``x`` with ``updates`` added to the parts that rows of indices name.

    Args:
        x: Tensor of at least 1 axis.
        index: Int tensor; its last axis holds indices for the first axes of x.
        updates: Tensor of index's shape without its last axis, followed by the axes of x that are
            left.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape.

    Raises:
        IndexError: An index is out of range.
        ValueError: The shapes do not fit.

    Example:
        >>> import minipaddle as paddle
        >>> index, updates = paddle.to_tensor([[1], [1]]), paddle.to_tensor([2.0, 3.0])
        >>> paddle.scatter_nd_add(paddle.ones([3]), index, updates).tolist()
        [1.0, 6.0, 1.0]
    """
    found, count = columns("scatter_nd_add", as_index(index, x), x.shape)
    return scatter_add_flat(x, found, updates, 0, count)


_FOLDS = {
    "mul": elementwise.multiply,
    "multiply": elementwise.multiply,
    "amin": arithmetic.minimum,
    "amax": arithmetic.maximum,
}
_REDUCES = ("assign", "add", "mean", *_FOLDS)


def put_along_axis(
    arr: Tensor,
    indices: Tensor,
    values: Tensor | float,
    axis: int,
    reduce: str = "assign",
    include_self: bool = True,
    broadcast: bool = True,
) -> Tensor:
    """``arr`` with values at indices along one axis, each at its own position on the other axes.

    Args:
        arr: Tensor of at least 1 axis.
        indices: Int tensor of as many axes; negative ones count from the end.
        values: Number, or tensor of arr's dtype that broadcasts to ``indices``.
        axis: The axis.
        reduce: What becomes of the element and of all values for it: ``"assign"`` takes the last
            value, the others are ``"add"``, ``"mul"`` or ``"multiply"``, ``"mean"``, ``"amin"``
            and ``"amax"``.
        include_self: Let the element of ``arr`` take part.
        broadcast: Repeat ``indices`` on the other axes up to arr's lengths; without it they may be
            shorter.

    Returns:
        Tensor of arr's shape.

    Raises:
        IndexError: An index is out of range.
        TypeError: ``indices`` is not of int dtype, or ``values`` of another dtype than ``arr``.
        ValueError: The axis is not there, the shapes do not fit, or there is no such ``reduce``.

    Example:
        >>> import minipaddle as paddle
        >>> x, index = paddle.ones([2, 3]), paddle.to_tensor([[2], [0]])
        >>> paddle.put_along_axis(x, index, 5.0, axis=1).tolist()
        [[1.0, 1.0, 5.0], [5.0, 1.0, 1.0]]
    """
    flat, values = _along(arr, indices, values, axis, broadcast)
    rank = arr.ndim
    if reduce not in _REDUCES:
        raise ValueError(f"put_along_axis: reduce must be one of {_REDUCES}; got {reduce!r}")
    if reduce == "assign":
        return scatter_flat(arr, flat, values, 0, rank)
    if not include_self and reduce in ("add", "mean"):
        arr = scatter_flat(arr, flat, 0, 0, rank)
    if reduce == "add":
        return scatter_add_flat(arr, flat, values, 0, rank)
    if reduce == "mean":
        total = scatter_add_flat(arr, flat, values, 0, rank)
        ones = expand(to_tensor(1, arr.dtype, arr.place), tuple(arr.shape))
        if not include_self:
            ones = scatter_flat(ones, flat, 0, 0, rank)
        return elementwise.divide(total, scatter_add_flat(ones, flat, 1, 0, rank))
    return _in_rounds(_FOLDS[reduce], arr, flat, values, include_self)


def put_along_axis_(
    arr: Tensor,
    indices: Tensor,
    values: Tensor | float,
    axis: int,
    reduce: str = "assign",
    include_self: bool = True,
    broadcast: bool = True,
) -> Tensor:
    """``put_along_axis`` that overwrites ``arr``.

    Returns:
        ``arr`` itself.
    """
    if reduce in ("assign", "add") and include_self:
        flat, values = _along(arr, indices, values, axis, broadcast)
        write = scatter_flat_ if reduce == "assign" else scatter_add_flat_
        return write(arr, flat, values, 0, arr.ndim)
    new = put_along_axis(arr, indices, values, axis, reduce, include_self, broadcast)
    return setitem_(arr, new, (...,))


def _along(
    arr: Tensor, indices: Tensor, values: Any, axis: int, broadcast: bool
) -> tuple[Tensor, Any]:
    """The flat index of ``indices``, and the values for it."""
    at = normal_axis(axis, arr.ndim, "put_along_axis: axis")
    if broadcast:
        others = fit_along("put_along_axis", arr, indices, at)
        indices = expand(indices, (*others[:at], indices.shape[at], *others[at + 1 :]))
    check_along("put_along_axis", arr, indices, at)
    if isinstance(values, Tensor) and values.shape != indices.shape:
        values = expand(values, tuple(indices.shape))
    return flat_index_along(indices, tuple(arr.shape), at), values


def _in_rounds(
    fold: Callable[..., Tensor], arr: Tensor, flat: Tensor, values: Any, include_self: bool
) -> Tensor:
    """Folds values into ``arr``: of several for one position one in each round."""
    where, flat = arr.ndim, reshape(flat, (flat.size,))
    if isinstance(values, Tensor):
        values = reshape(values, (values.size,))
    rounds = later_equals(flat)
    out = arr
    for i in range(int(reduction.max(rounds)) + 1 if flat.size else 0):
        chosen = flat_nonzero(comparison.equal(rounds, i))
        at = gather_flat(flat, chosen, 0, 1)
        new = gather_flat(values, chosen, 0, 1) if isinstance(values, Tensor) else values
        if i or include_self:
            new = fold(gather_flat(out, at, 0, where), new)
        out = scatter_flat(out, at, new, 0, where)
    return out


API = (
    *("index_add", "Tensor.index_add"),
    *("index_add_", "Tensor.index_add_"),
    *("index_fill", "Tensor.index_fill"),
    *("index_fill_", "Tensor.index_fill_"),
    *("put_along_axis", "Tensor.put_along_axis"),
    *("put_along_axis_", "Tensor.put_along_axis_"),
    *("scatter", "Tensor.scatter"),
    *("scatter_", "Tensor.scatter_"),
    *("scatter_nd", "scatter_nd_add", "Tensor.scatter_nd_add"),
)
