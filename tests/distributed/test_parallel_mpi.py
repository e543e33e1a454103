"""DataParallel, collectives and groups over MPI, on processes that mpiexec has started."""

import pytest

from tests.distributed import (
    collective_checks,
    group_checks,
    jobs,
    parallel_fault_checks,
    parallel_pattern_checks,
    timeout_checks,
)
from tests.distributed.process_group.harness import MPIEXEC, needs_mpi

pytestmark = needs_mpi
# They take away the shared memory, of which there is none here.
OF_SHARED_MEMORY = {"check_no_memory_on_one_rank", "check_no_memory_when_buckets_are_made_anew"}
ON_TWO = (collective_checks, parallel_pattern_checks, parallel_fault_checks)


@pytest.fixture(scope="module")
def on_two():
    return jobs.run_under_mpiexec(MPIEXEC, *ON_TWO, nprocs=2, FLAGS_nccl_nrings="2")


@pytest.fixture(scope="module")
def on_three():
    return jobs.run_under_mpiexec(MPIEXEC, group_checks, nprocs=3)


@pytest.fixture(scope="module")
def too_late():
    return jobs.run_under_mpiexec(MPIEXEC, timeout_checks, nprocs=2, **{jobs.LIMIT: "1.0"})


@pytest.mark.parametrize("name", sorted(jobs.checks_of(*ON_TWO).keys() - OF_SHARED_MEMORY))
def test_on_two_processes(name, on_two):
    assert on_two[name] == ["", ""], "\n".join(on_two[name])


@pytest.mark.parametrize("name", jobs.checks_of(group_checks))
def test_groups_on_three_processes(name, on_three):
    assert on_three[name] == ["", "", ""], "\n".join(on_three[name])


@pytest.mark.parametrize("name", jobs.checks_of(timeout_checks))
def test_a_rank_that_does_not_come(name, too_late):
    assert too_late[name] == ["", ""], "\n".join(too_late[name])
