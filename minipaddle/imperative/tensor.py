"""Tensor: an array on a place, and the edge to the op that made it."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from minipaddle.device.backend import Array, Place, current_place, get_place
from minipaddle.device.dtype import DType, as_dtype, get_default_dtype, is_float
from minipaddle.imperative.declared_methods import DeclaredMethods
from minipaddle.imperative.grad_node import FULL, NONE, AccumulationNode, Edge
from minipaddle.imperative.printing import describe
from minipaddle.ops.op import namespace

_names = itertools.count()


class Tensor(DeclaredMethods):
    """A multi-dimensional array with automatic differentiation.

    Tensors are made by ``to_tensor``, the creation functions and ops. ``edge`` tells where a
    gradient goes: to the op that made the tensor, to the tensor's own ``grad`` for a leaf, and
    nowhere if it is None, which is what ``stop_gradient`` says.

    Attributes:
        data: The array, of the kind that the place's backend works with.
        place: The device it lies on.
        edge: Where its gradient flows, or None.
        version: ``[writes, views]``: number of in-place writes, and weak references to the views;
            one cell for a tensor and all that share its memory.
        origin: For a view, the tensor it was made from, the op, its attributes, and which of a
            list of results it is; else None.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> (x * x).sum().backward()
        >>> x.grad.tolist()
        [2.0, 4.0]
    """

    __slots__ = ("__weakref__", "_name", "data", "edge", "leaf", "origin", "place", "version")

    __array_priority__ = 1000  # ndarray operators leave mixed expressions to this class

    def __init__(self, data: Array, place: Place, edge: Edge | None = None) -> None:
        self.data = data
        self.place = place
        self.edge = edge
        self.leaf: AccumulationNode | None = None
        self.version: list[Any] = [0, 0]
        self.origin: tuple[Tensor, Any, tuple[Any, ...], int | None] | None = None
        self._name: str | None = None

    @property
    def name(self) -> str:
        """A name unique in this process, made up when first asked for."""
        if self._name is None:
            self._name = f"generated_tensor_{next(_names)}"
        return self._name

    @name.setter
    def name(self, name: str) -> None:
        self._name = name
        if self.leaf is not None:
            self.leaf.name = name

    @property
    def shape(self) -> list[int]:
        """Length of each axis, as a list."""
        return list(self.data.shape)

    @property
    def dtype(self) -> DType:
        """Element type, a NumPy dtype."""
        dtype: DType = self.data.dtype
        return dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.data.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(self.data.size)

    @property
    def inplace_version(self) -> int:
        """How often this tensor's memory was written in place, through it or a view of it."""
        return int(self.version[0])

    @property
    def is_leaf(self) -> bool:
        """Whether no recorded op made this tensor."""
        return self.edge is None or self.edge is self.leaf

    @property
    def stop_gradient(self) -> bool:
        """Whether no gradient flows to this tensor."""
        return self.edge is None

    @stop_gradient.setter
    def stop_gradient(self, stop: bool) -> None:
        if not isinstance(stop, (bool, np.bool_)):
            raise TypeError(f"stop_gradient must be a bool; got {type(stop).__name__}")
        if stop:
            self.edge = None
        elif self.edge is None:
            self.edge = self.leaf_node()

    def leaf_node(self) -> AccumulationNode:
        """Where this leaf's gradient is kept; made at first use.

        Raises:
            TypeError: The dtype is not a float type.
        """
        if not is_float(self.data.dtype):
            raise TypeError(
                f"only float tensors can have a gradient; {self.name} has dtype "
                f"{self.data.dtype.name}; convert it with astype('float32') first"
            )
        node = self.leaf
        if node is None or node.shape != self.data.shape or node.dtype != self.data.dtype:
            node = AccumulationNode(self.place, self.data.shape, self.data.dtype, self.name)
            self.leaf = node
        return node

    @property
    def grad(self) -> Tensor | None:
        """The gradient that backward has summed up here, or None.

        A non-leaf has one only after ``retain_grads()``. Assigning a tensor replaces it; assigning
        None forgets it. After ``embedding(..., sparse=True)`` it is a SelectedRows.
        """
        node = self.leaf
        if node is None or node.status is NONE:
            return None
        if node.replaced is not None:
            return node.replaced  # type: ignore[no-any-return]
        shown = node.shown()
        if shown is None:
            shown = Tensor(node.read(), node.place)
            shown.version = node.version
            shown.name = f"{self.name}@GRAD"
            node.show(shown)
            node.status = FULL  # it may be written to from now on, so the next gradient is added
        return shown  # type: ignore[no-any-return]

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(f"grad must be a Tensor or None; got {type(value).__name__}")
        if value is not None:
            if value.data.shape != self.data.shape or value.place is not self.place:
                raise ValueError(
                    f"grad must have shape {self.shape} and lie on {self.place}; got "
                    f"{value.shape} on {value.place}"
                )
            if not is_float(value.data.dtype):
                raise TypeError(f"grad must be of a float dtype; got {value.data.dtype.name}")
            if type(value) is not Tensor:
                value = value.detach()
        if value is not None or self.leaf is not None:
            (self.leaf or self.leaf_node()).replace(value)

    def clear_gradient(self, set_to_zero: bool = True) -> None:
        """Forgets the gradient.

        Args:
            set_to_zero: True keeps the memory and lets ``grad`` read as zeros; the next gradient
                overwrites it. False lets ``grad`` be None.
        """
        if self.leaf is not None:
            self.leaf.clear(set_to_zero)

    clear_grad = clear_gradient

    def numpy(self) -> np.ndarray[Any, Any]:
        """A copy of the values as a NumPy array."""
        host: np.ndarray[Any, Any] = self.place.backend.to_host(self.data)
        return host

    def set_value(self, value: Any) -> None:
        """Overwrites the values, keeping the memory, without recording.

        Args:
            value: Tensor, array or nested list of this tensor's shape; converted to its dtype.

        Raises:
            ValueError: The shape differs.
        """
        source = value if isinstance(value, Tensor) else to_tensor(value, self.dtype, self.place)
        if source.data.shape != self.data.shape:
            raise ValueError(
                f"set_value needs shape {self.shape} for {self.name}; got {source.shape}"
            )
        array = source.data
        if source.place is not self.place:
            array = self.place.backend.from_host(source.numpy(), self.place.index)
        namespace(self.place).copy_(self.data, array)
        self.version[0] += 1

    def __repr__(self) -> str:
        return describe(self.data, self.place, self.stop_gradient)


