"""Checks of DataParallel: a step that fails on one rank is void on all, and the next one works."""

import contextlib
import io
import time

import numpy as np

import minipaddle as paddle
from minipaddle.device import shared_memory
from tests.distributed.jobs import assert_same, from_all, raises, shared_path, wait_for_file
from tests.distributed.parallel_models import PARTS, Two, equal, mlp, ones_of

nn = paddle.nn


class Failing(nn.Layer):
    """Fails in ``forward`` when told to."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(1, 1)
        self.fails = False

    def forward(self, x):
        y = self.inner(x)
        return {}["the-reason"] if self.fails else y


def next_step_works(group, model, net, rounds=2):
    """After a failure gradients are gone, and steps are as on a new model."""
    assert all(parameter.grad is None for parameter in net.parameters())
    weight = next(iter(net.parameters()))
    for _ in range(rounds):
        model(ones_of(group.rank)).sum().backward()
        equal(weight.grad, 1.5)
        assert_same(group, [parameter.grad for parameter in net.parameters()])
        net.clear_gradients()


def void(group, failing, call, *parts):
    """``call`` fails on rank ``failing``, and on the others soon after, with its traceback."""
    if group.rank == failing:
        with raises((KeyError, RuntimeError), "the-reason"):
            call()
    else:
        with raises(RuntimeError, f"rank {failing} failed", "Traceback", "the-reason", *parts):
            call()


def check_a_failure_in_forward(group):
    net = Failing()
    model = paddle.DataParallel(net, group=group)
    for failing in range(2):
        net.fails = group.rank == failing
        void(group, failing, lambda: model(ones_of(group.rank)).sum().backward(), "in forward")
        net.fails = False
        net.clear_gradients()
        next_step_works(group, model, net.inner)
        for parameter in net.parameters():
            parameter.clear_grad(False)


def check_a_failure_in_forward_under_no_grad_stays_here(group):
    net = Failing()
    model = paddle.DataParallel(net, group=group)
    if group.rank:
        net.fails = True
        with paddle.no_grad(), raises(KeyError):
            model(ones_of(0))
        net.fails = False
    next_step_works(group, model, net)


def check_a_failure_before_backward_reaches_a_parameter(group):
    net = nn.Linear(1, 1)
    model = paddle.DataParallel(net, group=group)

    def step():
        y = model(ones_of(group.rank))
        if group.rank:
            y.register_hook(lambda _: {}["the-reason"])
        y.sum().backward()

    void(group, 1, step, "KeyError")
    next_step_works(group, model, net)


def check_a_failure_in_a_backward_that_only_adds_up(group):
    net = nn.Linear(1, 1)
    model = paddle.DataParallel(net, group=group)

    def step():
        with model.no_sync():
            y = model(ones_of(group.rank))
            if group.rank:
                y.register_hook(lambda _: {}["the-reason"])
            y.sum().backward()
        model(ones_of(group.rank)).sum().backward()

    void(group, 1, step, "KeyError")
    next_step_works(group, model, net)


def check_no_memory_when_buckets_are_made_anew(group):
    net = nn.Linear(1, 1)
    model = paddle.DataParallel(net, group=group)
    loss = model(ones_of(group.rank)).sum()
    model.abort(ValueError("the-reason"))
    whole = shared_memory._available_bytes
    shared_memory._available_bytes = (lambda: 1) if group.rank else whole
    try:
        for call in (lambda: model(ones_of(group.rank)), loss.backward):
            with raises((MemoryError, RuntimeError), "cannot reserve"):
                call()
    finally:
        shared_memory._available_bytes = whole
    for parameter in net.parameters():
        parameter.clear_grad(False)
    next_step_works(group, model, net)


def check_a_failure_between_forward_and_backward(group):
    net = nn.Linear(1, 1)
    model = paddle.DataParallel(net, group=group)
    y = model(ones_of(group.rank))
    if group.rank:
        try:
            _ = {}["the-reason"]
        except KeyError as error:
            model.abort(error)
    else:
        void(group, 1, y.sum().backward, "KeyError")
    next_step_works(group, model, net)


def check_a_failure_in_a_thread_is_told_while_backward_goes_on(group):
    net = nn.Sequential(*[nn.Linear(1, 1) for _ in range(3)])
    model = paddle.DataParallel(net, group=group, comm_buffer_size=0, last_comm_buffer_size=0)
    for parameter in net.parameters():
        parameter.set_value(np.ones(parameter.shape))
    heard = shared_path("heard")  # what the backward of rank 1 waits for before it ends
    if group.rank:
        model._reducer.group.allreduce_mean = lambda *_: {}["the-reason"]
        hook = net[0].weight.register_hook(lambda _: wait_for_file(heard))
        void(group, 1, model(ones_of(1)).sum().backward)
        hook.remove()
    else:
        void(group, 1, model(ones_of(0)).sum().backward, "<lambda>")
        heard.touch()
    for _ in range(2):
        model(ones_of(group.rank)).sum().backward()
        equal(net[2].bias.grad, 1.0)
        assert_same(group, [parameter.grad for parameter in net.parameters()])
        net.clear_gradients()


def check_failures_of_many_kinds_in_turn(group):
    """The models of the two ranks stay the same over twenty steps of which half fail."""
    net = mlp(seed=1)
    model = paddle.DataParallel(net, group=group, find_unused_parameters=True, **PARTS)
    adam = paddle.optimizer.Adam(0.01, parameters=net.parameters())
    rng = np.random.default_rng(group.rank)
    failed = 0
    for step in range(20):
        x = paddle.to_tensor(rng.standard_normal((4, 6)).astype("float32"))
        fails = step % 2 and group.rank == step // 2 % 2
        parameter = net.parameters()[step // 2 % 6]
        hook = parameter.register_hook(lambda _: {}["the-reason"]) if fails else None
        try:
            paddle.mean(paddle.square(model(x))).backward()
        except (KeyError, RuntimeError):
            failed += 1
        adam.step()
        adam.clear_grad()
        if hook is not None:
            hook.remove()
        assert_same(group, net.parameters())
    assert failed == 10


def check_a_rank_that_is_a_step_ahead_is_noticed(group):
    net = nn.Linear(1, 1)
    model = paddle.DataParallel(net, group=group)
    model(ones_of(group.rank)).sum().backward()
    net.clear_gradients()
    if group.rank:
        model._reducer.completed -= 1  # as if it had failed after its last bucket
    model._reducer.abort(ValueError("the-reason"))
    with raises(RuntimeError, "a step more", "rank 0: 1, rank 1: 0", "checkpoint"):
        model(ones_of(group.rank))
    next_step_works(group, model, net)


def check_no_memory_on_one_rank(group):
    net = nn.Linear(1, 1)
    whole = shared_memory._available_bytes
    shared_memory._available_bytes = (lambda: 1) if group.rank else whole
    try:
        with raises((MemoryError, RuntimeError), "cannot reserve", "bytes of shared memory"):
            paddle.DataParallel(net, group=group)
    finally:
        shared_memory._available_bytes = whole
    model = paddle.DataParallel(net, group=group)
    next_step_works(group, model, net)


def check_a_problem_of_one_rank_is_told_to_all(group):
    net = nn.Linear(1, 1)
    holder = paddle.DataParallel(net, group=group)
    nets = [nn.Linear(1, 1), nn.Linear(1, 1)]
    nets[0] = net if group.rank else nets[0]
    with raises(RuntimeError, "weight", "another DataParallel"):
        paddle.DataParallel(nets[0], group=group)
    assert holder is not None and from_all(group.rank, group) == [0, 1]


def check_all_that_differs_is_named(group):
    nets = [nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))]
    parts = ["number of parameters is: 2 on rank 0; 4 on rank 1", "parameter weight", "1.bias"]
    with raises(RuntimeError, *parts):
        paddle.DataParallel(nets[group.rank], group=group)


def check_a_late_rank_is_named_with_its_bucket(group):
    paddle.set_flags({"FLAGS_comm_wait_warning": 0.2})
    net = Two()
    model = paddle.DataParallel(net, group=group)
    paddle.set_flags({"FLAGS_comm_wait_warning": 30.0})
    text = io.StringIO()
    if group.rank:
        time.sleep(1.0)
    with contextlib.redirect_stderr(text):
        model(ones_of(group.rank)).sum().backward()
    if group.rank == 0:
        assert text.getvalue() == (
            "minipaddle: rank 0 has been waiting for rank 1 for 0.2 s: "
            "bucket 0 of 1 (parameters a.weight, a.bias, b.weight, b.bias)\n"
        )
    equal(net.a.weight.grad, 1.5)


def check_a_void_step_changes_nothing(group):
    """With failures in between, training ends where it ends without them, to the bit."""
    ends = []
    for fails in (False, True):
        net = mlp(seed=4)
        model = paddle.DataParallel(net, group=group, **PARTS)
        adam = paddle.optimizer.Adam(0.01, parameters=net.parameters())
        rng = np.random.default_rng(group.rank)
        for step in range(8):
            x = paddle.to_tensor(rng.standard_normal((4, 6)).astype("float32"))
            if fails and step % 2:
                hook = None
                if step // 2 % 2 == group.rank:
                    hook = net[2].weight.register_hook(lambda _: {}["the-reason"])
                with raises((KeyError, RuntimeError), "the-reason"):
                    model(x).mean().backward()
                adam.step()
                adam.clear_grad()
                if hook is not None:
                    hook.remove()
            paddle.mean(paddle.square(model(x))).backward()
            adam.step()
            adam.clear_grad(step % 3 == 0)
        ends.append([p.numpy() for p in net.parameters()])
    for a, b in zip(*ends, strict=True):
        np.testing.assert_array_equal(a, b)


def check_freezing_in_training_is_freezing_in_one_process(group):
    """Both ranks have the same data, so the mean is exact and so is the comparison."""
    alone, net = mlp(seed=4), mlp(seed=4)
    model = paddle.DataParallel(net, group=group, **PARTS)
    optimizers = [
        paddle.optimizer.Adam(0.01, parameters=layer.parameters()) for layer in (alone, net)
    ]
    rng = np.random.default_rng(5)
    for step in range(12):
        for layer in (alone, net):
            layer[step % 3 * 2].weight.trainable = step % 5 != 0
        x = paddle.to_tensor(rng.standard_normal((4, 6)).astype("float32"))
        for layer, adam in zip((alone, model), optimizers, strict=True):
            paddle.mean(paddle.square(layer(x))).backward()
            adam.step()
            adam.clear_grad(step % 2 == 0)
    for a, b in zip(alone.parameters(), net.parameters(), strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())
    assert_same(group, net.parameters())
