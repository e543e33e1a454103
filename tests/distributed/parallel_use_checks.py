"""Checks on two processes of DataParallel with all kinds of model and backward; see jobs.py."""

import numpy as np

import minipaddle as paddle
from tests.distributed.jobs import assert_same, dist, from_all, raises
from tests.distributed.parallel_models import PARTS, Two, batch, equal, half, mlp, ones_of

nn = paddle.nn


# ---- kinds of model ----


def check_shared_parameters(group):
    inner = nn.Linear(1, 1)
    inner.weight.set_value([[1.0]])
    net = nn.Sequential(inner, inner)
    model = paddle.DataParallel(net, group=group)
    model(ones_of(group.rank)).sum().backward()
    # y = w(wx + b) + b: dy/dw = 2wx + b, dy/db = w + 1
    equal(inner.weight.grad, 3.0)
    equal(inner.bias.grad, 2.0)
    assert len(model.parameters()) == 2


class _Mixed(nn.Layer):
    def __init__(self):
        super().__init__()
        for name in ("float32", "float64", "float16"):
            for part in "ab":
                setattr(self, part + name, self.create_parameter([3], dtype=name))

    def forward(self, x):
        terms = [(p * x.astype(p.dtype)).astype("float64") for p in self.parameters()]
        return sum(terms, paddle.zeros([3], dtype="float64"))


def check_parameters_of_several_dtypes(group):
    for options in ({}, PARTS, {"find_unused_parameters": True}):
        net = _Mixed()
        model = paddle.DataParallel(net, group=group, **options)
        assert_same(group, net.parameters())
        model(paddle.full([3], group.rank + 1.0)).sum().backward()
        for parameter in net.parameters():
            assert parameter.grad.dtype == parameter.dtype
            equal(parameter.grad, 1.5)


def check_float16_mean_does_not_overflow(group):
    net = _Mixed()
    model = paddle.DataParallel(net, group=group)
    model(paddle.full([3], 40000.0)).sum().backward()
    equal(net.afloat16.grad, 40000.0)


def check_two_models(group):
    nets = mlp(seed=1), mlp(seed=2)
    models = [paddle.DataParallel(net, group=group, **PARTS) for net in nets]
    x, _ = batch("float32")
    expected = []
    for net in nets:
        net(paddle.to_tensor(x)).mean().backward()  # before a forward of the model: local
        expected.append([parameter.grad.numpy() for parameter in net.parameters()])
        net.clear_gradients()
    for step in range(60):
        losses = [model(half(x, group.rank)).mean() for model in models]
        if step % 3 == 0:
            losses[0].backward()
            losses[1].backward()
        elif (step + group.rank) % 2:
            (losses[0] + losses[1]).backward()
        else:
            (losses[1] + losses[0]).backward()
        for net, grads in zip(nets, expected, strict=True):
            for parameter, grad in zip(net.parameters(), grads, strict=True):
                np.testing.assert_allclose(parameter.grad.numpy(), grad, rtol=1e-4, atol=1e-6)
            net.clear_gradients()


def check_two_models_with_unused_parameters(group):
    """The order in which the two are reached differs by rank, and so does what is unused."""
    nets = Two(), Two()
    models = [paddle.DataParallel(net, group=group, find_unused_parameters=True) for net in nets]
    for step in range(6):
        order = [0, 1] if (step + group.rank) % 2 else [1, 0]
        parts = [models[i](paddle.full([1, 1], 2.0), "ab"[order[0]]) for i in order]
        (parts[0] + parts[1]).sum().backward()
        for net in nets:
            equal(net.a.weight.grad, 1.0)
            equal(net.b.weight.grad, 1.0)
            net.clear_gradients()


# ---- uses of backward ----


def check_two_forwards_and_one_backward(group):
    net = nn.Linear(1, 1)
    net.register_buffer("scale", paddle.full([1], 2.0))
    wrapped = _Scaled(net)
    model = paddle.DataParallel(wrapped, group=group)
    rank = group.rank
    (model(ones_of(rank)).sum() + model(ones_of(rank, 10.0)).sum()).backward()
    equal(net.weight.grad, 33.0)


class _Scaled(nn.Layer):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        return self.net(x) * self.net.scale


def check_a_forward_that_raised_leaves_no_trace(group):
    net = nn.Linear(1, 1)
    model = paddle.DataParallel(net, group=group)
    loss = model(ones_of(group.rank)).sum()
    for wrong in (paddle.ones([1, 7]), "text"):
        with raises((ValueError, TypeError)):
            model(wrong)
    for _ in range(3):
        loss.backward()
        equal(net.weight.grad, 1.5)
        net.clear_gradients()
        loss = model(ones_of(group.rank)).sum()


def check_backward_twice_with_retain_graph(group):
    net = nn.Linear(1, 1)
    model = paddle.DataParallel(net, group=group)
    loss = model(ones_of(group.rank)).sum()
    loss.backward(retain_graph=True)
    equal(net.weight.grad, 1.5)
    loss.backward()
    equal(net.weight.grad, 3.0)
    with raises(RuntimeError, "retain_graph=True"):
        loss.backward()
    model(ones_of(group.rank)).sum().backward()  # that error came before anything was sent
    equal(net.weight.grad, 4.5)


def check_gradients_of_the_user(group):
    net = nn.Linear(1, 1)
    model = paddle.DataParallel(net, group=group)
    net.weight.grad = paddle.full([1, 1], 10.0 * (group.rank + 1))
    model(ones_of(group.rank)).sum().backward()
    equal(net.weight.grad, 16.5)
    net.weight.grad = None
    model(ones_of(group.rank)).sum().backward()
    equal(net.weight.grad, 1.5)
    assert_same(group, [net.weight.grad])


def check_create_graph(group):
    net = nn.Linear(1, 1)
    net.weight.set_value([[group.rank + 1.0]])
    model = paddle.DataParallel(net, group=group)
    equal(net.weight, 1.0)
    loss = paddle.square(model(ones_of(group.rank))).sum()
    paddle.autograd.backward(loss, create_graph=True)
    equal(net.weight.grad, (2 * 1 + 2 * 4) / 2)  # 2 (wx + b) x with w = 1, b = 0, x = 1 and 2


def check_paddle_grad_is_local(group):
    net = nn.Linear(1, 1)
    model = paddle.DataParallel(net, group=group)
    (found,) = paddle.grad(model(ones_of(group.rank)).sum(), [net.weight])
    equal(found, group.rank + 1.0)
    assert net.weight.grad is None
    model(ones_of(group.rank)).sum().backward()
    equal(net.weight.grad, 1.5)


def check_tensor_hooks_see_the_local_gradient(group):
    net = nn.Linear(1, 1)
    model = paddle.DataParallel(net, group=group)
    seen = []
    net.weight.register_hook(lambda g: seen.append(float(g)) or g * 2.0)
    model(ones_of(group.rank)).sum().backward()
    assert seen == [group.rank + 1.0]
    equal(net.weight.grad, 3.0)


def check_wrapping_again(group):
    net = nn.Linear(1, 1)
    model = paddle.DataParallel(net, group=group)
    with raises(RuntimeError, "weight", "another DataParallel"):
        paddle.DataParallel(net, group=group)
    model(ones_of(group.rank)).sum().backward()
    del model
    model = paddle.DataParallel(net, group=group)
    equal(net.weight.grad, 1.5)
    model(ones_of(group.rank)).sum().backward()
    equal(net.weight.grad, 3.0)
    assert from_all(group.rank, group) == [0, 1] and dist.get_rank(group) == group.rank
