"""Other views of the same values, and their gradients."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

import numpy as np

from minipaddle.ops.kernels.cpu.copying import copy_into
from minipaddle.ops.op import Array, kernel


@kernel("copy_", "cpu")
def copy_(x: Array, y: Any) -> None:
    if isinstance(y, np.ndarray) and y.shape == x.shape:
        copy_into(x, y)
    else:
        np.copyto(x, y, casting="unsafe")


@kernel("reshape", "cpu")
def reshape(x: Array, shape: tuple[int, ...]) -> Array:
    if 0 in shape and x.size:  # Paddle's sign for the length that x has there
        shape = tuple(n or m for n, m in zip_longest(shape, x.shape[: len(shape)], fillvalue=0))
    return x.reshape(shape)


@kernel("expand", "cpu")
def expand(x: Array, shape: tuple[int, ...]) -> Array:
    if -1 in shape:  # Paddle's sign for the length that x has there
        lengths = (-1,) * (len(shape) - x.ndim) + x.shape
        shape = tuple(m if n == -1 else n for n, m in zip(shape, lengths, strict=False))
    return np.broadcast_to(x, shape)


@kernel("transpose", "cpu")
def transpose(x: Array, perm: tuple[int, ...]) -> Array:
    try:
        return x.transpose(perm)
    except ValueError:
        axes = list(range(x.ndim))
        raise ValueError(f"perm must be {axes} in some order; got {list(perm)}") from None


@kernel("getitem", "cpu")
def getitem(x: Array, index: Any) -> Array:
    # With an ellipsis NumPy gives a view also where the index names a single element.
    return x[index if Ellipsis in index else (*index, Ellipsis)]


@kernel("put_slice", "cpu")
def put_slice(x: Array, shape: tuple[int, ...], index: Any, fill_value: Any = 0) -> Array:
    # Zeros come from the system without being written.
    out = np.full(shape, fill_value, x.dtype) if fill_value else np.zeros(shape, x.dtype)
    out[index] = x
    return out


@kernel("setitem", "cpu")
def setitem(x: Array, value: Any, index: Any) -> Array:
    return setitem_(np.array(x, order="C"), value, index)


@kernel("setitem_", "cpu")
def setitem_(x: Array, value: Any, index: Any) -> Array:
    x[index if Ellipsis in index else (*index, Ellipsis)] = value
    return x
