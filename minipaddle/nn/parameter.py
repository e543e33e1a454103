"""Making parameters: first values, settings, and a name that no other parameter has."""

from __future__ import annotations

import itertools
from typing import Any

from minipaddle.imperative.tensor import Parameter
from minipaddle.nn.initializer import Initializer, ParamAttr

_names: set[str] = set()


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
    name = _claim(attr.name) if attr.name is not None else _new_name(stem)
    value = (attr.initializer or initializer)(shape, dtype)
    parameter = Parameter(value.data, value.place, name)
    parameter.trainable = attr.trainable
    parameter.optimize_attr = {"learning_rate": attr.learning_rate}
    parameter.regularizer = attr.regularizer
    parameter.need_clip = attr.need_clip
    return parameter


def _claim(name: str) -> str:
    if name in _names:
        raise ValueError(f"a parameter named {name!r} exists already")
    _names.add(name)
    return name


def _new_name(stem: str) -> str:
    numbered = (f"{stem}_{number}" for number in itertools.count())
    return _claim(next(name for name in numbered if name not in _names))
