"""Axes as users give them, checked and counted from the front."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any


def normal_axis(axis: Any, rank: int, name: str = "axis") -> int:
    """``axis``, an int or what stands for one, in ``[0, rank)``.

    Args:
        axis: Counted from the front, or from the end if it is negative.
        rank: Number of axes.
        name: What to call it in an error.

    Returns:
        The axis counted from the front.

    Raises:
        TypeError: It is no int.
        ValueError: There is no such axis.
    """
    try:
        at = operator.index(axis)
    except TypeError:
        raise TypeError(f"{name} must be an int; got {axis!r}") from None
    if not -rank <= at < rank:
        valid = f"it must lie in [{-rank}, {rank - 1}]" if rank else "a 0-d tensor has no axis"
        raise ValueError(f"{name} {at} is out of range for a tensor of rank {rank}; {valid}")
    return at % rank


def normal_axes(axes: Iterable[Any], rank: int, name: str = "axis") -> tuple[int, ...]:
    """Several axes in ``[0, rank)``.

    Raises:
        TypeError: One is no int.
        ValueError: One does not exist, or is named twice.
    """
    found = tuple(normal_axis(axis, rank, name) for axis in axes)
    if len(set(found)) < len(found):
        raise ValueError(f"{name} names an axis twice; got {list(axes)} for rank {rank}")
    return found
