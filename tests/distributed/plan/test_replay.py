"""Replay: cases whose times can be found by hand, and what is true of all."""

import random

import pytest

from minipaddle.distributed.plan.cost import Cost
from minipaddle.distributed.plan.replay import Replay
from minipaddle.distributed.plan.trace import Backward
from minipaddle.imperative.launching import LaunchOrder
from minipaddle.imperative.reducer import Reducer


def link(seconds, **contention):
    """An allreduce that takes the link so long."""
    return Cost(0.0, seconds, **contention)


# Members of each bucket, cost of each, rings, ready times, seconds of computing; length, waited.
CASES = {
    "the only bucket leaves at the end": ([[0]], [Cost(0.5, 1.0)], 1, [1.0], 2.0, 3.5, 1.5),
    "hidden but for the last": ([[1], [0]], [link(1), link(1)], 1, [3.0, 1.0], 3.0, 4.0, 1.0),
    "one ring, one after another": ([[1], [0]], [link(3), link(1)], 1, [2.0, 1.0], 2.0, 5.0, 3.0),
    # From 2 on the link is shared: both are half as fast until the second ends at 4.
    "two rings share the link": ([[1], [0]], [link(3), link(1)], 2, [2.0, 1.0], 2.0, 5.0, 3.0),
    "two rings, latencies overlap": (
        [[1], [0]], [Cost(3.0, 0.0), Cost(1.0, 0.0)], 2, [2.0, 1.0], 2.0, 4.0, 2.0,
    ),
    # Latencies until 1; then 2 seconds of the link for each, shared, until 5.
    "two rings, both parts": (
        [[2], [1], [0]], [Cost(1.0, 2.0), Cost(1.0, 2.0), link(0)], 2, [0.0, 0.0, 0.0], 0.0, 5.0,
        5.0,
    ),
    "out of order, one ring": (
        [[2], [1], [0]], [link(1)] * 3, 1, [0.2, 0.4, 1.0], 1.0, 4.0, 3.0,
    ),
    "out of order, three rings": (
        [[2], [1], [0]], [Cost(1.0, 0.0)] * 3, 3, [0.2, 0.4, 1.0], 1.0, 2.0, 1.0,
    ),
    "a bucket is as late as its last member": (
        [[1, 2], [0]], [link(1), link(1)], 1, [3.0, 0.5, 2.0], 3.0, 4.0, 1.0,
    ),
    # A second of the link takes two beside computing, of which one second is done meanwhile.
    "contention while computing": (
        [[1], [0]], [link(1, stretch=2.0, slowdown=2.0), link(1)], 1, [3.0, 0.0], 3.0, 5.0, 1.0,
    ),
    # Two seconds for one of each; the second half of the allreduce is alone.
    "contention ends with computing": (
        [[1], [0]], [link(2, stretch=2.0, slowdown=2.0), link(0)], 1, [1.0, 0.0], 1.0, 3.0, 1.0,
    ),
    "two contenders": (
        [[2], [1], [0]], [Cost(3.0, 0.0, 1.0, 2.0)] * 2 + [link(0)], 2, [1.0, 0.0, 0.0], 1.0, 3.0,
        0.0,
    ),
    "no parameter, no bucket": ([], [], 1, [], 2.0, 2.0, 0.0),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_by_hand(name):
    plan, costs, rings, ready, computing, length, waited = CASES[name]
    times = Replay(plan, costs, rings).run(Backward(ready, computing))
    assert times == pytest.approx((length, waited))


def test_the_code_that_training_uses_decides():
    for name in ("mark_group_ready", "launch_last"):
        assert getattr(Replay, name) is getattr(Reducer, name) is getattr(LaunchOrder, name)


def random_case(seed):
    rng = random.Random(seed)
    count = rng.randrange(1, 12)
    cuts = sorted(rng.sample(range(1, count), rng.randrange(count))) if count > 1 else []
    plan = [list(range(a, b)) for a, b in zip([0, *cuts], [*cuts, count], strict=True)][::-1]
    ready = [rng.random() for _ in range(count)]
    return rng, plan, Backward(ready, max(ready) + rng.random() * 0.1)


@pytest.mark.parametrize("seed", range(200))
def test_it_lies_between_its_bounds(seed):
    """Not shorter than computing and than the link is needed; not longer than all in turn."""
    rng, plan, backward = random_case(seed)
    costs = [Cost(rng.random() * 0.1, rng.random() * 0.3) for _ in plan]
    for rings in (1, 2, 3):
        length, waited = Replay(plan, costs, rings).run(backward)
        assert length == pytest.approx(backward.length + waited)
        assert length >= backward.length + costs[-1].transfer - 1e-9
        assert length >= sum(cost.transfer for cost in costs) - 1e-9
        assert waited <= sum(sum(cost[:2]) for cost in costs) + 1e-9


@pytest.mark.parametrize("seed", range(200))
def test_a_faster_link_is_never_slower(seed):
    rng, plan, backward = random_case(seed)
    stretch, slowdown = rng.choice([(1.0, 1.0), (2.0, 2.0), (1.5, 3.0)])
    costs = [Cost(rng.random() * 0.1, rng.random() * 0.3, stretch, slowdown) for _ in plan]
    lengths = [
        Replay(plan, [cost._replace(transfer=cost.transfer * part) for cost in costs], 1)
        .run(backward)
        .length
        for part in (1.0, 0.7, 0.3, 0.0)
    ]
    assert lengths == sorted(lengths, reverse=True)


@pytest.mark.parametrize("seed", range(20))
def test_without_communication_there_is_computing_alone(seed):
    _, plan, backward = random_case(seed)
    times = Replay(plan, [Cost(0.0, 0.0, 2.0, 2.0)] * len(plan), 2).run(backward)
    assert times == pytest.approx((backward.length, 0.0))
