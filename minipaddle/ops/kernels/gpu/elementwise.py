"""Functions of .cu files as kernels of ops, of their in-place forms and of their gradients."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import cupy

from minipaddle.ops.kernels.gpu.launch import Elementwise, ndarray
from minipaddle.ops.op import OPS, Array, kernel


def apart(x: Array, other: Any) -> Any:
    """``other``, or a copy of it if writing ``x`` element by element could change it too early."""
    if other.__class__ is not ndarray or other is x or other.data.mem is not x.data.mem:
        return other
    return other.copy() if cupy.may_share_memory(x, other) else other


def home(into: Any, i: int, shape: tuple[int, ...], dtype: Any) -> Array | None:
    """The array in ``into`` for result ``i`` of a gradient kernel, if it fits, else None."""
    found = into[i] if into is not None else None
    if found is not None and found.shape == shape and found.dtype == dtype:
        return found if found._c_contiguous else None
    return None


def register(op: str, run: Any) -> None:
    """Registers ``run(*operands, out=None)`` as the kernel of ``op``, and of its in-place form."""

    def compute_inplace(x: Array, *args: Any) -> Array:
        try:
            written: Array = run(x, *[apart(x, a) for a in args], out=x)
        except ValueError as error:
            raise ValueError(f"{op}_: {error}") from error
        return written

    # Of a partial no argument names are asked: they are those that the op declares.
    kernel(op, "gpu")(functools.partial(run))
    if OPS[op].inplace:
        kernel(op + "_", "gpu")(functools.partial(compute_inplace))


def unary(
    op: str, function: str, file: str | Path, dtype: Any = None, rounded: bool = False
) -> None:
    """Registers a function of one array, and perhaps of attributes that are numbers.

    Args:
        op: The op.
        function: The functor.
        file: The .cu file.
        dtype: Element type of results; by default that of the array.
        rounded: See ``Elementwise``.
    """
    register(op, Elementwise(function, file, dtype, rounded))


binary = unary


def fused(name: str, function: str, file: str | Path) -> None:
    """Registers a gradient ``function(*saved, out_grad, *attributes)`` with one result."""
    run = Elementwise(function, file)

    def compute(*args: Any) -> tuple[Array]:
        *values, _wanted, into = args
        return (run(*values, out=home(into, 0, values[0].shape, values[0].dtype)),)

    kernel(name, "gpu")(functools.partial(compute))


def fused_pair(name: str, functions: tuple[str, str], file: str | Path) -> None:
    """Registers a gradient of two operands, one function for each of its results.

    Args:
        name: A gradient that keeps both operands.
        functions: Called ``function(x, y, out_grad, *attributes)``; results have the shape of
            ``out_grad``.
        file: The .cu file.
    """
    by_x, by_y = (Elementwise(function, file) for function in functions)

    def compute(*args: Any) -> tuple[Array | None, Array | None]:
        *values, wanted, into = args
        return gradients(by_x, by_y, values, wanted, into)

    kernel(name, "gpu")(functools.partial(compute))


def gradients(
    by_x: Any, by_y: Any, values: list[Any], wanted: tuple[bool, ...], into: Any
) -> tuple[Array | None, Array | None]:
    """Those of the two gradients that are wanted, of ``values``: x, y, out_grad, attributes."""
    shape, dtype = values[2].shape, values[2].dtype
    return (
        by_x(*values, out=home(into, 0, shape, dtype)) if wanted[0] else None,
        by_y(*values, out=home(into, 1, shape, dtype)) if wanted[1] else None,
    )
