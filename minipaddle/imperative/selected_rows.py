"""SelectedRows: the gradient of a parameter of which few rows were used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from minipaddle.device.backend import Array, Place
from minipaddle.device.dtype import DType
from minipaddle.ops.op import namespace


class SelectedRows:
    """Some rows of a gradient, the others being zero.

    ``grad`` is one after a backward through ``nn.functional.embedding`` with ``sparse=True``, as
    long as the gradients of all other uses of the parameter are sparse too.

    Attributes:
        rows: Array of row numbers, int64. One may be there several times; its values are added.
        value: Array of the rows' values, one after another.
        height: Number of rows of the whole.
        place: The device it lies on.

    Example:
        >>> import minipaddle as paddle
        >>> weight = paddle.ones([4, 2])
        >>> weight.stop_gradient = False
        >>> ids = paddle.to_tensor([3, 1, 3])
        >>> paddle.nn.functional.embedding(ids, weight, sparse=True).sum().backward()
        >>> weight.grad
        SelectedRows(rows=[3, 1, 3], shape=[4, 2], dtype=float32, place=Place(cpu))
        >>> weight.grad.merge()
        SelectedRows(rows=[1, 3], shape=[4, 2], dtype=float32, place=Place(cpu))
        >>> weight.grad.to_dense().tolist()
        [[0.0, 0.0], [1.0, 1.0], [0.0, 0.0], [2.0, 2.0]]
    """

    __slots__ = ("height", "place", "rows", "value")

    to_dense: ClassVar[Callable[..., Any]]  # makes a Tensor; put on by methods.py

    def __init__(self, place: Place, rows: Array, value: Array, height: int) -> None:
        self.place = place
        self.rows = rows
        self.value = value
        self.height = height

    @property
    def shape(self) -> list[int]:
        """Length of each axis of the whole, as a list."""
        return [self.height, *self.value.shape[1:]]

    @property
    def dtype(self) -> DType:
        """Element type, a NumPy dtype."""
        dtype: DType = self.value.dtype
        return dtype

    @property
    def data(self) -> Array:
        """The whole as a new array."""
        return namespace(self.place).scatter_rows(self.rows, self.value, self.height)

    def numpy(self) -> np.ndarray[Any, Any]:
        """The whole as a NumPy array."""
        host: np.ndarray[Any, Any] = self.place.backend.to_host(self.data)
        return host

    def merge(self) -> SelectedRows:
        """The same with each row once, in ascending order."""
        F = namespace(self.place)
        rows = F.unique_values(self.rows)
        value = F.scatter_rows(F.unique_inverse(self.rows), self.value, rows.shape[0])
        return SelectedRows(self.place, rows, value, self.height)

    def joined(self, other: SelectedRows) -> SelectedRows:
        """The sum: the rows of both, merged when there are more than in the whole."""
        concat = namespace(self.place).concat
        rows, value = concat([self.rows, other.rows]), concat([self.value, other.value])
        both = SelectedRows(self.place, rows, value, self.height)
        return both.merge() if rows.shape[0] > self.height else both

    def cleared(self) -> SelectedRows:
        """None of the rows."""
        getitem, none = namespace(self.place).getitem, (slice(0, 0),)
        rows, value = getitem(self.rows, none), getitem(self.value, none)
        return SelectedRows(self.place, rows, value, self.height)

    def __repr__(self) -> str:
        rows = self.place.backend.to_host(self.rows)
        shown = np.array2string(rows, separator=", ", threshold=20, max_line_width=10**6)
        return (
            f"SelectedRows(rows={shown}, shape={self.shape}, dtype={self.dtype.name}, "
            f"place={self.place!r})"
        )


def added(place: Place, a: Any, b: Any) -> Any:
    """The sum of two gradients: sparse if both are, else an array."""
    if a.__class__ is b.__class__ is SelectedRows:
        return a.joined(b)
    return namespace(place).add(as_array(a), as_array(b))


def as_array(gradient: Any) -> Array:
    """A gradient, sparse or not, as an array."""
    return gradient.data if gradient.__class__ is SelectedRows else gradient
