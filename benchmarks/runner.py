"""``python -m benchmarks NAME [--peer PYTHON ...] [--quick] [--save]``.

NAME is a file of benchmarks/configs, or the path of a YAML file of ops of your own (outside.py).
Every contender is a process of its own, warmed up and then idle. The runner gives each a short
slice in turn, again and again, so that a disturbance of the machine meets all of them, and compares
the quietest slice of each. A time is never judged alone: rows are ratios or differences.
"""

import argparse
import json
import os
import platform
import re
import selectors
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from benchmarks import outside
from benchmarks.report import print_rows, print_summary, print_times, summarise

ROOT = Path(__file__).resolve().parent.parent
CONFIGS = ROOT / "benchmarks" / "configs"
RESULTS = ROOT / "benchmarks" / "results"
PEERS_VARIABLE = "MINIPADDLE_BENCH_PEERS"
OWN = ("minipaddle", "numpy")  # run by the interpreter that runs this
THREAD_VARIABLES = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS",
)  # fmt: skip


class Worker:
    """A process of ``benchmarks.worker`` and the requests sent to it."""

    def __init__(self, python: str, framework: str, threads: int, processes: int) -> None:
        environ = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        environ |= dict.fromkeys(THREAD_VARIABLES, str(threads))
        if framework in OWN:
            environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), environ.get("PYTHONPATH", "")])
        self.who = f"{framework} ({python})"
        self.log = tempfile.TemporaryFile("w+")  # noqa: SIM115 - close() closes it
        self.process = subprocess.Popen(
            [python, "-m", "benchmarks.worker", framework, str(processes)],
            cwd=ROOT, env=environ, text=True, bufsize=1, start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log,
        )  # fmt: skip

    def ask(self, do: str, seconds: float = 300.0, **request: Any) -> Any:
        """Send one request and wait for its answer."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps({"do": do, **request}) + "\n")
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            if not selector.select(seconds):
                raise TimeoutError(f"{self.who} did not answer {do} {request} in {seconds} s")
        line = self.process.stdout.readline()
        answer = json.loads(line) if line else {"error": "the process ended"}
        if "error" in answer:
            self.log.seek(0)
            printed = "".join(self.log.readlines()[-20:])
            raise RuntimeError(f"{self.who}: {answer['error']}\n{printed}")
        return answer["value"]

    def close(self) -> None:
        """End the process and the ranks that it started."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, 9)
            self.process.wait()
        self.process.stdout.close()
        self.log.close()


@dataclass
class Workers:
    """All workers of a run, started when first asked for."""

    interpreters: dict[str, str]
    started: dict[tuple[str, ...], Worker] = field(default_factory=dict)

    def get(self, entry: dict[str, Any], threads: int, processes: int) -> Worker | None:
        """The worker for a contender, or None where no interpreter has its framework."""
        framework = entry["framework"]
        python = self.interpreters.get(entry.get("interpreter_of", framework))
        if python is None:
            return None
        key = (python, framework, str(threads), str(processes))
        if key not in self.started:
            self.started[key] = Worker(python, framework, threads, processes)
        return self.started[key]

    def close(self) -> None:
        """End all."""
        for worker in self.started.values():
            worker.close()


class Pace(NamedTuple):
    """How often and how long contenders run.

    Attributes:
        rounds: Slices of each contender.
        slice_seconds: Length of a slice, at least one iteration.
        settle_seconds: Pause before a slice on several threads: those of OpenMP go on spinning for
            up to 0.2 s after their work, on cores that the next contender needs.
    """

    rounds: int
    slice_seconds: float
    settle_seconds: float


@dataclass
class Contender:
    """One workload in one worker, with the seconds per iteration of each slice."""

    label: str
    worker: Worker
    case: str
    iterations: int = 1
    samples: list[float] = field(default_factory=list)

    def prepare(self, entry: dict[str, Any], slice_seconds: float) -> None:
        """Set up, warm up, and find how many iterations fill a slice."""
        workload, args = entry["workload"], entry.get("args", {})
        self.worker.ask("prepare", case=self.case, workload=workload, args=args)
        if self.run(1) > slice_seconds and self.run(1) > slice_seconds:  # the first may be cold
            return  # one iteration is a slice
        self.run(2)
        while (seconds := self.run(self.iterations)) < slice_seconds / 4:
            self.iterations *= 2
        per_iteration = seconds / self.iterations
        self.iterations = max(1, round(slice_seconds / per_iteration))

    def run(self, iterations: int) -> float:
        return self.worker.ask("run", case=self.case, n=iterations)

    def sample(self) -> None:
        self.samples.append(self.run(self.iterations) / self.iterations)


