"""Checks of DataParallel in training that run on two processes; see jobs.py."""

import numpy as np

import minipaddle as paddle
from tests.distributed.jobs import assert_same, raises
from tests.distributed.parallel_models import PARTS, Two, Wide, batch, equal, half, mlp, ones_of

nn, optimizer = paddle.nn, paddle.optimizer


# ---- the same as one process ----


def large_batch(group, make, dtype, tolerance, options):
    alone, net = make(), make()
    model = paddle.DataParallel(net, group=group, **options)
    sgd = [optimizer.SGD(0.05, parameters=layer.parameters()) for layer in (alone, net)]
    loss = nn.MSELoss()
    for step in range(5):
        x, y = batch(dtype, step)
        loss(alone(paddle.to_tensor(x)), paddle.to_tensor(y)).backward()
        loss(model(half(x, group.rank)), half(y, group.rank)).backward()
        for expected, found in zip(alone.parameters(), net.parameters(), strict=True):
            np.testing.assert_allclose(
                found.grad.numpy(), expected.grad.numpy(), rtol=tolerance, atol=tolerance
            )
        for one in sgd:
            one.step()
            one.clear_grad()
    for expected, found in zip(alone.parameters(), net.parameters(), strict=True):
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=tolerance, atol=tolerance)
    assert_same(group, net.parameters())


def check_equals_one_process_float32(group):
    for options in ({}, PARTS, {"find_unused_parameters": True}):
        large_batch(group, mlp, "float32", 1e-5, options)


def check_equals_one_process_float64(group):
    for options in ({}, PARTS):
        large_batch(group, Wide, "float64", 1e-13, options)


def check_replicas_stay_identical(group):
    net = mlp(seed=group.rank)
    model = paddle.DataParallel(net, group=group, **PARTS)
    assert_same(group, net.parameters())
    start = [parameter.numpy() for parameter in net.parameters()]
    adam = optimizer.Adam(0.01, parameters=net.parameters())
    rng = np.random.default_rng(group.rank)
    for _ in range(100):
        x = paddle.to_tensor(rng.standard_normal((4, 6)).astype("float32"))
        paddle.mean(paddle.square(model(x))).backward()
        adam.step()
        adam.clear_grad()
    assert_same(group, net.parameters())
    for before, parameter in zip(start, net.parameters(), strict=True):
        assert not np.array_equal(before, parameter.numpy())


def check_optimizer_before_or_after_wrapping(group):
    results = []
    for before in (True, False):
        net = mlp()
        if before:
            adam = optimizer.Adam(0.01, parameters=net.parameters())
        model = paddle.DataParallel(net, group=group, **PARTS)
        if not before:
            adam = optimizer.Adam(0.01, parameters=model.parameters())
        for step in range(5):
            x, y = batch("float32", step)
            nn.MSELoss()(model(half(x, group.rank)), half(y, group.rank)).backward()
            adam.step()
            adam.clear_grad(step % 2 == 0)
        results.append(net.parameters())
    assert_same(group, results[0] + results[1])
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())


# ---- no_sync and accumulation ----


def check_accumulation_of_three_and_sync(group):
    net = nn.Linear(1, 1)
    model = paddle.DataParallel(net, group=group)
    data = [[4.0, 7.0, 2.0, 5.0], [1.0, 3.0, 8.0, 2.0]][group.rank]
    for _ in range(2):
        with model.no_sync():
            for i in range(3):
                model(paddle.full([1, 1], data[i])).sum().backward()
                equal(net.weight.grad, sum(data[: i + 1]))
        model(paddle.full([1, 1], data[3])).sum().backward()
        equal(net.weight.grad, (18 + 14) / 2)
        equal(net.bias.grad, 4.0)
        assert_same(group, [net.weight.grad])
        net.clear_gradients()


def check_accumulation_without_clearing(group):
    """Means add up: no stale and no doubled numbers."""
    net = nn.Linear(1, 1)
    model = paddle.DataParallel(net, group=group)
    for step in range(1, 4):
        model(ones_of(group.rank)).sum().backward()
        equal(net.weight.grad, 1.5 * step)


def check_it_is_forward_that_counts(group):
    net = nn.Linear(1, 1)
    model = paddle.DataParallel(net, group=group)
    with model.no_sync():
        loss = model(ones_of(group.rank)).sum()
    loss.backward()
    equal(net.weight.grad, group.rank + 1.0)
    net.clear_gradients()
    loss = model(ones_of(group.rank)).sum()
    with model.no_sync():
        loss.backward()
    equal(net.weight.grad, 1.5)
    net.clear_gradients()
    loss = model(ones_of(group.rank)).sum()
    with paddle.no_grad(), model.no_sync():
        model(ones_of(group.rank))  # an evaluation in between
    loss.backward()
    equal(net.weight.grad, 1.5)


def check_no_sync_nests_and_survives_errors(group):
    net = nn.Linear(1, 1)
    model = paddle.DataParallel(net, group=group)
    try:
        with model.no_sync():
            raise KeyError("skip")
    except KeyError:
        pass
    with model.no_sync():
        with model.no_sync():
            pass
        model(ones_of(group.rank)).sum().backward()
    equal(net.weight.grad, group.rank + 1.0)
    model(ones_of(group.rank)).sum().backward()
    equal(net.weight.grad, 3.0)


def check_unused_in_the_last_pass(group):
    """What was summed up under no_sync is averaged, though the last pass does not touch it."""
    net = Two()
    model = paddle.DataParallel(net, group=group, find_unused_parameters=True)
    for _ in range(2):
        with model.no_sync():
            model(ones_of(group.rank), "a").sum().backward()
        model(ones_of(group.rank), "b").sum().backward()
        for layer in (net.a, net.b):
            equal(layer.weight.grad, 1.5)
        assert_same(group, [p.grad for p in net.parameters()])
        net.clear_gradients()


