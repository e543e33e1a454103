"""What is particular to groups in shared memory: arrays, memory, descriptors, processes."""

import gc
import os
import secrets
import subprocess
import sys
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from minipaddle.device import shared_memory
from minipaddle.distributed.process_group import ReduceOp, SharedMemoryGroup
from tests.distributed.process_group.harness import ROOT, Ranks


def make_group() -> SharedMemoryGroup:
    return SharedMemoryGroup.create(0, 1, secrets.token_hex(16), timeout=10)


@pytest.fixture
def group() -> Iterator[SharedMemoryGroup]:
    group = make_group()
    yield group
    group.destroy()


def reduce_views(group: SharedMemoryGroup) -> None:
    for size in (20, 400):
        whole = np.zeros((size, size), np.float32)
        for view in (whole[:, ::2], whole.T, whole[::-3, 1:], np.asfortranarray(whole)):
            before = whole.copy()
            view[...] = group.rank + 1
            if np.shares_memory(view, whole):
                before_outside = before
            group.all_reduce(view)
            assert (view == 3).all()
            view[...] = group.rank
            group.broadcast(view, 1)
            assert (view == 1).all()
            view[...] = 0
            assert (whole == before_outside * (whole != 0)).all()
        part = group.all_gather(np.arange(size * size).reshape(size, size).T)[1]
        assert (part == np.arange(size * size).reshape(size, size).T).all()


def test_arrays_with_strides_work_in_place_and_touch_nothing_else() -> None:
    with Ranks(2, timeout=20) as ranks:
        ranks.run(reduce_views)


@pytest.mark.parametrize("dtype", [np.int32, np.uint8, bool])
def test_mean_of_whole_numbers_is_refused(group: SharedMemoryGroup, dtype: Any) -> None:
    with pytest.raises(TypeError, match=r"ReduceOp.AVG needs a float dtype, got .*cast"):
        group.all_reduce(np.ones(3, dtype), ReduceOp.AVG)
    with pytest.raises(TypeError, match="needs a float dtype"):
        group.allreduce_mean(group.empty(3, dtype), 0, None)


