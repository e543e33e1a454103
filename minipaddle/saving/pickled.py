"""What a pickle may name, and what we make of it.

Nothing that a file names is ever looked up in Python. A name stands in the table below or is
refused, and what it makes is made by a function here: plain values, and arrays that are still in
the file.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from minipaddle.saving.errors import CheckpointError
from minipaddle.saving.source import Budget, Source, Span

# The element types of arrays in pickles, by NumPy's short names.
ELEMENTS = frozenset(
    ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]
)
_ATOMS = (str, float, complex, type(None), bytes, np.generic)


@dataclass(frozen=True, slots=True)
class Allowed:
    """A name that a pickle may use.

    Attributes:
        name: As it stands in the file.
        make: What calling it with a tuple of arguments gives; None if it may not be called.
        value: What it is where a value is expected; None if it is none.
    """

    name: str
    make: Callable[[tuple[Any, ...], Budget], Any] | None = None
    value: Any = None


class ElementType:
    """A NumPy dtype in the making: named first, its byte order set afterwards."""

    __slots__ = ("dtype",)

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype

    def build(self, state: Any) -> None:
        """Takes the byte order from NumPy's state of a dtype; all else in it must be absent."""
        version, order, *rest = state
        if version != 3 or rest[:3] != [None, None, None] or text(order) not in ("<", ">", "|"):
            raise CheckpointError("it has an array with fields or of unknown byte order")
        if text(order) != "|":
            self.dtype = self.dtype.newbyteorder(text(order))


class StoredArray:
    """A NumPy array whose values are still in the file."""

    __slots__ = ("dtype", "fortran", "raw", "shape")

    def __init__(self) -> None:
        self.shape: tuple[int, ...] = ()
        self.dtype: np.dtype[Any] | None = None
        self.fortran = False
        self.raw: bytes | bytearray | Span = b""

    def build(self, state: Any) -> None:
        """Takes shape, element type, order and bytes from NumPy's state of an array."""
        *version, shape, element, fortran, raw = state
        if version not in ([1], []) or self.dtype is not None:
            raise CheckpointError("it has an array in a form that NumPy does not write")
        self.describe(shape, element, bool(fortran), raw)

    def describe(self, shape: Any, element: Any, fortran: bool, raw: Any) -> None:
        """Sets everything, after the lengths were held against each other."""
        if not isinstance(element, ElementType) or not is_shape(shape):
            raise CheckpointError("it has an array without a proper shape and element type")
        if isinstance(raw, str):
            raw = raw.encode("latin-1")  # bytes of Python 2
        if not isinstance(raw, (bytes, bytearray, Span)):
            raise CheckpointError("it has an array of Python objects; only numbers are read")
        length = raw.length if isinstance(raw, Span) else len(raw)
        if length != math.prod(shape) * element.dtype.itemsize:
            raise CheckpointError(
                f"it is damaged: {length} bytes are given for an array of shape {list(shape)} and "
                f"dtype {element.dtype.name}"
            )
        self.shape, self.dtype, self.fortran, self.raw = shape, element.dtype, fortran, raw

    def read(self, source: Source) -> np.ndarray[Any, Any]:
        """The array, C-contiguous, in memory of its own and this machine's byte order."""
        if self.dtype is None:
            raise CheckpointError("it has an array without contents")
        shape = self.shape[::-1] if self.fortran else self.shape
        if isinstance(self.raw, Span):
            found = source.array(self.raw.offset, shape, self.dtype)
        else:
            source.budget.spend_memory(len(self.raw))
            found = np.frombuffer(self.raw, self.dtype).reshape(shape).copy()
        if self.fortran:
            found = found.T.copy(order="C")
        native = self.dtype.newbyteorder("=")
        return found if found.dtype == native else found.astype(native)


def text(value: Any) -> Any:
    """``value``, as text if it is bytes: Python 2 wrote one for the other."""
    return value.decode("latin-1") if isinstance(value, bytes) else value


def is_shape(value: Any) -> bool:
    """Whether ``value`` is a tuple of at most 32 lengths."""
    return (
        type(value) is tuple
        and len(value) <= 32
        and all(type(n) is int and 0 <= n < 1 << 62 for n in value)
    )


def is_key(value: Any) -> bool:
    """Whether ``value`` may be a key or in a set: its hash takes no time and no depth of calls."""
    if type(value) is tuple:
        return len(value) <= 32 and all(_is_atom(item) for item in value)
    return _is_atom(value)


def _is_atom(value: Any) -> bool:
    return -(1 << 127) <= value < 1 << 127 if isinstance(value, int) else isinstance(value, _ATOMS)


def check_keys(values: Any) -> None:
    """Refuses keys that are not plain values, or tuples of plain values.

    Raises:
        CheckpointError: One is something else.
    """
    for value in values:
        if not is_key(value):
            kind = "bytes" if isinstance(value, Span) else type(value).__name__
            raise CheckpointError(f"it has a key that is no plain value but {kind}")


