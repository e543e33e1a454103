"""How operands lie in memory: what a kernel of any strides is told of them. Knows no device."""

from __future__ import annotations

import array
import functools
import math
from collections.abc import Sequence

import numpy as np

MAX_AXES = 10  # as in elementwise.cuh

# Of one array its shape, its strides in bytes and the bytes of an element.
Lie = tuple[tuple[int, ...], tuple[int, ...], int]
# The lengths of axes, and for each array its step, in elements, along every axis.
Walk = tuple[tuple[int, ...], list[tuple[int, ...]]]

# Axes shorter than this are not worth a loop of their own.
_SHORT = 16


class Struct:
    """Numbers that a kernel takes by value, as one struct.

    Attributes:
        fields: The numbers, as they lie in it. Those of an ``array.array`` are passed for a third
            of the time.
        address: Where they begin.
    """

    __slots__ = ("address", "fields")

    def __init__(self, fields: np.ndarray | array.array[float]) -> None:
        self.fields = fields
        if isinstance(fields, np.ndarray):
            self.fields = np.ascontiguousarray(fields)
            self.address = int(self.fields.ctypes.data)
        else:
            self.address = fields.buffer_info()[0]


def collapsed(shape: tuple[int, ...], steps: Sequence[tuple[int, ...]]) -> Walk:
    """Joins neighbouring axes that every array walks along as if they were one.

    Args:
        shape: Lengths of the axes.
        steps: For each array its step, in elements, along every axis.

    Returns:
        The lengths and steps that are left; axes of length 1 are gone.
    """
    lengths: list[int] = []
    walks: list[list[int]] = [[] for _ in steps]
    for axis, length in enumerate(shape):
        if length == 1:
            continue
        here = [step[axis] for step in steps]
        if lengths and all(w[-1] == length * h for w, h in zip(walks, here, strict=True)):
            lengths[-1] *= length
            for walk, h in zip(walks, here, strict=True):
                walk[-1] = h
        else:
            lengths.append(length)
            for walk, h in zip(walks, here, strict=True):
                walk.append(h)
    return tuple(lengths), [tuple(walk) for walk in walks]


def steps_of(
    shape: tuple[int, ...], own: tuple[int, ...], strides: tuple[int, ...], itemsize: int
) -> tuple[int, ...]:
    """The steps, in elements, of an array of shape ``own`` that is broadcast to ``shape``."""
    missing = len(shape) - len(own)
    walked = (0 if n == 1 else s // itemsize for n, s in zip(own, strides, strict=True))
    return (0,) * missing + tuple(walked)


def contiguous(shape: tuple[int, ...], itemsize: int) -> Lie:
    """How a new array lies."""
    strides = [itemsize]
    for length in reversed(shape[1:]):
        strides.append(strides[-1] * length)
    return shape, tuple(strides[::-1][: len(shape)]), itemsize


def walk(shape: tuple[int, ...], lies: Sequence[Lie | None]) -> Walk:
    """The fewest axes that a loop over all elements needs, in the order of the first array.

    Args:
        shape: Shape of the result.
        lies: Shape, strides in bytes and element size of the result and of each operand, which
            broadcasts to ``shape``; None for a number.
    """
    nowhere = (0,) * len(shape)
    steps = [nowhere if lie is None else steps_of(shape, *lie) for lie in lies]
    order = sorted(range(len(shape)), key=lambda axis: -abs(steps[0][axis]))
    return collapsed(tuple(shape[i] for i in order), [tuple(s[i] for i in order) for s in steps])


def packed(lengths: tuple[int, ...], steps: Sequence[tuple[int, ...]]) -> tuple[Struct, bool]:
    """What ``Geometry`` in elementwise.cuh holds, and whether 32 bits are enough for its indices.

    Raises:
        ValueError: There are more than MAX_AXES axes.
    """
    if len(lengths) > MAX_AXES:
        raise ValueError(
            f"arrays that lie in memory along more than {MAX_AXES} axes are too many for a kernel: "
            f"got {len(lengths)}, of lengths {list(lengths)}; clone() makes one that lies without "
            "gaps"
        )
    fields = np.zeros(1 + MAX_AXES * (1 + len(steps)), np.int64)
    fields[0] = len(lengths)
    for k, row in enumerate((lengths, *steps)):
        start = 1 + MAX_AXES * k
        fields[start : start + len(row)] = row[::-1]
    reach = max(sum((n - 1) * abs(s) for n, s in zip(lengths, w, strict=True)) for w in steps)
    forward = all(s >= 0 for step in steps for s in step)
    small = forward and max(reach, math.prod(lengths)) < 2**31
    return Struct(fields), small


@functools.lru_cache(maxsize=4096)
def geometry(shape: tuple[int, ...], lies: tuple[Lie | None, ...]) -> tuple[Struct, bool]:
    """``packed`` of ``walk``."""
    return packed(*walk(shape, lies))


def has_rows(lengths: tuple[int, ...], steps: Sequence[tuple[int, ...]]) -> bool:
    """Whether the last axis is long and every array has neighbours or one element along it."""
    if not lengths or lengths[-1] < _SHORT or steps[0][-1] != 1:
        return False
    return all(step[-1] in (0, 1) for step in steps)


def row_width(
    lengths: tuple[int, ...], steps: Sequence[tuple[int, ...]], widest: int, whole: bool
) -> int:
    """Elements in one access to a row, a power of two: every row has to begin and end with one.

    Args:
        lengths: Lengths of the axes.
        steps: Steps of the arrays along them.
        widest: What one access can move.
        whole: Whether every array begins where an access may begin.
    """
    if not whole:
        return 1
    return math.gcd(widest, lengths[-1], *[s for w in steps if w[-1] == 1 for s in w[:-1]])


def lines(rows: int, packs: int, threads: int) -> tuple[int, int]:
    """Threads along a row and rows side by side in a block, both powers of two."""
    along = min(32, _power(packs))
    beside = min(threads // along, _power(rows))
    return min(threads // beside, _power(packs)), beside


def _power(n: int) -> int:
    """The smallest power of two that is not below ``n``."""
    return 1 << (n - 1).bit_length()


def crossing(
    lengths: tuple[int, ...], result: tuple[int, ...], step: tuple[int, ...]
) -> int | None:
    """The axis along which an array has its neighbours, if the result has them along the last one.

    None if the two go the same way, or an axis is too short for it to matter.
    """
    if not lengths or lengths[-1] < _SHORT or result[-1] != 1 or step[-1] in (0, 1):
        return None
    for axis, (n, s) in enumerate(zip(lengths[:-1], step[:-1], strict=True)):
        if s == 1 and n >= _SHORT:
            return axis
    return None