def read_config(name: str) -> dict[str, Any]:
    """A benchmark's YAML file, or what an ops file from outside the tree is timed with."""
    if name.endswith((".yaml", ".yml")):
        return outside.config(Path(name))
    path = CONFIGS / f"{name}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(p.stem for p in CONFIGS.glob("*.yaml")))
        raise SystemExit(f"no benchmark {name!r}; there are: {known}")
    return yaml.safe_load(path.read_text("utf-8"))


def find_interpreters(peers: list[str]) -> dict[str, str]:
    """Which interpreter has which framework; our own has minipaddle and NumPy."""
    found = dict.fromkeys(OWN, sys.executable)
    probe = "import importlib.util as u; print(*[n for n in ('torch', 'paddle') if u.find_spec(n)])"
    for python in peers:
        done = subprocess.run([python, "-c", probe], capture_output=True, text=True, timeout=60)
        if done.returncode:
            raise SystemExit(f"--peer {python}: {done.stderr}")
        for framework in done.stdout.split():
            found.setdefault(framework, python)
    return found


def expand(cases: list[dict[str, Any]], workers: Workers) -> Iterator[dict[str, Any]]:
    """Cases as configured; one with ``each: {arg: workload}`` once for each value that it names.

    The workload, of the first contender's framework, returns the values; with a value may come a
    reason why it cannot be had.
    """
    for case in cases:
        contenders = {
            label: {"framework": label, **(entry or {})}
            for label, entry in case["contenders"].items()
        }
        case = {"threads": 1, "processes": 1, **case, "contenders": contenders}
        if "each" not in case:
            yield case
            continue
        [(arg, source)] = case["each"].items()
        if isinstance(source, str):
            source = {"workload": source}
        found = [workers.get(c, case["threads"], case["processes"]) for c in contenders.values()]
        print(f"\n{case['name']}  (threads {case['threads']}, processes {case['processes']})")
        if found[0] is None or None in found:
            print(f"  needs {' and '.join(contenders)}: --peer PYTHON")
            continue
        for value in found[0].ask("call", **{"args": {}, **source}):
            value, lacks = [value, ""] if isinstance(value, str) else value
            if lacks:
                print(f"  {value:32} skipped: {lacks}")
                continue
            filled = {
                label: {**entry, "args": {**entry.get("args", {}), arg: value}}
                for label, entry in contenders.items()
            }
            yield {**case, "group": case["name"], "name": value, "contenders": filled}


def measure(case: dict[str, Any], workers: Workers, pace: Pace) -> list[Contender]:
    """Give every contender one slice a round; each round starts with another one."""
    contenders: list[Contender] = []
    for label, entry in case["contenders"].items():
        processes = entry.get("processes", case["processes"])
        worker = workers.get(entry, case["threads"], processes)
        if worker is not None:
            contender = Contender(label, worker, f"{case['name']}/{label}")
            contender.prepare(entry, pace.slice_seconds)
            contenders.append(contender)
    for i in range(min(pace.rounds, case.get("rounds", pace.rounds))):
        start = i % max(1, len(contenders))
        for contender in contenders[start:] + contenders[:start]:
            if case["threads"] * case["processes"] > 1:
                time.sleep(pace.settle_seconds)
            contender.sample()
    for contender in contenders:
        contender.worker.ask("drop", case=contender.case)
    return contenders


OPERATIONS: dict[str, Callable[[float, float], float]] = {
    "ratio": lambda ours, theirs: ours / theirs,
    "difference": lambda ours, theirs: ours - theirs,
}


def compare(case: dict[str, Any], contenders: list[Contender]) -> list[dict[str, Any]]:
    """The rows that a case asks for, as far as their contenders are present."""
    samples = {c.label: c.samples for c in contenders}
    rows = []
    for wanted in case["compare"]:
        kind = next(name for name in OPERATIONS if name in wanted)
        ours, theirs = wanted[kind]
        if ours not in samples or theirs not in samples:
            continue
        operation = OPERATIONS[kind]
        pairs = zip(samples[ours], samples[theirs], strict=True)
        row = {
            "case": case["name"],
            "what": f"{ours} {'/' if kind == 'ratio' else '-'} {theirs}",
            "kind": kind,
            "quiet": operation(min(samples[ours]), min(samples[theirs])),
            "median": statistics.median(operation(a, b) for a, b in pairs),
            "limit": wanted.get("limit"),
        }
        if "each" in case:  # the limit is one for each, or for the median of all
            row["group"] = case["group"]
            row["each"] = "limited" if case.get("limit_each") else "median"
        rows.append(row)
    return rows


