"""The Reducer in one process: groups are fakes whose ranks, if there are several, are threads."""

import gc
import random
import threading
import time
import weakref

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.imperative import reducer as reducer_module
from minipaddle.imperative.engine import queue_callback
from minipaddle.imperative.grad_node import AccumulationNode
from minipaddle.imperative.reducer import Reducer
from tests.imperative.fake_groups import (
    LoneGroup,
    QueueingGroup,
    World,
    make_parameters,
    on_ranks,
)

SMALL = [0]  # every parameter is a bucket of its own
SHAPES = [(3,), (2, 2), (), (5,)]


def wrap(parameters, group, limits=SMALL, cls=Reducer, **options):
    reducer = cls(parameters, group, limits, **options)
    reducer.prepare_for_backward(True)
    return reducer


def loss_of(parameters, factor=1.0):
    """A scalar whose gradient is ``factor`` times each parameter's number plus 1."""
    total = paddle.zeros([], dtype=parameters[0][1].dtype)
    for name, parameter in parameters:
        total = total + (parameter * (factor * (int(name[1:]) + 1))).sum()
    return total


def check_gradients(parameters, factor=1.0):
    for name, parameter in parameters:
        np.testing.assert_array_equal(parameter.grad.numpy(), factor * (int(name[1:]) + 1))


def comm_threads():
    return [t for t in threading.enumerate() if t.name.startswith("comm-")]


