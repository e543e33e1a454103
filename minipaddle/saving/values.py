"""From what a file describes to values: arrays are read, tensors made, containers kept."""

from __future__ import annotations

from collections import OrderedDict
from enum import Enum
from typing import Any

import numpy as np

from minipaddle.device.backend import current_place
from minipaddle.device.dtype import BY_NAME, bfloat16
from minipaddle.imperative.interchange import from_numpy
from minipaddle.imperative.tensor import Tensor, to_tensor
from minipaddle.saving.errors import CheckpointError
from minipaddle.saving.pickled import Allowed, StoredArray
from minipaddle.saving.source import Source, Span

MAX_DEPTH = 100
PLAIN = frozenset([type(None), bool, int, float, complex, str, bytes, set, frozenset])
_UNFINISHED = object()


class Tensors(Enum):
    """Which arrays of a pickle are tensors."""

    NONE = "none"
    NAMED = "those with a name beside them"
    ALL = "all"


def has_named_arrays(value: Any) -> bool:
    """Whether a tuple of a name and an array is in ``value``: so Paddle stores a tensor."""
    waiting, seen = [value], set[int]()
    while waiting:
        item = waiting.pop()
        if is_named_array(item):
            return True
        if type(item) in (dict, OrderedDict, list, tuple) and id(item) not in seen:
            seen.add(id(item))
            waiting.extend(item.values() if isinstance(item, dict) else item)
    return False


def is_named_array(value: Any) -> bool:
    """Whether ``value`` is a tuple of a name and an array."""
    if type(value) is not tuple or len(value) != 2:
        return False
    return isinstance(value[0], str) and isinstance(value[1], StoredArray | np.ndarray)


class Values:
    """Makes the values that a file describes; the same part of the file is the same object.

    Args:
        source: Where arrays are read from.
        return_numpy: Arrays take the place of tensors.
        tensors: Which arrays are tensors.
    """

    def __init__(self, source: Source, return_numpy: bool, tensors: Tensors) -> None:
        self.source = source
        self.return_numpy = return_numpy
        self.tensors = tensors
        self.made: dict[int, Any] = {}

    def of(self, value: Any, depth: int = 0) -> Any:
        """``value`` with arrays and tensors in place of their descriptions.

        Raises:
            CheckpointError: It is nested too deeply, contains itself, or has what is no value.
        """
        if type(value) in PLAIN or isinstance(value, np.generic):
            return value
        found = self.made.get(id(value))
        if found is _UNFINISHED:
            raise CheckpointError("it has a container that contains itself")
        if found is None:
            if depth > MAX_DEPTH:
                raise CheckpointError(f"it is nested deeper than {MAX_DEPTH} levels")
            self.made[id(value)] = _UNFINISHED
            found = self.made[id(value)] = self._make(value, depth + 1)
        return found

    def _make(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if kind is list:
            value[:] = [self.of(item, depth) for item in value]
            return value
        if kind in (dict, OrderedDict):
            for key, item in value.items():
                value[key] = self.of(item, depth)
            return value
        if self.tensors is Tensors.NAMED and is_named_array(value):
            return self.tensor(self.array(value[1]), value[0])
        if kind is tuple:
            return tuple([self.of(item, depth) for item in value])
        if isinstance(value, StoredArray | np.ndarray):
            array = self.array(value)
            return self.tensor(array) if self.tensors is Tensors.ALL else array
        return self._other(value)

    def _other(self, value: Any) -> Any:
        if isinstance(value, Span):
            return self.source.bytes_of(value)
        if isinstance(value, Allowed) and value.value is not None:
            return value.value
        if hasattr(value, "read"):  # a tensor of PyTorch's
            return self.tensor(value.read(self.source))
        what = value.name if isinstance(value, Allowed) else type(value).__name__
        raise CheckpointError(f"it has {what} where a value is expected")

    def array(self, value: Any) -> np.ndarray[Any, Any]:
        """The array that ``value`` describes."""
        if isinstance(value, StoredArray):
            return value.read(self.source)
        found: np.ndarray[Any, Any] = value
        return found

    def tensor(self, array: np.ndarray[Any, Any], name: str | None = None) -> Any:
        """A tensor with the memory of ``array``, or the array if no tensor is wanted.

        Paddle writes bfloat16 as uint16, for which it has no other use.
        """
        if array.dtype == np.uint16:
            array = array.view(bfloat16())
        return array if self.return_numpy else tensor_of(array, name)


def tensor_of(array: np.ndarray[Any, Any], name: str | None = None) -> Any:
    """A tensor with the memory of ``array``; the array itself if tensors have no such dtype."""
    if array.dtype.name == "bfloat16":
        bfloat16()
    if array.dtype.name not in BY_NAME:
        return array
    tensor: Tensor = from_numpy(array)
    if tensor.place is not current_place():
        tensor = to_tensor(tensor, place=current_place())
    if name:
        tensor.name = name
    return tensor