def test_sum_of_booleans_is_refused_and_maximum_works(group: SharedMemoryGroup) -> None:
    with pytest.raises(TypeError, match=r"ReduceOp.SUM needs a float or integer dtype, got bool"):
        group.all_reduce(np.ones(3, bool))
    group.all_reduce(np.ones(3, bool), ReduceOp.MAX)


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda g: g.all_reduce([1.0]), TypeError, "must be a numpy.ndarray, got list"),
        (lambda g: g.all_reduce(np.ones(2), 9), ValueError, "9 is not a valid ReduceOp"),
        (lambda g: g.all_gather(np.array(["x", None])), TypeError, "all_gather_object"),
        (lambda g: g.all_reduce(np.ones(2, ">f4")), TypeError, "native byte order"),
        (lambda g: g.broadcast(np.ones(2), 1), ValueError, r"src must be a rank in \[0, 1\)"),
        (lambda g: g.reduce(np.ones(2), -1), ValueError, "dst must be a rank"),
        (lambda g: g.send(np.ones(2), 0), ValueError, "dst must be another rank"),
        (lambda g: g.recv(np.ones(2), 0), ValueError, "src must be another rank"),
        (lambda g: g.alltoall([]), ValueError, "arrays must hold 1"),
        (lambda g: g.alltoall([np.ones(1)] * 2), ValueError, "each of the 1 ranks, got 2"),
        (lambda g: g.scatter(np.ones(2), None, 0), ValueError, "must give arrays, got None"),
        (lambda g: g.scatter(np.ones(2), [], 0), ValueError, "each of the 1 ranks, got 0"),
        (lambda g: g.scatter(np.ones(2), [np.ones(3)], 0), ValueError, r"arrays\[0\] must have"),
        (lambda g: g.new_group([]), ValueError, "distinct and not empty"),
        (lambda g: g.new_group([0, 0]), ValueError, "distinct and not empty"),
        (lambda g: g.new_group([1]), ValueError, "ranks must be a rank in"),
        (lambda g: g.empty(-1, "float32"), ValueError, "numel must not be negative, got -1"),
        (lambda g: g.empty(1, object), TypeError, "plain numbers"),
        (lambda g: g.wait_compute(1), ValueError, r"ring must be in \[0, 1\), got 1"),
        (lambda g: g.allreduce_mean([1.0], 0, None), TypeError, r"group's empty\(\)"),
        (lambda g: g.allreduce_mean(np.ones(2, int), 0, None), TypeError, "a float dtype"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_named_and_harmless(
    group: SharedMemoryGroup, call: Any, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        call(group)
    group.barrier()


def test_read_only_array_is_refused_where_it_would_be_written(group: SharedMemoryGroup) -> None:
    array = np.ones(3)
    array.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        group.all_reduce(array)
    assert group.all_gather(array)[0].tolist() == [1.0, 1.0, 1.0]


def test_bucket_of_another_group_is_refused(group: SharedMemoryGroup) -> None:
    other = make_group()
    with pytest.raises(TypeError, match=r"this group's empty\(\)"):
        group.allreduce_mean(other.empty(3, np.float32), 0, None)
    other.destroy()


def test_lack_of_memory_is_an_error_with_the_size(group: SharedMemoryGroup) -> None:
    with pytest.raises(MemoryError, match=f"cannot reserve {1 << 60} bytes"):
        group.empty(1 << 60, np.uint8)


def test_destroyed_group_refuses_and_its_buckets_stay_readable() -> None:
    group = make_group()
    bucket = group.empty(4, np.float32)
    bucket.array[:] = 7
    group.destroy()
    group.destroy()
    group.abort(ValueError("late"))
    with pytest.raises(RuntimeError, match="cannot be used any more: it was destroyed"):
        group.barrier()
    with pytest.raises(RuntimeError, match="it was destroyed"):
        group.allreduce_mean(bucket, 0, None)
    assert bucket.array.tolist() == [7.0] * 4


def test_group_and_buckets_are_freed_without_the_garbage_collector() -> None:
    gc.disable()
    try:
        group = make_group()
        group.all_reduce(np.ones(100_000))
        bucket = group.empty(1_000_000, np.float32)
        array = bucket.array
        part = group.new_group([0])
        dead = [weakref.ref(group), weakref.ref(part)]
        del group, part, bucket
        assert [ref() for ref in dead] == [None, None]
        assert mapped() == 1  # the array that is still held
        del array
        assert mapped() == 0
    finally:
        gc.enable()


def mapped() -> int:
    with open("/proc/self/maps") as table:
        return sum("memfd:minipaddle" in line for line in table)


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def use_everything(group: SharedMemoryGroup) -> tuple[int, int, int]:
    """Uses what needs memory and sockets, drops it, and counts what is left."""
    group.barrier()
    before = descriptors()
    for size in (10, 100_000, 3_000_000):
        bucket = group.empty(size, np.float32)
        held = descriptors()
        group.allreduce_mean(bucket, 0, None)
        group.all_reduce(np.ones(size, np.float32))
    del bucket
    assert held == before
    for member in range(group.world_size):
        part = group.new_group([member])
        if part is not None:
            part.all_reduce(np.ones(100_000))
            del part  # without destroy
    after = descriptors()
    group.destroy()
    return after - before, before - descriptors(), mapped()


def test_descriptors_and_memory_are_given_back() -> None:
    with Ranks(3, nrings=2, timeout=20) as ranks:
        # Each of three channels has a socket to each of two peers.
        assert ranks.run(use_everything) == [(0, 6, 0)] * 3


def fail_in_rendezvous() -> None:
    try:
        SharedMemoryGroup.create(0, 2, secrets.token_hex(16), timeout=0.05)
    except TimeoutError:
        return
    raise AssertionError("rank 1 cannot have come")


def test_nothing_is_left_after_any_end() -> None:
    shm, fds = sorted(os.listdir("/dev/shm")), descriptors()
    fail_in_rendezvous()
    with Ranks(2, timeout=20) as ranks:
        ranks.run(SharedMemoryGroup.barrier)
        ranks.kill(1)
    with Ranks(2, timeout=20) as ranks:
        ranks.run(SharedMemoryGroup.barrier)
        ranks.start(SharedMemoryGroup.barrier, ranks=[1])
        ranks.kill(0)
    assert sorted(os.listdir("/dev/shm")) == shm
    assert descriptors() == fds
    assert mapped() == 0


def test_process_that_ends_without_destroy_ends_cleanly() -> None:
    program = (
        "import numpy as np\n"
        "from minipaddle.distributed.process_group import SharedMemoryGroup\n"
        f"group = SharedMemoryGroup.create(0, 1, {secrets.token_hex(16)!r})\n"
        "bucket = group.empty(1000, np.float32)\n"
        "group.all_reduce(np.ones(100_000))\n"
    )
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_mapping_fails_with_the_size() -> None:
    with open(os.devnull) as nothing, pytest.raises(MemoryError, match="cannot map 4096 bytes"):
        shared_memory.map_bytes(nothing.fileno(), 4096)
