"""What a rank says while it waits for another one in a training step."""

from __future__ import annotations

import sys
import weakref

from minipaddle.device.flags import get_flag
from minipaddle.distributed.process_group.base import ProcessGroup
from minipaddle.imperative.reducer import Reducer


def watch_waits(reducer: Reducer, group: ProcessGroup) -> None:
    """Has waits for late ranks reported with the bucket and its parameters."""
    weak, rank = weakref.ref(reducer), reducer.group.rank

    def report(late: list[int], seconds: float, number: int) -> None:
        alive = weak()
        buckets = [] if alive is None else alive.buckets
        where = [b for b in buckets if getattr(b.buffer, "number", None) == number]
        what = alive.describe(where[0]) if alive is not None and where else "unused parameters"
        whom = " and ".join(f"rank {one}" for one in late)
        sys.stderr.write(
            f"minipaddle: rank {rank} has been waiting for {whom} for {seconds:g} s: {what}\n"
        )
        sys.stderr.flush()

    group.report_waits(float(get_flag("FLAGS_comm_wait_warning")), report)
