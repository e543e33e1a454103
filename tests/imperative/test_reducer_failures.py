"""The Reducer when something fails: in a thread, in backward, on another rank, or never ends."""

import signal
import threading
import time

import pytest

from minipaddle.imperative import reducer as reducer_module
from tests.imperative.reducer_harness import (
    SHAPES,
    Counted,
    LoneGroup,
    World,
    check_gradients,
    loss_of,
    make_parameters,
    on_ranks,
    wait_until,
    wrap,
)

# ---- failures in the communication threads ----


class Odd(BaseException):
    pass


class Unpicklable(Exception):
    def __reduce__(self):
        raise TypeError("no pickle")


class Unprintable(Exception):
    def __str__(self):
        raise ValueError("no text")

    __repr__ = __str__


FAILURES = [
    ValueError,
    Odd,
    KeyboardInterrupt,
    SystemExit,
    Unpicklable,
    Unprintable,
    MemoryError,
]


@pytest.mark.parametrize("blocking", [True, False])
@pytest.mark.parametrize("kind", FAILURES)
@pytest.mark.parametrize("find_unused", [False, True])
def test_a_failure_in_a_thread_reaches_the_caller_of_backward(kind, blocking, find_unused):
    parameters = make_parameters(SHAPES)
    group = LoneGroup(blocking=blocking)
    reducer = wrap(parameters, group, [12, 20], Counted, find_unused_parameters=find_unused)
    assert [bucket.members for bucket in reducer.buckets] == [[3], [1, 2], [0]]

    def fail(buffer):
        if buffer.number == 1:
            raise kind("the-reason")

    group.on_reduce = fail
    with pytest.raises(RuntimeError) as caught:
        loss_of(parameters).backward()
    text = str(caught.value)
    assert type(caught.value.__cause__) is kind
    assert caught.value.__cause__.args == ("the-reason",)
    assert "rank 0" in text and "bucket 1 of 3" in text and "p1, p2" in text
    assert kind.__name__ in text
    assert kind is Unprintable or "the-reason" in text
    assert group.aborts == [(RuntimeError, (text,))]
    assert reducer.counts[-1] == 0 and min(reducer.counts) == 0

    group.on_reduce = None
    for _, parameter in parameters:
        parameter.clear_grad()
    loss_of(parameters, 3.0).backward()
    check_gradients(parameters, 3.0)
    assert reducer.counts[-1] == 0 and len(group.aborts) == 1


def test_the_first_of_several_failures_is_told():
    parameters = make_parameters(SHAPES)
    group = LoneGroup()
    _reducer = wrap(parameters, group)

    def fail(buffer):
        raise ValueError(f"reason {buffer.number}")

    group.on_reduce = fail
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"bucket 0 of 4 \(parameters p3\).*reason 0"):
            loss_of(parameters).backward()


def test_a_long_list_of_parameters_is_cut():
    parameters = make_parameters([(1,)] * 9)
    group = LoneGroup()
    _reducer = wrap(parameters, group, [1000])

    def fail(buffer):
        raise ValueError("reason")

    group.on_reduce = fail
    with pytest.raises(RuntimeError, match=r"p0, p1, p2, p3, p4, p5 and 3 more"):
        loss_of(parameters).backward()


@pytest.mark.parametrize("call", ["wait_compute", "wait_comm", "allreduce_max"])
def test_a_failure_of_the_group_in_the_thread_of_backward(call, monkeypatch):
    parameters = make_parameters(SHAPES)
    group = LoneGroup()
    reducer = wrap(parameters, group, find_unused_parameters=True)

    def fail(_):
        raise OSError("the-reason")

    with monkeypatch.context() as patch:
        patch.setattr(group, call, fail)
        with pytest.raises(OSError, match="the-reason"):
            loss_of(parameters).backward()
    assert len(group.aborts) == 1 and reducer.comm_op_count_ == 0
    for _, parameter in parameters:
        parameter.clear_grad()
    loss_of(parameters).backward()
    check_gradients(parameters)


def test_a_failure_in_backward_itself_is_told_to_the_group():
    parameters = make_parameters(SHAPES)
    group = LoneGroup()
    reducer = wrap(parameters, group, cls=Counted)

    def fail(_):
        raise KeyError("in a hook")

    handle = parameters[0][1].register_hook(fail)  # the leaf that is done last
    with pytest.raises(KeyError, match="in a hook"):
        loss_of(parameters).backward()
    assert group.aborts == [(KeyError, ("in a hook",))] and reducer.counts[-1] == 0
    handle.remove()
    for _, parameter in parameters:
        parameter.clear_grad()
    loss_of(parameters).backward()
    check_gradients(parameters)


