"""Groups: of three processes and of some of them, and of a process that is alone."""

import pytest

import minipaddle as paddle
from tests.distributed import group_checks, jobs

dist = paddle.distributed


@pytest.fixture(scope="module")
def outcomes():
    return jobs.run(group_checks, nprocs=3)


@pytest.mark.parametrize("name", jobs.checks_of(group_checks))
def test_on_three_processes(name, outcomes):
    assert outcomes[name] == ["", "", ""], "\n".join(outcomes[name])


@pytest.fixture
def fresh():
    """No group before, and none afterwards."""
    dist.destroy_process_group()
    yield
    dist.destroy_process_group()


def test_alone_there_is_a_group_of_one(fresh):
    assert not dist.is_initialized()
    world = dist.get_group()
    assert (world.ranks, world.rank, world.nranks, world.id) == ([0], 0, 1, 0)
    assert world.is_member() and dist.get_group() is world
    dist.all_reduce(paddle.ones([2]))
    assert not dist.is_initialized()  # nobody has called init_parallel_env
    assert (dist.get_rank(), dist.get_world_size()) == (0, 1)


def test_alone_new_groups_have_numbers_of_their_own(fresh):
    first, second = dist.new_group(), dist.new_group([0])
    assert first.id != second.id and {first.nranks, second.nranks} == {1}
    assert dist.get_group(second.id) is second
    dist.destroy_process_group(first)
    with pytest.raises(ValueError, match=str(first.id)):
        dist.get_group(first.id)
    with pytest.raises(RuntimeError, match="destroyed"):
        dist.barrier(first)
    dist.barrier(second)
    dist.destroy_process_group()
    with pytest.raises(RuntimeError, match="destroyed"):
        dist.barrier(second)
    dist.destroy_process_group()  # nothing left to do
    dist.barrier()


@pytest.mark.parametrize("ranks", [[1], [0, 0], [0, 1], [-1], ["0"], [], [0.5]])
def test_ranks_that_are_not_there_are_refused(ranks, fresh):
    with pytest.raises(ValueError, match="ranks"):
        dist.new_group(ranks)
    assert dist.new_group([0]).ranks == [0]


@pytest.mark.parametrize("group", [0, [0], "world", object()])
def test_a_group_is_a_group(group):
    with pytest.raises(TypeError, match="group must be a Group"):
        dist.barrier(group)