def wait_until(condition, seconds=10.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "did not come true in time"
        time.sleep(0.001)


class Counted(Reducer):
    """Notes every value of the count, whether it was locked, and who looked at next_group_."""

    @property
    def comm_op_count_(self):
        self.locked.append(self.cv_._is_owned())
        return self.counts[-1]

    @comm_op_count_.setter
    def comm_op_count_(self, value):
        if "cv_" not in self.__dict__:  # the first value, from the constructor
            self.counts, self.locked = [value], []
            return
        self.locked.append(self.cv_._is_owned())
        self.counts.append(value)

    @property
    def next_group_(self):
        self.lookers.add(threading.current_thread())
        return self.__dict__["next_group_"]

    @next_group_.setter
    def next_group_(self, value):
        self.__dict__.setdefault("lookers", set()).add(threading.current_thread())
        self.__dict__["next_group_"] = value


# ---- 500 seeds ----


class Pauses:
    """Waits of at most a fifth of a millisecond, now and then."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.never = threading.Event()

    def __call__(self, *_):
        if self.rng.random() < 0.3:
            self.never.wait(self.rng.random() * 2e-4)


def backward_under_delays(group, seeds, find_unused):
    """Backwards of one rank; returns its reducer and the launches (rings in order) of each."""
    parameters = make_parameters([(2,)] * 7)
    limits = [[0], [8, 16], [8, 24, 32]][seeds[0] % 3]
    reducer = wrap(parameters, group, limits, Counted, find_unused_parameters=find_unused)
    launches = []
    for seed in seeds:
        in_hooks, group.on_reduce = (
            Pauses(4 * seed + group.rank),
            Pauses(-4 * seed - group.rank - 1),
        )
        order = random.Random(seed * 10 + group.rank).sample(parameters, len(parameters))
        used = order[:-2] if find_unused else order
        handles = [parameter.register_hook(in_hooks) for _, parameter in used]
        loss_of(used, group.rank + 1.0).backward()
        assert reducer.counts[-1] == 0
        launches.append([ring for ring, _ in group.computed])
        group.computed.clear()
        for handle in handles:
            handle.remove()
        unused_by = [
            {n for n, _ in random.Random(seed * 10 + r).sample(parameters, 7)[-2:]} for r in (0, 1)
        ]
        for name, parameter in parameters:
            share = [
                0.0 if find_unused and name in unused_by[rank] else rank + 1.0 for rank in (0, 1)
            ]
            if any(share):
                expected = sum(share) / 2 * (int(name[1:]) + 1)
                np.testing.assert_array_equal(parameter.grad.numpy(), expected)
            else:
                assert parameter.grad is None
            parameter.clear_grad(False)
    return reducer, launches


@pytest.mark.parametrize("first", range(0, 500, 50))
def test_500_seeds_of_random_delays(first):
    """Hooks come in another order on each rank, and both kinds of thread are held up at random."""
    nrings, find_unused = first // 50 % 3 + 1, first % 100 == 50
    world = World(2, nrings)
    seeds = range(first, first + 50)
    ranks = on_ranks(2, lambda rank: backward_under_delays(world.groups[rank], seeds, find_unused))
    for reducer, launches in ranks:
        buckets = len(reducer.buckets)
        assert launches == [[i % nrings for i in range(buckets)]] * 50
        assert min(reducer.counts) == 0 and reducer.counts[-1] == 0
        assert max(reducer.counts) <= buckets and all(reducer.locked)
        assert len(reducer.lookers) == 1  # never the workers
    for ring in range(nrings):
        orders = [[n for n, r, *_ in group.reduced if r == ring] for group in world.groups]
        assert orders[0] == orders[1] == [*range(ring, len(ranks[0][0].buckets), nrings)] * 50


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
    ValueError("the-reason"),
    Odd("the-reason"),
    KeyboardInterrupt("the-reason"),
    SystemExit("the-reason"),
    Unpicklable("the-reason"),
    Unprintable("the-reason"),
    MemoryError("the-reason"),
]


@pytest.mark.parametrize("blocking", [True, False])
@pytest.mark.parametrize("failure", FAILURES, ids=lambda f: type(f).__name__)
@pytest.mark.parametrize("find_unused", [False, True])
def test_a_failure_in_a_thread_reaches_the_caller_of_backward(failure, blocking, find_unused):
    parameters = make_parameters(SHAPES)
    group = LoneGroup(blocking=blocking)
    reducer = wrap(parameters, group, [12, 24], Counted, find_unused_parameters=find_unused)
    assert [bucket.members for bucket in reducer.buckets] == [[3], [1, 2], [0]]

    def fail(buffer):
        if buffer.number == 1:
            raise failure

    group.on_reduce = fail
    with pytest.raises(RuntimeError) as caught:
        loss_of(parameters).backward()
    text = str(caught.value)
    assert caught.value.__cause__ is failure
    assert "rank 0" in text and "bucket 1 of 3" in text and "p1, p2" in text
    assert type(failure).__name__ in text
    assert type(failure) is Unprintable or "the-reason" in text
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
    for rank, text in enumerate(texts):
        assert f"rank {rank}: allreduce of bucket 2 of 4 (parameters p1) failed" in text
        assert "division by zero" in text and "rank 1" in text


def test_a_rank_that_never_arrives_is_a_timeout():
    world = World(2, timeout=0.3)

    def train(rank):
        parameters = make_parameters(SHAPES)
        reducer = wrap(parameters, world.groups[rank], [12, 24], Counted)
        if rank == 0:
            with pytest.raises(TimeoutError) as caught:
                loss_of(parameters).backward()
            assert reducer.counts[-1] == 0
            return str(caught.value)

    text, _ = on_ranks(2, train)
    assert "rank 0" in text and "bucket 0 of 3" in text and "p3" in text and "timeout" in text


@pytest.mark.parametrize("nrings", [1, 3])
@pytest.mark.parametrize("stuck", [0, 1, 3])
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


# ---- launching ----


@pytest.mark.parametrize("nrings", [1, 2, 3])
def test_rings_go_round_and_each_has_its_thread(nrings):
    parameters = make_parameters([(2,)] * 7)
    group = LoneGroup(nrings)
    _reducer = wrap(parameters, group)
    for _ in range(3):
        loss_of(parameters).backward()
    rings = [i % nrings for i in range(7)] * 3
    assert [ring for ring, _ in group.computed] == rings
    assert {thread for _, thread in group.computed} == {threading.current_thread()}
    assert len(group.reduced) == 21
    for number, ring, token, thread in group.reduced:
        assert (
            ring == number % nrings and thread == f"comm-{ring}" and token[:2] == ("computed", ring)
        )
    for ring in range(nrings):
        tokens = [token[2] for _, r, token, _ in group.reduced if r == ring]
        assert tokens == sorted(tokens)


def test_a_group_that_only_queues_has_one_thread_and_bucket_order():
    parameters = make_parameters([(2,)] * 7)
    group = QueueingGroup(3)
    before = set(comm_threads())
    _reducer = wrap(parameters, group)
    assert len(set(comm_threads()) - before) == 1
    loss_of(parameters, 2.0).backward()
    assert [(number, ring) for number, ring, *_ in group.reduced] == [(i, i % 3) for i in range(7)]
    assert {thread for *_, thread in group.reduced} == {"comm-0"}
    check_gradients(parameters, 1.0)
    assert not group.queued


def test_buckets_leave_in_index_order_whatever_the_order_of_gradients():
    parameters = make_parameters([(2,)] * 5)
    group = LoneGroup()
    _reducer = wrap(parameters, group)
    for seed in range(20):
        group.reduced.clear()
        loss_of(random.Random(seed).sample(parameters, 5)).backward()
        assert [number for number, *_ in group.reduced] == [0, 1, 2, 3, 4]


def test_nothing_happens_before_a_forward_or_without_sync():
    parameters = make_parameters(SHAPES)
    group = LoneGroup()
    reducer = Reducer(parameters, group, SMALL)
    loss_of(parameters).backward()
    reducer.prepare_for_backward(False)
    loss_of(parameters).backward()
    assert group.reduced == []
    reducer.prepare_for_backward(True)
    loss_of(parameters).backward()
    assert len(group.reduced) == 4
    check_gradients(parameters, 3.0)


def test_paddle_grad_reduces_nothing():
    parameters = make_parameters(SHAPES)
    group = LoneGroup()
    _reducer = wrap(parameters, group)
    found = paddle.grad(loss_of(parameters), [parameter for _, parameter in parameters])
    assert [g.shape for g in found] == [list(shape) for shape in SHAPES]
    assert group.reduced == [] and all(parameter.grad is None for _, parameter in parameters)


@pytest.mark.parametrize("used_first", [True, False])
def test_a_backward_inside_a_backward_may_not_end_the_same_gradient_twice(used_first):
    parameters = make_parameters([(2,), (2,)])
    (_, p0), (_, p1) = parameters
    group = LoneGroup()
    reducer = wrap(parameters, group, cls=Counted)
    inner, outer = (p1, p0) if used_first else (p0, p1)
    hidden = (inner * 2.0).sum()
    handle = outer.register_hook(lambda g: hidden.backward())
    with pytest.raises(RuntimeError, match=rf"{inner.name} was complete before"):
        loss_of([(outer.name, outer), (inner.name, inner)][:: 1 if used_first else -1]).backward()
    assert reducer.counts[-1] == 0 and len(group.aborts) == 1
    handle.remove()
    p0.clear_grad(), p1.clear_grad()
    loss_of(parameters).backward()
    check_gradients(parameters)


def test_a_backward_inside_a_backward_ends_with_the_outer_one():
    parameters = make_parameters([(2,), (2,), (2,)])
    group = LoneGroup()
    _reducer = wrap(parameters, group)
    (_, p0), (_, p1), (_, p2) = parameters
    hidden = p2 * 1.0
    inner = (p0 * 1.0).sum()
    hidden.register_hook(lambda g: inner.backward())
    ended = []
    p1.register_hook(lambda g: queue_callback(ended.append))
    (hidden.sum() * 3.0 + p1.sum() * 2.0).backward()
    check_gradients(parameters)
    assert len(group.reduced) == 3 and ended == [None]


# ---- unused parameters ----


def test_an_unused_parameter_is_an_error_in_that_backward():
    parameters = make_parameters(SHAPES)
    group = LoneGroup()
    reducer = wrap(parameters, group)
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"p1, p3.*unused.*find_unused_parameters=True"):
            loss_of([parameters[0], parameters[2]]).backward()
    assert len(group.aborts) == 2 and reducer.comm_op_count_ == 0
    for _, parameter in parameters:
        parameter.clear_grad()
    loss_of(parameters).backward()
    check_gradients(parameters)


@pytest.mark.parametrize("keep", ["NONE", "EMPTY", "read after clearing"])
def test_an_unused_parameter_keeps_no_stale_numbers(keep):
    """The bucket still holds the gradient of the step before."""
    parameters = make_parameters(SHAPES)
    _reducer = wrap(parameters, LoneGroup(), [1000], find_unused_parameters=True)
    loss_of(parameters, 7.0).backward()
    for _, parameter in parameters:
        parameter.clear_grad(keep != "NONE")
        if keep == "read after clearing":
            assert not parameter.grad.numpy().any()
    loss_of(parameters[:2], 5.0).backward()
    check_gradients(parameters[:2], 5.0)
    for _, parameter in parameters[2:]:
        if keep == "NONE":
            assert parameter.grad is None
        else:
            assert not parameter.grad.numpy().any()
    loss_of(parameters).backward()
    check_gradients(parameters[:2], 6.0)
    check_gradients(parameters[2:], 1.0)


def test_an_unused_parameter_keeps_what_it_had_summed_up():
    parameters = make_parameters(SHAPES)
    _reducer = wrap(parameters, LoneGroup(), [1000], find_unused_parameters=True)
    loss_of(parameters, 2.0).backward()
    loss_of(parameters[:2], 3.0).backward()
    check_gradients(parameters[:2], 5.0)
    check_gradients(parameters[2:], 2.0)


def test_an_unused_parameter_takes_part_with_a_gradient_that_the_user_set():
    parameters = make_parameters(SHAPES)
    group = QueueingGroup()  # halves what it reduces
    _reducer = wrap(parameters, group, [1000], find_unused_parameters=True)
    parameters[3][1].grad = paddle.full([5], 8.0)
    loss_of(parameters[:3], 2.0).backward()
    check_gradients(parameters[:3])
    check_gradients(parameters[3:])


# ---- where gradients lie ----


def test_gradients_are_views_of_the_buckets_and_are_written_there(monkeypatch):
    layer = paddle.nn.Linear(4, 3)
    group = LoneGroup()
    reducer = wrap(list(layer.named_parameters()), group, [1000])
    (bucket,) = reducer.buckets
    parts = []
    whole = AccumulationNode.accumulate

    def accumulate(node, gradient):
        parts.append(gradient is node.home)
        whole(node, gradient)

    monkeypatch.setattr(AccumulationNode, "accumulate", accumulate)
    for clear_to_zero in (True, False, True):
        layer(paddle.ones([2, 4])).sum().backward()
        for parameter in layer.parameters():
            assert np.shares_memory(parameter.grad.data, bucket.buffer.array)
            parameter.clear_grad(clear_to_zero)
    assert parts == [True] * 6


def test_a_gradient_of_the_user_is_copied_in():
    parameters = make_parameters(SHAPES)
    reducer = wrap(parameters, LoneGroup(), [1000])
    given = [paddle.full(list(shape), 2.0 * (i + 1)) for i, shape in enumerate(SHAPES)]
    for (_, parameter), grad in zip(parameters, given, strict=True):
        parameter.grad = grad
    loss_of(parameters, 3.0).backward()
    check_gradients(parameters, 5.0)
    for i, ((_, parameter), grad) in enumerate(zip(parameters, given, strict=True)):
        assert np.shares_memory(parameter.grad.data, reducer.buckets[0].buffer.array)
        assert not np.shares_memory(grad.data, parameter.grad.data)
        np.testing.assert_array_equal(grad.numpy(), 2.0 * (i + 1))


def test_create_graph_is_copied_in():
    parameters = make_parameters([(3,), (2,)])
    group = QueueingGroup()
    reducer = wrap(parameters, group, [1000])
    total = sum((paddle.square(parameter).sum() for _, parameter in parameters), paddle.zeros([]))
    paddle.autograd.backward(total, create_graph=True)
    for _, parameter in parameters:
        np.testing.assert_array_equal(parameter.grad.numpy(), parameter.numpy())  # half of 2p
        assert np.shares_memory(parameter.grad.data, reducer.buckets[0].buffer.array)


def test_the_tensor_that_grad_returned_stays_the_gradient():
    parameters = make_parameters(SHAPES)
    loss_of(parameters, 2.0).backward()
    shown = [parameter.grad for _, parameter in parameters]
    _reducer = wrap(parameters, LoneGroup(), [1000])
    check_gradients(parameters, 2.0)
    loss_of(parameters, 3.0).backward()
    check_gradients(parameters, 5.0)
    for (_, parameter), grad in zip(parameters, shown, strict=True):
        assert parameter.grad is grad


def test_dtypes_have_buckets_of_their_own():
    parameters = [
        *make_parameters([(2,), (3,)]),
        ("p2", make_parameters([(4,)], "float64")[0][1]),
        ("p3", make_parameters([(5,)], "float16")[0][1]),
    ]
    group = LoneGroup()
    reducer = wrap(parameters, group, [1000])
    assert [bucket.members for bucket in reducer.buckets] == [[3], [2], [0, 1]]
    assert [b.array.dtype.name for b in group.buffers] == ["float16", "float64", "float32"]
    total = sum((p.astype("float64").sum() * (i + 1) for i, (_, p) in enumerate(parameters)), 0.0)
    total.backward()
    check_gradients(parameters)


# ---- lifetime ----


def test_dropping_a_reducer_frees_it_at_once_and_ends_its_threads():
    before = set(comm_threads())
    parameters = make_parameters(SHAPES)
    gc.collect()
    gc.disable()
    try:
        group = LoneGroup(3)
        reducer = wrap(parameters, group)
        loss_of(parameters).backward()
        group.on_reduce = lambda buffer: 1 / 0
        try:
            loss_of(parameters).backward()
        except RuntimeError:
            pass
        group.on_reduce = None
        assert len(set(comm_threads()) - before) == 3
        gone = weakref.ref(reducer)
        del reducer
        wait_until(lambda: gone() is None, 5.0)
        wait_until(lambda: set(comm_threads()) <= before)
        found = gc.collect()
    finally:
        gc.enable()
    assert found == 0

    group.reduced.clear()
    for _, parameter in parameters:
        parameter.clear_grad()
    loss_of(parameters).backward()
    check_gradients(parameters)
    assert group.reduced == []

    again = wrap(parameters, group)
    check_gradients(parameters)
    loss_of(parameters).backward()
    check_gradients(parameters, 2.0)
    assert len(group.reduced) == 4 and again.comm_op_count_ == 0


def test_a_reducer_dropped_while_its_thread_works():
    before = set(comm_threads())
    parameters = make_parameters(SHAPES)
    group = LoneGroup()
    wrapped = [wrap(parameters, group)]
    group.on_reduce = lambda buffer: wrapped.clear()  # the last reference goes in the thread
    loss_of(parameters).backward()
    check_gradients(parameters)
    wait_until(lambda: set(comm_threads()) <= before)


def test_two_reducers_on_one_parameter_are_refused():
    before = set(comm_threads())
    parameters = make_parameters(SHAPES)
    group = LoneGroup()
    reducer = wrap(parameters, group)
    other = [*make_parameters([(2,)]), *parameters[2:3]]
    try:
        Reducer(other, LoneGroup(), SMALL)
    except RuntimeError as error:
        text = str(error)
    else:
        text = ""
    assert "p2" in text and "another DataParallel" in text
    wait_until(lambda: len(set(comm_threads()) - before) == 1)
    loss_of(parameters).backward()  # the first one has lost nothing
    check_gradients(parameters)
    for _, parameter in parameters:
        owners = [np.shares_memory(parameter.grad.data, b.buffer.array) for b in reducer.buckets]
        assert any(owners)
    loss_of(other[:1]).backward()  # and the free parameter is still free
    assert Reducer(other[:1], LoneGroup(), SMALL).buckets[0].members == [0]


def test_two_reducers_in_one_backward_both_end_though_one_fails():
    """One has an unused parameter; the other must be usable afterwards, whichever ends first."""
    first, second = make_parameters([(2,), (3,)]), make_parameters([(2,), (3,)])
    groups = LoneGroup(), LoneGroup()
    for order in (1, -1):
        parts = [(first, groups[0]), (second, groups[1])][::order]
        (whole, whole_group), (lacking, lacking_group) = parts
        kept = [wrap(whole, whole_group), wrap(lacking, lacking_group)]
        for terms in ([whole, lacking[:1]], [lacking[:1], whole]):
            with pytest.raises(RuntimeError, match=r"p1.*unused"):
                (loss_of(terms[0]) + loss_of(terms[1])).backward()
            for _, parameter in whole + lacking:
                parameter.clear_grad()
            for reducer, parameters in zip(kept, (whole, lacking), strict=True):
                reducer.prepare_for_backward(True)
                loss_of(parameters, 2.0).backward()
                check_gradients(parameters, 2.0)
                assert reducer.comm_op_count_ == 0
            for _, parameter in whole + lacking:
                parameter.clear_grad()
        del kept, reducer
