"""Checks on two processes of what models and training loops do with DataParallel; see jobs.py."""

import threading

import numpy as np

import minipaddle as paddle
from tests.distributed.jobs import assert_same, dist, from_all, raises
from tests.distributed.parallel_models import PARTS, Two, batch, equal, half, mlp, ones_of

nn, optimizer = paddle.nn, paddle.optimizer
recompute = dist.fleet.utils.recompute


# ---- what gradients look like when they come ----


class _Turned(nn.Layer):
    """Gradients that arrive transposed, broadcast, with steps, and reversed."""

    def __init__(self):
        super().__init__()
        for name, shape in (("t", [3, 4]), ("b", [4]), ("s", [6, 4]), ("r", [4, 3])):
            setattr(self, name, self.create_parameter(shape))
            count = int(np.prod(shape))
            getattr(self, name).set_value(np.arange(count, dtype="float32").reshape(shape))

    def forward(self, x):
        turned = paddle.transpose(self.t, [1, 0]) * x
        spread = paddle.expand(self.b, [3, 4]) * paddle.transpose(x, [1, 0])
        stepped = self.s[::2] * paddle.transpose(x, [1, 0])
        return turned.sum() + spread.sum() + stepped.sum() + (paddle.flip(self.r, [0]) * x).sum()


def check_gradients_of_any_stride(group):
    for options in ({}, PARTS, {"find_unused_parameters": True}):
        alone, net = _Turned(), _Turned()
        model = paddle.DataParallel(net, group=group, **options)
        values = np.arange(12, dtype="float32").reshape(4, 3)
        for _ in range(2):
            alone(paddle.to_tensor(values * 1.5)).backward()
            model(paddle.to_tensor(values * (group.rank + 1))).backward()
            for found, expected in zip(net.parameters(), alone.parameters(), strict=True):
                np.testing.assert_array_equal(found.grad.numpy(), expected.grad.numpy())
            assert_same(group, [p.grad for p in net.parameters()])


# ---- functions with a backward of their own ----


