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


@kernel("transpose", "cpu")
def transpose(x: Array, perm: tuple[int, ...]) -> Array:
    if sorted(a + x.ndim if a < 0 else a for a in perm) != list(range(x.ndim)):
        raise ValueError(f"perm must name each of the {x.ndim} axes once; got {list(perm)}")
    return np.transpose(x, perm)
