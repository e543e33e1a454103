"""How axes lie in memory: several as one, and matrices in the words of BLAS. Knows no device.

BLAS wants the columns of a matrix one after the other; one whose rows are is its transpose there.
So the product of row-major matrices is asked for as ``(y.T @ x.T)``, and no operand is copied.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import NamedTuple


class Batch(NamedTuple):
    """Several matrices.

    Attributes:
        transposed: Whether columns lie one after the other, and not rows.
        lead: Elements from one row, or column, to the next.
        step: Elements from one matrix to the next.
    """

    transposed: bool
    lead: int
    step: int


def one_step(lengths: Sequence[int], steps: Sequence[int]) -> int | None:
    """The distance of neighbours along several axes taken as one; None if there is no single one.

    Args:
        lengths: Lengths of the axes.
        steps: Distance of neighbours along each.
    """
    found, wanted = 0, None
    for n, step in zip(reversed(lengths), reversed(steps), strict=True):
        if n == 1:
            continue
        if wanted is None:
            found = step
        elif step != wanted:
            return None
        wanted = step * n
    return found


@functools.lru_cache(maxsize=4096)
def matrices(
    shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int, batch: tuple[int, ...]
) -> Batch | None:
    """How the matrices along the last two axes lie.

    Args:
        shape: Of an array of rank two or more.
        strides: Its strides in bytes.
        itemsize: Bytes of an element.
        batch: What the leading axes are broadcast to.

    Returns:
        None where BLAS cannot take them as they are.
    """
    steps = [s // itemsize for s in strides]
    order = _order(shape[-2], shape[-1], steps[-2], steps[-1])
    missing = len(batch) - (len(shape) - 2)
    walked = (0 if n == 1 else s for n, s in zip(shape[:-2], steps, strict=False))
    step = one_step(batch, (*[0] * missing, *walked))
    return None if order is None or step is None or step < 0 else Batch(*order, step)


def _order(rows: int, columns: int, down: int, along: int) -> tuple[bool, int] | None:
    """Whether a matrix lies transposed, and its leading dimension; None if it has gaps."""
    if columns == 1 or along == 1:
        lead = down if rows > 1 else columns
        if lead >= columns:
            return False, lead
    if rows == 1 or down == 1:
        lead = along if columns > 1 else rows
        if lead >= rows:
            return True, lead
    return None