def _make_dtype(args: tuple[Any, ...], budget: Budget) -> ElementType:
    name = text(args[0])
    if not isinstance(name, str) or name not in ELEMENTS:
        raise CheckpointError(
            f"it has an array of dtype {str(name)[:40]!r}; only numbers of "
            f"{', '.join(sorted(ELEMENTS))} are read"
        )
    return ElementType(np.dtype(name))


def _make_scalar(args: tuple[Any, ...], budget: Budget) -> Any:
    element, raw = args
    raw = raw.encode("latin-1") if isinstance(raw, str) else raw
    if not isinstance(element, ElementType) or len(raw) != element.dtype.itemsize:
        raise CheckpointError("it has a NumPy number of the wrong length")
    return np.frombuffer(raw, element.dtype)[0]


def _make_array(args: tuple[Any, ...], budget: Budget) -> StoredArray:
    return StoredArray()  # its contents follow


def _make_from_buffer(args: tuple[Any, ...], budget: Budget) -> StoredArray:
    raw, element, shape, order = args
    array = StoredArray()
    array.describe(shape, element, order == "F", raw)
    return array


def _make_bytes_of_text(args: tuple[Any, ...], budget: Budget) -> bytes:
    content, encoding = args
    if encoding not in ("latin1", "latin-1") or not isinstance(content, str):
        raise CheckpointError("_codecs.encode is read only as pickle writes it, for bytes")
    budget.spend_memory(len(content))
    return content.encode("latin-1")


def _make_bytes(args: tuple[Any, ...], budget: Budget) -> bytes:
    if args:
        raise CheckpointError("bytes is read only as pickle writes it, without arguments")
    return b""


def _items(args: tuple[Any, ...], budget: Budget) -> Any:
    """The one list, tuple or dict that a container is made of; () if there is none."""
    (items,) = args or ((),)
    if type(items) not in (list, tuple, dict, set):
        raise CheckpointError(f"it makes a container of a {type(items).__name__}")
    budget.spend_objects(len(items))
    return items


def _make_tuple(args: tuple[Any, ...], budget: Budget) -> tuple[Any, ...]:
    return tuple(_items(args, budget))


def _make_set(args: tuple[Any, ...], budget: Budget) -> set[Any]:
    items = _items(args, budget)
    check_keys(items)
    return set(items)


def _make_ordered(args: tuple[Any, ...], budget: Budget) -> OrderedDict[Any, Any]:
    pairs = _items(args, budget)
    if type(pairs) is dict:
        return OrderedDict(pairs)
    check_keys(pair[0] for pair in pairs)
    return OrderedDict([(key, value) for key, value in pairs])


def _make_counter(args: tuple[Any, ...], budget: Budget) -> dict[Any, Any]:
    return dict(_make_ordered(args, budget))


def _make_complex(args: tuple[Any, ...], budget: Budget) -> complex:
    real, imag = args
    return complex(float(real), float(imag))


def _make_evaluated(args: tuple[Any, ...], budget: Budget) -> Any:
    """Paddle writes a static tensor as ``eval("data", {"data": array})``; nothing is evaluated."""
    if len(args) != 2 or args[0] != "data" or type(args[1]) is not dict:
        raise CheckpointError("builtins.eval is not allowed in a checkpoint")
    return args[1]["data"]


def table(entries: Mapping[str, Callable[[tuple[Any, ...], Budget], Any] | None]) -> Any:
    """A table of allowed names from their functions."""
    return {name: Allowed(name, make) for name, make in entries.items()}


# The modules under the names of today; see canonical().
ALLOWED: dict[str, Allowed] = table(
    {
        "numpy.ndarray": None,
        "numpy.dtype": _make_dtype,
        "numpy._core.multiarray._reconstruct": _make_array,
        "numpy._core.multiarray.scalar": _make_scalar,
        "numpy._core.numeric._frombuffer": _make_from_buffer,
        "_codecs.encode": _make_bytes_of_text,
        "builtins.bytes": _make_bytes,
        "builtins.complex": _make_complex,
        "builtins.eval": _make_evaluated,
        "builtins.set": _make_set,
        "builtins.tuple": _make_tuple,
        "collections.Counter": _make_counter,
        "collections.OrderedDict": _make_ordered,
    }
)


def canonical(module: str, name: str) -> str:
    """One name for what NumPy 1 and 2, or Python 2 and 3, call differently."""
    module = {"__builtin__": "builtins"}.get(module, module)
    if module.startswith("numpy.core."):
        module = "numpy._core." + module.removeprefix("numpy.core.")
    return f"{module}.{name}"


def refusal(name: str) -> CheckpointError:
    """The error for a name that is not allowed."""
    root = name.partition(".")[0]
    advice = {
        "torch": "save model.state_dict() in PyTorch instead of the model",
        "paddle": "save layer.state_dict() in Paddle instead of the layer",
    }.get(root, "if you trust the file, load it with the program that wrote it and save its arrays")
    return CheckpointError(
        f"{name[:200]} is not allowed in a checkpoint, which may hold plain values, arrays and "
        f"tensors; nothing was run; {advice}"
    )
