"""Making parameters: first values, settings, and a name that no other parameter has."""

from __future__ import annotations

import itertools
import threading
import weakref
from typing import Any

from minipaddle.imperative.tensor import Parameter
from minipaddle.nn.initializer import Initializer, ParamAttr

_named: weakref.WeakValueDictionary[str, Parameter] = weakref.WeakValueDictionary()
_lock = threading.Lock()


def make_parameter(
    shape: list[int], dtype: Any, attr: ParamAttr, initializer: Initializer, stem: str
) -> Parameter:
    """A new parameter.

    Args:
        shape: Lengths of its axes.
        dtype: Float element type.
        attr: What is asked of it.
        initializer: Used if ``attr`` gives none.
        stem: Its name is this with a number behind it, if ``attr`` gives none.

    Raises:
        ValueError: The name that ``attr`` gives is taken.
    """
    if attr.name is not None and attr.name in _named:
        raise ValueError(f"a parameter named {attr.name!r} exists already")
    value = (attr.initializer or initializer)(shape, dtype)
    with _lock:
        name = attr.name if attr.name is not None else _new_name(stem)
        parameter = Parameter(value.data, value.place, name)
        _named[name] = parameter
    parameter.trainable = attr.trainable
    parameter.optimize_attr = {"learning_rate": attr.learning_rate}
    return parameter


def _new_name(stem: str) -> str:
    numbered = (f"{stem}_{number}" for number in itertools.count())
    return next(name for name in numbered if name not in _named)