class _Triple(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x * weight * 3.0

    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensor()
        return grad * weight * 3.0, (grad * x * 3.0).sum(axis=0, keepdim=True)


class _WithTriple(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(1, 1), nn.Linear(1, 1)

    def forward(self, x):
        return self.last(_Triple.apply(x, self.first.weight)) + self.first.bias


def check_py_layer(group):
    net = _WithTriple()
    net.last.weight.set_value([[2.0]])
    model = paddle.DataParallel(net, group=group)
    for _ in range(2):
        model(ones_of(group.rank)).sum().backward()
        equal(net.first.weight.grad, 9.0)  # 3 x times the last weight, the mean of x being 1.5
        assert_same(group, [p.grad for p in net.parameters()])
        net.clear_gradients()


class _Recomputed(nn.Layer):
    """Parts that run again in backward; ``net`` is in two of them and outside too."""

    def __init__(self, net, saves):
        super().__init__()
        self.net, self.head = net, nn.Linear(2, 6)
        self.head.weight.set_value(np.arange(12.0).reshape(2, 6) / 10)
        self.call = recompute if saves else lambda f, x: f(x)

    def forward(self, x):
        part = self.call(lambda y: self.head(self.net(y)), x)
        return self.net(self.call(lambda y: self.head(self.net(y)), part))


def check_recompute(group):
    for options in ({}, PARTS, {"find_unused_parameters": True}):
        found = []
        for saves in (False, True):
            net = _Recomputed(mlp(seed=2), saves)
            model = paddle.DataParallel(net, group=group, **options)
            sgd = optimizer.SGD(0.01, parameters=net.parameters())
            for step in range(3):
                x, y = batch("float32", step)
                loss = nn.MSELoss()(model(half(x, group.rank)), half(y, group.rank))
                loss.backward()
                sgd.step()
                sgd.clear_grad()
            assert_same(group, net.parameters())
            found.append([p.numpy() for p in net.parameters()])
        for a, b in zip(*found, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


# ---- accumulation ----


def check_every_pattern_of_accumulation(group):
    """Whatever is averaged when: the sum of means is the mean of sums."""
    for pattern in range(1, 16):
        for find_unused in (False, True):
            net = nn.Linear(1, 1)
            model = paddle.DataParallel(net, group=group, find_unused_parameters=find_unused)
            total = 0.0
            for i in range(4):
                sync = pattern >> i & 1
                value = (i + 1.0) * (group.rank + 1)
                total += value
                x = paddle.full([1, 1], value)
                if sync:
                    model(x).sum().backward()
                    total = sum(from_all(total, group)) / 2
                else:
                    with model.no_sync():
                        model(x).sum().backward()
                equal(net.weight.grad, total)


def check_no_sync_in_a_forward_whose_backward_is_outside(group):
    net = nn.Linear(1, 1)
    model = paddle.DataParallel(net, group=group)
    with model.no_sync():
        loss = model(ones_of(group.rank)).sum()
    loss.backward()
    equal(net.weight.grad, group.rank + 1.0)


# ---- buffers ----


class _Counting(nn.Layer):
    def __init__(self, rank):
        super().__init__()
        self.inner = nn.Linear(1, 1)
        self.register_buffer("scale", paddle.full([1], 1.0 + rank))

    def forward(self, x):
        y = self.inner(x) * (self.scale + 0.0)
        with paddle.no_grad():
            self.scale.set_value(self.scale + x.mean())
        return y


def check_buffers_of_rank_0_before_each_forward(group):
    """Two forwards before one backward are fine: what the first has saved keeps its values."""
    net = _Counting(group.rank)
    net.inner.weight.set_value([[1.0]])
    model = paddle.DataParallel(net, group=group, broadcast_buffers=True)
    rank = group.rank
    net.scale.set_value([5.0 + rank])
    held = net.scale
    y = net.inner(ones_of(rank)) * net.scale  # saves the buffer that is replaced below
    first = model(ones_of(rank))  # scale is 5 on both, then 5 + x
    second = model(ones_of(rank))  # scale is 6, as on rank 0
    equal(net.scale, 6.0 + rank + 1.0)
    assert held is net.scale
    (first + second + y * 0.0).sum().backward()
    equal(net.inner.weight.grad, (5 + 6) * 1.5)


# ---- many models ----


def check_models_made_used_and_dropped_in_turn(group):
    net = mlp(seed=7)
    for step in range(4):
        models = [paddle.DataParallel(net, group=group, comm_buffer_size=step % 2)]
        models.append(paddle.DataParallel(Two(), group=group, find_unused_parameters=True))
        x, _ = batch("float32", step)
        loss = models[0](half(x, group.rank)).mean() + models[1](ones_of(group.rank)).sum()
        loss.backward()
        assert_same(group, [p.grad for model in models for p in model.parameters()])
        net.clear_gradients()
        del models, loss


# ---- hooks and factors ----


def check_hooks(group):
    hooks = dist.hooks
    for hook, tolerance in (
        (hooks.allreduce, 0.0),
        (hooks.fp16_compress, 2e-3),
        (hooks.bf16_compress, 2e-2),
        (None, 0.0),
    ):
        alone, net = mlp(), mlp()
        plain = paddle.DataParallel(alone, group=group, **PARTS)
        model = paddle.DataParallel(net, group=group, **PARTS)
        model.register_comm_hook(hook)
        x, y = batch("float32")
        for one in (plain, model):
            nn.MSELoss()(one(half(x, group.rank)), half(y, group.rank)).backward()
        for found, expected in zip(net.parameters(), alone.parameters(), strict=True):
            a, b = found.grad.numpy(), expected.grad.numpy()
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * np.abs(b).max())
            assert tolerance == 0.0 or not np.array_equal(a, b)
        assert_same(group, [p.grad for p in net.parameters()])


def check_a_hook_of_the_user(group):
    net = nn.Sequential(*[nn.Linear(1, 1) for _ in range(3)])
    model = paddle.DataParallel(net, group=group, comm_buffer_size=0, last_comm_buffer_size=0)
    seen = []

    def signs(bucket):
        thread = threading.current_thread().name
        seen.append((bucket.index, bucket.parameters, bucket.is_last, thread.startswith("comm-")))
        bucket.array[...] = np.sign(bucket.array)
        bucket.mean()
        bucket.array *= bucket.world_size

    model.register_comm_hook(signs)
    model(ones_of(group.rank)).sum().backward()
    assert_same(group, [p.grad for p in net.parameters()])
    assert all(abs(p.grad.item()) in (0.0, 2.0) for p in net.parameters())
    seen.sort()
    assert [index for index, *_ in seen] == list(range(6))
    assert seen[0][1:] == (["2.bias"], False, True) and seen[5][2]
    with raises(TypeError, "callable"):
        model.register_comm_hook("sign")
    with raises(RuntimeError, "hook", "fp16_compress on rank 0", "bf16_compress on rank 1"):
        which = [dist.hooks.fp16_compress, dist.hooks.bf16_compress][group.rank]
        model.register_comm_hook(which)


def check_a_hook_that_fails_and_one_that_outlives_a_failure(group):
    net = nn.Linear(1, 1)
    model = paddle.DataParallel(net, group=group)
    fails = [True]

    def hook(bucket):
        if group.rank and fails[0]:
            raise ValueError("the-reason")
        bucket.mean()
        bucket.array *= 2.0

    model.register_comm_hook(hook)
    with raises(RuntimeError, "the-reason"):
        model(ones_of(group.rank)).sum().backward()
    fails[0] = False
    model(ones_of(group.rank)).sum().backward()
    equal(net.weight.grad, 3.0)


def check_division_before_and_after(group):
    for factor, expected in ((None, 40000.0), (2.0, 40000.0), (1.0, np.inf)):
        net = nn.Layer()
        net.w = net.create_parameter([3000], dtype="float32")
        net.w.set_value(np.zeros(3000, "float32"))
        model = paddle.DataParallel(_Times(net), group=group, gradient_predivide_factor=factor)
        model(paddle.full([3000], 3e38 if factor == 1.0 else 40000.0)).sum().backward()
        equal(net.w.grad, np.full(3000, expected))
    for wrong in (0.0, -1.0, float("inf")):
        with raises(ValueError, "gradient_predivide_factor"):
            paddle.DataParallel(nn.Linear(1, 1), group=group, gradient_predivide_factor=wrong)


class _Times(nn.Layer):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        return self.net.w * x


def check_other_names_for_rings(group):
    strategy = dist.ParallelStrategy()
    strategy.nccl_comm_num = 2
    assert strategy.nrings == strategy.bkcl_comm_num == 2
    strategy.bkcl_comm_num = 3
    model = paddle.DataParallel(nn.Linear(1, 1), strategy, group=group)
    assert strategy.nccl_comm_num == model._reducer.group.nrings == 3


# ---- uneven inputs ----


def check_uneven_inputs(group):
    for unused in (False, True):
        for by_all in (True, False):
            net = nn.Linear(1, 1)
            model = paddle.DataParallel(net, group=group, find_unused_parameters=unused)
            seen = []
            with model.join(divide_by_initial_world_size=by_all):
                for _ in range(2 + 3 * group.rank):
                    model(ones_of(group.rank)).sum().backward()
                    seen.append(net.weight.grad.item())
                    with paddle.no_grad():
                        net.weight.set_value(net.weight - 0.5)
                    net.clear_gradients()
            alone = [1.0 if by_all else 2.0] * 3
            assert seen == [1.5] * 2 + (alone if group.rank else []), seen
            assert_same(group, net.parameters())
            model(ones_of(group.rank)).sum().backward()
            equal(net.weight.grad, 1.5)


def check_uneven_inputs_with_accumulation_and_none_at_all(group):
    net = nn.Linear(1, 1)
    model = paddle.DataParallel(net, group=group)
    with model.join():
        for i in range(4 * group.rank):
            if i % 2:
                model(ones_of(group.rank)).sum().backward()
                equal(net.weight.grad, 2.0)
                net.clear_gradients()
            else:
                with model.no_sync():
                    model(ones_of(group.rank)).sum().backward()
    with model.join():
        pass
    assert_same(group, net.parameters())


def check_a_step_that_fails_while_another_rank_is_done(group):
    net = nn.Linear(1, 1)
    model = paddle.DataParallel(net, group=group)
    hook = net.weight.register_hook(lambda _: {}["the-reason"])
    if not group.rank:
        hook.remove()
    with model.join():
        for step in range(5 * group.rank):
            if step == 3:
                hook.remove()
            if step in (1, 2):
                with raises(KeyError, "the-reason"):
                    model(ones_of(1)).sum().backward()
            elif step:
                model(ones_of(1)).sum().backward()
                equal(net.weight.grad, 1.0)
            net.clear_gradients()
    assert_same(group, net.parameters())


def check_stopping_all_when_one_is_done(group):
    net = nn.Linear(1, 1)
    model = paddle.DataParallel(net, group=group)
    done = 0
    with (
        raises(RuntimeError, "rank 0 has no more inputs"),
        model.join(throw_on_early_termination=True),
    ):
        for _ in range(2 + group.rank):
            model(ones_of(group.rank)).sum().backward()
            done += 1
    assert done == 2


def check_an_error_inside_join_ends_it_everywhere(group):
    model = paddle.DataParallel(nn.Linear(1, 1), group=group)
    with raises((KeyError, RuntimeError), "the-reason"), model.join():
        for i in range(3):
            model(ones_of(group.rank)).sum().backward()
            if group.rank and i == 1:
                raise KeyError("the-reason")
