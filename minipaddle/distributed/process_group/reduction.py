"""Joining the arrays of all ranks, block by block while the block is in the cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from minipaddle.distributed.process_group.base import ReduceOp

Array = np.ndarray[Any, Any]
Scales = tuple[float, float]  # of each addend, and of their sum

# Blocks of all ranks must fit the second-level cache together; below 64 KB NumPy's call overhead
# shows, above 512 KB the misses do.
BLOCK_BYTES = 1 << 18

_UFUNCS: dict[ReduceOp, Callable[..., Any]] = {
    ReduceOp.SUM: np.add,
    ReduceOp.AVG: np.add,
    ReduceOp.MAX: np.maximum,
    ReduceOp.MIN: np.minimum,
    ReduceOp.PROD: np.multiply,
}


@cache
def is_inexact(dtype: np.dtype[Any]) -> bool:
    """True for float and complex types, also those that extend NumPy such as bfloat16."""
    if dtype.kind == "V":
        return dtype.names is None and np.can_cast(dtype, np.float32)
    return dtype.kind in "fc"


@cache
def accumulates_in_float32(dtype: np.dtype[Any]) -> bool:
    """True for types of less than four bytes, whose sums would overflow or lose digits."""
    return is_inexact(dtype) and dtype.itemsize < 4


@cache
def check_reducible(dtype: np.dtype[Any], op: ReduceOp) -> None:
    """Raises if arrays of ``dtype`` have no meaningful reduction ``op``.

    Raises:
        TypeError: With the dtype, the op, and what to do instead.
    """
    if is_inexact(dtype) or (dtype.kind in "iu" and op is not ReduceOp.AVG):
        return
    if dtype.kind == "b" and op in (ReduceOp.MAX, ReduceOp.MIN):
        return
    wanted = "a float dtype" if op is ReduceOp.AVG else "a float or integer dtype"
    raise TypeError(f"ReduceOp.{op.name} needs {wanted}, got {dtype}; cast the array first")


class Reduction:
    """The arithmetic of one channel; owns the scratch of half-precision sums.

    All ranks run the same operations in rank order, so results are the same bits everywhere.

    Attributes:
        factor: What a mean divides each addend by; None for the number of addends.
    """

    def __init__(self) -> None:
        self.factor: float | None = None
        self._scratch: tuple[Array, Array] | None = None

    def join(self, sources: Sequence[Array], outs: Sequence[Array], op: ReduceOp) -> None:
        """Writes the reduction of ``sources`` into each of ``outs``.

        Args:
            sources: One flat array a rank, in rank order, equal in size and dtype. **They are
                used up**: what they hold afterwards is unspecified unless they are also outputs.
            outs: Flat arrays that may be sources themselves.
            op: The reduction; ``AVG`` scales each addend before it is added, so that sums of
                large values do not overflow.
        """
        if len(sources) == 1:
            for out in outs:
                np.copyto(out, sources[0])
            return
        dtype = sources[0].dtype
        half = accumulates_in_float32(dtype)
        step = BLOCK_BYTES // (4 if half else dtype.itemsize)
        work = self._half_block if half else _block
        count = len(sources)
        before = self.factor or count
        scales = (1.0 / before, before / count) if op is ReduceOp.AVG else (1.0, 1.0)
        # An infinite or NaN gradient is the caller's business (loss scaling counts on it).
        with np.errstate(all="ignore"):
            for start in range(0, sources[0].size, step):
                part = slice(start, start + step)
                work([s[part] for s in sources], [o[part] for o in outs], _UFUNCS[op], scales)

    def _half_block(
        self, sources: list[Array], outs: list[Array], ufunc: Callable[..., Any], scales: Scales
    ) -> None:
        before, after = scales
        if self._scratch is None:
            total, addend = np.empty((2, BLOCK_BYTES // 4), np.float32)
            self._scratch = total, addend
        total, addend = (scratch[: sources[0].size] for scratch in self._scratch)
        for position, source in enumerate(sources):
            target = addend if position else total
            np.copyto(target, source)
            if before != 1.0:
                np.multiply(target, before, out=target)
            if position:
                ufunc(total, addend, out=total)
        if after != 1.0:
            np.multiply(total, after, out=total)
        for out in outs:
            np.copyto(out, total, casting="unsafe")


def _block(
    sources: list[Array], outs: list[Array], ufunc: Callable[..., Any], scales: Scales
) -> None:
    total, target = sources[0], outs[0]
    before, after = scales
    if before != 1.0:
        for source in sources:
            np.multiply(source, before, out=source)
    for source in sources[1:-1]:
        ufunc(total, source, out=total)
    ufunc(total, sources[-1], out=target)
    if after != 1.0:
        np.multiply(target, after, out=target)
    for out in outs[1:]:
        np.copyto(out, target)
