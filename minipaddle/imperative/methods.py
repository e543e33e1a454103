"""Methods and operators of Tensor: the ops that ops.yaml puts there, and conversions to Python."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from minipaddle.device.dtype import FLOATS, get_default_dtype
from minipaddle.imperative import autograd, conversion, copying, functions, hints, interchange
from minipaddle.imperative.functions import (
    advanced,
    arithmetic,
    comparison,
    elementwise,
    linalg,
    math,
    numerical,
    shape,
)
from minipaddle.imperative.functions.advanced import BASIC
from minipaddle.imperative.grad_node import AccumulationNode, GradNode, Hook
from minipaddle.imperative.operand import FUNCTIONS
from minipaddle.imperative.selected_rows import SelectedRows
from minipaddle.imperative.tensor import Tensor, to_tensor
from minipaddle.ops.op import OPS

_hook_numbers = itertools.count()


class HookHandle:
    """What ``register_hook`` returns; ``remove`` takes the hook away again."""

    def __init__(self, hooks: dict[int, Hook], number: int) -> None:
        self._hooks = hooks
        self._number = number

    def remove(self) -> bool:
        """Takes the hook away.

        Returns:
            True; False, with a warning, if that had been done before.
        """
        if self._hooks.pop(self._number, None) is None:
            warnings.warn("this gradient hook has been removed before", stacklevel=2)
            return False
        return True


def backward(
    self: Tensor,
    grad_tensor: Tensor | None = None,
    retain_graph: bool = False,
    create_graph: bool = False,
) -> None:
    """Adds this tensor's gradients to the ``grad`` of every leaf it was computed from.

    Args:
        self: Any tensor that a gradient flows from.
        grad_tensor: Gradient to start with, of this tensor's shape; ones by default.
        retain_graph: Keep the saved values, so that backward can run again.
        create_graph: Record the run, so that the gradients can be differentiated.

    Raises:
        RuntimeError: The graph has run before, or a saved value was overwritten since.
        ValueError: ``grad_tensor`` does not match.
    """
    autograd.backward(self, grad_tensor, retain_graph, create_graph)


def register_hook(self: Tensor, hook: Hook) -> HookHandle:
    """Has ``hook(grad)`` called in each backward with this tensor's summed gradient.

    Args:
        self: A tensor that a gradient flows to.
        hook: Gets a Tensor it must not change; returns None, or a Tensor to go on with instead.

    Returns:
        A handle whose ``remove()`` takes the hook away.

    Raises:
        RuntimeError: No gradient flows to this tensor.
    """
    if self.edge is None:
        raise RuntimeError(f"{self.name} has no gradient to hook: its stop_gradient is True")
    if not callable(hook):
        raise TypeError(f"hook must be callable; got {type(hook).__name__}")
    if self.edge.hooks is None:
        self.edge.hooks = {}
    number = next(_hook_numbers)
    self.edge.hooks[number] = hook
    return HookHandle(self.edge.hooks, number)


def retain_grads(self: Tensor) -> None:
    """Lets a tensor that an op made keep its ``grad`` as a leaf does.

    Raises:
        RuntimeError: No gradient flows to this tensor.
    """
    if self.edge is None:
        raise RuntimeError(f"{self.name} has no gradient to keep: its stop_gradient is True")
    if isinstance(self.edge, GradNode) and self.edge.retained is None:
        node = AccumulationNode(self.place, self.data.shape, self.data.dtype, self.name)
        self.leaf = self.edge.retained = node


def detach(self: Tensor) -> Tensor:
    """A tensor over the same memory to which no gradient flows."""
    alias = Tensor(self.data, self.place)
    alias.version = self.version
    return alias


def to_dense(self: SelectedRows) -> Tensor:
    """The whole as a Tensor."""
    return Tensor(self.data, self.place)


def item(self: Tensor, *index: int) -> Any:
    """The single element as a Python number, or the one at ``index``.

    Raises:
        ValueError: There is more than one element and no index.
    """
    host = self.numpy()
    if index:
        return host.item(*index)
    if host.size != 1:
        raise ValueError(
            f"item() needs a tensor of one element; this one has shape {self.shape}; give an index"
        )
    return host.item()


def tolist(self: Tensor) -> Any:
    """The values as nested lists of Python numbers."""
    return self.numpy().tolist()


def numel(self: Tensor) -> int:
    """Number of elements."""
    return self.size


def _number(kind: Callable[[Any], Any]) -> Callable[[Tensor], Any]:
    def convert(self: Tensor) -> Any:
        if self.size != 1:
            raise TypeError(
                f"only a tensor of one element becomes {kind.__name__}; this one has shape "
                f"{self.shape}"
            )
        return kind(self.numpy().item())

    return convert


def __len__(self: Tensor) -> int:
    if not self.ndim:
        raise TypeError("a 0-d tensor has no len()")
    return int(self.data.shape[0])


def __iter__(self: Tensor) -> Iterator[Tensor]:
    if not self.ndim:
        raise TypeError("a 0-d tensor cannot be iterated over")
    return (__getitem__(self, i) for i in range(__len__(self)))


def __getitem__(self: Tensor, index: Any) -> Tensor:
    entries = index if index.__class__ is tuple else (index,)
    for entry in entries:
        if entry.__class__ not in BASIC:
            return advanced.advanced_getitem(self, entries)
    return shape.getitem(self, entries)


def __setitem__(self: Tensor, index: Any, value: Any) -> None:
    if not isinstance(value, _COMPARABLE):
        value = to_tensor(value, place=self.place)
    if isinstance(value, (Tensor, np.ndarray)) and value.dtype != self.data.dtype:
        value = value.astype(self.data.dtype)
    entries = index if index.__class__ is tuple else (index,)
    for entry in entries:
        if entry.__class__ not in BASIC:
            advanced.advanced_setitem_(self, value, entries)
            return
    shape.setitem_(self, value, entries)


def __format__(self: Tensor, form: str) -> str:
    if form and self.size == 1:
        return format(self.numpy().item(), form)
    try:
        return format(repr(self), form)
    except ValueError:
        raise ValueError(
            f"only a tensor of one element takes the format {form!r}; this one has shape "
            f"{self.shape}; set_printoptions sets the digits of larger ones"
        ) from None


def __contains__(self: Tensor, value: Any) -> bool:
    if not isinstance(value, _COMPARABLE):
        raise TypeError(f"'in' looks for a number or a tensor; got {type(value).__name__}")
    found: Tensor = FUNCTIONS["equal"](self, value)
    return bool(found.numpy().any())


def _reversed(function: Callable[[Any, Any], Tensor]) -> Callable[[Tensor, Any], Tensor]:
    def swapped(self: Tensor, other: Any) -> Tensor:
        return function(other, self)

    return swapped


_COMPARABLE = (Tensor, np.ndarray, np.generic, bool, int, float)


def _comparing(name: str, swap: bool = False) -> Callable[[Tensor, Any], Any]:
    """An operator that leaves what is neither a tensor, an array nor a number to the other side."""
    function = FUNCTIONS[name]

    def compare(self: Tensor, other: Any) -> Any:
        if not isinstance(other, _COMPARABLE):
            return NotImplemented
        return function(other, self) if swap else function(self, other)

    return compare


def _divisible(self: Tensor, other: Any) -> Tensor:
    """An int tensor in the default float type, unless the other operand is of a float type."""
    if self.data.dtype in FLOATS or getattr(other, "dtype", None) in FLOATS:
        return self
    return elementwise.cast(self, get_default_dtype())


def __truediv__(self: Tensor, other: Any) -> Tensor:
    return elementwise.divide(_divisible(self, other), other)


def __rtruediv__(self: Tensor, other: Any) -> Tensor:
    return elementwise.divide(other, _divisible(self, other))


_OPERATORS: dict[str, Any] = {
    "__add__": elementwise.add,
    "__radd__": _reversed(elementwise.add),
    "__sub__": elementwise.subtract,
    "__rsub__": _reversed(elementwise.subtract),
    "__mul__": elementwise.multiply,
    "__rmul__": _reversed(elementwise.multiply),
    "__truediv__": __truediv__,
    "__rtruediv__": __rtruediv__,
    "__floordiv__": arithmetic.floor_divide,
    "__rfloordiv__": _reversed(arithmetic.floor_divide),
    "__mod__": arithmetic.remainder,
    "__rmod__": _reversed(arithmetic.remainder),
    "__pow__": arithmetic.pow,
    "__rpow__": _reversed(arithmetic.pow),
    "__matmul__": linalg.matmul,
    "__rmatmul__": _reversed(linalg.matmul),
    "__eq__": _comparing("equal"),  # elementwise; a tensor is still hashed by identity
    "__ne__": _comparing("not_equal"),
    "__lt__": _comparing("less_than"),
    "__le__": _comparing("less_equal"),
    "__gt__": _comparing("greater_than"),
    "__ge__": _comparing("greater_equal"),
    "__and__": _comparing("bitwise_and"),
    "__rand__": _comparing("bitwise_and", swap=True),
    "__or__": _comparing("bitwise_or"),
    "__ror__": _comparing("bitwise_or", swap=True),
    "__xor__": _comparing("bitwise_xor"),
    "__rxor__": _comparing("bitwise_xor", swap=True),
    "__lshift__": _comparing("bitwise_left_shift"),
    "__rlshift__": _comparing("bitwise_left_shift", swap=True),
    "__rshift__": _comparing("bitwise_right_shift"),
    "__rrshift__": _comparing("bitwise_right_shift", swap=True),
    "__invert__": comparison.bitwise_not,
    "__complex__": _number(complex),
    "__neg__": math.neg,
    "__pos__": numerical.positive,
    "__abs__": math.abs,
    "__float__": _number(float),
    "__int__": _number(int),
    "__bool__": _number(bool),
}


def _index(self: Tensor) -> int:
    if self.size != 1 or self.data.dtype.kind not in "iub":
        raise TypeError(f"only an int tensor of one element is an index; got {self.dtype.name}")
    return int(self.numpy().item())


def install() -> None:
    """Puts all methods on Tensor; called once, when the package is imported."""
    for op in OPS.values():
        for path in op.api:
            owner, _, method = path.rpartition(".")
            if owner == "Tensor" and not method.startswith("__"):
                setattr(Tensor, method, FUNCTIONS[op.name])
                if op.inplace:
                    setattr(Tensor, method + "_", FUNCTIONS[op.name + "_"])
    for module in vars(functions).values():  # those made of ops: their modules say where they go
        for path in getattr(module, "API", ()):
            owner, _, name = path.rpartition(".")
            if owner == "Tensor":
                setattr(Tensor, name, getattr(module, name))
    for name, function in _OPERATORS.items():
        setattr(Tensor, name, function)
    for function in (
        backward, register_hook, retain_grads, detach, item, tolist, numel, __len__, __iter__,
        __getitem__, __setitem__, __format__, __contains__,
        *conversion.METHODS, *copying.METHODS, *interchange.METHODS,
    ):  # fmt: skip
        setattr(Tensor, function.__name__, function)
    SelectedRows.to_dense = to_dense
    Tensor.__index__ = _index  # type: ignore[attr-defined]
    for name in hints.METHODS:
        if not hasattr(Tensor, name):
            setattr(Tensor, name, hints.Missing(name))
    Tensor.__dir__ = hints.names_of  # type: ignore[assignment]


install()
