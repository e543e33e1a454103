"""Comparisons, logic and bits, element by element."""

from __future__ import annotations

from typing import Any

import cupy

from minipaddle.device.dtype import BY_NAME
from minipaddle.ops.kernels.gpu.elementwise import binary, unary
from minipaddle.ops.kernels.gpu.launch import Elementwise
from minipaddle.ops.op import Array, kernel

_FILE = "comparison.cu"
_BOOL = BY_NAME["bool"]


def _camel(name: str) -> str:
    return "".join(map(str.capitalize, name.split("_")))


_PAIRS = (
    "not_equal", "less_than", "less_equal", "greater_than", "greater_equal", "logical_and",
    "logical_or", "logical_xor",
)  # fmt: skip
for _name in _PAIRS:
    binary(_name, _camel(_name), _FILE, _BOOL, rounded=True)
for _name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    binary(_name, _camel(_name), _FILE)
_TESTS = {
    "logical_not": "LogicalNot", "isnan": "IsNan", "isinf": "IsInf", "isfinite": "IsFinite",
    "signbit": "SignBit",
}  # fmt: skip
for _name, _functor in _TESTS.items():
    unary(_name, _functor, _FILE, _BOOL)
unary("bitwise_not", "BitwiseNot", _FILE)

equal = Elementwise("Equal", _FILE, _BOOL, rounded=True)
isclose = Elementwise("IsClose", _FILE, _BOOL)
_left = Elementwise("ShiftLeft", _FILE)
_right = Elementwise("ShiftRight", _FILE)
_bits_right = Elementwise("ShiftBitsRight", _FILE)


@kernel("equal", "gpu")
def _equal(x: Any, y: Any) -> Array:
    return equal(x, y)


# The bits of a left shift are the same, arithmetic or not.
@kernel("bitwise_left_shift", "gpu")
def bitwise_left_shift(x: Any, y: Any, is_arithmetic: bool = True) -> Array:
    return _left(x, y)


@kernel("bitwise_right_shift", "gpu")
def bitwise_right_shift(x: Any, y: Any, is_arithmetic: bool = True) -> Array:
    return (_right if is_arithmetic else _bits_right)(x, y)


@kernel("isclose", "gpu")
def _isclose(
    x: Array, y: Array, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Array:
    return isclose(x, y, rtol, atol, equal_nan)


@kernel("allclose", "gpu")
def allclose(
    x: Array, y: Array, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Array:
    return isclose(x, y, rtol, atol, equal_nan).all()


@kernel("equal_all", "gpu")
def equal_all(x: Array, y: Array) -> Array:
    return equal(x, y).all() if x.shape == y.shape else cupy.zeros((), _BOOL)
