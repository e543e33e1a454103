"""Checks on two processes of what DataParallel refuses, starts from, and does after a failure."""

import os
import threading
import time

import numpy as np

import minipaddle as paddle
from tests.distributed.jobs import assert_same, dist, from_all, raises
from tests.distributed.parallel_models import Two, equal, ones_of

nn = paddle.nn


# ---- models that differ ----


def refused(group, model, *parts, kinds=RuntimeError, **options):
    """Both ranks get the error, soon, and the group can still be used."""
    with raises(kinds, *parts):
        paddle.DataParallel(model, group=group, **options)
    assert from_all(group.rank, group) == [0, 1]


def check_other_shape_is_refused(group):
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2 + group.rank))
    refused(group, model, "1.weight", "shape", "[2, 2]", "[2, 3]", "rank 1")


def check_other_dtype_is_refused(group):
    net = nn.Layer()
    net.w = net.create_parameter([2], dtype=["float32", "float64"][group.rank])
    refused(group, net, "w", "dtype", "float32", "float64")


def check_other_count_is_refused(group):
    layers = [nn.Linear(2, 2) for _ in range(1 + group.rank)]
    refused(group, nn.Sequential(*layers), "1.weight", "rank 1")


def check_fewer_on_rank_1_are_refused(group):
    layers = [nn.Linear(2, 2) for _ in range(2 - group.rank)]
    refused(group, nn.Sequential(*layers), "1.weight", "rank 0")


def check_other_names_are_refused(group):
    net = nn.Layer()
    setattr(net, "ab"[group.rank], nn.Linear(2, 2))
    refused(group, net, "a.weight", "absent on rank 1")


def check_other_trained_parameters_are_refused(group):
    net = nn.Linear(2, 2)
    net.bias.stop_gradient = group.rank == 1
    refused(group, net, "bias", "trained")


def check_nothing_trained_on_one_rank_is_refused_on_both(group):
    net = nn.Linear(2, 2)
    for parameter in net.parameters():
        parameter.stop_gradient = group.rank == 1
    refused(group, net, kinds=(RuntimeError, AssertionError))


def check_nothing_trained_is_refused(group):
    net = nn.Linear(2, 2)
    for parameter in net.parameters():
        parameter.stop_gradient = True
    refused(group, net, "no parameter to train", kinds=AssertionError)


def check_other_buffers_are_refused(group):
    net = nn.Linear(2, 2)
    net.register_buffer("mean", paddle.zeros([2 + group.rank]), persistable=group.rank > 5)
    refused(group, net, "mean")


def check_other_unused_option_is_refused(group):
    """One rank would wait in an exchange in which the other takes no part."""
    refused(
        group,
        nn.Linear(2, 2),
        "find_unused_parameters",
        find_unused_parameters=group.rank == 0,
    )


def check_wrong_arguments(group):
    refused(group, "model", "Layer", "str", kinds=TypeError)
    net = nn.Layer()
    net.w = net.create_parameter([0, 2])
    refused(group, net, "w", "[0, 2]", kinds=ValueError)
    with raises(TypeError, "Group"):
        paddle.DataParallel(nn.Linear(1, 1), group=[0, 1])


# ---- state ----


def check_everything_starts_from_rank_0(group):
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    net.register_buffer("kept", paddle.full([3], float(group.rank)))
    net.register_buffer("passing", paddle.full([3], float(group.rank)), persistable=False)
    net[1].weight.no_sync = True
    net[1].weight.set_value([[group.rank + 1.0]] * 2)
    for parameter in (*net[0].parameters(), net[1].bias):
        parameter.set_value(np.full(parameter.shape, 5.0 - group.rank))
    before = net.kept.inplace_version
    model = paddle.DataParallel(net, group=group)
    for parameter in (*net[0].parameters(), net[1].bias):
        equal(parameter, 5.0)
    equal(net.kept, 0.0)
    equal(net.passing, 0.0)
    assert net.kept.inplace_version > before
    equal(net[1].weight, group.rank + 1.0)  # asked to be left alone, in backward too
    model(paddle.full([1, 2], group.rank + 1.0)).sum().backward()
    equal(net[1].weight.grad, 15.0 if group.rank == 0 else 25.0)
    assert_same(group, [net[1].bias.grad])


def check_state_dict_has_the_names_of_the_bare_model(group):
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    net.register_buffer("kept", paddle.zeros([1]))
    bare = list(net.state_dict())
    model = paddle.DataParallel(net, group=group)
    assert list(model.state_dict()) == bare == ["kept", "0.weight", "0.bias", "1.weight", "1.bias"]
    other = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    other.set_state_dict({k: v for k, v in model.state_dict().items() if k != "kept"})
    assert_same(group, other.parameters())
    changed = {name: value * 0.0 + 2.0 for name, value in other.state_dict().items()}
    changed["kept"] = paddle.ones([1])
    for load in (model.set_state_dict, model.set_dict, model.load_dict):
        assert load(changed) == ([], [])
        equal(net[0].weight, 2.0)
    model(paddle.ones([1, 2])).sum().backward()
    equal(net[1].weight.grad, 6.0)


def check_attributes_of_the_wrapped_layer(group):
    net = Two()
    net.depth = 3
    model = paddle.DataParallel(net, group=group)
    for name in ("a", "depth"):
        with raises(AttributeError, name, f"model._layers.{name}"):
            getattr(model, name)
        assert getattr(model._layers, name) is getattr(net, name)
    with raises(AttributeError, "nothing"):
        _ = model.nothing
    assert not hasattr(model, "nothing") and model.training
    model.eval()
    assert not net.a.training


