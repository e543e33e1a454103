"""The benchmark runner: its arithmetic, its protocol, and a short run of each configuration."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import report, runner
from benchmarks.runner import Contender, Worker

CONFIGS = sorted(path.stem for path in runner.CONFIGS.glob("*.yaml"))


@pytest.fixture
def worker():
    started = Worker(sys.executable, "numpy", threads=1, processes=1)
    yield started
    started.close()
    assert started.process.returncode == 0


def contender(label, samples):
    return Contender(label, worker=None, case=label, samples=samples)


def test_ratio_uses_the_quietest_slice_of_each_and_the_median_over_rounds():
    case = {"name": "c", "compare": [{"ratio": ["a", "b"], "limit": 0.6}]}
    [row] = runner.compare(case, [contender("a", [1.0, 4.0, 2.0]), contender("b", [2.0, 4.0, 8.0])])
    assert row["quiet"] == 1.0 / 2.0
    assert row["median"] == 0.5  # of 0.5, 1.0 and 0.25
    assert row["limit"] == 0.6


def test_difference_subtracts():
    case = {"name": "c", "compare": [{"difference": ["a", "b"]}]}
    [row] = runner.compare(case, [contender("a", [3.0, 5.0]), contender("b", [1.0, 2.0])])
    assert (row["quiet"], row["median"]) == (2.0, 2.5)


def test_a_row_without_its_peer_is_left_out():
    case = {"name": "c", "compare": [{"ratio": ["a", "torch"]}]}
    assert runner.compare(case, [contender("a", [1.0])]) == []


def many(limit_each=False):
    """Rows of twenty cases, whose differences are 1 to 20 s."""
    case = {"each": {}, "limit_each": limit_each, "group": "ops"}
    case["compare"] = [{"difference": ["a", "b"], "limit": 12.0}]
    rows = []
    for value in range(1, 21):
        found = [contender("a", [value]), contender("b", [0])]
        rows += runner.compare({**case, "name": f"op {value}"}, found)
    return rows


def test_summary_has_the_median_and_the_worst_of_the_cases(capsys):
    [row] = report.summarise(many())
    assert row["quiet"] == 10.5
    assert row["p95"] == 19
    assert row["worst"] == ["op 20", 20]
    assert row["case"] == "ops: median of 20 cases"
    report.print_rows(many())
    assert "limit" not in capsys.readouterr().out  # it is one for the median
    report.print_summary([row])
    assert "limit 12.00 s met" in capsys.readouterr().out


def test_a_limit_for_each_case_is_missed_by_some(capsys):
    rows = many(limit_each=True)
    report.print_rows(rows)
    assert capsys.readouterr().out.count("MISSED") == 8
    report.print_summary(report.summarise(rows))
    assert "limit 12.00 s MISSED by 8" in capsys.readouterr().out


def test_each_group_of_cases_has_its_summary():
    rows = [{**row, "group": group} for group in ("forward", "both") for row in many()]
    assert [row["case"].split(":")[0] for row in report.summarise(rows)] == ["forward", "both"]


def test_a_case_that_cannot_be_had_is_skipped_with_the_reason(monkeypatch, capsys):
    class Lister:
        def ask(self, do, workload, args):
            assert (do, workload, args) == ("call", "names", {"kind": 1})
            return ["one", ["two", ""], ["three", "there is no such op"]]

    monkeypatch.setattr(runner.Workers, "get", lambda *args: Lister())
    case = {"name": "ops", "each": {"op": {"workload": "names", "args": {"kind": 1}}}}
    case["contenders"] = {"a": {"workload": "w", "args": {"n": 2}}}
    found = list(runner.expand([case], runner.Workers({})))
    assert [(c["group"], c["name"]) for c in found] == [("ops", "one"), ("ops", "two")]
    assert found[1]["contenders"]["a"]["args"] == {"n": 2, "op": "two"}
    assert "three" in (out := capsys.readouterr().out) and "skipped: there is no such op" in out


@pytest.mark.parametrize(
    ("seconds", "text"), [(2.5e-6, "2.50 us"), (2.5e-3, "2.50 ms"), (2.5, "2.50 s")]
)
def test_times_are_shown_in_the_unit_that_suits(seconds, text):
    assert report.show(seconds) == text


def test_other_units_are_shown_as_they_are():
    assert report.show(537.6, "MB") == "538 MB"


def test_worker_prepares_runs_and_drops(worker):
    worker.ask("prepare", case="c", workload="linear_net", args={})
    assert worker.ask("run", case="c", n=3) > 0
    assert worker.ask("drop", case="c") is True
    with pytest.raises(RuntimeError, match="KeyError"):
        worker.ask("run", case="c", n=1)
    losses = worker.ask("call", workload="linear_net_losses", args={"steps": 5})
    assert len(losses) == 5 and min(losses) > 0


def test_worker_that_ends_is_reported_with_what_it_printed():
    lost = Worker(sys.executable, "no_such_framework", threads=1, processes=1)
    with pytest.raises(RuntimeError, match="no_such_framework_"):
        lost.ask("call", workload="version", args={})
    lost.close()


def test_contenders_take_turns(monkeypatch):
    """Each round gives every contender one slice and starts with the next one."""
    asked = []

    class Recorder:
        def ask(self, do, case="", n=0, **request):
            asked.append((do, case))
            return 0.01 * n

    workers = runner.Workers({})
    monkeypatch.setattr(runner.Workers, "get", lambda *args: Recorder())
    case = {"name": "c", "threads": 1, "processes": 1}
    case["contenders"] = {"a": {"workload": "w"}, "b": {"workload": "w"}}
    runner.measure(case, workers, runner.Pace(3, 0.02, 0.0))
    slices = [name for do, name in asked if do == "run"][-6:]
    assert slices == ["c/a", "c/b", "c/b", "c/a", "c/a", "c/b"]


def test_a_contender_may_have_a_number_of_processes_of_its_own(monkeypatch):
    asked = []
    monkeypatch.setattr(runner.Workers, "get", lambda _, entry, *how: asked.append(how))
    case = {"name": "c", "threads": 1, "processes": 2}
    case["contenders"] = {"two": {"workload": "w"}, "alone": {"workload": "w", "processes": 1}}
    assert runner.measure(case, runner.Workers({}), runner.Pace(1, 0.02, 0.0)) == []
    assert asked == [(1, 2), (1, 1)]


@pytest.mark.parametrize("name", CONFIGS)
def test_configurations_name_what_exists(name):
    """Labels in `compare` are contenders, and every workload is defined for its framework."""
    for case in runner.read_config(name)["cases"]:
        for label, entry in case["contenders"].items():
            file = runner.ROOT / "benchmarks" / "workloads" / f"{entry.get('framework', label)}_.py"
            assert entry["workload"] in file.read_text(), (file.name, entry)
        for row in case.get("compare", []):
            for kind in runner.OPERATIONS.keys() & row.keys():
                assert set(row[kind]) <= set(case["contenders"])


def test_unknown_benchmark_lists_those_that_exist():
    with pytest.raises(SystemExit, match="linear_net"):
        runner.main(["no_such_benchmark"])


def test_many_cases_are_not_run_without_all_contenders(capsys):
    case = {"name": "ops", "each": {"op": "names"}}
    case["contenders"] = {"minipaddle": {"workload": "w"}, "torch": {"workload": "w"}}
    assert list(runner.expand([case], runner.Workers({}))) == []
    assert "needs minipaddle and torch: --peer" in capsys.readouterr().out


WORK = {
    "linear_net_losses": {"steps": 20},
    "mlp_losses": {"size": "small", "batch": 64, "steps": 20},
}


@pytest.mark.parametrize("workload", WORK)
def test_own_nets_learn_as_those_in_numpy(workload):
    """The contenders do the same work: from equal weights and data the losses agree."""
    frameworks = {"numpy": sys.executable, "minipaddle": sys.executable}
    losses = []
    for framework, python in frameworks.items():
        started = Worker(python, framework, threads=1, processes=1)
        try:
            losses.append(started.ask("call", workload=workload, args=WORK[workload]))
        finally:
            started.close()
    assert losses[0] == pytest.approx(losses[1], abs=1e-5)
    assert losses[0][0] != losses[0][-1]


def short(monkeypatch, tmp_path: Path, name: str) -> dict:
    """Run a benchmark with the least that it can do; return what it saved."""
    config = runner.read_config(name)
    config |= {"rounds": 3, "slice_ms": 0.5, "quick_rounds": 1}
    for case in config["cases"]:
        for entry in case["contenders"].values():
            args = (entry or {}).get("args", {})
            if "size" in args:
                args["size"] = "small" if isinstance(args["size"], str) else 32
    monkeypatch.setattr(runner, "read_config", lambda _: config)
    monkeypatch.setattr(runner, "RESULTS", tmp_path)
    monkeypatch.delenv(runner.PEERS_VARIABLE, raising=False)
    assert runner.main([name, "--quick", "--save"]) == 0
    return json.loads((tmp_path / f"{name}.json").read_text())


def test_linear_net_runs_without_peers(monkeypatch, tmp_path, capsys):
    saved = short(monkeypatch, tmp_path, "linear_net")
    assert [row["what"] for row in saved["rows"]] == ["minipaddle / numpy"]
    printed = capsys.readouterr().out
    assert "cores" in printed and "numpy" in saved["versions"]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(CONFIGS) - {"linear_net", "paddle_parity"}))
def test_every_benchmark_runs_without_peers(monkeypatch, tmp_path, name):
    saved = short(monkeypatch, tmp_path, name)
    assert "minipaddle" in saved["versions"] or name == "import_time"
    assert saved["rows"] or name in ("allreduce", "large")


def test_parity_without_paddle_says_what_it_needs(monkeypatch):
    monkeypatch.delenv(runner.PEERS_VARIABLE, raising=False)
    with pytest.raises(SystemExit, match="--peer"):
        runner.main(["paddle_parity"])


@pytest.mark.slow
def test_soak_in_small():
    command = [sys.executable, "-m", "benchmarks.soak", "--steps", "400", "--cycles", "1"]
    command += ["--rounds", "0", "--delayed-steps", "5"]
    with subprocess.Popen(
        command,
        cwd=runner.ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as soak:
        try:
            output, _ = soak.communicate(timeout=110)
        finally:
            with contextlib.suppress(ProcessLookupError):  # nobody is left in the good case
                os.killpg(soak.pid, signal.SIGKILL)
    assert soak.returncode == 0, output
