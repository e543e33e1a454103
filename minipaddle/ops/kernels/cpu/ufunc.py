"""NumPy's functions as kernels: without warnings, half types in float32, large arrays by blocks.

Each kernel returns an array, also for 0-d operands, where a NumPy ufunc alone returns a scalar.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from minipaddle.device.dtype import FLOAT32, compute_dtype, is_half
from minipaddle.ops.kernels.cpu.block import BLOCK_BYTES, blockwise, quiet
from minipaddle.ops.op import OPS, Array, kernel

# fill(out, *operands) writes a function of the operands to out.
Fill = Callable[..., Any]

# Bytes of an operand from which on a single call of NumPy is cut into blocks for all threads. With
# no second core to spare, that costs 0.05 ms for 1 MB, on which NumPy's add takes 0.11 ms, and 0.1
# ms for 4 MB, where it takes 0.45 ms.
LARGE = 4 * 1024 * 1024

# Elements that a fill of several steps works at a time: its four or five arrays stay in a core's
# cache.
PIECE = 64 * 1024

NUMBERS = frozenset({bool, int, float})


def widened(x: Array) -> Array:
    """``x`` in the type that it is computed in: half types as float32, others as they are."""
    return x.astype(compute_dtype(x.dtype), copy=False)


def prepared(fill: Fill, piece: int | None = None) -> Fill:
    """``fill`` for half types too, computed in float32 and rounded once, and for any strides.

    NumPy's vector functions give other last bits where elements do not lie side by side, and the
    result must not depend on that. With ``piece``, that many elements are worked at a time.
    """

    def run(out: Array, *operands: Any) -> None:
        work = functools.partial(_in_float32, fill) if is_half(out.dtype) else fill
        if work is fill:
            operands = _side_by_side(operands)
        if piece is None or out.ndim != 1 or out.size <= piece:
            work(out, *operands)
            return
        cuts = [_is_array(a) and a.shape == out.shape for a in operands]
        for start in range(0, out.size, piece):
            at = slice(start, start + piece)
            work(out[at], *[a[at] if c else a for a, c in zip(operands, cuts, strict=True)])

    return run


def _is_array(operand: Any) -> bool:
    return operand.__class__ is np.ndarray


def _side_by_side(operands: Iterable[Any]) -> tuple[Any, ...]:
    """The operands, with copies of arrays whose elements do not lie side by side."""
    return tuple([np.asarray(a, order="C") if a.__class__ is np.ndarray else a for a in operands])


def _in_float32(fill: Fill, out: Array, *operands: Any) -> None:
    """``fill`` in float32, rounded into ``out``."""
    wide = np.empty(out.shape, FLOAT32)
    fill(wide, *[a.astype(FLOAT32, order="C") if _is_array(a) else a for a in operands])
    np.copyto(out, wide, casting="same_kind")


def filled(fill: Fill, *operands: Any, out: Array | None = None) -> Array:
    """What ``fill`` makes of operands, one small piece after the other, on all threads.

    Args:
        fill: Called as ``fill(out, *operands)`` with parts of them, half types in float32; it may
            use ``out`` for steps on the way, and leaves the operands as they are.
        operands: Arrays of one dtype, numbers and None; at least one array.
        out: Array of that dtype and of the broadcast shape to fill; by default a new one.
    """
    arrays = [a for a in operands if a.__class__ is np.ndarray]
    first = arrays[0]
    shape = first.shape
    if first.nbytes > BLOCK_BYTES or [a for a in arrays if a.shape != shape]:
        return blockwise(prepared(fill, PIECE), operands, out=out)
    if out is None:
        out = np.empty(shape, first.dtype)
    if is_half(out.dtype):
        quiet(_in_float32, fill, out, *operands)
    else:
        quiet(fill, out, *_side_by_side(operands))
    return out


def unary(name: str, ufunc: np.ufunc) -> None:
    """Registers ``ufunc`` as the kernel of op ``name``, and of its in-place form."""
    fill = prepared(lambda out, x: ufunc(x, out=out))

    def compute(x: Array) -> Array:
        if x.nbytes > LARGE or x.itemsize == 2 or not x.flags.c_contiguous:
            return blockwise(fill, (x,))
        return np.asarray(quiet(ufunc, x))

    def compute_inplace(x: Array) -> Array:
        if x.nbytes > LARGE:
            return blockwise(fill, (x,), out=x)
        x[...] = compute(x)
        return x

    kernel(name, "cpu")(compute)
    if OPS[name].inplace:
        kernel(name + "_", "cpu")(compute_inplace)


def binary(name: str, ufunc: np.ufunc) -> None:
    """Registers ``ufunc``, whose results in half types are rounded once, for op ``name``."""

    def fill(out: Array, x: Any, y: Any) -> None:
        ufunc(x, y, out=out, casting="same_kind")

    by_blocks = prepared(fill)

    def compute(x: Any, y: Any) -> Array:
        # A number takes the array's type. NumPy sees to that but for bfloat16, which is not its
        # own: there the result is float32 and is rounded once, here.
        if y.__class__ in NUMBERS:
            like = x
        elif x.__class__ in NUMBERS:
            like = y
        elif x.nbytes > LARGE or y.nbytes > LARGE:
            return blockwise(by_blocks, (x, y))
        else:
            out = quiet(ufunc, x, y)
            return out if out.__class__ is np.ndarray else np.asarray(out)
        if like.nbytes > LARGE:
            return blockwise(fill, (x, y))
        out = np.asarray(quiet(ufunc, x, y))
        return out if out.dtype is like.dtype else out.astype(like.dtype)

    def compute_inplace(x: Array, y: Any) -> Array:
        if x.nbytes <= LARGE:
            quiet(fill, x, x, y)
            return x
        if y.__class__ in NUMBERS:
            return blockwise(fill, (x, y), out=x)
        if y is not x and np.may_share_memory(x, y):
            y = y.copy()  # a block written early must not be read again later
        return blockwise(by_blocks, (x, y), out=x)

    kernel(name, "cpu")(compute)
    if OPS[name].inplace:
        kernel(name + "_", "cpu")(compute_inplace)


def fused(name: str, fill: Fill) -> None:
    """Registers ``fill(x_grad, *saved, out_grad, *attributes)`` as the gradient kernel ``name``."""

    def compute(*args: Any) -> tuple[Array]:
        *values, _wanted, _into = args
        return (filled(fill, *values),)

    # Of a partial no argument names are asked: they are those that the op declares.
    kernel(name, "cpu")(functools.partial(compute))