# How often some parameter was frozen or unfrozen, or a backward failed: one number to look at
# before every forward.
trained_changes = [0]


class Parameter(Tensor):
    """A leaf that an optimizer trains; ``stop_gradient`` is False.

    Attributes:
        trainable: The negation of ``stop_gradient``.
        optimize_attr: ``{"learning_rate": factor}`` of this parameter.
        regularizer: Penalty that an optimizer puts on it in place of its own, or None.
        need_clip: Whether an optimizer may clip its gradient.
        no_sync: DataParallel leaves this parameter alone.
    """

    __slots__ = ("need_clip", "no_sync", "optimize_attr", "regularizer")

    def __init__(self, data: Array, place: Place, name: str | None = None) -> None:
        super().__init__(data, place)
        self._name = name
        self.edge = self.leaf_node()
        self.optimize_attr = {"learning_rate": 1.0}
        self.regularizer: Any = None
        self.need_clip = True
        self.no_sync = False

    @property
    def stop_gradient(self) -> bool:
        """Whether no gradient flows to this parameter: it is frozen."""
        return self.edge is None

    @stop_gradient.setter
    def stop_gradient(self, stop: bool) -> None:
        before = self.edge
        Tensor.stop_gradient.fset(self, stop)  # type: ignore[attr-defined]
        if self.edge is not before:
            trained_changes[0] += 1

    @property
    def trainable(self) -> bool:
        """Whether a gradient flows to this parameter."""
        return not self.stop_gradient

    @trainable.setter
    def trainable(self, trainable: bool) -> None:
        if not isinstance(trainable, bool):
            raise TypeError(f"trainable must be a bool; got {type(trainable).__name__}")
        self.stop_gradient = not trainable

    def __repr__(self) -> str:
        return f"Parameter {self.name}: {super().__repr__()}"


def to_tensor(
    data: Any,
    dtype: Any = None,
    place: str | Place | None = None,
    stop_gradient: bool = True,
) -> Tensor:
    """Copies values into a new tensor.

    Args:
        data: Number, nested list or tuple, NumPy array or Tensor.
        dtype: Element type; by default Python floats get the default dtype, ints int64, and arrays
            and tensors keep theirs.
        place: Device such as ``"cpu"`` or ``"gpu:0"``; by default the current one.
        stop_gradient: False to let ``backward`` fill ``grad``.

    Returns:
        The tensor.

    Raises:
        TypeError: The values are not numbers, or of unknown dtype.
        ValueError: Nested lists of unequal length.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.to_tensor([[1, 2], [3, 4]]).shape
        [2, 2]
    """
    where = current_place() if place is None else get_place(place)
    host = data.numpy() if isinstance(data, Tensor) else _host_array(data, dtype)
    if dtype is not None:
        host = host.astype(as_dtype(dtype), copy=False)
    if host.dtype.name != "bfloat16" and host.dtype.kind not in "bifuc":
        raise TypeError(f"to_tensor needs numbers; got an array of dtype {host.dtype}")
    known = as_dtype(host.dtype)
    if host.dtype is not known:  # foreign byte order, or one of two dtypes of one size
        host = host.astype(known)
    tensor = Tensor(where.backend.from_host(host, where.index), where)
    tensor.stop_gradient = stop_gradient
    return tensor


def _host_array(data: Any, dtype: Any) -> np.ndarray[Any, Any]:
    if isinstance(data, (np.ndarray, np.generic)):
        return np.asarray(data)
    if isinstance(data, (list, tuple)):
        data = [item.numpy() if isinstance(item, Tensor) else item for item in data]
    try:
        host = np.array(data)
    except ValueError as error:
        raise ValueError(f"to_tensor needs nested lists of equal length: {error}") from None
    # Only values that came from Python numbers take the default type.
    if dtype is None and host.dtype == np.float64 and not _holds_arrays(data):
        host = host.astype(as_dtype(get_default_dtype()))
    return host


def _holds_arrays(data: Any) -> bool:
    return isinstance(data, list) and any(isinstance(i, (np.ndarray, np.generic)) for i in data)
