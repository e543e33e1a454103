"""Where elements are: extremes, order, non-zeros and unique values, as users call them."""

from __future__ import annotations

from typing import Any

from minipaddle.device.dtype import as_dtype
from minipaddle.imperative.dispatch import bound
from minipaddle.imperative.functions.elementwise import cast
from minipaddle.imperative.operand import Ints
from minipaddle.imperative.tensor import Tensor


@bound
def argmax(
    x: Tensor,
    axis: int | None = None,
    keepdim: bool = False,
    dtype: Any = "int64",
    name: str | None = None,
) -> Tensor:
    """Where the largest element is: the first of equal ones; NaN is the largest of all.

    Args:
        x: Float or int tensor.
        axis: Axis to search along; None searches all elements, in row-major order.
        keepdim: Keep the searched axes with length 1.
        dtype: ``"int64"`` or ``"int32"``.
        name: Unused; for Paddle's signature.

    Returns:
        The positions along the axis, of dtype ``dtype``.

    Raises:
        TypeError: x is of bool.
        ValueError: The axis is not there or has length 0, or ``dtype`` is no such type.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([[1.0, 5.0], [7.0, 2.0]])
        >>> paddle.argmax(x).item(), paddle.argmax(x, axis=1).tolist()
        (2, [1, 0])
    """


@bound
def argmin(
    x: Tensor,
    axis: int | None = None,
    keepdim: bool = False,
    dtype: Any = "int64",
    name: str | None = None,
) -> Tensor:
    """Where the smallest element is: the first of equal ones, or the first NaN if there is one.

    Args:
        x: Float or int tensor.
        axis: Axis to search along; None searches all elements, in row-major order.
        keepdim: Keep the searched axes with length 1.
        dtype: ``"int64"`` or ``"int32"``.
        name: Unused; for Paddle's signature.

    Returns:
        The positions along the axis, of dtype ``dtype``.

    Raises:
        TypeError: x is of bool.
        ValueError: The axis is not there or has length 0, or ``dtype`` is no such type.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([[1.0, 5.0], [7.0, 2.0]])
        >>> paddle.argmin(x).item(), paddle.argmin(x, axis=1).tolist()
        (0, [0, 1])
    """


@bound
def argsort(
    x: Tensor,
    axis: int = -1,
    descending: bool = False,
    stable: bool = False,
    name: str | None = None,
) -> Tensor:
    """The positions that sort ``x`` along an axis; NaN counts as the largest.

    Args:
        x: Float or int tensor.
        axis: Axis to sort along.
        descending: From the largest to the smallest.
        stable: Equal elements keep their order; without it theirs is any.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of int64, of x's shape.

    Raises:
        TypeError: x is of bool.
        ValueError: The axis is not there.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([3.0, 1.0, 2.0])
        >>> paddle.argsort(x).tolist(), paddle.argsort(x, descending=True).tolist()
        ([1, 2, 0], [0, 2, 1])
    """


@bound
def where_index(x: Tensor, name: str | None = None) -> Tensor:
    """The indices of the elements that are not 0, one row each: what ``nonzero`` is made of."""


def nonzero(x: Tensor, as_tuple: bool = False, name: str | None = None) -> Any:
    """Where elements are not 0, in row-major order.

    Args:
        x: Tensor of any shape and dtype.
        as_tuple: One tensor for each axis, rather than one for all.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of int64 of shape [n, x.ndim], a row for each of the n elements; or its columns.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([[0.0, 1.0], [2.0, 0.0]])
        >>> paddle.nonzero(x).tolist()
        [[0, 1], [1, 0]]
        >>> rows, columns = paddle.nonzero(x, as_tuple=True)
        >>> rows.tolist(), columns.tolist()
        ([0, 1], [1, 0])
    """
    found = where_index(x)
    return tuple(found[:, i] for i in range(x.ndim)) if as_tuple else found


@bound
def count_nonzero(
    x: Tensor,
    axis: Ints | None = None,
    keepdim: bool = False,
    name: str | None = None,
) -> Tensor:
    """How many elements are not 0; NaN is not.

    Args:
        x: Tensor of any shape and dtype.
        axis: Axis or axes to count over; all by default.
        keepdim: Keep the counted axes with length 1.
        name: Unused; for Paddle's signature.

    Returns:
        The counts, of int64.

    Raises:
        ValueError: An axis is not there, or is named twice.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.count_nonzero(paddle.to_tensor([[0.0, 1.0], [2.0, 3.0]]), axis=0).tolist()
        [1, 2]
    """


@bound
def searchsorted(
    sorted_sequence: Tensor,
    values: Tensor,
    out_int32: bool = False,
    right: bool = False,
    name: str | None = None,
) -> Tensor:
    """Where each value would have to be put in for a sequence to stay sorted.

    Args:
        sorted_sequence: Float or int tensor whose last axis ascends: of one axis, or with the
            leading axes of ``values``.
        values: Tensor of any shape. Tensors of different dtypes meet at the wider one.
        out_int32: Answer in int32 rather than int64.
        right: Behind equal elements rather than before them.
        name: Unused; for Paddle's signature.

    Returns:
        The positions, of values' shape.

    Raises:
        TypeError: An operand is of bool.
        ValueError: The leading axes differ, or the places.

    Example:
        >>> import minipaddle as paddle
        >>> edges = paddle.to_tensor([1.0, 3.0, 5.0])
        >>> paddle.searchsorted(edges, paddle.to_tensor([0.0, 3.0, 9.0])).tolist()
        [0, 1, 3]
    """


