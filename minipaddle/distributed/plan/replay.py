"""Replay: the Reducer's launching order on recorded times, with a model of what allreduces cost."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

from minipaddle.distributed.plan.cost import Cost
from minipaddle.distributed.plan.trace import Backward
from minipaddle.imperative.launching import LaunchOrder

_DONE = 1e-12  # seconds; less than that is left by rounding


class Times(NamedTuple):
    """What one backward takes, in seconds.

    Attributes:
        length: From its begin to the end of the last allreduce.
        waited: After the last gradient was there.
    """

    length: float
    waited: float


class SimulatedBucket:
    """What the launching order needs of a bucket, and what is left of its allreduce."""

    def __init__(self, index: int, members: Sequence[int], cost: Cost) -> None:
        self.index = index
        self.members = members
        self.cost = cost
        self.pending = len(members)
        self.under_way = False
        self.latency, self.transfer = cost.latency, cost.transfer


class Replay(LaunchOrder):
    """One backward on a simulated clock.

    A ring reduces one bucket at a time, in the order of launching. Allreduces of several rings
    share the link, and one that runs while the process computes slows both down.

    Args:
        plan: Members of each bucket, in the order in which they leave.
        costs: What the allreduce of each costs.
        nrings: Number of rings.
    """

    def __init__(
        self, plan: Sequence[Sequence[int]], costs: Sequence[Cost], nrings: int = 1
    ) -> None:
        super().__init__(
            SimpleNamespace(nrings=nrings, blocking=True, wait_compute=lambda ring: None)
        )
        self.comm_pool_ = SimpleNamespace(submit=lambda lane, task: task())
        self.buckets = [
            SimulatedBucket(index, members, cost)
            for index, (members, cost) in enumerate(zip(plan, costs, strict=True))
        ]
        self._bucket_of = {i: bucket for bucket in self.buckets for i in bucket.members}
        self._rings: list[deque[SimulatedBucket]] = [deque() for _ in range(nrings)]
        self._now = 0.0

    def run(self, backward: Backward) -> Times:
        """Computes for as long as recorded, launches what becomes ready, waits for the rest."""
        computed = 0.0
        for moment, index in sorted((t, i) for i, t in enumerate(backward.ready)):
            self._advance(moment - computed)
            computed = moment
            bucket = self._bucket_of[index]
            bucket.pending -= 1
            self.mark_group_ready()
        self._advance(backward.length - computed)
        begin = self._now
        self.launch_last()
        self._advance(None)
        return Times(self._now, self._now - begin)

    def fused_allreduce_schedule(
        self, bucket: SimulatedBucket, ring: int, token: Any, tell: bool = True
    ) -> None:
        """Puts a bucket at the end of its ring."""
        self._rings[ring].append(bucket)

    def _advance(self, work: float | None) -> None:
        """Moves the clock by so much computing; None: until all that is launched is reduced."""
        while work is None or work > _DONE:
            running = [ring[0] for ring in self._rings if ring]
            if not running:
                self._now += work or 0.0
                return
            pace = 1.0 + sum(bucket.cost.slowdown - 1.0 for bucket in running)
            sharing = sum(bucket.latency <= _DONE for bucket in running)
            left = [_left(bucket, sharing, work is not None) for bucket in running]
            step = min(left) if work is None else min(*left, work * pace)
            self._now += step
            if work is not None:
                work -= step / pace
            for bucket, whole in zip(running, left, strict=True):
                self._progress(bucket, step / whole if whole else 1.0)

    def _progress(self, bucket: SimulatedBucket, share: float) -> None:
        if bucket.latency > _DONE:
            bucket.latency *= 1.0 - share
            if bucket.latency > _DONE or bucket.transfer > _DONE:
                return
        else:
            bucket.transfer *= 1.0 - share
            if bucket.transfer > _DONE:
                return
        self._rings[bucket.index % self.group.nrings].popleft()
        bucket.under_way = False
        self.comm_op_count_ -= 1


def _left(bucket: SimulatedBucket, sharing: int, computing: bool) -> float:
    """Seconds until the present part of an allreduce is over, if nothing changes."""
    part = bucket.latency if bucket.latency > _DONE else bucket.transfer * sharing
    return part * bucket.cost.stretch if computing else part
