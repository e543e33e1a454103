"""Arithmetic, element by element.

Each function returns an array, also for 0-d operands, where a NumPy ufunc alone returns a scalar.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minipaddle.ops.kernels.cpu.block import blockwise
from minipaddle.ops.op import Array, kernel

_NUMBERS = frozenset({bool, int, float})


def _binary(name: str, ufunc: np.ufunc) -> Callable[[Any, Any], Array]:
    """Registers ``ufunc`` and its in-place form as the kernels of op ``name``."""

    def compute(x: Any, y: Any) -> Array:
        out = ufunc(x, y)
        if out.__class__ is not np.ndarray:
            out = np.asarray(out)
        # A number takes the array's type. NumPy sees to that but for bfloat16, which is not its
        # own: there the result is float32 and is rounded once, here.
        if y.__class__ in _NUMBERS:
            return out if out.dtype is x.dtype else out.astype(x.dtype)
        if x.__class__ in _NUMBERS:
            return out if out.dtype is y.dtype else out.astype(y.dtype)
        return out

    def compute_inplace(x: Array, y: Any) -> Array:
        return ufunc(x, y, out=x, casting="same_kind")

    kernel(name, "cpu")(compute)
    kernel(name + "_", "cpu")(compute_inplace)
    return compute


add = _binary("add", np.add)
subtract = _binary("subtract", np.subtract)
multiply = _binary("multiply", np.multiply)
divide = _binary("divide", np.divide)


@kernel("equal", "cpu")
def equal(x: Any, y: Any) -> Array:
    return np.asarray(np.equal(x, y))


@kernel("not_equal", "cpu")
def not_equal(x: Any, y: Any) -> Array:
    return np.asarray(np.not_equal(x, y))


@kernel("square", "cpu")
def square(x: Array) -> Array:
    return np.asarray(np.square(x))


@kernel("sign", "cpu")
def sign(x: Array) -> Array:
    return np.asarray(np.sign(x))


@kernel("tanh", "cpu")
def tanh(x: Array) -> Array:
    return np.asarray(np.tanh(x))


@kernel("exp", "cpu")
def exp(x: Array) -> Array:
    return blockwise(lambda out, x: np.exp(x, out=out), (x,))


@kernel("cast", "cpu")
def cast(x: Array, dtype: Any) -> Array:
    return x.astype(dtype)


@kernel("assign", "cpu")
def assign(x: Array) -> Array:
    return np.array(x, order="C")
