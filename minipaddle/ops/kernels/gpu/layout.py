"""How operands lie in memory: what a kernel of any strides is told of them. Knows no device."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

MAX_AXES = 10  # as in elementwise.cuh

# Of one array its shape and its strides in bytes.
Lie = tuple[tuple[int, ...], tuple[int, ...], int]


def collapsed(
    shape: tuple[int, ...], steps: Sequence[tuple[int, ...]]
) -> tuple[tuple[int, ...], list[tuple[int, ...]]]:
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


@functools.lru_cache(maxsize=4096)
def geometry(shape: tuple[int, ...], lies: tuple[Lie | None, ...]) -> tuple[np.ndarray, bool]:
    """What ``Geometry`` in elementwise.cuh holds, and whether 32 bits are enough for its indices.

    Args:
        shape: Shape of the result.
        lies: Shape, strides in bytes and element size of the result and of each operand, which
            broadcasts to ``shape``; None for a number.

    Raises:
        ValueError: More than MAX_AXES axes are left when neighbours are joined.
    """
    nowhere = (0,) * len(shape)
    steps = [nowhere if lie is None else steps_of(shape, *lie) for lie in lies]
    lengths, walks = collapsed(shape, steps)
    fields = packed_geometry(lengths, walks)
    reach = max(sum((n - 1) * abs(s) for n, s in zip(lengths, w, strict=True)) for w in walks)
    forward = all(s >= 0 for walk in walks for s in walk)
    small = forward and max(reach, int(np.prod(lengths, dtype=np.int64))) < 2**31
    return fields, small


def packed_geometry(lengths: tuple[int, ...], walks: Sequence[tuple[int, ...]]) -> np.ndarray:
    """The bytes of ``Geometry`` in elementwise.cuh, as a kernel takes them.

    Args:
        lengths: Lengths of the axes.
        walks: For each array its steps along them, in elements.

    Raises:
        ValueError: More than MAX_AXES axes.
    """
    if len(lengths) > MAX_AXES:
        raise ValueError(
            f"a kernel walks along at most {MAX_AXES} axes that cannot be joined; got "
            f"{len(lengths)}, of lengths {list(lengths)}; clone() makes a tensor without gaps"
        )
    fields = np.zeros(1 + MAX_AXES * (1 + len(walks)), np.int64)
    fields[0] = len(lengths)
    fields[1 : 1 + len(lengths)] = lengths[::-1]
    for k, walk in enumerate(walks):
        start = 1 + MAX_AXES * (k + 1)
        fields[start : start + len(walk)] = walk[::-1]
    return fields.view(f"V{fields.nbytes}").reshape(())
