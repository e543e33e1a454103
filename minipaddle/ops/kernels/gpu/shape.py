"""Other views of the same values, and their gradients."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

import cupy

from minipaddle.ops.kernels.gpu.copying import assign, copy_, full
from minipaddle.ops.op import Array, kernel


@kernel("reshape", "gpu")
def reshape(x: Array, shape: tuple[int, ...]) -> Array:
    if 0 in shape and x.size:  # Paddle's sign for the length that x has there
        shape = tuple(n or m for n, m in zip_longest(shape, x.shape[: len(shape)], fillvalue=0))
    return x.reshape(shape)


@kernel("expand", "gpu")
def expand(x: Array, shape: tuple[int, ...]) -> Array:
    if -1 in shape:  # Paddle's sign for the length that x has there
        lengths = (-1,) * (len(shape) - x.ndim) + x.shape
        shape = tuple(m if n == -1 else n for n, m in zip(shape, lengths, strict=False))
    if min(shape, default=0) < 0:
        raise ValueError(f"shape {list(shape)} has -1 where x has no axis")
    return cupy.broadcast_to(x, shape)


@kernel("transpose", "gpu")
def transpose(x: Array, perm: tuple[int, ...]) -> Array:
    axes = list(range(x.ndim))
    if sorted(axis % x.ndim if x.ndim else axis for axis in perm) != axes:
        raise ValueError(f"perm must be {axes} in some order; got {list(perm)}")
    return x.transpose(perm)


def _whole(index: Any) -> Any:
    """``index`` with an ellipsis: it then names an array also where it says every axis."""
    return index if Ellipsis in index else (*index, Ellipsis)


@kernel("getitem", "gpu")
def getitem(x: Array, index: Any) -> Array:
    return x[_whole(index)]


@kernel("put_slice", "gpu")
def put_slice(x: Array, shape: tuple[int, ...], index: Any, fill_value: Any = 0) -> Array:
    out = full(shape, fill_value, x.dtype) if fill_value else cupy.zeros(shape, x.dtype)
    copy_(out[_whole(index)], x)
    return out


@kernel("setitem", "gpu")
def setitem(x: Array, value: Any, index: Any) -> Array:
    return setitem_(assign(x), value, index)


@kernel("setitem_", "gpu")
def setitem_(x: Array, value: Any, index: Any) -> Array:
    copy_(x[_whole(index)], value)
    return x
