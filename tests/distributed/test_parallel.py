"""DataParallel: on two processes with one ring and with three, and in a process that is alone."""

import warnings

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.distributed.spawn_context import ProcessFailedError
from tests.distributed import (
    jobs,
    parallel_checks,
    parallel_fault_checks,
    parallel_pattern_checks,
    parallel_profile_checks,
    parallel_setup_checks,
    parallel_sparse_checks,
    parallel_use_checks,
    timeout_checks,
)

dist, nn = paddle.distributed, paddle.nn
TRAINING = (
    parallel_checks,
    parallel_use_checks,
    parallel_sparse_checks,
    parallel_pattern_checks,
    parallel_profile_checks,
)
SET_UP = (parallel_setup_checks, parallel_fault_checks)


@pytest.fixture(scope="module", params=[1, 3], ids=["1 ring", "3 rings"])
def training(request):
    return jobs.run(*TRAINING, FLAGS_nccl_nrings=str(request.param))


@pytest.fixture(scope="module")
def set_up():
    return jobs.run(*SET_UP, FLAGS_nccl_nrings="3")


@pytest.fixture(scope="module")
def too_late():
    return jobs.run(timeout_checks, **{jobs.LIMIT: "1.0"})


@pytest.mark.parametrize("name", jobs.checks_of(*TRAINING))
def test_training_on_two_processes(name, training):
    assert training[name] == ["", ""], "\n".join(training[name])


@pytest.mark.parametrize("name", jobs.checks_of(*SET_UP))
def test_set_up_and_failures_on_two_processes(name, set_up):
    assert set_up[name] == ["", ""], "\n".join(set_up[name])


@pytest.mark.parametrize("name", jobs.checks_of(timeout_checks))
def test_a_rank_that_does_not_come(name, too_late):
    assert too_late[name] == ["", ""], "\n".join(too_late[name])


def fail_in_the_backward_of_rank_1():
    dist.init_parallel_env()
    net = nn.Linear(1, 1)
    model = paddle.DataParallel(net)
    if dist.get_rank() == 1:
        net.weight.register_hook(lambda g: {}["the-reason"])
    model(paddle.ones([1, 1])).sum().backward()


@pytest.mark.time_limit(30)
def test_an_uncaught_failure_in_backward_comes_out_of_spawn():
    with pytest.raises(ProcessFailedError, match=r"KeyError: 'the-reason'") as caught:
        dist.spawn(fail_in_the_backward_of_rank_1, nprocs=2)
    assert caught.value.rank == 1


# ---- a process that is alone ----


def test_alone_it_passes_calls_through():
    net = nn.Linear(2, 1)
    with pytest.warns(UserWarning, match="alone"):
        model = paddle.DataParallel(net)
    x = paddle.ones([1, 2])
    assert model(x).tolist() == net(x).tolist()
    with model.no_sync():
        model(x).sum().backward()
    model(x).sum().backward()
    assert net.bias.grad.tolist() == [2.0]
    assert list(model.state_dict()) == ["weight", "bias"]


@pytest.mark.parametrize("find_unused", [False, True])
def test_a_group_of_one_forces_the_reducer_on(find_unused):
    group = dist.new_group([0])
    net, alone = nn.Linear(3, 2), nn.Linear(3, 2)
    alone.set_state_dict(net.state_dict())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = paddle.DataParallel(net, group=group, find_unused_parameters=find_unused)
    x = paddle.randn([4, 3])
    for _ in range(2):
        model(x).sum().backward()
        alone(x).sum().backward()
        for found, expected in zip(net.parameters(), alone.parameters(), strict=True):
            np.testing.assert_array_equal(found.grad.numpy(), expected.grad.numpy())
    assert model._reducer.comm_op_count_ == 0
    dist.destroy_process_group(group)
    with pytest.raises(RuntimeError, match="destroyed"):
        paddle.DataParallel(nn.Linear(3, 2), group=group)


def test_a_bucket_lies_in_the_memory_of_the_group():
    group = dist.new_group([0])
    net = nn.Linear(3, 2)
    model = paddle.DataParallel(net, group=group)
    model(paddle.ones([1, 3])).sum().backward()
    (bucket,) = model._reducer.buckets
    for parameter in net.parameters():
        assert np.shares_memory(parameter.grad.data, bucket.buffer.array)
    dist.destroy_process_group(group)
    assert net.bias.grad.tolist() == [1.0, 1.0]  # memory outlives the group


def test_old_names_warn_and_do_nothing():
    with pytest.warns(UserWarning, match="alone"):
        model = paddle.DataParallel(nn.Linear(1, 1))
    loss = paddle.ones([1])
    with pytest.warns(DeprecationWarning):
        assert model.scale_loss(loss) is loss
    with pytest.warns(DeprecationWarning):
        assert model.apply_collective_grads() is None


@pytest.mark.parametrize("nrings", [0, 9])
def test_ring_numbers_out_of_bounds_are_named_in_one_process_too(nrings):
    group = dist.new_group([0])
    with pytest.raises(ValueError, match=rf"strategy.nrings must lie in 1\.\.8; got {nrings}"):
        paddle.DataParallel(nn.Linear(1, 1), dist.ParallelStrategy(nrings=nrings), group=group)
    dist.destroy_process_group(group)


def test_a_strategy_reads_the_environment(monkeypatch):
    monkeypatch.setenv("PADDLE_TRAINER_ID", "2")
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "3")
    strategy = dist.ParallelStrategy()
    assert (strategy.local_rank, strategy.nranks, strategy.nrings) == (2, 3, 1)
