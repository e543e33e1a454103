"""The Reducer: launching in order under delays, rings, unused parameters."""

import random
import threading

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.imperative.reducer import Reducer
from minipaddle.imperative.run_end import queue_callback
from tests.imperative.reducer_harness import (
    SHAPES,
    SMALL,
    Counted,
    LoneGroup,
    QueueingGroup,
    World,
    check_gradients,
    comm_threads,
    loss_of,
    make_parameters,
    on_ranks,
    wrap,
)

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
    assert {thread for number, *_, thread in group.reduced if number < 6} == {"comm-0"}
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
