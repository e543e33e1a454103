"""``python -m minipaddle.distributed.plan``: table, figures, picture, errors."""

import json
import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from minipaddle.distributed.plan import command
from minipaddle.distributed.plan.sweep import Sweep
from tests.distributed.plan import traces


@pytest.fixture
def files(tmp_path):
    """A trace and a sweep."""
    events = [traces.model(), *traces.step_events(), *traces.step_events(15.0)]
    traces.sweep(0.002).save(tmp_path / "sweep.json")
    trace = traces.write(tmp_path / "trace.json", events)
    return [str(trace), "--sweep", str(tmp_path / "sweep.json")]


def rows(text):
    """Rank count and figures of each line of the table."""
    found = [line.split() for line in text.splitlines() if re.match(r" *\d+ .*%", line)]
    return {int(row[0]): [float(cell.strip("%")) for cell in row[1:]] for row in found}


def test_a_table(files, capsys):
    assert command.main([*files, "--ranks", "1,2", "--buckets", "1,100"]) == 0
    text = capsys.readouterr().out
    assert "2 steps on 2 ranks, 8.4 MB of gradients" in text
    assert "15.00 ms a step, 3.00 ms of them waiting; without communication 12.00 ms" in text
    assert rows(text) == {
        1: [1, 2, 12.0, 0.0, 100.0, 12.0, 12.0],
        2: [1, 2, 14.0, 2.0, 85.7, 14.0, 14.0],
    }


def test_traces_of_several_ranks(files, capsys):
    command.main([files[0], *files, "--json"])
    two = json.loads(capsys.readouterr().out)
    command.main([*files, "--json"])
    one = json.loads(capsys.readouterr().out)
    assert len(two["recorded"].pop("traces")) == 2 and len(one["recorded"].pop("traces")) == 1
    assert two == one


def test_figures_for_programs_are_those_of_the_table(files, capsys):
    command.main(files)
    shown = rows(capsys.readouterr().out)
    command.main([*files, "--json"])
    found = json.loads(capsys.readouterr().out)
    assert [row["ranks"] for row in found["predictions"]] == [2, 8, 64, 1024] == list(shown)
    assert found["recorded"]["computing"] == pytest.approx(0.012)
    for row in found["predictions"]:
        assert [one["megabytes"] for one in row["buckets"]] == [1.0, 10.0, 25.0, 100.0]
        (top,) = [one for one in row["buckets"] if one["megabytes"] == row["best"]]
        assert top["step"] == min(one["step"] for one in row["buckets"])
        assert shown[row["ranks"]][2] == pytest.approx(1e3 * top["step"], abs=0.005)
        assert shown[row["ranks"]][3] == pytest.approx(1e3 * top["exposed"], abs=0.005)


def test_topologies(files, tmp_path, capsys):
    steps = {}
    traces.sweep(0.02).save(tmp_path / "between.json")
    two_level = ["--per_node", "8", "--between", str(tmp_path / "between.json")]
    for topology, options in (("ring", []), ("tree", []), ("two-level", two_level)):
        command.main([*files, "--ranks", "8,64", "--json", "--topology", topology, *options])
        found = json.loads(capsys.readouterr().out)
        assert found["topology"] == topology
        steps[topology] = [row["buckets"][0]["step"] for row in found["predictions"]]
    # Where only latency counts, a tree is quicker than a ring, and in a node two levels are a ring.
    assert steps["tree"][1] < steps["ring"][1]
    assert steps["two-level"][0] == steps["ring"][0]


def test_a_picture(files, tmp_path, capsys):
    path = tmp_path / "picture.svg"
    command.main([*files, "--ranks", "64,2,8", "--buckets", "1,25", "--draw", str(path)])
    shown = rows(capsys.readouterr().out)
    picture = ElementTree.parse(path).getroot()
    name = "{http://www.w3.org/2000/svg}"
    assert len(picture.findall(f"{name}polyline")) == 2
    dots = [(float(dot.get("cx")), float(dot.get("cy")), dot.find(f"{name}title").text)
            for dot in picture.findall(f"{name}circle")]  # fmt: skip
    assert [dot[2].split()[0] for dot in dots] == ["2", "8", "64"] * 2
    assert [dot[0] for dot in dots[:3]] == pytest.approx([60, 60 + 560 * 2 / 5, 620], abs=0.1)
    for _, y, title in dots:
        efficiency = float(title.split()[-1].strip("%"))
        assert y == pytest.approx(30 + 300 * (1 - efficiency / 100), abs=0.3)
    assert f"{shown[64][4]}%" in [title.split()[-1] for *_, title in dots]


def test_one_number_of_ranks_can_be_drawn(files, tmp_path):
    command.main([*files, "--ranks", "2", "--draw", str(tmp_path / "p.svg")])
    assert "2 ranks" in (tmp_path / "p.svg").read_text()


WRONG = {
    "no trace": ([], "a trace and --sweep FILE are needed"),
    "no sweep": (["t.json"], "--measure FILE makes a sweep"),
    "no such file": (["TRACE", "--sweep", "none.json"], "none.json"),
    "a trace as sweep": (["TRACE", "--sweep", "TRACE"], "trace.json is no sweep"),
    "half a two-level": (["TRACE", "--sweep", "SWEEP", "--topology", "two-level"], "per_node"),
    "measure and plan": (["TRACE", "--measure", "x.json"], "--measure takes no trace"),
    "measure one": (["--measure", "x.json", "--nprocs", "1"], "nprocs must be at least 2; got 1"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_does_not_fit_is_named(name, files, capsys):
    arguments, told = WRONG[name]
    replaced = {"TRACE": files[0], "SWEEP": files[2]}
    assert command.main([replaced.get(argument, argument) for argument in arguments]) == 2
    caught = capsys.readouterr()
    assert caught.out == "" and told in caught.err and "Traceback" not in caught.err


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("--ranks", "2,x", "whole numbers of at least 1 are wanted"),
        ("--ranks", "0", "got '0'"),
        ("--ranks", "2.5", "got '2.5'"),
        ("--buckets", "-1", "sizes in MB of at least 0 are wanted"),
        ("--buckets", "inf", "got 'inf'"),
        ("--topology", "star", "invalid choice: 'star'"),
        ("--speed", "1", "unrecognized arguments"),
    ],
)
def test_bad_options_are_named(option, value, told, files, capsys):
    with pytest.raises(SystemExit, match="2"):
        command.main([*files, f"{option}={value}"])
    assert told in capsys.readouterr().err


def test_a_sweep_is_written_and_shown(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(command, "measure", lambda nprocs: traces.sweep(0.004, 1.5, 2.0))
    path = tmp_path / "sweep.json"
    assert command.main(["--measure", str(path), "--nprocs", "2"]) == 0
    text = capsys.readouterr().out
    assert text.splitlines()[1].split() == ["4096", "4.000", "0.00", "6.000", "2.00"]
    assert Sweep.load(path).rows == traces.sweep(0.004, 1.5, 2.0).rows
    monkeypatch.setattr(command, "measure", lambda nprocs: None)  # another rank of a job
    assert command.main(["--measure", str(path)]) == 0 and capsys.readouterr().out == ""


def test_it_is_a_program(files):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "minipaddle.distributed.plan", *files],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert list(rows(done.stdout)) == [2, 8, 64, 1024] and done.stderr == ""
