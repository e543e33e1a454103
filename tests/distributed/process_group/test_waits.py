"""What a rank is told while it waits, and what a failure elsewhere leaves alone."""

import contextlib
import io
import time
from typing import Any

import numpy as np
import pytest

from minipaddle.distributed.process_group import SharedMemoryGroup
from tests.distributed.process_group.harness import Ranks


def fail_after_a_collective_that_another_is_still_in(group: SharedMemoryGroup) -> float:
    """Rank 2 sends its part to rank 0 last, and rank 1 has failed in between."""
    array = np.full(4, group.rank + 1.0)
    if group.rank == 2:
        whole = group._user.send

        def send(peer: int, *rest: Any) -> None:
            if peer == 0:
                time.sleep(0.3)
            whole(peer, *rest)

        group._user.peers = (1, 0)
        group._user.send = send
    group.all_reduce(array)
    if group.rank == 1:
        group.abort(ValueError("the-reason"))
    with pytest.raises(RuntimeError, match="the-reason"):
        group.barrier()
    return float(array[0])


def test_an_abort_disturbs_nobody_in_a_collective_that_its_rank_is_done_with() -> None:
    with Ranks(3, timeout=20) as ranks:
        assert ranks.run(fail_after_a_collective_that_another_is_still_in) == [6.0] * 3


def fail_in_a_thread(group: SharedMemoryGroup) -> str:
    if group.rank == 1:
        group._algorithms[0].reduce_shares = lambda *_: {}["the-key"]
    buffer = group.empty(10, np.float32)
    with pytest.raises((KeyError, RuntimeError)) as caught:
        group.allreduce_mean(buffer, 0, None)
    return str(caught.value)


def test_a_failure_inside_a_collective_travels_with_its_traceback() -> None:
    with Ranks(2, timeout=20) as ranks:
        told = ranks.run(fail_in_a_thread)[0]
    assert "in <lambda>" in told and "KeyError: 'the-key'" in told


def report_a_late_rank(group: SharedMemoryGroup) -> list[Any]:
    seen: list[Any] = []
    group.report_waits(0.05, lambda *found: seen.append(found))
    buffer = group.empty(10, np.float32)
    if group.rank:
        time.sleep(0.5)
    group.allreduce_mean(buffer, 0, None)
    return seen


def test_a_wait_is_reported_while_it_lasts() -> None:
    with Ranks(2, timeout=20) as ranks:
        assert ranks.run(report_a_late_rank)[0] == [([1], 0.05, 1)]


def print_a_late_rank(group: SharedMemoryGroup) -> str:
    group.report_waits(0.05)
    text = io.StringIO()
    if group.rank:
        time.sleep(0.5)
    with contextlib.redirect_stderr(text):
        group.barrier()
    return text.getvalue()


def test_by_default_a_late_rank_is_printed() -> None:
    with Ranks(2, timeout=20) as ranks:
        assert ranks.run(print_a_late_rank)[0] == (
            "minipaddle: rank 0 has waited 0.05 s for rank 1 in barrier number 1\n"
        )
