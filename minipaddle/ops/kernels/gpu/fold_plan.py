"""How a fold is cut into launches. Knows no device.

The middle axis of [outer, n, inner] is folded. Where nothing lies behind it, a row is folded by
some threads, or by several blocks; else threads stand side by side along inner. What several blocks
made of one row is folded by another launch, in their order, so that a sum has the same bits in
every run.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import NamedTuple

THREADS = 256
UNROLL = 4  # as in fold.cuh
# Blocks that keep any GPU busy. It is one number for all, so that all give the same bits.
BLOCKS = 1024
# Accesses that a thread should have before a row is shared out to one more block.
_FULL = 4 * UNROLL
_MAX_CHUNKS = 65535  # what a grid may have along y
_MAX_BLOCKS = 2**31 - 1


class Launch(NamedTuple):
    """One launch of a kernel of fold.cuh or columns.cuh.

    Attributes:
        kernel: Its name.
        width: Elements that one access of a thread moves.
        grid: Numbers of blocks.
        numbers: The arguments before the arrays.
        totals: How many totals it makes.
    """

    kernel: str
    width: int
    grid: tuple[int, ...]
    numbers: tuple[int, ...]
    totals: int


class Walk(NamedTuple):
    """One axis of memory: its length, the step between neighbours, and whether it is folded."""

    length: int
    step: int
    folded: bool


def _power(n: int) -> int:
    """The smallest power of 2 that is not below ``n``."""
    return 1 << max(0, n - 1).bit_length()


def fold_rows(rows: int, n: int, row_step: int, step: int, width: int) -> list[Launch]:
    """The launches that fold rows of ``n`` elements; of more than one the last folds totals."""
    width = width if step == 1 else 1
    packs = -(-n // width)
    if packs <= 32 * UNROLL or (packs <= 128 * UNROLL and rows >= 4 * BLOCKS):
        group = min(32, _power(-(-packs // UNROLL)))
        grid = -(-rows * group // THREADS)
        numbers = (rows, n, row_step, step, group)
        return [Launch("fold_groups", width, (grid,), numbers, rows)]
    splits = max(1, min(BLOCKS // rows, packs // (THREADS * _FULL)))
    chunk = -(-packs // splits) * width
    splits = -(-n // chunk)
    first = Launch(
        "fold_blocks", width, (rows * splits,), (splits, n, row_step, step, chunk), rows * splits
    )
    return [first] if splits == 1 else [first, *fold_rows(rows, splits, splits, 1, 1)]


def fold_columns(
    shape: tuple[int, int, int], steps: tuple[int, int, int], width: int
) -> list[Launch]:
    """The launches that fold ``n`` of [outer, n, inner], which lie ``steps`` apart."""
    outer, n, inner = shape
    # A step that is never taken does not count.
    uneven = (outer > 1 and steps[0] % width) or (n > 1 and steps[1] % width)
    if steps[2] != 1 or uneven or inner % width:
        width = 1
    packs = outer * inner // width
    wide = min(32, _power(packs)) if n >= 4 * UNROLL else THREADS
    high = THREADS // wide
    tiles = -(-packs // wide)
    splits = max(1, min(BLOCKS // tiles, n // (high * _FULL), _MAX_CHUNKS))
    chunk = -(-n // splits) if n else 1
    splits = max(1, -(-n // chunk))
    numbers = (packs, n, inner // width, *steps, chunk, wide)
    first = Launch("fold_columns", width, (tiles, splits), numbers, outer * splits * inner)
    if splits == 1:
        return [first]
    rest = fold_columns((outer, splits, inner), (splits * inner, inner, 1), 1)
    return [first, *rest]


def walks(shape: Sequence[int], steps: Sequence[int], axes: Sequence[int]) -> tuple[Walk, ...]:
    """The axes of an array, without those of length 1; neighbours of one kind are joined."""
    found: list[Walk] = []
    for axis, (length, step) in enumerate(zip(shape, steps, strict=True)):
        here = Walk(length, step, axis in axes)
        if length == 1:
            continue
        if found and found[-1].folded == here.folded and found[-1].step == length * step:
            here = here._replace(length=found.pop().length * length)
        found.append(here)
    return tuple(found)


def _one(parts: Sequence[Walk]) -> tuple[int, int] | None:
    """Length and step of several axes that are walked as if they were one, if they are."""
    length, step = 1, 1
    for part in reversed(parts):
        if length == 1:
            length, step = part.length, part.step
        elif part.step == length * step:
            length *= part.length
        else:
            return None
    return length, step


def _launches(parts: tuple[Walk, ...], width: int, aligned: bool) -> list[Launch] | None:
    folded = [i for i, part in enumerate(parts) if part.folded]
    at = folded[-1] if folded else len(parts)
    middle = parts[at] if folded else Walk(1, 1, True)
    before, behind = _one(parts[:at]), _one(parts[at + 1 :])
    if before is None or behind is None:
        return None
    (outer, outer_step), (inner, inner_step) = before, behind
    across = width if aligned else 1
    if outer == 1 and (inner == 1 or (middle.step == 1 != inner_step)):
        launches = fold_rows(inner, middle.length, inner_step, middle.step, width)
    elif inner == 1 and (middle.step == 1 or outer_step != 1):
        launches = fold_rows(outer, middle.length, outer_step, middle.step, width)
    elif inner == 1:
        launches = fold_columns((1, middle.length, outer), (0, middle.step, 1), across)
    else:
        steps = (outer_step, middle.step, inner_step)
        launches = fold_columns((outer, middle.length, inner), steps, across)
    rest = parts[:at] + parts[at + 1 :]
    if len(folded) < 2:
        return launches
    steps_left = [math.prod(p.length for p in rest[i + 1 :]) for i in range(len(rest))]
    left = tuple(i for i, part in enumerate(rest) if part.folded)
    joined = _launches(walks([p.length for p in rest], steps_left, left), 1, True)
    return None if joined is None else [*launches, *joined]


@functools.lru_cache(maxsize=4096)
def plan(
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    itemsize: int,
    axes: tuple[int, ...],
    width: int,
    aligned: bool,
    ordered: bool,
) -> tuple[Launch, ...] | None:
    """The launches that fold an array over ``axes``; all after the first fold totals.

    Args:
        shape: The array's.
        strides: In bytes.
        itemsize: Bytes of an element.
        axes: Counted from the front.
        width: Elements that one access may move, if they lie side by side.
        aligned: Whether the array begins where such an access may begin.
        ordered: Elements are numbered, so one launch must see all that are folded as one axis.

    Returns:
        None if the array lies in such a way that a copy without gaps must be folded.
    """  # fmt: skip
    if 0 in shape:  # of no element, or for no result
        kept = math.prod(n for axis, n in enumerate(shape) if axis not in axes)
        return tuple(fold_rows(kept, 0, 0, 1, width))
    parts = walks(shape, [s // itemsize for s in strides], axes)
    if any(p.step < 0 for p in parts) or (ordered and sum(p.folded for p in parts) > 1):
        return None
    launches = _launches(parts, width, aligned)
    if launches is None or any(launch.grid[0] > _MAX_BLOCKS for launch in launches):
        return None
    return tuple(launches)
