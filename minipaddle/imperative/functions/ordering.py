"""Sorted elements, ranks and counts, as users call them: positions first, then what is there."""

from __future__ import annotations

import math as numbers
from typing import Any

from minipaddle.device.dtype import FLOATS, get_default_dtype
from minipaddle.imperative.dispatch import bound
from minipaddle.imperative.functions import arithmetic, comparison, math
from minipaddle.imperative.functions.elementwise import cast, lerp, multiply, subtract
from minipaddle.imperative.functions.gathering import along
from minipaddle.imperative.functions.indexing import select
from minipaddle.imperative.functions.joining import stack
from minipaddle.imperative.functions.search import argsort, count_nonzero
from minipaddle.imperative.functions.shape import expand, getitem, reshape, squeeze, transpose
from minipaddle.imperative.tensor import Tensor, to_tensor
from minipaddle.ops.axes import normal_axes, normal_axis


@bound
def topk_index(
    x: Tensor, k: int, axis: int = -1, largest: bool = True, name: str | None = None
) -> Tensor:
    """Where the ``k`` largest or smallest elements along an axis are, the best one first."""


@bound
def mode_index(x: Tensor, axis: int = -1, name: str | None = None) -> Tensor:
    """Where the last of the most frequent elements along an axis is; ``axis`` gets length 1."""


def sort(
    x: Tensor,
    axis: int = -1,
    descending: bool = False,
    stable: bool = False,
    name: str | None = None,
) -> Tensor:
    """The elements of ``x`` in order along an axis; NaN counts as the largest.

    Args:
        x: Float or int tensor.
        axis: Axis to sort along.
        descending: From the largest to the smallest.
        stable: Equal elements, and their gradients, keep their order.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's shape and dtype.

    Raises:
        TypeError: x is of bool.
        ValueError: The axis is not there.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.sort(paddle.to_tensor([3.0, 1.0, 2.0]), descending=True).tolist()
        [3.0, 2.0, 1.0]
    """
    return along(x, argsort(x, axis, descending, stable), normal_axis(axis, max(x.ndim, 1)))


def _axis(what: str, x: Tensor, axis: int | None) -> int:
    return normal_axis(-1 if axis is None else axis, max(x.ndim, 1), f"{what}: axis")


