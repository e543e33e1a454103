"""Other views of the same values, and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from minipaddle.ops.op import Array, kernel


@kernel("copy_", "cpu")
def copy_(x: Array, y: Any) -> None:
    np.copyto(x, y, casting="unsafe")


@kernel("reshape", "cpu")
def reshape(x: Array, shape: tuple[int, ...]) -> Array:
    return x.reshape(shape)


@kernel("expand", "cpu")
def expand(x: Array, shape: tuple[int, ...]) -> Array:
    return np.broadcast_to(x, shape)


@kernel("getitem", "cpu")
def getitem(x: Array, index: Any) -> Array:
    # With an ellipsis NumPy gives a view also where the index names a single element.
    return x[index if Ellipsis in index else (*index, Ellipsis)]


@kernel("put_slice", "cpu")
def put_slice(x: Array, shape: tuple[int, ...], index: Any) -> Array:
    out = np.zeros(shape, x.dtype)
    out[index] = x
    return out


@kernel("setitem", "cpu")
def setitem(x: Array, value: Any, index: Any) -> Array:
    return setitem_(np.array(x, order="C"), value, index)


@kernel("setitem_", "cpu")
def setitem_(x: Array, value: Any, index: Any) -> Array:
    x[index if Ellipsis in index else (*index, Ellipsis)] = value
    return x
