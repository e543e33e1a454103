"""Whatever goes wrong on one rank, every rank gets an error that says what and where."""

import os
import threading
import time
from typing import Any

import numpy as np
import pytest

from minipaddle.distributed.process_group import (
    CollectiveMismatchError,
    ReduceOp,
    SharedMemoryGroup,
)
from tests.distributed.process_group.harness import Outcome, Ranks


def sizes_differ(group: SharedMemoryGroup) -> None:
    group.all_reduce(np.zeros(10 + group.rank, np.float32))


def one_needs_memory(group: SharedMemoryGroup) -> None:
    group.all_reduce(np.zeros(10 + 100_000 * group.rank, np.float32))


def dtypes_differ(group: SharedMemoryGroup) -> None:
    group.all_gather(np.zeros(10, ("float32", "int32")[group.rank]))


def ops_differ(group: SharedMemoryGroup) -> None:
    group.all_reduce(np.zeros(10, np.float32), (ReduceOp.MAX, ReduceOp.PROD)[group.rank])


def shapes_differ(group: SharedMemoryGroup) -> None:
    group.all_reduce(np.zeros(((2, 3), (3, 2))[group.rank], np.float32))


def roots_differ(group: SharedMemoryGroup) -> None:
    group.broadcast(np.zeros(10, np.float32), group.rank)


def collectives_differ(group: SharedMemoryGroup) -> None:
    if group.rank:
        group.barrier()
    else:
        group.broadcast(np.zeros(10, np.float32), 0)


def buckets_differ(group: SharedMemoryGroup) -> None:
    group.empty(100 + group.rank, np.float32)


def members_differ(group: SharedMemoryGroup) -> None:
    group.new_group([group.rank])


MISMATCHES = [
    (sizes_differ, "all_reduce", ("40 bytes of float32", "44 bytes of float32")),
    (one_needs_memory, "all_reduce", ("40 bytes of float32", "400040 bytes of float32")),
    (dtypes_differ, "all_gather", ("40 bytes of float32", "40 bytes of int32")),
    (ops_differ, "all_reduce", ("op MAX", "op PROD")),
    (shapes_differ, "all_reduce", ("shape [2, 3]", "shape [3, 2]")),
    (roots_differ, "broadcast", ("root 0", "root 1")),
    (collectives_differ, "number", ("broadcast", "barrier")),
    (buckets_differ, "empty", ("400 bytes", "404 bytes")),
    (members_differ, "new_group", ("[0]", "[1]")),
]


def sum_of_ranks(group: SharedMemoryGroup) -> float:
    array = np.full(50_000, group.rank + 1.0)
    group.all_reduce(array)
    return float(array.max())


def test_mismatch_names_both_sides_and_leaves_the_group_usable() -> None:
    with Ranks(2, timeout=20) as ranks:
        for wrong, name, sides in MISMATCHES:
            for outcome in ranks.attempt(wrong):
                assert outcome.error == "CollectiveMismatchError", outcome.text
                first_line = outcome.text.splitlines()[0]
                for part in (name, "rank 0", "rank 1", *sides):
                    assert part in first_line, (wrong, first_line)
            assert ranks.run(sum_of_ranks) == [3.0, 3.0]


def keep_array_at_mismatch(group: SharedMemoryGroup) -> bool:
    array = np.full(60_000 + group.rank, 5.0)
    try:
        group.all_reduce(array)
    except RuntimeError:
        return bool((array == 5.0).all())
    return False


def test_mismatch_changes_no_array() -> None:
    with Ranks(3, timeout=20) as ranks:
        assert ranks.run(keep_array_at_mismatch) == [True] * 3
        assert ranks.run(sum_of_ranks) == [6.0] * 3


def count_descriptors_over_mismatches(group: SharedMemoryGroup) -> int:
    group.barrier()
    before = len(os.listdir("/proc/self/fd"))
    for wrong in (one_needs_memory, buckets_differ, members_differ):
        with pytest.raises(CollectiveMismatchError):
            wrong(group)
    return len(os.listdir("/proc/self/fd")) - before


def test_mismatch_leaves_no_descriptor() -> None:
    with Ranks(2, timeout=20) as ranks:
        assert ranks.run(count_descriptors_over_mismatches) == [0, 0]


def send_against_barrier(group: SharedMemoryGroup) -> None:
    if group.rank:
        group.recv(np.zeros(3), 0)
    else:
        group.barrier()


def test_transfer_against_collective_ends_the_group() -> None:
    with Ranks(2, timeout=20) as ranks:
        outcomes = ranks.attempt(send_against_barrier)
        assert all(outcome.error for outcome in outcomes), outcomes
        assert any("send" in o.text and "barrier" in o.text for o in outcomes)
        for outcome in ranks.attempt(barrier):
            assert outcome.error in ("RuntimeError", "PeerError")
            assert "cannot be used any more" in outcome.text


