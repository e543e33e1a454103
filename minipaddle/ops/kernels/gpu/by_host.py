"""Ops without a kernel of their own for a GPU: computed by the CPU's, on copies.

Right, and slow: a copy either way and a wait. Register a kernel, and its op is no longer in here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import cupy
import numpy as np

from minipaddle.ops.declaration import Rows
from minipaddle.ops.op import OPS, kernel

ndarray = cupy.ndarray


def _to_host(arg: Any, copies: list[tuple[Any, Any]]) -> Any:
    if arg.__class__ is ndarray:
        copy = arg.get(order="C")
        copies.append((arg, copy))
        return copy
    if isinstance(arg, (list, tuple)) and any(item.__class__ is ndarray for item in arg):
        return type(arg)(_to_host(item, copies) for item in arg)
    return arg


def _to_device(result: Any, copies: list[tuple[Any, Any]]) -> Any:
    if result is None:
        return None
    if isinstance(result, Rows):
        return Rows(*(_to_device(item, copies) for item in result))
    if isinstance(result, (list, tuple)):
        return [_to_device(item, copies) for item in result]
    for array, copy in copies:
        if result is copy:
            return array
    return cupy.array(np.asarray(result), order="C")


def _through_host(compute: Callable[..., Any], writes: bool, *args: Any) -> Any:
    copies: list[tuple[Any, Any]] = []
    found = compute(*[_to_host(arg, copies) for arg in args])
    if writes:
        for array, copy in copies:
            array.set(copy) if array._c_contiguous else array.__setitem__(..., cupy.array(copy))
    return _to_device(found, copies)


def register_missing() -> list[str]:
    """Registers the CPU's kernels, on copies, where there is none for a GPU; the ops' names."""
    missing = []
    for name, op in list(OPS.items()):
        table = op.kernels.registered
        if "cpu" in table and "gpu" not in table and "composite" not in table:
            missing.append(name)
            kernel(name, "gpu")(functools.partial(_through_host, table["cpu"], name.endswith("_")))
    return missing
