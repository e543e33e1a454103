"""Checks of DataParallel that run on two processes; see jobs.py."""

import numpy as np

import minipaddle as paddle
from tests.distributed.jobs import assert_same, dist, from_all, raises

nn, optimizer = paddle.nn, paddle.optimizer

PARTS = {"comm_buffer_size": 1e-4, "last_comm_buffer_size": 1e-4}  # some buckets for a small model


class Two(nn.Layer):
    """Two layers a and b, of which ``use`` says which are used, and a third that never is."""

    def __init__(self, never=False):
        super().__init__()
        self.a, self.b = nn.Linear(1, 1), nn.Linear(1, 1)
        if never:
            self.never = nn.Linear(1, 1)

    def forward(self, x, use="ab"):
        return sum((getattr(self, name)(x) for name in use), paddle.zeros([1, 1]))


def mlp(dtype="float32", seed=3):
    layers = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
    rng = np.random.default_rng(seed)
    for parameter in layers.parameters():
        values = rng.standard_normal(parameter.shape)
        if dtype == "float32":
            parameter.set_value(values.astype(dtype))
    return layers


class Wide(nn.Layer):
    """Like ``mlp``, in float64."""

    def __init__(self, seed=3):
        super().__init__()
        rng = np.random.default_rng(seed)
        for name, shape in (("w", [6, 8]), ("v", [8, 2]), ("c", [2])):
            setattr(self, name, self.create_parameter(shape, dtype="float64"))
            getattr(self, name).set_value(rng.standard_normal(shape))

    def forward(self, x):
        return paddle.matmul(paddle.tanh(paddle.matmul(x, self.w)), self.v) + self.c


def batch(dtype, step=0):
    rng = np.random.default_rng(100 + step)
    return rng.standard_normal((8, 6)).astype(dtype), rng.standard_normal((8, 2)).astype(dtype)


def half(array, rank):
    return paddle.to_tensor(array[4 * rank : 4 * rank + 4])


def ones_of(rank, factor=1.0):
    return paddle.full([1, 1], factor * (rank + 1))


def equal(tensor, expected):
    np.testing.assert_allclose(tensor.numpy().astype("float64"), expected, rtol=1e-6)


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
    with paddle.no_grad(), model.no_sync():
        model(ones_of(group.rank))
    model(ones_of(group.rank)).sum().backward()
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
    net.b.bias.trainable = False  # frozen later: as good as unused
    with raises(RuntimeError, "b.bias"):
        model(ones_of(group.rank)).sum().backward()


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