def check_unused_in_the_last_pass_and_used_on_one_rank_before(group):
    """A rank that never used it gets the mean all the same."""
    net = Two()
    model = paddle.DataParallel(net, group=group, find_unused_parameters=True)
    for _ in range(2):
        with model.no_sync():
            model(paddle.full([1, 1], 4.0), "ab"[group.rank]).sum().backward()
        model(paddle.full([1, 1], 4.0), "b").sum().backward()
        equal(net.a.weight.grad, 2.0)
        equal(net.b.weight.grad, 6.0)
        for parameter in net.parameters():
            parameter.clear_grad(False)


# ---- unused parameters ----


def check_branches_that_differ_by_rank(group):
    net = Two(never=True)
    model = paddle.DataParallel(net, group=group, find_unused_parameters=True, **PARTS)
    for step in range(4):
        use = "ab"[(group.rank + step) % 2]
        model(paddle.full([1, 1], 4.0 + step), use).sum().backward()
        for layer in (net.a, net.b):
            equal(layer.weight.grad, (4.0 + step) / 2)
            equal(layer.bias.grad, 0.5)
        assert net.never.weight.grad is None and net.never.bias.grad is None
        for parameter in net.parameters():
            parameter.clear_grad(step % 2 == 0)


def check_one_branch_for_all(group):
    """Used, then unused everywhere: zeros, and never the numbers of the step before."""
    net = Two()
    model = paddle.DataParallel(net, group=group, find_unused_parameters=True)
    model(ones_of(group.rank), "ab").sum().backward()
    net.clear_gradients()
    model(ones_of(group.rank), "a").sum().backward()
    equal(net.a.weight.grad, 1.5)
    equal(net.b.weight.grad, 0.0)
    for parameter in net.parameters():
        parameter.clear_grad(False)
    model(ones_of(group.rank), "b").sum().backward()
    assert net.a.weight.grad is None
    equal(net.b.weight.grad, 1.5)


def check_unused_on_one_rank_without_the_flag(group):
    model = paddle.DataParallel(Two(), group=group)
    parts = ["unused", "b.weight", "b.bias", "find_unused_parameters=True"]
    with raises(RuntimeError, "rank 1", *(parts if group.rank else ["b.weight"])):
        model(ones_of(0), "a" if group.rank else "ab").sum().backward()


def check_unused_on_all_ranks_without_the_flag(group):
    model = paddle.DataParallel(Two(), group=group, **PARTS)
    with raises(RuntimeError, "b.weight"):
        model(ones_of(0), "a").sum().backward()


def check_part_of_the_output_not_in_the_loss(group):
    net = Two()
    model = paddle.DataParallel(_Outputs(net), group=group, find_unused_parameters=True)
    found = model(ones_of(group.rank))
    found["deep"][0]["b"].sum().backward()
    equal(net.b.weight.grad, 1.5)
    assert net.a.weight.grad is None


class _Outputs(nn.Layer):
    """Returns tensors in nested containers."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        return {"deep": ({"b": self.net(x, "b")}, [self.net(x, "a")]), "none": None, "x": x}


def check_nested_outputs(group):
    net = Two()
    model = paddle.DataParallel(_Outputs(net), group=group)
    found = model(ones_of(group.rank))
    (found["deep"][0]["b"] + found["deep"][1][0] * 2.0).sum().backward()
    equal(net.b.weight.grad, 1.5)
    equal(net.a.weight.grad, 3.0)


def check_frozen_parameters(group):
    net = Two()
    for parameter in net.a.parameters():
        parameter.stop_gradient = True
    model = paddle.DataParallel(net, group=group)  # a is no part of it
    model(ones_of(group.rank)).sum().backward()
    equal(net.b.weight.grad, 1.5)
    assert net.a.weight.grad is None
    net.clear_gradients()
    net.b.bias.trainable = False  # frozen later: buckets are made anew
    model(ones_of(group.rank)).sum().backward()
    equal(net.b.weight.grad, 1.5)
    net.a.weight.trainable = True
    net.b.bias.trainable = True
    model(ones_of(group.rank)).sum().backward()
    equal(net.b.weight.grad, 3.0)
    equal(net.a.weight.grad, 1.5)
    equal(net.b.bias.grad, 1.0)
    assert_same(group, [net.a.weight.grad, net.b.weight.grad])


def check_frozen_on_one_rank_alone(group):
    net = Two()
    model = paddle.DataParallel(net, group=group)
    net.a.weight.trainable = group.rank == 0
    if group.rank == 0:
        with raises(RuntimeError, "rank 1 has frozen or unfrozen parameters"):
            model(ones_of(group.rank)).sum().backward()
    with raises(RuntimeError, "a.weight", "trained True on rank 0", "trained False on rank 1"):
        model(ones_of(group.rank))
    net.a.weight.trainable = True
    model(ones_of(group.rank)).sum().backward()
    equal(net.a.weight.grad, 1.5)


def check_frozen_after_wrapping(group):
    net = Two()
    model = paddle.DataParallel(net, group=group, find_unused_parameters=True)
    net.a.weight.stop_gradient = True
    model(ones_of(group.rank)).sum().backward()
    assert net.a.weight.grad is None
    equal(net.b.weight.grad, 1.5)
    net.a.weight.stop_gradient = False
    model(ones_of(group.rank)).sum().backward()
    equal(net.a.weight.grad, 1.5)
    equal(net.b.weight.grad, 3.0)
