"""Rows of a table by their number, and the sum of rows that have one number.

A number that no row has is not refused, because the host would have to wait for it: it reads as
NaN, and what would be added to it is left out. Rows are added in the order in which they stand.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import cupy

from minipaddle.device.dtype import compute_dtype
from minipaddle.ops.declaration import Rows
from minipaddle.ops.kernels.gpu.elementwise import home
from minipaddle.ops.kernels.gpu.fold import PACK_BYTES, aligned
from minipaddle.ops.kernels.gpu.launch import FOLDER, THREADS, compiled, contiguous, empty
from minipaddle.ops.kernels.gpu.source import type_name
from minipaddle.ops.kernels.gpu.statistics import norm_functor
from minipaddle.ops.op import Array, kernel

Into = Any

_PIECE = 32  # as in embedding.cu
_NONE = -1  # no padding


@functools.cache
def _compiled(name: str, *types: Any) -> Any:
    arguments = [t if isinstance(t, (str, int)) else type_name(t) for t in types]
    return compiled(FOLDER / "embedding.cu", f"{name}<{', '.join(map(str, arguments))}>")


def _blocks(threads: int) -> tuple[int]:
    return (-(-threads // THREADS),)


def _width(row: int, dtype: Any, *arrays: Array) -> int:
    """Elements that one access moves, of rows of so many elements."""
    width: int = PACK_BYTES // dtype.itemsize
    return 1 if row % width or not all(map(aligned, arrays)) else width


def _check_height(ids: Array, height: int) -> None:
    if ids.size and not height:
        first = int(ids.reshape(-1)[0])
        raise IndexError(f"id {first} is out of range; the ids of 0 rows are 0..-1")


def _padding(padding_idx: int | None, height: int) -> int:
    if padding_idx is None:
        return _NONE
    if not -height <= padding_idx < height:
        raise ValueError(f"padding_idx must lie in [-{height}, {height}); got {padding_idx}")
    return padding_idx % height


def _rows_of(table: Array, ids: Array, padding: int) -> Array:
    """The rows of ``table`` whose numbers ``ids`` has."""
    out = empty((*ids.shape, *table.shape[1:]), table.dtype)
    if out.size:
        table, ids = contiguous(table), contiguous(ids)
        row = math.prod(table.shape[1:])
        width = _width(row, table.dtype, table)
        packs = out.size // width
        given = (packs, row // width, table.shape[0], padding, table, ids, out)
        _compiled("lookup", table.dtype, ids.dtype, width)(_blocks(packs), (THREADS,), given)
    return out


@kernel("embedding_lookup", "gpu")
def embedding_lookup(
    x: Array,
    weight: Array,
    padding_idx: int | None = None,
    sparse: bool = False,
    scale_grad_by_freq: bool = False,
) -> Array:
    if not weight.ndim:
        raise ValueError("weight must have rows; it is 0-d")
    height = weight.shape[0]
    _check_height(x, height)
    return _rows_of(weight, x, _padding(padding_idx, height))


@kernel("embedding_lookup_grad", "gpu")
def embedding_lookup_grad(
    x: Array,
    weight_shape: tuple[int, ...],
    out_grad: Array,
    padding_idx: int | None,
    sparse: bool,
    scale_grad_by_freq: bool,
    wanted: tuple[bool, ...],
    into: Into,
) -> tuple[Any]:
    if not wanted[0]:
        return (None,)
    padding = _padding(padding_idx, weight_shape[0])
    if sparse:
        return (_sparse(x.reshape(-1), out_grad, weight_shape, padding, scale_grad_by_freq),)
    to = home(into, 0, weight_shape, out_grad.dtype)
    return (_summed(x, out_grad, weight_shape, padding, scale_grad_by_freq, to),)


def _sparse(ids: Array, rows: Array, shape: tuple[int, ...], padding: int, by_count: bool) -> Rows:
    """The rows themselves, without those of the padding."""
    rows = rows.reshape(ids.size, *shape[1:])
    if by_count and ids.size:
        wide = compute_dtype(rows.dtype)
        counts = cupy.bincount(ids)[ids].astype(wide).reshape(-1, *[1] * (rows.ndim - 1))
        rows = (rows.astype(wide) / counts).astype(rows.dtype)
    if padding == _NONE:
        return Rows(ids.astype("int64"), rows.copy())
    chosen = cupy.flatnonzero(ids != padding)
    return Rows(ids[chosen].astype("int64"), _rows_of(rows, chosen, _NONE))


@kernel("scatter_rows", "gpu")
def scatter_rows(index: Array, x: Array, height: int, padding_idx: int | None = None) -> Array:
    if x.shape[: index.ndim] != index.shape:
        raise ValueError("the shape of x must begin with that of index")
    _check_height(index, height)
    shape = (height, *x.shape[index.ndim :])
    return _summed(index, x, shape, _padding(padding_idx, height), False, None)


def _keys(ids: Array, height: int, padding: int) -> tuple[Array, int]:
    """Keys that order ``ids``, sorted, and where in them the numbers begin."""
    count = ids.size
    shift = count.bit_length()
    keys = empty((count,), "int64")
    given = (count, height, padding, shift, contiguous(ids), keys)
    _compiled("make_keys", ids.dtype)(_blocks(count), (THREADS,), given)
    return cupy.sort(keys), shift


def _summed(
    ids: Array, rows: Array, shape: tuple[int, ...], padding: int, by_count: bool, to: Array | None
) -> Array:
    """For each number the sum of its rows, perhaps divided by how many there are."""
    if to is None:
        out = cupy.zeros(shape, rows.dtype)
    else:
        out = to
        out.data.memset_async(0, out.nbytes)
    count, row = ids.size, math.prod(shape[1:])
    if not count or not out.size:
        return out
    rows = contiguous(rows)
    keys, shift = _keys(ids, shape[0], padding)
    pieces, dtype = -(-count // _PIECE), rows.dtype
    width = _width(row, dtype, rows, out)
    heads, tails = (empty((pieces * row,), compute_dtype(dtype)) for _ in range(2))
    threads = pieces * row // width
    numbers = (threads, row // width, shape[0], int(by_count), count, shift)
    grid = _blocks(threads)
    _compiled("sum_pieces", dtype, width)(
        grid, (THREADS,), (*numbers, keys, rows, out, heads, tails)
    )
    if pieces > 1:
        _compiled("join_pieces", dtype, width)(
            grid, (THREADS,), (*numbers, keys, out, heads, tails)
        )
    return out


@kernel("embedding_renorm_", "gpu")
def embedding_renorm_(weight: Array, x: Array, max_norm: float, norm_type: float) -> None:
    _check_height(x, weight.shape[0])
    if not x.size or not weight.size:
        return
    whole = contiguous(weight)
    height = weight.shape[0]
    keys, shift = _keys(x, height, _NONE)
    functor = norm_functor(norm_type).replace("{T}", type_name(weight.dtype))
    run = _compiled("renorm", functor, weight.dtype, PACK_BYTES // weight.itemsize)
    given = (weight.size // height, height, x.size, shift, keys, whole)
    run((x.size,), (THREADS,), (*given, float(max_norm), float(norm_type)))
    if whole is not weight:
        weight[...] = whole
