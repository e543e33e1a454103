"""How the named arrays of an OpTest become the arguments of a function, and its results names."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from minipaddle.device.backend import Place
from minipaddle.device.dtype import as_dtype, is_float
from minipaddle.imperative.tensor import to_tensor
from minipaddle.testing.operands import results


def listed(value: Any) -> list[Any]:
    """None as no item, one name as a list of one, and several as a list."""
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple, set, frozenset)) else [value]


def named(values: dict[str, Any]) -> dict[str, Any]:
    """Every variable by its name: of ``(array, lod)`` the array, of a list each of its items."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, list):
            found.update(named(dict(value)))
        else:
            found[name] = np.asarray(value[0] if isinstance(value, tuple) else value)
    return found


def tensors(arrays: dict[str, Any], wants: set[str], place: Place) -> dict[str, Any]:
    """A tensor on ``place`` for each array; the floats of ``wants`` want a gradient."""
    return {
        name: to_tensor(
            array,
            place=place,
            stop_gradient=not (name in wants and is_float(as_dtype(array.dtype))),
        )
        for name, array in arrays.items()
    }


def arguments(
    function: Callable[..., Any],
    inputs: dict[str, Any],
    given: dict[str, Any],
    attributes: dict[str, Any],
) -> dict[str, Any]:
    """Parameter -> argument, in the function's order.

    Args:
        function: Whose parameters carry the names, in any case of letters.
        inputs: As in an OpTest: which variables there are, and which of them form a list.
        given: Variable -> what is handed over for it.
        attributes: The other arguments by name.

    Raises:
        TypeError: A name is that of no parameter.
    """
    values = {
        name: [given[item] for item, _ in value] if isinstance(value, list) else given[name]
        for name, value in inputs.items()
    }
    values.update(attributes)
    lower = {name.lower(): name for name in values}
    found = {}
    for parameter in inspect.signature(function).parameters:
        name = parameter if parameter in values else lower.get(parameter.lower())
        if name in values:
            found[parameter] = values.pop(name)
    if values:
        name = getattr(function, "__name__", str(function))
        raise TypeError(
            f"{name}{inspect.signature(function)} has no parameter for {', '.join(values)}"
        )
    return found


def named_results(out: Any, outputs: dict[str, Any], absent: list[str]) -> dict[str, Any]:
    """Each result by the name of the output that stands at its place.

    Args:
        out: What the function returned.
        outputs: The expected outputs by name.
        absent: Names that the function may not return at all; the last of them are not there.

    Raises:
        AssertionError: There are more or fewer results than outputs.
    """
    found, names = results(out), list(named(outputs))
    for name in reversed(list(names)):
        if len(names) > len(found) and name in absent:
            names.remove(name)
    assert len(names) == len(found), f"{len(found)} results for the outputs {names}"
    return dict(zip(names, found, strict=True))
