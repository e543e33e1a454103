"""Cumulative sums and products, in float64 and rounded once, and their gradients.

Short rows, and many, are gone through by a thread each. Of others a block joins 2048 elements at a
time. A long one is cut into chunks for several blocks: one launch finds what each chunk makes, a
second joins these, and a third makes the results.
"""

from __future__ import annotations

import math
from typing import Any

import cupy

from minipaddle.device.dtype import is_float
from minipaddle.ops.kernels.gpu.fold import axes_of
from minipaddle.ops.kernels.gpu.launch import FOLDER, THREADS, compiled, contiguous, empty
from minipaddle.ops.kernels.gpu.source import type_name
from minipaddle.ops.op import Array, kernel

Into = Any

_FILE = "cumulative.cu"
_TILE = THREADS * 8  # elements that a block joins at a time
_BLOCKS = 1024  # that keep any GPU busy
_STATE_BYTES = 16
_SHORT = 64  # elements of a row that a thread goes through
_MANY = 2**16  # rows that keep any GPU busy with a thread each


# What states are where they are not numbers.
_STATES = {
    "LogCumSumExp": "Powers",
    "CumProdGrad": "Carried",
    "LogCumSumExpGrad": "Carried",
}


def _scan(
    name: str, arrays: tuple[Array, ...], axis: int | None, dtype: Any, backwards: bool = False
) -> Array:
    """All results on the way as ``name`` joins the elements along ``axis``, in ``dtype``.

    Args:
        name: A functor.
        arrays: x; or x, what came of it and the gradient of that, which with no axis are 1-D.
        axis: Axis, or None for all elements in a row.
        dtype: The result's.
        backwards: Whether to begin at the end.
    """
    x = arrays[0]
    if axis is None:
        arrays, at = tuple(a.reshape(-1) for a in arrays), 0
    else:
        (at,) = axes_of((axis,), x.ndim)
    shape = arrays[0].shape or (1,)
    n, inner = shape[at], math.prod(shape[at + 1 :])
    short = n <= _SHORT or (inner > 1 and arrays[0].size // n >= _MANY)
    apart = inner > 1 and not short
    lines = tuple(contiguous(cupy.moveaxis(a, at, -1) if apart else a) for a in arrays)
    out = empty(lines[0].shape, dtype)
    if out.size and short:
        given = (out.size // n, n, inner, int(backwards), *(*lines, 0, 0)[:3], out)
        run = _compiled("scan_lines", name, lines, dtype)
        run((-(-given[0] // THREADS),), (THREADS,), given)
    elif out.size:
        _run(name, lines, out, backwards)
    return contiguous(cupy.moveaxis(out, -1, at)) if apart else out


def _compiled(loop: str, name: str, arrays: tuple[Array, ...], dtype: Any) -> Any:
    made = type_name(dtype)
    types = f"{type_name(arrays[0].dtype)}, {type_name(arrays[-1].dtype)}, {made}"
    return compiled(FOLDER / _FILE, f"{loop}<{name}<{made}>, {types}>")


def _run(name: str, arrays: tuple[Array, ...], out: Array, backwards: bool) -> None:
    n = out.shape[-1]
    rows = out.size // n
    scan = _compiled("scan", name, arrays, out.dtype)
    splits = max(1, min(_BLOCKS // rows, n // (4 * _TILE)))
    chunk = -(-n // (splits * _TILE)) * _TILE
    splits = -(-n // chunk)
    grid, given = (rows * splits,), (splits, n, chunk, int(backwards), *(*arrays, 0, 0)[:3])
    if splits == 1:
        scan(grid, (THREADS,), (*given, out, 0))
        return
    found = empty((rows * splits * _STATE_BYTES,), "uint8")
    scan(grid, (THREADS,), (*given, 0, found))
    state = _STATES.get(name, "double" if is_float(out.dtype) else "i64")
    functor = f"Again<{name}<{type_name(out.dtype)}>>"
    again = compiled(FOLDER / _FILE, f"scan<{functor}, {state}, {state}, {state}>")
    again((rows,), (THREADS,), (1, splits, splits, 0, found, 0, 0, found, 0))
    scan(grid, (THREADS,), (*given, out, found))


@kernel("cumsum", "gpu")
def cumsum(x: Array, axis: int | None = None, dtype: Any = None) -> Array:
    return _scan("CumSum", (x,), axis, dtype or x.dtype)


@kernel("cumsum_grad", "gpu")
def cumsum_grad(
    x_shape: tuple[int, ...],
    out_grad: Array,
    axis: int | None,
    wanted: tuple[bool, ...],
    into: Into,
) -> tuple[Array]:
    grad = _scan("CumSum", (out_grad,), axis, out_grad.dtype, backwards=True)
    return (grad.reshape(x_shape),)


@kernel("cumprod", "gpu")
def cumprod(x: Array, dim: int | None = None, dtype: Any = None) -> Array:
    return _scan("CumProd", (x,), dim, dtype or x.dtype)


@kernel("logcumsumexp", "gpu")
def logcumsumexp(x: Array, axis: int | None = None, dtype: Any = None) -> Array:
    return _scan("LogCumSumExp", (x,), axis, dtype or x.dtype)


@kernel("cumprod_grad", "gpu")
def cumprod_grad(
    x: Array,
    out: Array,
    out_grad: Array,
    dim: int | None,
    wanted: tuple[bool, ...],
    into: Into,
) -> tuple[Array]:
    grad = _scan("CumProdGrad", (x, out, out_grad), dim, x.dtype, backwards=True)
    return (grad.reshape(x.shape),)


@kernel("logcumsumexp_grad", "gpu")
def logcumsumexp_grad(
    x: Array,
    out: Array,
    out_grad: Array,
    axis: int | None,
    wanted: tuple[bool, ...],
    into: Into,
) -> tuple[Array]:
    grad = _scan("LogCumSumExpGrad", (x, out, out_grad), axis, x.dtype, backwards=True)
    return (grad.reshape(x.shape),)
