"""Every fault of benchmarks/faults.py once, and training under random delays in short."""

import pytest

from benchmarks.faults import FAULTS, check_delays
from tests.distributed.leftovers import nothing_left


@pytest.mark.time_limit(60)
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_told_and_leaves_nothing(name, monkeypatch, tmp_path):
    with nothing_left(monkeypatch, tmp_path):
        FAULTS[name]()


@pytest.mark.time_limit(120)
@pytest.mark.parametrize("world_size", [1, 2, 3, 4])
def test_delays_change_no_bit(world_size):
    check_delays(world_size, steps=20)
