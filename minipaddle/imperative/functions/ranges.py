"""Tensors made from nothing whose elements differ, or that are like others.

They are worked out on the host and sent to the place: there is little to gain by a kernel.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from minipaddle.device.backend import current_place
from minipaddle.device.dtype import as_dtype
from minipaddle.imperative.functions.creation import filled, full
from minipaddle.imperative.operand import Ints
from minipaddle.imperative.tensor import Tensor


def _placed(host: Any, dtype: Any) -> Tensor:
    place = current_place()
    return Tensor(place.backend.from_host(np.asarray(host, as_dtype(dtype)), place.index), place)


def _number(value: Any) -> Any:
    """A number, or that of a tensor or array of one element."""
    return value.item() if isinstance(value, (Tensor, np.ndarray, np.generic)) else value


def arange(
    start: Any = 0, end: Any = None, step: Any = 1, dtype: Any = None, name: str | None = None
) -> Tensor:
    """Numbers at equal distances, from ``start`` to before ``end``.

    Args:
        start: The first; 0 if it is the only number given, which is ``end`` then.
        end: Where to stop.
        step: The distance, not 0.
        dtype: Element type; by default int64 if all three are ints, else the default float type.
        name: Unused; for Paddle's signature.

    Returns:
        A vector on the current place.

    Raises:
        ValueError: ``step`` is 0.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.arange(1, 7, 2).tolist()
        [1, 3, 5]
    """
    first, last, distance = _number(start), _number(end), _number(step)
    if last is None:
        first, last = 0, first
    if distance == 0:
        raise ValueError("arange: step must not be 0")
    if dtype is None and all(isinstance(n, int) for n in (first, last, distance)):
        dtype = "int64"
    return _placed(np.arange(first, last, distance), dtype)


def linspace(start: Any, stop: Any, num: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """``num`` numbers at equal distances, from ``start`` to ``stop``, both included.

    Args:
        start: The first.
        stop: The last.
        num: How many, at least 1.
        dtype: Element type; the default float type by default.
        name: Unused; for Paddle's signature.

    Returns:
        A vector on the current place.

    Raises:
        ValueError: ``num`` is not positive.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.linspace(0, 1, 5).tolist()
        [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    count = operator.index(_number(num))
    if count < 1:
        raise ValueError(f"linspace: num must be at least 1; got {count}")
    return _placed(np.linspace(_number(start), _number(stop), count), dtype)


def logspace(
    start: Any,
    stop: Any,
    num: Any,
    base: Any = 10.0,
    dtype: Any = None,
    name: str | None = None,
) -> Tensor:
    """``num`` powers of ``base``, whose exponents lie at equal distances.

    Args:
        start: The first exponent.
        stop: The last exponent.
        num: How many, at least 1.
        base: The base.
        dtype: Element type; the default float type by default.
        name: Unused; for Paddle's signature.

    Returns:
        A vector on the current place.

    Raises:
        ValueError: ``num`` is not positive.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.logspace(0, 3, 4).tolist()
        [1.0, 10.0, 100.0, 1000.0]
    """
    count = operator.index(_number(num))
    if count < 1:
        raise ValueError(f"logspace: num must be at least 1; got {count}")
    exponents = np.linspace(_number(start), _number(stop), count)
    with np.errstate(all="ignore"):  # an infinity or NaN is a result
        return _placed(np.power(float(_number(base)), exponents), dtype)


def eye(
    num_rows: int, num_columns: int | None = None, dtype: Any = None, name: str | None = None
) -> Tensor:
    """A matrix with ones on the diagonal and zeros elsewhere.

    Args:
        num_rows: Number of rows.
        num_columns: Number of columns; as many as rows by default.
        dtype: Element type; the default float type by default.
        name: Unused; for Paddle's signature.

    Returns:
        A matrix on the current place.

    Raises:
        ValueError: A number is negative.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.eye(2, dtype="int32").tolist()
        [[1, 0], [0, 1]]
    """
    rows = operator.index(num_rows)
    columns = rows if num_columns is None else operator.index(num_columns)
    if min(rows, columns) < 0:
        raise ValueError(f"eye: the numbers must not be negative; got {rows} and {columns}")
    return _placed(np.eye(rows, columns), dtype)


def tril_indices(row: int, col: int | None = None, offset: int = 0, dtype: Any = "int64") -> Tensor:
    """Where the elements of the lower triangle of a matrix are.

    Args:
        row: Number of rows of the matrix.
        col: Number of columns; as many as rows by default.
        offset: The last diagonal that counts; those above the main one are positive.
        dtype: int32 or int64.

    Returns:
        Tensor of shape ``[2, n]`` on the current place: rows, and columns below them.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.tril_indices(2, 2).tolist()
        [[0, 1, 1], [0, 0, 1]]
    """
    return _placed(np.tril_indices(row, offset, row if col is None else col), dtype)


def triu_indices(row: int, col: int | None = None, offset: int = 0, dtype: Any = "int64") -> Tensor:
    """Where the elements of the upper triangle of a matrix are.

    Args:
        row: Number of rows of the matrix.
        col: Number of columns; as many as rows by default.
        offset: The first diagonal that counts; those above the main one are positive.
        dtype: int32 or int64.

    Returns:
        Tensor of shape ``[2, n]`` on the current place: rows, and columns below them.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.triu_indices(2, 2).tolist()
        [[0, 0, 1], [0, 1, 1]]
    """
    return _placed(np.triu_indices(row, offset, row if col is None else col), dtype)


def full_like(x: Tensor, fill_value: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """A tensor of one value in the shape of another, on its place.

    Args:
        x: Tensor of the wanted shape.
        fill_value: Number, or tensor of one element.
        dtype: Element type; that of x by default.
        name: Unused; for Paddle's signature.

    Returns:
        The tensor.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.full_like(paddle.to_tensor([1, 2]), 7).tolist()
        [7, 7]
    """
    element = x.dtype if dtype is None else as_dtype(dtype)
    return filled("full_like", x.place, x.data.shape, _number(fill_value), element)


def zeros_like(x: Tensor, dtype: Any = None, name: str | None = None) -> Tensor:
    """A tensor of zeros in the shape of another, on its place.

    Args:
        x: Tensor of the wanted shape.
        dtype: Element type; that of x by default.
        name: Unused; for Paddle's signature.

    Returns:
        The tensor.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.zeros_like(paddle.to_tensor([1, 2])).tolist()
        [0, 0]
    """
    return full_like(x, 0, dtype)


def ones_like(x: Tensor, dtype: Any = None, name: str | None = None) -> Tensor:
    """A tensor of ones in the shape of another, on its place.

    Args:
        x: Tensor of the wanted shape.
        dtype: Element type; that of x by default.
        name: Unused; for Paddle's signature.

    Returns:
        The tensor.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.ones_like(paddle.to_tensor([1, 2])).tolist()
        [1, 1]
    """
    return full_like(x, 1, dtype)


def empty(shape: Ints, dtype: Any = None, name: str | None = None) -> Tensor:
    """A tensor to be overwritten; until then it holds zeros.

    Args:
        shape: Lengths of the axes.
        dtype: Element type; the default float type by default.
        name: Unused; for Paddle's signature.

    Returns:
        The tensor, on the current place.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.empty([2, 3]).shape
        [2, 3]
    """
    return full(shape, 0, dtype)


def empty_like(x: Tensor, dtype: Any = None, name: str | None = None) -> Tensor:
    """A tensor in the shape of another, on its place, to be overwritten.

    Args:
        x: Tensor of the wanted shape.
        dtype: Element type; that of x by default.
        name: Unused; for Paddle's signature.

    Returns:
        The tensor; until it is overwritten it holds zeros.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.empty_like(paddle.ones([2, 3])).shape
        [2, 3]
    """
    return full_like(x, 0, dtype)


API = (
    *("arange", "linspace", "logspace", "eye", "tril_indices", "triu_indices"),
    *("full_like", "zeros_like", "ones_like", "empty", "empty_like"),
)
