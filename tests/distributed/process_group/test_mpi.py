"""The MPI group passes the conformance suite, and fails as the shared-memory group does."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from minipaddle.distributed.process_group import ProcessGroup
from tests.distributed.process_group import test_failures
from tests.distributed.process_group.conformance import CHECKS, HostDevice
from tests.distributed.process_group.harness import MpiRanks, needs_mpi

pytestmark = needs_mpi
Check = Callable[[ProcessGroup, Any], None]


@pytest.fixture(autouse=True)
def job_of_mpi(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has the tests that are taken over from the shared-memory group run over MPI."""
    monkeypatch.setattr(test_failures, "Ranks", MpiRanks)


# What goes wrong on one rank; left out are tests of descriptors, and those that kill one rank,
# which makes mpiexec kill the others.
TAKEN_OVER = [
    test_failures.test_mismatch_names_both_sides_and_leaves_the_group_usable,
    test_failures.test_mismatch_changes_no_array,
    test_failures.test_peer_that_destroys_its_group_is_noticed,
    test_failures.test_timeout_names_everything,
    test_failures.test_timeout_on_a_ring_names_the_ring,
    test_failures.test_send_to_a_rank_that_does_not_receive_times_out,
    test_failures.test_abort_reaches_every_wait_of_the_peers,
    test_failures.test_group_refuses_use_after_abort_and_names_the_cause,
    test_failures.test_abort_text_arrives_from_a_rank_that_leaves_messages_unread,
    test_failures.test_very_long_text_is_cut_but_arrives,
    test_failures.test_abort_wakes_the_own_threads,
    test_failures.test_abort_of_a_group_reaches_the_groups_made_from_it,
    test_failures.test_error_texts_of_a_new_group_count_in_the_whole_job,
    test_failures.test_transfer_against_collective_ends_the_group,
    test_failures.test_forked_child_cannot_use_the_group_and_the_parent_can,
]
globals().update({test.__name__: test for test in TAKEN_OVER})


@pytest.fixture(scope="module", params=[1, 2, 3])
def ranks(request: pytest.FixtureRequest) -> Iterator[MpiRanks]:
    with MpiRanks(request.param, nrings=3, timeout=30) as ranks:
        yield ranks


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_conformance(ranks: MpiRanks, check: Check) -> None:
    ranks.run(check, HostDevice())


def named_segments(group: ProcessGroup) -> list[str]:
    mapped = re.findall(r"/dev/shm/mpich_shm_\w+", Path("/proc/self/maps").read_text())
    return [name for name in mapped if Path(name).exists()]


def test_no_shared_memory_has_a_name_that_a_killed_job_would_leave() -> None:
    with MpiRanks(2, timeout=20) as ranks:
        assert ranks.run(named_segments) == [[], []]
        assert ranks.run(test_failures.sum_of_ranks) == [3.0, 3.0]
