"""The shared-memory group passes the conformance suite at 1, 2 and 3 ranks."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from minipaddle.distributed.process_group import ProcessGroup, staging
from tests.distributed.process_group.conformance import CHECKS, HostDevice
from tests.distributed.process_group.harness import Ranks, make_cpu_group

Check = Callable[[ProcessGroup, Any], None]


def make_group_with_small_chunks(*args: Any, **options: Any) -> ProcessGroup:
    """Makes arrays of a few hundred kilobytes pass in many chunks."""
    staging.CHUNK_BYTES = 1 << 16
    return make_cpu_group(*args, **options)


@pytest.fixture(scope="module", params=[1, 2, 3])
def ranks(request: pytest.FixtureRequest) -> Iterator[Ranks]:
    with Ranks(request.param, nrings=3, timeout=30) as ranks:
        yield ranks


@pytest.fixture(scope="module", params=[2, 3])
def ranks_with_small_chunks(request: pytest.FixtureRequest) -> Iterator[Ranks]:
    with Ranks(request.param, make_group_with_small_chunks, timeout=30) as ranks:
        yield ranks


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_conformance(ranks: Ranks, check: Check) -> None:
    ranks.run(check, HostDevice())


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_conformance_in_many_chunks(ranks_with_small_chunks: Ranks, check: Check) -> None:
    ranks_with_small_chunks.run(check, HostDevice(dtypes=("float16", "float32", "int64")))
