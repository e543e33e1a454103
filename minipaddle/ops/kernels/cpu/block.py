"""Large arrays are worked in blocks that stay in a core's cache between passes."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from minipaddle.ops.op import Array

# Bytes of one operand in a block. A fused loop holds three to five operands at once; they should
# fit the 1 to 2 MB that a core's own cache has today.
BLOCK_BYTES = 128 * 1024

# One entry an axis of the whole, from the first: which part of it the block covers.
Block = tuple[slice, ...]
WHOLE: Block = ()


def blocks(shape: tuple[int, ...], itemsize: int) -> Iterator[Block]:
    """Cuts an array of ``shape`` into pieces of about BLOCK_BYTES, in memory order."""
    limit = max(1, BLOCK_BYTES // itemsize)
    inner = math.prod(shape)
    axis = 0
    while axis < len(shape) and inner > limit:
        inner //= shape[axis]
        axis += 1
    if axis == 0:
        yield WHOLE
        return
    step = max(1, limit // inner)
    for outer in np.ndindex(*shape[: axis - 1]):
        for start in range(0, shape[axis - 1], step):
            yield (*(slice(at, at + 1) for at in outer), slice(start, start + step))


def cut(array: Array, block: Block, ndim: int) -> Array:
    """The part of ``array`` that meets ``block`` of a broadcast result of rank ``ndim``.

    Every axis is kept, so that parts of operands of different rank still broadcast together.
    """
    if block is WHOLE:
        return array
    missing = ndim - array.ndim
    return array[
        tuple(
            part if array.shape[axis] != 1 else slice(None)
            for axis, part in enumerate(block[missing:])
        )
    ]