def topk(
    x: Tensor,
    k: Any,
    axis: int | None = None,
    largest: bool = True,
    sorted: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """The ``k`` largest or smallest elements along an axis, and where they are.

    Args:
        x: Float or int tensor.
        k: How many, an int or a tensor of one.
        axis: The axis; the last one by default.
        largest: The largest ones rather than the smallest; NaN counts as the largest.
        sorted: The best one first. They are here in any case.
        name: Unused; for Paddle's signature.

    Returns:
        The elements and their int64 positions, of x's shape but for length k along the axis.

    Raises:
        TypeError: x is of bool.
        ValueError: The axis is not there, or has less than k elements.

    Example:
        >>> import minipaddle as paddle
        >>> values, indices = paddle.topk(paddle.to_tensor([1.0, 4.0, 2.0]), k=2)
        >>> values.tolist(), indices.tolist()
        ([4.0, 2.0], [1, 2])
    """
    at = _axis("topk", x, axis)
    index = topk_index(x, int(k), at, largest)
    return along(x, index, at), index


def _one(x: Tensor, index: Tensor, axis: int, keepdim: bool) -> tuple[Tensor, Tensor]:
    """The elements at ``index``, of length 1 along the axis, and ``index``."""
    values = along(x, index, axis)
    if keepdim or not x.ndim:
        return values, index
    return squeeze(values, axis), squeeze(index, axis)


def kthvalue(
    x: Tensor, k: int, axis: int | None = None, keepdim: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The k-th smallest element along an axis, and where it is.

    Args:
        x: Float or int tensor.
        k: Which one, from 1 on.
        axis: The axis; the last one by default.
        keepdim: Keep the axis with length 1.
        name: Unused; for Paddle's signature.

    Returns:
        The elements and their int64 positions.

    Raises:
        TypeError: x is of bool.
        ValueError: The axis is not there, or has less than k elements.

    Example:
        >>> import minipaddle as paddle
        >>> value, index = paddle.kthvalue(paddle.to_tensor([1.0, 4.0, 2.0]), k=2)
        >>> value.item(), index.item()
        (2.0, 2)
    """
    at = _axis("kthvalue", x, axis)
    smallest = topk_index(x, k, at, False)
    last = smallest if not x.ndim else getitem(smallest, (*[slice(None)] * at, slice(k - 1, k)))
    return _one(x, last, at, keepdim)


def mode(
    x: Tensor, axis: int = -1, keepdim: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The most frequent element along an axis, and where it is last.

    Args:
        x: Float or int tensor.
        axis: The axis.
        keepdim: Keep the axis with length 1.
        name: Unused; for Paddle's signature.

    Returns:
        The elements, the smallest one of several that are equally frequent, and their positions.

    Raises:
        TypeError: x is of bool.
        ValueError: The axis is not there or has length 0.

    Example:
        >>> import minipaddle as paddle
        >>> value, index = paddle.mode(paddle.to_tensor([2.0, 3.0, 2.0]))
        >>> value.item(), index.item()
        (2.0, 2)
    """
    at = _axis("mode", x, axis)
    return _one(x, mode_index(x, at), at, keepdim)


def _folded(what: str, x: Tensor, axis: Any) -> tuple[Tensor, list[int]]:
    """``x`` as floats with the axes to fold as its last one, and x's shape with those kept."""
    if x.dtype not in FLOATS:
        x = cast(x, get_default_dtype())
    given = range(x.ndim) if axis is None else axis if isinstance(axis, (list, tuple)) else [axis]
    axes = normal_axes(given, x.ndim, f"{what}: axis")
    rest = [i for i in range(x.ndim) if i not in axes]
    count = numbers.prod(x.shape[i] for i in axes)
    if not count:
        raise ValueError(f"{what}: there is no element to take; x has shape {x.shape}")
    kept = [1 if i in axes else n for i, n in enumerate(x.shape)]
    lines = transpose(x, (*rest, *axes)) if axes else x
    return reshape(lines, (*[x.shape[i] for i in rest], count)), kept


def _unfolded(out: Tensor, kept: list[int], keepdim: bool) -> Tensor:
    """``out``, whose last axis is the folded one, of length 1, in the shape that users expect."""
    return reshape(out, tuple(kept) if keepdim else tuple(out.shape[:-1]))


def _at_rank(ordered: Tensor, rank: Tensor) -> Tensor:
    """Elements of sorted lines at ranks that need not be whole, between two neighbours."""
    low = math.floor(rank)
    first, second = (cast(i, "int64") for i in (low, math.ceil(rank)))
    axis = ordered.ndim - 1
    below, above = along(ordered, first, axis), along(ordered, second, axis)
    return lerp(below, above, cast(subtract(rank, low), ordered.dtype))


def _ranks(x: Tensor, share: Any, counts: Any) -> Tensor:
    """``share`` of the way from the first to the last of ``counts`` elements, for each line."""
    whole = multiply(subtract(cast(counts, "float64"), 1.0), share)
    return expand(arithmetic.maximum(whole, 0.0), (*x.shape[:-1], 1))


def _nan_counts(lines: Tensor) -> Tensor:
    return count_nonzero(comparison.isnan(lines), -1, True)


def _quantile(lines: Tensor, share: float, skip_nan: bool) -> Tensor:
    """The element at a share of each line; NaN where a line has one, or has nothing else."""
    ordered = sort(lines)
    wrong = _nan_counts(lines)
    length = lines.shape[-1]
    counts = subtract(length, wrong) if skip_nan else to_tensor(length, place=lines.place)
    found = _at_rank(ordered, _ranks(ordered, share, counts))
    if skip_nan:
        return found
    return select(numbers.nan, comparison.greater_than(wrong, 0), found)


def median(
    x: Tensor,
    axis: int | None = None,
    keepdim: bool = False,
    mode: str = "avg",
    name: str | None = None,
) -> Any:
    """The middle element in order; NaN where there is one.

    Args:
        x: Float or int tensor; ints are taken as the default float type.
        axis: The axis; None takes all elements.
        keepdim: Keep the axis with length 1.
        mode: Of two middle ones ``"avg"`` takes the mean, ``"min"`` the smaller.
        name: Unused; for Paddle's signature.

    Returns:
        The medians; for ``"min"`` with an axis, also where they are.

    Raises:
        ValueError: The axis is not there, there is no element, or no such ``mode``.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.median(paddle.to_tensor([[4.0, 1.0], [2.0, 3.0]])).item()
        2.5
    """
    if mode not in ("avg", "min"):
        raise ValueError(f"median: mode must be 'avg' or 'min'; got {mode!r}")
    lines, kept = _folded("median", x, axis)
    if mode == "avg":
        return _unfolded(_quantile(lines, 0.5, False), kept, keepdim)
    order = argsort(lines, -1, False, True)
    middle = (lines.shape[-1] - 1) // 2
    last = expand(_nan_counts(lines), (*lines.shape[:-1], 1))
    at = select(
        along(order, _to_rank(order, lines.shape[-1] - 1), order.ndim - 1),
        comparison.greater_than(last, 0),
        along(order, _to_rank(order, middle), order.ndim - 1),
    )
    values = _unfolded(along(lines, at, lines.ndim - 1), kept, keepdim)
    return values if axis is None else (values, _unfolded(at, kept, keepdim))


def _to_rank(order: Tensor, rank: int) -> Tensor:
    """``rank`` for every line of ``order``."""
    return expand(to_tensor(rank, place=order.place), (*order.shape[:-1], 1))


def nanmedian(
    x: Tensor,
    axis: Any = None,
    keepdim: bool = False,
    mode: str = "avg",
    name: str | None = None,
) -> Tensor:
    """The middle element in order of those that are not NaN; NaN if there are no others.

    Args:
        x: Float or int tensor; ints are taken as the default float type.
        axis: Axis or axes; None takes all elements.
        keepdim: Keep the axes with length 1.
        mode: Of two middle ones ``"avg"`` takes the mean, ``"min"`` the smaller.
        name: Unused; for Paddle's signature.

    Returns:
        The medians.

    Raises:
        ValueError: The axis is not there, there is no element, or no such ``mode``.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nanmedian(paddle.to_tensor([4.0, float("nan"), 1.0, 2.0])).item()
        2.0
    """
    if mode not in ("avg", "min"):
        raise ValueError(f"nanmedian: mode must be 'avg' or 'min'; got {mode!r}")
    lines, kept = _folded("nanmedian", x, axis)
    if mode == "avg":
        return _unfolded(_quantile(lines, 0.5, True), kept, keepdim)
    counts = subtract(lines.shape[-1], _nan_counts(lines))
    middle = math.floor(_ranks(lines, 0.5, counts))
    return _unfolded(_at_rank(sort(lines), middle), kept, keepdim)


def quantile(
    x: Tensor, q: Any, axis: Any = None, keepdim: bool = False, name: str | None = None
) -> Tensor:
    """The element at a share of the way from the smallest to the largest, between neighbours.

    Args:
        x: Float or int tensor; ints are taken as the default float type.
        q: Share in [0, 1], or list of shares.
        axis: Axis or axes; None takes all elements.
        keepdim: Keep the axes with length 1.
        name: Unused; for Paddle's signature.

    Returns:
        The quantiles, NaN where there is one; for a list with an axis for it in front.

    Raises:
        ValueError: The axis is not there, there is no element, or a share is not in [0, 1].

    Example:
        >>> import minipaddle as paddle
        >>> paddle.quantile(paddle.to_tensor([1.0, 2.0, 4.0]), [0.5, 0.75]).tolist()
        [2.0, 3.0]
    """
    given = q.tolist() if isinstance(q, Tensor) else q
    shares = list(given) if isinstance(given, (list, tuple)) else [given]
    for share in shares:
        if not 0 <= share <= 1:
            raise ValueError(f"quantile: q must lie in [0, 1]; got {share}")
    lines, kept = _folded("quantile", x, axis)
    found = [_unfolded(_quantile(lines, share, False), kept, keepdim) for share in shares]
    if not isinstance(given, (list, tuple)):
        return found[0]
    return stack(found)


API = (
    *("sort", "Tensor.sort"),
    *("topk", "Tensor.topk"),
    *("kthvalue", "Tensor.kthvalue"),
    *("mode", "Tensor.mode"),
    *("median", "Tensor.median"),
    *("nanmedian", "Tensor.nanmedian"),
    *("quantile", "Tensor.quantile"),
)
