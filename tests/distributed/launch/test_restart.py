"""Ranks that are killed at random steps end, after restarts, with the parameters of a quiet run."""

import random
import re
from pathlib import Path

import pytest

from tests.distributed.launch.launches import run
from tests.distributed.launch.test_several_nodes import nodes

SCRIPT = str(Path(__file__).with_name("killed_digits.py"))
# 4 steps an epoch, so that a checkpoint comes within an epoch and another at its end.
TINY = ("--samples", "100", "--batch", "20", "--width", "16", "--every", "3", "--curve", "")
EPOCHS = 10
STEPS = 4 * EPOCHS


def one_node(folder, *arguments):
    return run(folder, "--nproc_per_node", "2", *arguments)


def two_nodes(folder, *arguments):
    with nodes(folder, *arguments) as (first, second):
        ended = first.end()
        assert second.end()[0] == ended[0]
    return ended


def digests(folder, kills, start):
    """Digests of the ranks; the job is killed at the points of ``kills``, (rank, step) each."""
    folder.mkdir()
    planned = ",".join(f"{rank}:{step}" for rank, step in kills)
    options = ("--max_restart", str(len(kills)))
    code, printed, errors = start(folder, *options, SCRIPT, planned, *TINY, "--epochs", str(EPOCHS))
    assert code == 0, errors
    assert errors.count("was killed by SIGKILL") == errors.count("starting anew") == len(kills)
    assert errors.count("After that") <= len(kills)
    assert ("resuming after step" in printed) == bool(kills)  # not from the beginning
    found = re.findall(r"rank \d+   parameters sha256 (\w{64})", printed)
    assert len(found) == 2
    return found


def kill_points(count):
    """Ranks and steps, in the order in which they come."""
    generator = random.Random(count)
    steps = sorted(generator.sample(range(STEPS), count))
    return [(generator.randrange(2), step) for step in steps]


@pytest.mark.parametrize("start", [one_node, two_nodes])
@pytest.mark.parametrize(
    "count", [2, pytest.param(10, marks=[pytest.mark.slow, pytest.mark.time_limit(300)])]
)
def test_killed_at_random_steps(count, start, tmp_path):
    quiet = digests(tmp_path / "quiet", [], start)
    assert digests(tmp_path / "killed", kill_points(count), start) == quiet
