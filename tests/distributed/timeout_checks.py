"""Checks on two processes whose groups wait one second for a rank; see jobs.py."""

import minipaddle as paddle
from tests.distributed.jobs import dist, raises, shared_path, wait_for_file
from tests.distributed.parallel_models import ones_of

nn = paddle.nn


def wait_for(group, path, *parts, begin):
    """Rank 0 calls ``begin``, which takes too long, while rank 1 is busy with something else."""
    assert group.process_group.timeout == 1.0
    path = shared_path(path)
    if group.rank == 0:
        with raises(TimeoutError, "timeout", "rank 0", *parts):
            begin()
        path.touch()
    else:
        wait_for_file(path)


def check_a_rank_that_skips_its_backward(group):
    model = paddle.DataParallel(nn.Linear(1, 1), group=group)
    loss = model(ones_of(group.rank)).sum()
    parts = ("rank 1", "bucket 0 of 1", "weight, bias")
    wait_for(group, "skipped", *parts, begin=loss.backward)


def check_a_rank_that_skips_its_backward_of_many_buckets(group):
    net = nn.Sequential(*[nn.Linear(1, 1) for _ in range(3)])
    model = paddle.DataParallel(net, group=group, comm_buffer_size=0, last_comm_buffer_size=0)
    loss = model(ones_of(group.rank)).sum()
    wait_for(group, "many", "rank 1", "bucket 0 of 6", "2.bias", begin=loss.backward)


def check_a_rank_that_is_not_there_for_the_map_of_unused(group):
    model = paddle.DataParallel(nn.Linear(1, 1), group=group, find_unused_parameters=True)
    loss = model(ones_of(group.rank)).sum()
    wait_for(group, "unused", "rank 1", begin=loss.backward)


def check_a_rank_that_does_not_wrap(group):
    net = nn.Linear(1, 1)
    wait_for(group, "wrap", "rank 1", begin=lambda: paddle.DataParallel(net, group=group))


def check_a_collective_that_a_rank_skips(group):
    x = paddle.ones([3])
    wait_for(group, "reduce", "rank 1", begin=lambda: dist.all_reduce(x, group=group))
