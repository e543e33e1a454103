"""Making parameters: first values, settings, and a name that no other parameter has."""

from __future__ import annotations

import itertools
import threading
import weakref
from dataclasses import replace
from typing import Any

from minipaddle.device.dtype import as_dtype
from minipaddle.imperative.tensor import Parameter
from minipaddle.nn.initializer import Initializer, ParamAttr, default_for

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
    parameter.regularizer = attr.regularizer
    parameter.need_clip = attr.need_clip
    return parameter


def create_parameter(
    shape: list[int],
    dtype: Any,
    name: str | None = None,
    attr: Any = None,
    is_bias: bool = False,
    default_initializer: Initializer | None = None,
) -> Parameter:
    """Makes a parameter that belongs to no layer.

    Args:
        shape: Lengths of its axes.
        dtype: Float element type.
        name: Its name, if ``attr`` gives none.
        attr: ParamAttr, Initializer, name or None.
        is_bias: Zeros by default; otherwise Xavier-uniform by default.
        default_initializer: Used if ``attr`` gives none, and ``set_global_initializer`` none.

    Returns:
        The parameter.

    Raises:
        TypeError: ``attr`` is none of these.
        ValueError: The name is taken.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.create_parameter([2, 3], "float32").shape
        [2, 3]
    """
    asked = ParamAttr.of(name if attr is None else attr)
    if asked.name is None and name is not None:
        asked = replace(asked, name=name)
    first = default_for(is_bias, default_initializer)
    return make_parameter(shape, as_dtype(dtype), asked, first, "create_parameter")


def _new_name(stem: str) -> str:
    numbered = (f"{stem}_{number}" for number in itertools.count())
    return next(name for name in numbered if name not in _named)