def barrier(group: SharedMemoryGroup) -> None:
    group.barrier()


def reduce_large(group: SharedMemoryGroup) -> None:
    group.all_reduce(np.ones(3_000_000, np.float32))


def reduce_bucket(group: SharedMemoryGroup, ring: int) -> None:
    group.allreduce_mean(group._test_bucket, ring, None)  # type: ignore[attr-defined]


def make_bucket(group: SharedMemoryGroup) -> None:
    group._test_bucket = group.empty(100_000, np.float32)  # type: ignore[attr-defined]


def receive_from_next(group: SharedMemoryGroup) -> None:
    group.recv(np.zeros(10), (group.rank + 1) % group.world_size)


@pytest.mark.parametrize("world_size", [2, 3])
@pytest.mark.parametrize("waiting", [barrier, reduce_large, receive_from_next])
def test_killed_peer_is_noticed_at_once(world_size: int, waiting: Any) -> None:
    victim = world_size - 1
    with Ranks(world_size, timeout=60) as ranks:
        ranks.run(barrier)
        others = range(victim)
        ranks.start(waiting, ranks=others)
        begin = time.monotonic()
        ranks.kill(victim)
        outcomes = ranks.collect(others)
        assert time.monotonic() - begin < 2.0
        for outcome in outcomes:
            assert outcome.error == "PeerError", outcome.text
            assert f"rank {victim} is gone" in outcome.text


def test_killed_peer_is_noticed_while_another_is_late() -> None:
    with Ranks(3, timeout=60) as ranks:
        ranks.run(barrier)
        ranks.start(barrier, ranks=[0])  # rank 1 stays away
        ranks.kill(2)
        (outcome,) = ranks.collect([0], seconds=5)
        assert "rank 2 is gone" in outcome.text


def destroy(group: SharedMemoryGroup) -> None:
    group.destroy()


def test_peer_that_destroys_its_group_is_noticed() -> None:
    with Ranks(2, timeout=60) as ranks:
        ranks.start(barrier, ranks=[0])
        ranks.start(destroy, ranks=[1])
        outcome, _ = ranks.collect()
        assert "rank 1 is gone" in outcome.text and "barrier number 1" in outcome.text


def fork_a_sleeper(group: SharedMemoryGroup) -> int:
    child = os.fork()
    if child == 0:
        time.sleep(60)
        os._exit(0)
    return child


def test_forked_child_does_not_hide_a_killed_rank() -> None:
    with Ranks(2, timeout=60) as ranks:
        ranks.start(fork_a_sleeper, ranks=[1])
        (forked,) = ranks.collect([1])
        try:
            ranks.start(barrier, ranks=[0])
            ranks.kill(1)
            (outcome,) = ranks.collect([0], seconds=5)
            assert "rank 1 is gone" in outcome.text
        finally:
            os.kill(forked.value, 9)