def test_a_failure_on_one_rank_frees_the_others():
    world = World(3, timeout=20.0)

    def train(rank):
        parameters = make_parameters(SHAPES)
        _reducer = wrap(parameters, world.groups[rank])
        if rank == 1:
            world.groups[1].on_reduce = lambda buffer: 1 / (2 - buffer.number)
        with pytest.raises(RuntimeError) as caught:
            loss_of(parameters).backward()
        return str(caught.value)

    begin = time.monotonic()
    texts = on_ranks(3, train)
    assert time.monotonic() - begin < 5.0
    assert "rank 1: allreduce of bucket 2 of 4 (parameters p1) failed: ZeroDivision" in texts[1]
    for rank in (0, 2):
        assert texts[rank].startswith(f"rank {rank}: allreduce of bucket ")
        assert "rank 1 failed" in texts[rank] and "division by zero" in texts[rank]


def test_a_rank_that_never_arrives_is_a_timeout():
    world = World(2, timeout=0.3)

    def train(rank):
        parameters = make_parameters(SHAPES)
        reducer = wrap(parameters, world.groups[rank], [12, 20], Counted)
        if rank == 0:
            with pytest.raises(TimeoutError) as caught:
                loss_of(parameters).backward()
            assert reducer.counts[-1] == 0
            return str(caught.value)

    text, _ = on_ranks(2, train)
    assert "rank 0" in text and "bucket 0 of 3" in text and "p3" in text and "timeout" in text


@pytest.mark.parametrize("nrings", [1, 3])
@pytest.mark.parametrize("stuck", [0, 1, 2])
def test_a_reduction_that_never_returns_is_a_timeout_that_names_it(stuck, nrings, monkeypatch):
    monkeypatch.setattr(reducer_module, "_GRACE", 0.1)
    parameters = make_parameters(SHAPES)
    group = LoneGroup(nrings, timeout=0.1)
    reducer = wrap(parameters, group)
    released = threading.Event()

    def hang(buffer):
        if buffer.number == stuck:
            released.wait(30.0)

    group.on_reduce = hang
    try:
        with pytest.raises(TimeoutError, match="timeout") as caught:
            loss_of(parameters).backward()
    finally:
        released.set()
    assert f"bucket {stuck} of 4 (parameters p{3 - stuck})" in str(caught.value)
    assert "rank 0" in str(caught.value) and len(group.aborts) == 1
    wait_until(lambda: reducer.comm_op_count_ == 0)
    for _, parameter in parameters:
        parameter.clear_grad()
    loss_of(parameters).backward()
    check_gradients(parameters)


def test_ctrl_c_stays_what_it_is():
    """Whichever thread reduces the only bucket, the user's thread is interrupted."""
    parameters = make_parameters(SHAPES)
    group = LoneGroup()
    reducer = wrap(parameters, group, [1000], Counted)
    released = threading.Event()

    def interrupt(buffer):
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        released.wait(10)

    group.on_reduce = interrupt
    abort = group.abort
    group.abort = lambda exc: (abort(exc), released.set())
    with pytest.raises(KeyboardInterrupt):
        loss_of(parameters).backward()
    assert [kind for kind, _ in group.aborts] == [KeyboardInterrupt]
    assert reducer.counts[-1] == 0


def test_no_bucket_follows_one_that_failed():
    """The next one would meet the bucket for which the other ranks still wait for this one."""
    parameters = make_parameters(SHAPES)
    group = LoneGroup()
    _reducer = wrap(parameters, group)
    early, aborted = [], threading.Event()

    def reduce(buffer):
        if buffer.number == 1:
            wait_until(lambda: len(group.computed) == 4)  # the others are in the lane already
            raise ValueError("the-reason")
        if buffer.number > 1 and not aborted.is_set():
            early.append(buffer.number)

    def abort(exc):
        threading.Event().wait(0.05)  # as long as it may take to tell the peers
        aborted.set()

    group.on_reduce, group.abort = reduce, abort
    with pytest.raises(RuntimeError, match=r"bucket 1 of 4.*the-reason"):
        loss_of(parameters).backward()
    assert early == [] and aborted.is_set()


def test_nothing_is_reduced_after_a_failure_that_is_known_already():
    """Other ranks need not come to it any more, so it could last as long as the group's limit."""
    parameters = make_parameters(SHAPES)
    group = LoneGroup()
    reducer = wrap(parameters, group)
    early = []

    def reduce(buffer):
        if buffer.number == 0:
            raise ValueError("the-reason")
        if buffer.number == 3 and not group.aborts:
            early.append(threading.current_thread().name)

    group.on_reduce = reduce
    last = parameters[0][1]
    last.register_hook(lambda g: wait_until(lambda: reducer.comm_op_count_ == 0))
    with pytest.raises(RuntimeError, match=r"bucket 0 of 4.*the-reason"):
        loss_of(parameters).backward()
    assert early == [] and len(group.aborts) == 1
