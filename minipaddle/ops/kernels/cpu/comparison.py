"""Comparisons, logic and bits, element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minipaddle.device.dtype import BY_NAME, compute_dtype
from minipaddle.ops.kernels.cpu.block import blockwise
from minipaddle.ops.op import Array, kernel

BOOL = BY_NAME["bool"]

# Up to here the result is there before blocks are cut.
_SMALL = 2**16


def _apply(ufunc: Callable[..., Any], dtype: Any, *operands: Any) -> Array:
    """``ufunc(*operands)``: at once where the arrays are small, else block by block."""
    for operand in operands:
        if operand.__class__ is np.ndarray:
            given = operand.dtype
            # bfloat16 is not NumPy's own: it warns of NaN, and a number would not take its type.
            if operand.size > _SMALL or given.isbuiltin != 1:
                break
    else:
        return np.asarray(ufunc(*operands))
    if given.isbuiltin != 1:
        operands = tuple(o if isinstance(o, np.ndarray) else given.type(o) for o in operands)
    return blockwise(lambda out, *parts: ufunc(*parts, out=out), operands, dtype or given)


def _unary(name: str, ufunc: np.ufunc, dtype: Any = BOOL) -> None:
    """Registers ``ufunc`` as the kernel of op ``name``; without ``dtype`` the result has x's."""

    def compute(x: Array) -> Array:
        return _apply(ufunc, dtype, x)

    kernel(name, "cpu")(compute)


def _binary(name: str, ufunc: np.ufunc, dtype: Any = BOOL) -> None:
    """Registers ``ufunc`` as the kernel of op ``name``; without ``dtype`` the result has x's."""

    def compute(x: Any, y: Any) -> Array:
        return _apply(ufunc, dtype, x, y)

    kernel(name, "cpu")(compute)


def _logical(name: str, ufunc: np.ufunc) -> None:
    """Registers a logical op; two fast comparisons with 0 beat NumPy's slow logic of numbers."""

    def truth(x: Any, y: Any, out: Array | None = None) -> Array:
        if getattr(x, "dtype", BOOL) is BOOL and getattr(y, "dtype", BOOL) is BOOL:
            return np.asarray(ufunc(x, y, out=out))
        return np.asarray(ufunc(np.not_equal(x, 0, out=out), np.not_equal(y, 0), out=out))

    def compute(x: Any, y: Any) -> Array:
        return _apply(truth, BOOL, x, y)

    kernel(name, "cpu")(compute)


_binary("equal", np.equal)
_binary("not_equal", np.not_equal)
_binary("less_than", np.less)
_binary("less_equal", np.less_equal)
_binary("greater_than", np.greater)
_binary("greater_equal", np.greater_equal)
_logical("logical_and", np.logical_and)
_logical("logical_or", np.logical_or)
_logical("logical_xor", np.logical_xor)
_binary("bitwise_and", np.bitwise_and, None)
_binary("bitwise_or", np.bitwise_or, None)
_binary("bitwise_xor", np.bitwise_xor, None)
_unary("bitwise_not", np.bitwise_not, None)
_unary("isnan", np.isnan)
_unary("isinf", np.isinf)
_unary("isfinite", np.isfinite)


@kernel("logical_not", "cpu")
def logical_not(x: Array) -> Array:
    return _apply(np.logical_not, BOOL, x) if x.dtype is BOOL else _apply(np.equal, BOOL, x, 0)


@kernel("bitwise_left_shift", "cpu")
def bitwise_left_shift(x: Any, y: Any, is_arithmetic: bool = True) -> Array:
    return _apply(np.left_shift, None, x, y)  # the same bits, arithmetic or not


@kernel("bitwise_right_shift", "cpu")
def bitwise_right_shift(x: Any, y: Any, is_arithmetic: bool = True) -> Array:
    if is_arithmetic:
        return _apply(np.right_shift, None, x, y)
    dtype = x.dtype if isinstance(x, np.ndarray) else y.dtype
    bits = np.dtype(f"u{dtype.itemsize}")
    unsigned = [np.asarray(operand, dtype).view(bits) for operand in (x, y)]
    return _apply(np.right_shift, None, *unsigned).view(dtype)


@kernel("isclose", "cpu")
def isclose(
    x: Array, y: Array, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Array:
    wide = compute_dtype(x.dtype)

    def compute(out: Array, x: Array, y: Array) -> None:
        x, y = x.astype(wide, copy=False), y.astype(wide, copy=False)
        np.less_equal(abs(x - y), abs(y) * rtol + atol, out=out)
        out &= np.isfinite(y)  # the tolerance beside an infinity is infinite
        out |= np.equal(x, y)
        if equal_nan:
            out |= np.isnan(x) & np.isnan(y)

    return blockwise(compute, (x, y), BOOL)


@kernel("allclose", "cpu")
def allclose(
    x: Array, y: Array, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Array:
    return np.asarray(isclose(x, y, rtol, atol, equal_nan).all())


@kernel("equal_all", "cpu")
def equal_all(x: Array, y: Array) -> Array:
    return np.asarray(x.shape == y.shape and _apply(np.equal, BOOL, x, y).all())