def check_one_bit_is_seen(group):
    """The comparison that other checks rely on tells one unit in the last place."""
    tensor = paddle.ones([1000])
    assert_same(group, [tensor])
    if group.rank:
        values = tensor.numpy()
        values[-1] = np.nextafter(values[-1], np.float32(2.0))
        tensor.set_value(values)
    with raises(AssertionError, "differ"):
        assert_same(group, [tensor])


# ---- rings ----


def check_rings(group):
    """This job has 3 rings."""
    assert group.process_group.nrings == 3
    options = {"comm_buffer_size": 0, "last_comm_buffer_size": 0, "group": group}
    for strategy, rings in ((None, 3), (1, 1), (3, 3), (4, 4)):
        if strategy is not None:
            strategy = dist.ParallelStrategy(nrings=strategy)
        net = nn.Sequential(*[nn.Linear(1, 1, bias_attr=False) for _ in range(7)])
        before = set(threading.enumerate())
        model = paddle.DataParallel(net, strategy, **options)
        assert len(set(threading.enumerate()) - before) == rings
        used = []
        inner = model._reducer.group
        whole = inner.allreduce_mean
        inner.allreduce_mean = lambda b, ring, t, u=used, w=whole: (u.append(ring), w(b, ring, t))
        model(ones_of(group.rank)).sum().backward()
        assert sorted(used) == sorted(i % rings for i in range(7))
        assert_same(group, [parameter.grad for parameter in net.parameters()])
        del model, inner, whole


def check_rings_out_of_bounds(group):
    for nrings in (0, -1, 9):
        with raises(ValueError, "strategy.nrings", "1..8", str(nrings)):
            strategy = dist.ParallelStrategy(nrings=nrings)
            paddle.DataParallel(nn.Linear(1, 1), strategy, group=group)
    buffer = group.process_group.empty(4, "float32")
    for ring in (-1, 3, 100):
        for call in (
            lambda r: group.process_group.wait_compute(r),
            lambda r: group.process_group.allreduce_mean(buffer, r, None),
        ):
            with raises(ValueError, str(ring), "3"):
                call(ring)
    assert from_all(group.rank, group) == [0, 1]


# ---- failures ----


def fail_in_backward(group, error, rank=1, **options):
    """On ``rank`` a hook raises ``error``, with part of the gradients on their way."""
    net = nn.Sequential(*[nn.Linear(1, 1) for _ in range(4)])
    model = paddle.DataParallel(net, group=group, **options)

    def fail(_):
        raise error

    handle = net[1].weight.register_hook(fail if group.rank == rank else lambda g: None)
    loss = model(ones_of(group.rank)).sum()
    kinds = (RuntimeError, type(error))
    with raises(kinds, *(["the-reason"] if group.rank == rank else ["rank 1", "the-reason"])):
        loss.backward()
    assert all(parameter.grad is None for parameter in net.parameters())  # a void step
    handle.remove()
    for _ in range(2):
        model(ones_of(group.rank)).sum().backward()
        equal(net[3].bias.grad, 1.0)
        assert_same(group, [parameter.grad for parameter in net.parameters()])
        net.clear_gradients()


def check_a_failure_in_backward_reaches_the_other_rank(group):
    fail_in_backward(group, KeyError("the-reason"))


def check_a_failure_with_many_buckets(group):
    sizes = {"comm_buffer_size": 0, "last_comm_buffer_size": 0}
    fail_in_backward(group, ValueError("the-reason"), **sizes)


def check_a_base_exception_in_backward_reaches_the_other_rank(group):
    fail_in_backward(group, KeyboardInterrupt("the-reason"), find_unused_parameters=True)


def check_a_failure_in_a_communication_thread(group):
    """Rank 1's group fails inside; the user's collectives on the outer group go on."""
    net = nn.Sequential(*[nn.Linear(1, 1) for _ in range(4)])
    model = paddle.DataParallel(net, group=group, comm_buffer_size=0, last_comm_buffer_size=0)
    if group.rank == 1:

        def fail(buffer, ring, token):
            raise OSError("the-reason")

        model._reducer.group.allreduce_mean = fail
    with raises(RuntimeError, f"rank {group.rank}", "bucket", "the-reason", "parameters"):
        model(ones_of(group.rank)).sum().backward()
    assert model._reducer.comm_op_count_ == 0
    del model
    again = paddle.DataParallel(net, group=group)
    net.clear_gradients()
    again(ones_of(group.rank)).sum().backward()
    assert_same(group, [parameter.grad for parameter in net.parameters()])


def check_other_bucket_sizes_are_an_error(group):
    """Not a wait: the ranks notice that they mean different things."""
    net = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
    with raises(RuntimeError):
        paddle.DataParallel(net, group=group, last_comm_buffer_size=group.rank)


def check_dropping_models_gives_everything_back(group):
    def descriptors():
        return len(os.listdir("/proc/self/fd"))

    paddle.DataParallel(nn.Linear(1, 1), group=group)
    threads, files = threading.active_count(), descriptors()
    for _ in range(10):
        model = paddle.DataParallel(nn.Linear(1, 1), group=group)
        model(ones_of(group.rank)).sum().backward()
        del model
    deadline = time.monotonic() + 5
    while threading.active_count() > threads or descriptors() > files:
        assert time.monotonic() < deadline, (threads, files, threading.enumerate(), descriptors())
        time.sleep(0.01)