def use_after_fork(group: SharedMemoryGroup) -> str:
    reader, writer = os.pipe()
    if os.fork() == 0:
        try:
            group.barrier()
        except RuntimeError as error:
            os.write(writer, str(error).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        return pipe.read()


def test_forked_child_cannot_use_the_group_and_the_parent_can() -> None:
    with Ranks(2, timeout=20) as ranks:
        for text in ranks.run(use_after_fork):
            assert "belongs to process" in text and "forked" in text
        assert ranks.run(sum_of_ranks) == [3.0, 3.0]


@pytest.mark.parametrize("world_size", [2, 3])
def test_timeout_names_everything(world_size: int) -> None:
    with Ranks(world_size, timeout=0.5) as ranks:
        ranks.run(barrier)
        ranks.start(barrier, ranks=[0])
        (outcome,) = ranks.collect([0])
        assert outcome.error == "TimeoutError"
        for part in ("timeout", "rank 0 waited 0.5 seconds", "rank 1", "barrier number 2"):
            assert part in outcome.text
        assert ("rank 2" in outcome.text) == (world_size == 3)


def test_timeout_on_a_ring_names_the_ring() -> None:
    with Ranks(2, nrings=2, timeout=0.5) as ranks:
        ranks.run(make_bucket)
        ranks.start(reduce_bucket, 1, ranks=[1])
        (outcome,) = ranks.collect([1])
        text = "rank 1 waited 0.5 seconds for rank 0 in allreduce_mean number 1 on ring 1"
        assert text in outcome.text


def send_large(group: SharedMemoryGroup) -> None:
    group.send(np.zeros(1_000_000), 1)


def test_send_to_a_rank_that_does_not_receive_times_out() -> None:
    with Ranks(2, timeout=0.5) as ranks:
        ranks.start(send_large, ranks=[0])
        (outcome,) = ranks.collect([0])
        assert "timeout: rank 0 waited 0.5 seconds for rank 1 in send" in outcome.text


def fail_with(group: SharedMemoryGroup, text: str) -> None:
    def innermost() -> None:
        raise ValueError(text)

    try:
        innermost()
    except ValueError as error:
        group.abort(error)


def wait_everywhere(group: SharedMemoryGroup) -> list[str]:
    """Waits on each ring and in a user's collective; returns what each thread learned."""
    texts = [""] * (group.nrings + 1)

    def wait(position: int) -> None:
        try:
            if position < group.nrings:
                reduce_bucket(group, position)
            else:
                group.barrier()
        except RuntimeError as error:
            texts[position] = str(error)

    threads = [threading.Thread(target=wait, args=(i,)) for i in range(len(texts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return texts


@pytest.mark.parametrize("world_size", [2, 3])
def test_abort_reaches_every_wait_of_the_peers(world_size: int) -> None:
    with Ranks(world_size, nrings=2, timeout=60) as ranks:
        ranks.run(make_bucket)
        ranks.start(wait_everywhere, ranks=range(world_size - 1))
        begin = time.monotonic()
        ranks.start(fail_with, "boom in größe", ranks=[world_size - 1])
        outcomes = ranks.collect()
        assert time.monotonic() - begin < 1.0
        for outcome in outcomes[:-1]:
            assert not outcome.error, outcome.text
            # The first thread to learn it stops the others, which then quote it.
            for text in outcome.value:
                assert "ValueError: boom in größe" in text and "in innermost" in text
                assert f"rank {world_size - 1} " in text.lower()


def test_group_refuses_use_after_abort_and_names_the_cause() -> None:
    with Ranks(2, timeout=60) as ranks:
        ranks.start(fail_with, "boom", ranks=[1])
        ranks.collect([1])
        for _ in range(2):
            outcomes = ranks.attempt(barrier)
            assert all("boom" in outcome.text for outcome in outcomes)
        # A caller can tell the rank that failed first from those that only heard of it.
        assert [outcome.error for outcome in outcomes] == ["PeerError", "RuntimeError"]
        for rank, outcome in enumerate(outcomes):
            assert f"the process group of rank {rank} cannot be used any more" in outcome.text


def send_small(group: SharedMemoryGroup) -> None:
    group.send(np.zeros(3), 1)


def test_abort_text_arrives_from_a_rank_that_leaves_messages_unread() -> None:
    with Ranks(2, timeout=60) as ranks:
        ranks.start(send_small, ranks=[0])
        ranks.collect([0])
        ranks.start(fail_with, "boom", ranks=[1])
        ranks.start(destroy, ranks=[1])
        ranks.collect([1])
        ranks.collect([1])
        ranks.start(barrier, ranks=[0])
        (outcome,) = ranks.collect([0])
        assert outcome.error == "PeerError" and "ValueError: boom" in outcome.text


def test_very_long_text_is_cut_but_arrives() -> None:
    with Ranks(2, timeout=60) as ranks:
        ranks.start(fail_with, "start" + "x" * 3_000_000 + "end", ranks=[1])
        ranks.start(barrier, ranks=[0])
        outcome = ranks.collect()[0]
        assert outcome.error == "PeerError" and "characters left out" in outcome.text
        assert "end" in outcome.text and len(outcome.text) < 100_000


def abort_from_another_thread(group: SharedMemoryGroup) -> str:
    waiter = Outcome()

    def wait() -> None:
        try:
            group.barrier()
        except RuntimeError as error:
            waiter.text = str(error)

    thread = threading.Thread(target=wait)
    thread.start()
    group.abort(ValueError("stop"))
    thread.join(10)
    return waiter.text


def test_abort_wakes_the_own_threads() -> None:
    with Ranks(2, timeout=60) as ranks:
        ranks.start(abort_from_another_thread, ranks=[0])
        (outcome,) = ranks.collect([0])
        assert "ValueError: stop" in outcome.value


def make_part(group: SharedMemoryGroup) -> None:
    group._test_part = group.new_group([2, 0])  # type: ignore[attr-defined]


def wait_in_part(group: SharedMemoryGroup) -> None:
    group._test_part.barrier()  # type: ignore[attr-defined]


def test_abort_of_a_group_reaches_the_groups_made_from_it() -> None:
    with Ranks(3, timeout=60) as ranks:
        ranks.run(make_part)
        ranks.start(wait_in_part, ranks=[2])
        ranks.start(fail_with, "boom", ranks=[0])
        outcome = ranks.collect([2], seconds=5)[0]
        assert "rank 0 failed" in outcome.text and "boom" in outcome.text


def test_error_texts_of_a_new_group_count_in_the_whole_job() -> None:
    with Ranks(3, timeout=1.0) as ranks:
        ranks.run(make_part)
        ranks.start(wait_in_part, ranks=[0])
        (outcome,) = ranks.collect([0])
        assert "rank 0 waited 1 seconds for rank 2" in outcome.text
