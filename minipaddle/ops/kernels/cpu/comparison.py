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


def _fits(operand: Any) -> bool:
    """Whether an operand is small and of a dtype of NumPy's own, so that a ufunc takes it at once.

    bfloat16 is not: it warns of NaN, and a number beside it would not take its type.
    """
    return operand.__class__ is not np.ndarray or (
        operand.size <= _SMALL and operand.dtype.isbuiltin == 1
    )


def _apply(function: Callable[..., Any], dtype: Any, *operands: Any) -> Array:
    """``function(*operands, out=...)`` block by block; without ``dtype`` into that of operands."""
    given = next(o.dtype for o in operands if isinstance(o, np.ndarray))
    if given.isbuiltin != 1:
        operands = tuple(o if isinstance(o, np.ndarray) else given.type(o) for o in operands)
    return blockwise(lambda out, *parts: function(*parts, out=out), operands, dtype or given)


def _unary(name: str, ufunc: np.ufunc, dtype: Any = BOOL) -> None:
    """Registers ``ufunc`` as the kernel of op ``name``; without ``dtype`` the result has x's."""

    def compute(x: Array) -> Array:
        return np.asarray(ufunc(x)) if _fits(x) else _apply(ufunc, dtype, x)

    kernel(name, "cpu")(compute)


def _binary(name: str, ufunc: np.ufunc, dtype: Any = BOOL, large: Any = None) -> Any:
    """Registers ``ufunc``, or ``large`` in its place for large arrays, as the kernel of an op."""
    by_blocks = large or ufunc

    def compute(x: Any, y: Any) -> Array:
        if _fits(x) and _fits(y):
            out = ufunc(x, y)
            return out if out.__class__ is np.ndarray else np.asarray(out)
        return _apply(by_blocks, dtype, x, y)

    kernel(name, "cpu")(compute)
    return compute


def _logical(name: str, ufunc: np.ufunc) -> None:
    """Registers a logical op: two fast comparisons with 0 beat NumPy's slow logic of numbers."""

    def truth(x: Any, y: Any, out: Array) -> None:
        if getattr(x, "dtype", BOOL) is BOOL and getattr(y, "dtype", BOOL) is BOOL:
            ufunc(x, y, out=out)
        else:
            ufunc(np.not_equal(x, 0, out=out), np.not_equal(y, 0), out=out)

    _binary(name, ufunc, BOOL, truth)


equal = _binary("equal", np.equal)
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
_unary("signbit", np.signbit)


@kernel("logical_not", "cpu")
def logical_not(x: Array) -> Array:
    if _fits(x):
        return np.asarray(np.logical_not(x))
    return _apply(np.logical_not, BOOL, x) if x.dtype is BOOL else _apply(np.equal, BOOL, x, 0)


# The bits of a left shift are the same, arithmetic or not.
@kernel("bitwise_left_shift", "cpu")
def bitwise_left_shift(x: Any, y: Any, is_arithmetic: bool = True) -> Array:
    return _apply(np.left_shift, None, x, y)


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
    return np.asarray(x.shape == y.shape and equal(x, y).all())