def parity(case: dict[str, Any], workers: Workers) -> list[dict[str, Any]]:
    """Call the workload in every contender and compare the numbers that come back."""
    results = {}
    for label, entry in case["contenders"].items():
        worker = workers.get(entry, case["threads"], case["processes"])
        if worker is None:
            raise SystemExit(f"{case['name']} needs an interpreter with {label}: --peer PYTHON")
        value = worker.ask("call", workload=entry["workload"], args=entry.get("args", {}))
        results[label] = [x for rank in value for x in (rank if isinstance(rank, list) else [rank])]
    (ours, a), (theirs, b) = results.items()
    worst = max(abs(x - y) for x, y in zip(a, b, strict=True))
    what = f"|{ours} - {theirs}| of {len(a)} losses"
    row = {"case": case["name"], "what": what, "kind": "parity", "limit": case["tolerance"]}
    return [{**row, "quiet": worst, "median": worst}]


def machine() -> dict[str, Any]:
    """What a figure depends on besides the code."""
    cpuinfo = Path("/proc/cpuinfo")
    text = cpuinfo.read_text() if cpuinfo.exists() else ""
    models = re.findall(r"^model name\s*: (.*)$", text, re.MULTILINE)
    affinity = getattr(os, "sched_getaffinity", None)
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "cores": len(affinity(0)) if affinity else os.cpu_count(),
        "cpu": models[0] if models else platform.processor(),
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 2),
    }


@contextmanager
def open_workers(peers: list[str]) -> Iterator[Workers]:
    workers = Workers(find_interpreters(peers))
    try:
        yield workers
    finally:
        workers.close()


def run(name: str, peers: list[str], quick: bool) -> dict[str, Any]:
    """Run one benchmark, print it, and return all that was measured."""
    config = read_config(name)
    pace = Pace(config.get("rounds", 30), config.get("slice_ms", 20) / 1e3, 0.25)
    if quick:
        rounds = config.get("quick_rounds", max(3, pace.rounds // 6))
        pace = Pace(rounds, pace.slice_seconds / 2, 0.05)
    report: dict[str, Any] = {"name": name, "quick": quick, "machine": machine(), "rows": []}
    print(f"== {config['title']}")
    print("   " + ", ".join(f"{key} {value}" for key, value in report["machine"].items()))
    with open_workers(peers) as workers:
        report["versions"] = {}
        for case in expand(config["cases"], workers):
            if "tolerance" in case:
                rows = parity(case, workers)
                print(f"\n{case['name']}")
            else:
                contenders = measure(case, workers, pace)
                rows = compare(case, contenders)
                if "each" not in case:
                    print_times(case, contenders)
            print_rows(rows)
            report["rows"] += rows
        for (_, framework, *_), worker in workers.started.items():
            version = worker.ask("call", workload="version", args={})
            report["versions"][framework] = version if isinstance(version, str) else version[0]
    if config.get("summary"):
        report["summary"] = summarise(report["rows"])
        print(f"\n{config['summary']}")
        print_summary(report["summary"])
    print("   " + ", ".join(report["versions"].values()))
    return report


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line, run, and save if asked. Only a parity benchmark can fail."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("name", help="a file of benchmarks/configs, without .yaml; or an ops file")
    peer_help = f"an interpreter that has torch or paddle; {PEERS_VARIABLE} lists more"
    parser.add_argument("--peer", action="append", default=[], metavar="PYTHON", help=peer_help)
    parser.add_argument("--quick", action="store_true", help="fewer and shorter slices")
    parser.add_argument("--save", action="store_true", help="write benchmarks/results/NAME.json")
    options = parser.parse_args(arguments)
    peers = options.peer + [p for p in os.environ.get(PEERS_VARIABLE, "").split(os.pathsep) if p]
    report = run(options.name, peers, options.quick)
    if options.save:
        RESULTS.mkdir(exist_ok=True)
        text = json.dumps(report, indent=1)
        (RESULTS / f"{Path(options.name).stem}.json").write_text(text + "\n", "utf-8")
    parities = [row for row in report["rows"] if row["kind"] == "parity"]
    return int(any(row["quiet"] > row["limit"] for row in parities))
