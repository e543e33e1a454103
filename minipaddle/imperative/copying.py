"""Copies of tensors: ``copy.deepcopy`` and pickling."""

from __future__ import annotations

import copy
import itertools
from typing import Any

import numpy as np

from minipaddle.device.backend import Place
from minipaddle.device.dtype import as_dtype
from minipaddle.imperative.tensor import Parameter, Tensor

_numbers = itertools.count()


def __deepcopy__(self: Tensor, memo: dict[int, Any]) -> Tensor:
    if not self.is_leaf:
        raise RuntimeError(
            f"{self.name} was made by an op and its graph cannot be copied; use detach() or clone()"
        )
    name = f"{self.name}_deepcopy_{next(_numbers)}" if isinstance(self, Parameter) else None
    copied = _rebuild(type(self), self.numpy(), self.place, self.stop_gradient, name)
    memo[id(self)] = copied
    for attribute, value in _own_attributes(self).items():
        setattr(copied, attribute, copy.deepcopy(value, memo))
    return copied


def __reduce__(self: Tensor) -> tuple[Any, ...]:
    """Values, place, name, stop_gradient and own attributes travel; graph and gradient stay."""
    args = (type(self), self.numpy(), self.place, self.stop_gradient, self._name)
    attributes = _own_attributes(self)
    return _rebuild, args, (None, attributes) if attributes else None


def _rebuild(
    kind: type[Tensor], host: np.ndarray[Any, Any], place: Place, stop: bool, name: str | None
) -> Tensor:
    # An unpickled array has a dtype object of its own; ops compare dtypes by identity.
    host = host.view(as_dtype(host.dtype))
    tensor = kind(place.backend.from_host(host, place.index), place)
    tensor._name = name
    tensor.stop_gradient = stop
    return tensor


def _own_attributes(tensor: Tensor) -> dict[str, Any]:
    """What a subclass adds: the values of its slots, and of its ``__dict__`` where it has one."""
    kinds = [k for k in type(tensor).__mro__ if issubclass(k, Tensor) and k is not Tensor]
    slots = [name for kind in kinds for name in vars(kind).get("__slots__", ())]
    held = {name: getattr(tensor, name) for name in slots if hasattr(tensor, name)}
    return held | getattr(tensor, "__dict__", {})


METHODS = (__deepcopy__, __reduce__)
