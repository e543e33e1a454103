"""What it costs to have a framework: the program, the sizes and the table."""

import json
import sys

import pytest

from benchmarks import footprint


@pytest.mark.parametrize("options", [[], ["--once"]])
def test_the_program_trains_and_says_what_it_held(options):
    program = ["-m", "benchmarks.workloads.first_step", "minipaddle", *options]
    figures = json.loads(footprint.ask(sys.executable, program))
    assert 0 < figures["imported_mb"] <= figures["trained_mb"]
    assert ("step_s" in figures) == (not options)


def test_the_size_of_a_package_has_that_of_what_it_needs():
    numpy = int(footprint.ask(sys.executable, ["-c", footprint.SIZE, "numpy"]))
    missing = int(footprint.ask(sys.executable, ["-c", footprint.SIZE, "no-such-package"]))
    assert 0 == missing < numpy < footprint.installed("minipaddle", sys.executable)


def test_a_program_that_fails_is_told_with_its_last_line():
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        footprint.ask(sys.executable, ["-c", "1 / 0"])


def test_the_table_leaves_open_what_was_not_measured_and_says_why():
    found = {
        "minipaddle": {"import_s": 0.1, "step_s": 50e-6},
        "jax": {"import_s": 0.5, "lacks": "no compiler"},
    }
    assert footprint.lines(found) == [
        "| | import | LinearNet step |",
        "|---|---|---|",
        "| minipaddle | 0.10 s | 50 us |",
        "| jax | 0.50 s | - |",
        "",
        "jax: no compiler",
    ]


def test_an_unknown_peer_is_refused():
    with pytest.raises(SystemExit, match="NAME=VALUE with one of"):
        footprint.main(["--peer", "numpi=python"])
