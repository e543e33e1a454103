"""LaunchOrder: which bucket leaves when, and on which ring. The Reducer's half without memory."""

from __future__ import annotations

import functools
import threading
from collections.abc import Sequence
from typing import Any


class LaunchOrder:
    """Launches buckets in index order, each once it is complete, the last when backward has ended.

    The Reducer is one on real buckets; the planner (``distributed/plan``) is another one, on
    recorded times.

    Args:
        group: Says how many rings there are, and marks what an allreduce waits for.

    Attributes:
        buckets: In index order; each has an index, counts pending members and can be under_way.
        comm_pool_: The communication threads.
        comm_op_count_: How many buckets are launched and not reduced yet; changed under ``cv_``.
        next_group_: The bucket to be launched next.
    """

    buckets: Sequence[Any]
    comm_pool_: Any

    def __init__(self, group: Any) -> None:
        self.group = group
        self.next_group_ = 0
        self.comm_op_count_ = 0
        self.cv_ = threading.Condition()
        self._held: tuple[Any, int, Any] | None = None
        self._alone = False

    def fused_allreduce_schedule(
        self, bucket: Any, ring: int, token: Any, tell: bool = True
    ) -> None:
        """Reduces one bucket; runs in a communication thread."""
        raise NotImplementedError

    def mark_group_ready(self) -> None:
        """Launches the buckets that are complete, in index order and no further."""
        while self.next_group_ < len(self.buckets):
            bucket = self.buckets[self.next_group_]
            if bucket.pending:
                return
            ring = bucket.index % self.group.nrings
            token = self.group.wait_compute(ring)
            with self.cv_:
                self.comm_op_count_ += 1
                bucket.under_way = True
                self._alone = self.comm_op_count_ == 1
            self.next_group_ += 1
            if bucket is self.buckets[-1]:
                # Nothing is left to compute meanwhile. It leaves when backward has ended well on
                # this rank, so that no rank has all means unless all ranks have come that far.
                self._held = bucket, ring, token
            else:
                # Bucket and ring go by value: next_group_ has moved on when the worker starts.
                launch = functools.partial(self.fused_allreduce_schedule, bucket, ring, token)
                self.comm_pool_.submit(ring if self.group.blocking else 0, launch)

    def launch_last(self) -> None:
        """Reduces the last bucket, in this thread if no other is under way."""
        if self._held is None:
            return
        (bucket, ring, token), self._held = self._held, None
        if self._alone:  # to wake a thread costs more than a small allreduce
            self.fused_allreduce_schedule(bucket, ring, token, False)
        else:
            launch = functools.partial(self.fused_allreduce_schedule, bucket, ring, token)
            self.comm_pool_.submit(ring if self.group.blocking else 0, launch)
