"""Which gradients are reduced together: the bucket plan, and Bucket, one entry of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minipaddle.device.backend import Place
from minipaddle.imperative.flat_buffer import FlatBuffer


class Bucket:
    """Gradients of one dtype in one resident buffer, reduced in one go.

    Attributes:
        index: Position in the order of launching, the same on every rank.
        members: Numbers of its parameters.
        buffer: The group's memory; its ``array`` is what ``flat`` views.
        flat: One view per member: where the gradient lies.
        pending: Members whose gradient is not final yet in this backward.
        under_way: Launched and not reduced yet.
        token: What ``allreduce_mean`` returned.
    """

    __slots__ = ("buffer", "flat", "index", "members", "pending", "token", "under_way")

    def __init__(
        self,
        index: int,
        members: list[int],
        buffer: Any,
        place: Place,
        shapes: Sequence[tuple[int, ...]],
    ) -> None:
        self.index = index
        self.members = members
        self.buffer = buffer
        self.flat = FlatBuffer(place, buffer.array, shapes)
        self.pending = len(members)
        self.token: Any = None
        self.under_way = False


def assign_buckets(
    sizes: Sequence[int],
    kinds: Sequence[Any],
    limits: Sequence[int],
    sparse: Sequence[bool] | None = None,
    order: Sequence[int] | None = None,
) -> list[list[int]]:
    """Cuts parameters into buckets, walking them in order.

    A bucket is closed when it holds as many bytes as its limit, or more. Each kind has its own open
    bucket and its own place in ``limits``; the last limit serves all buckets after it. A sparse
    gradient is a bucket of its own.

    Args:
        sizes: Bytes of each parameter.
        kinds: What all members of a bucket must share, such as dtype and place.
        limits: Bytes at which the first, the second, ... bucket of a kind is closed; 0 gives every
            parameter its own.
        sparse: Which parameters have sparse gradients.
        order: In which order to walk; as given by default.

    Returns:
        Lists of indices, by first index; with ``order``, in the order in which they were closed.

    Raises:
        ValueError: Lengths differ, ``limits`` is empty, or ``order`` is no permutation.

    References:
        The rule is Paddle's ``assign_group_by_size``.
    """
    count = len(sizes)
    sparse = [False] * count if sparse is None else sparse
    if len(kinds) != count or len(sparse) != count:
        raise ValueError(
            f"sizes, kinds and sparse must be equally long; got {count}, {len(kinds)}, "
            f"{len(sparse)}"
        )
    if not limits:
        raise ValueError("limits must not be empty")
    walk = list(range(count)) if order is None else list(order)
    if sorted(walk) != list(range(count)):
        raise ValueError(f"order must be a permutation of 0..{count - 1}; got {walk}")
    buckets: list[list[int]] = []
    opened: dict[Any, list[int]] = {}
    filled: dict[Any, int] = {}
    position: dict[Any, int] = {}
    for i in walk:
        if sparse[i]:
            buckets.append([i])
            continue
        kind = kinds[i]
        opened.setdefault(kind, []).append(i)
        filled[kind] = filled.get(kind, 0) + sizes[i]
        at = position.get(kind, 0)
        if filled[kind] >= limits[at]:
            buckets.append(opened.pop(kind))
            filled[kind] = 0
            position[kind] = min(at + 1, len(limits) - 1)
    buckets.extend(opened.values())
    return buckets if order is not None else sorted(buckets, key=lambda bucket: bucket[0])


def plan_buckets(
    sizes: Sequence[int], kinds: Sequence[Any], limits: Sequence[int]
) -> list[list[int]]:
    """The members of each bucket, by index: as ``assign_buckets``, turned round.

    Backward reaches first the parameters that are declared last. What is left over for them joins
    the bucket before it if it is smaller than the first limit: to hand a few bytes to a thread
    costs more than to send them later.
    """
    buckets = assign_buckets(sizes, kinds, limits)
    if len(buckets) > 1 and sum(sizes[i] for i in buckets[-1]) < limits[0]:
        *_, before, left_over = buckets
        if kinds[before[0]] == kinds[left_over[0]]:
            buckets[-2:] = [before + left_over]
    return buckets[::-1]