def bucketize(
    x: Tensor,
    sorted_sequence: Tensor,
    out_int32: bool = False,
    right: bool = False,
    name: str | None = None,
) -> Tensor:
    """Which of the intervals between ascending edges each element is in.

    Args:
        x: Float or int tensor of any shape.
        sorted_sequence: The edges, a tensor of one axis.
        out_int32: Answer in int32 rather than int64.
        right: An element that equals an edge belongs to the interval after it.
        name: Unused; for Paddle's signature.

    Returns:
        For each element the number of edges before it, of x's shape.

    Raises:
        ValueError: ``sorted_sequence`` has not one axis.

    Example:
        >>> import minipaddle as paddle
        >>> edges = paddle.to_tensor([1.0, 3.0, 5.0])
        >>> paddle.bucketize(paddle.to_tensor([[0.0, 3.0], [4.0, 9.0]]), edges).tolist()
        [[0, 1], [2, 3]]
    """
    if isinstance(sorted_sequence, Tensor) and sorted_sequence.ndim != 1:
        raise ValueError(
            f"bucketize: sorted_sequence must have one axis; got shape {sorted_sequence.shape}"
        )
    return searchsorted(sorted_sequence, x, out_int32, right)


@bound
def unique_values(
    x: Tensor, axis: int | None = None, consecutive: bool = False, name: str | None = None
) -> Tensor:
    """The first result of ``unique`` and, for ``consecutive``, of ``unique_consecutive``."""


@bound
def unique_inverse(
    x: Tensor, axis: int | None = None, consecutive: bool = False, name: str | None = None
) -> Tensor:
    """Which of the values each element is: all that ``unique_index`` and counts follow from."""


@bound
def unique_index(inverse: Tensor, name: str | None = None) -> Tensor:
    """Where each of the numbers 0, 1, ... is first."""


@bound
def unique_counts(inverse: Tensor, name: str | None = None) -> Tensor:
    """How often each of the numbers 0, 1, ... is there."""


def _with_values(
    x: Tensor, asked: tuple[bool, bool, bool], dtype: Any, axis: int | None, consecutive: bool
) -> Any:
    """The values and, where asked for, their index, inverse and counts."""
    if as_dtype(dtype).name not in ("int32", "int64"):
        raise ValueError(f"unique: dtype must be int32 or int64; got {dtype!r}")
    values = unique_values(x, axis, consecutive)
    if not any(asked):
        return values
    inverse = unique_inverse(x, axis, consecutive)
    index, numbers, counts = asked
    more = [
        *([unique_index(inverse)] if index else []),
        *([inverse] if numbers else []),
        *([unique_counts(inverse)] if counts else []),
    ]
    return (values, *(cast(part, dtype) for part in more))


def unique(
    x: Tensor,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    dtype: Any = "int64",
    name: str | None = None,
) -> Any:
    """The different values of ``x`` in ascending order; each NaN is one of its own.

    Args:
        x: Tensor of any shape and dtype.
        return_index: Also return where each value is first.
        return_inverse: Also return which of the values each element is.
        return_counts: Also return how often each value is there.
        axis: Compare the parts along this axis, element by element; None compares all elements.
        dtype: Type of the three: ``"int64"`` or ``"int32"``.
        name: Unused; for Paddle's signature.

    Returns:
        The values, of one axis, or of x's shape but for the length of ``axis``; or a tuple of them
        and what was asked for. No gradient flows.

    Raises:
        ValueError: The axis is not there, or ``dtype`` is no such type.

    Example:
        >>> import minipaddle as paddle
        >>> values, counts = paddle.unique(paddle.to_tensor([3, 1, 3]), return_counts=True)
        >>> values.tolist(), counts.tolist()
        ([1, 3], [1, 2])
    """
    return _with_values(x, (return_index, return_inverse, return_counts), dtype, axis, False)


def unique_consecutive(
    x: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    dtype: Any = "int64",
    name: str | None = None,
) -> Any:
    """``x`` with each run of equal elements made one; each NaN is one of its own.

    Args:
        x: Tensor of any shape and dtype.
        return_inverse: Also return which of the runs each element is in.
        return_counts: Also return how long each run is.
        axis: Compare the parts along this axis, element by element; None compares all elements.
        dtype: Type of the two: ``"int64"`` or ``"int32"``.
        name: Unused; for Paddle's signature.

    Returns:
        The values, of one axis, or of x's shape but for the length of ``axis``; or a tuple of them
        and what was asked for. No gradient flows.

    Raises:
        ValueError: The axis is not there, or ``dtype`` is no such type.

    Example:
        >>> import minipaddle as paddle
        >>> values, counts = paddle.unique_consecutive(
        ...     paddle.to_tensor([3, 3, 1, 3]), return_counts=True
        ... )
        >>> values.tolist(), counts.tolist()
        ([3, 1, 3], [2, 1, 1])
    """
    return _with_values(x, (False, return_inverse, return_counts), dtype, axis, True)


API = (
    *("bucketize", "Tensor.bucketize"),
    *("nonzero", "Tensor.nonzero"),
    *("unique", "Tensor.unique"),
    *("unique_consecutive", "Tensor.unique_consecutive"),
)
