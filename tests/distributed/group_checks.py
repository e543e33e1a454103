"""Checks of groups and of init_parallel_env that run on three processes; see jobs.py."""

import warnings

import minipaddle as paddle
from tests.distributed.jobs import SECONDS_TO_MEET, dist, from_all, raises

nn = paddle.nn


def reduced(group):
    x = paddle.full([2], float(dist.get_rank() + 1))
    dist.all_reduce(x, group=group)
    return x.tolist()[0]


def check_names_and_numbers(group):
    world = dist.get_group()
    assert world is dist.get_group(0) and world.id == 0
    assert (world.ranks, world.nranks, world.world_size) == ([0, 1, 2], 3, 3)
    assert world.rank == dist.get_rank() == dist.ParallelEnv().rank
    assert dist.get_world_size() == 3 and dist.get_world_size(group) == 3
    assert dist.get_group(group.id) is group and group.id > 0
    for one in (world, group):  # from PADDLE_PG_TIMEOUT
        assert one.process_group.timeout == SECONDS_TO_MEET
    assert len(set(from_all(group.id, group))) == 1
    for unknown in (10_000, -1):
        with raises(ValueError, str(unknown)):
            dist.get_group(unknown)


def check_a_second_init_returns_the_same_group(group):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert dist.init_parallel_env() is dist.get_group()
    assert dist.is_initialized()
    assert reduced(None) == 6.0


def check_members_and_others(group):
    me = dist.get_rank()
    some = dist.new_group([0, 2])
    assert some.ranks == [0, 2] and some.nranks == 2
    assert some.is_member() == (me != 1)
    assert some.rank == dist.get_rank(some) == [0, -1, 1][me]
    assert [some.get_group_rank(rank) for rank in (0, 1, 2, 9)] == [0, -1, 1, -1]
    assert reduced(some) == (4.0 if me != 1 else 2.0)  # nothing happens outside
    x = paddle.full([1], float(me))
    dist.broadcast(x, 2, group=some)  # ranks in arguments are those of the job
    assert x.tolist() == [2.0 if me != 1 else 1.0]
    found = []
    dist.all_gather(found, x, group=some)
    dist.all_gather_object(found, me, group=some)
    assert len(found) == (4 if me != 1 else 0)
    dist.barrier(some)
    if me != 1:
        with raises(AssertionError, "src=1"):
            dist.broadcast(x, 1, group=some)
    assert "ranks=[0, 2]" in repr(some)
    assert reduced(group) == 6.0


def check_the_order_of_ranks_is_the_callers(group):
    me = dist.get_rank()
    turned = dist.new_group([2, 1, 0])
    assert turned.rank == 2 - me
    assert from_all(me, turned) == [2, 1, 0]
    found = []
    dist.all_gather(found, paddle.full([1], float(me)), group=turned)
    assert [float(t) for t in found] == [2.0, 1.0, 0.0]


def check_groups_of_one_and_of_all(group):
    alone = [dist.new_group([rank]) for rank in range(3)]
    assert [one.is_member() for one in alone] == [rank == dist.get_rank() for rank in range(3)]
    assert reduced(alone[dist.get_rank()]) == dist.get_rank() + 1.0
    everyone = dist.new_group()
    assert everyone.ranks == [0, 1, 2] and everyone.id != 0
    assert reduced(everyone) == 6.0
    assert dist.new_group(backend="gloo").nranks == 3
    assert dist.new_group((1, 2)).ranks == [1, 2]


def check_wrong_ranks_are_refused(group):
    for wrong in ([0, 0], [0, 3], [-1], [0.5], ["0"], []):
        with raises(ValueError, "ranks"):
            dist.new_group(wrong)
    assert reduced(dist.new_group([0, 1, 2])) == 6.0


def check_ranks_that_disagree_are_told(group):
    with raises(RuntimeError, "new_group", "[0, 1]", "[0, 2]"):
        dist.new_group([0, 2] if dist.get_rank() == 1 else [0, 1])
    assert reduced(dist.new_group([0, 1, 2])) == 6.0
    assert len(set(from_all(dist.new_group([0]).id, group))) == 1  # still numbered alike


def check_two_groups_at_a_time(group):
    me = dist.get_rank()
    first, second = dist.new_group([0, 1]), dist.new_group([1, 2])
    for _ in range(20):
        assert reduced(first) == 3.0  # of rank 2, which is outside, too
        assert reduced(second) == (5.0 if me > 0 else 1.0)


def check_a_destroyed_group_is_gone(group):
    some = dist.new_group([0, 1])
    dist.destroy_process_group(some)
    with raises(ValueError, str(some.id)):
        dist.get_group(some.id)
    if dist.get_rank() < 2:
        with raises(RuntimeError, "destroyed"):
            dist.barrier(some)
    assert reduced(group) == 6.0
    assert reduced(dist.new_group([0, 1])) == 3.0


def check_data_parallel_in_a_group(group):
    me = dist.get_rank()
    some = dist.new_group([0, 2])
    net = nn.Linear(1, 1)
    if me == 1:
        with raises(RuntimeError, "not in the group"):
            paddle.DataParallel(net, group=some)
        return
    net.weight.set_value([[me + 5.0]])
    model = paddle.DataParallel(net, group=some)
    assert net.weight.tolist() == [[5.0]]
    model(paddle.full([1, 1], me + 1.0)).sum().backward()
    assert net.weight.grad.tolist() == [[2.0]]


def check_data_parallel_of_three(group):
    net = nn.Linear(1, 1)
    model = paddle.DataParallel(net, group=group)
    for step in range(1, 4):
        model(paddle.full([1, 1], 3.0 * dist.get_rank())).sum().backward()
        assert net.weight.grad.tolist() == [[3.0 * step]]


def check_zz_init_again_after_the_end(group):
    """The last of the checks: the job's group ends, and all meet again."""
    before = dist.get_group()
    dist.barrier()
    dist.destroy_process_group()
    assert not dist.is_initialized()
    with raises(RuntimeError, "init_parallel_env"):
        dist.barrier()
    again = dist.init_parallel_env()
    assert again is not before and again.ranks == [0, 1, 2]
    assert reduced(None) == 6.0
