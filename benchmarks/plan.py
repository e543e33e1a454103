"""What the planner predicts for two processes of this machine, beside what they take.

    python -m benchmarks.plan [CASE ...] [--save]

A case is a communication-bound model, three sizes of buckets, and a link: the process group's own,
or one that is held up to be as slow as a network. Two processes sweep the link and train the model
with each size, recorded, unrecorded, and under ``no_sync``, all in turn. What communication adds is
the difference of the medians of a step, unrecorded, and of one under ``no_sync``. The table has what
is predicted from the sweep and the trace of each size for all three.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import minipaddle as paddle
from benchmarks.runner import RESULTS
from minipaddle import nn
from minipaddle.distributed.plan.cost import CostModel
from minipaddle.distributed.plan.prediction import Prediction, predict
from minipaddle.distributed.plan.sweep import SIZES, Sweep, Sweeping
from minipaddle.distributed.plan.trace import Trace
from minipaddle.distributed.process_group import SharedMemoryGroup

dist = paddle.distributed
ROUNDS, BLOCK = 10, 5


class Case(NamedTuple):
    build: Callable[[], tuple[nn.Layer, paddle.Tensor]]
    megabytes: tuple[float, ...]
    link: tuple[float, float] | None = None  # seconds, and bytes in a second


class Tables(nn.Layer):
    """Embeddings whose rows are added: nearly all of its gradients are zeros to be sent."""

    def __init__(self) -> None:
        super().__init__()
        self.tables = nn.LayerList([nn.Embedding(1024, 1024) for _ in range(24)])

    def forward(self, ids: paddle.Tensor) -> paddle.Tensor:
        first, *others = [table(ids) for table in self.tables]
        return sum(others, first)


def tables() -> tuple[nn.Layer, paddle.Tensor]:
    return Tables(), paddle.to_tensor([1, 5, 9, 700])


def linear() -> tuple[nn.Layer, paddle.Tensor]:
    layers = [nn.Linear(2048, 2048) for _ in range(6)]
    return nn.Sequential(*layers), paddle.randn([4, 2048])


CASES = {
    "tables": Case(tables, (1.0, 20.0, 100.0)),
    "linear": Case(linear, (1.0, 40.0, 200.0), (2e-4, 1e9)),
}


def hold_up(latency: float, rate: float) -> None:
    """Has every mean of this process last as long as on such a link; the thread sleeps."""
    reduce = SharedMemoryGroup.allreduce_mean

    def slow(group: Any, buffer: Any, ring: int, token: None = None) -> None:
        end = time.perf_counter() + latency + getattr(buffer, "array", buffer).nbytes / rate
        reduce(group, buffer, ring, token)
        time.sleep(max(0.0, end - time.perf_counter()))

    SharedMemoryGroup.allreduce_mean = slow  # type: ignore[method-assign]


class Training:
    """One rank's model with buckets of one size, and how long its steps took."""

    def __init__(self, case: Case, megabytes: float) -> None:
        net, self.x = case.build()
        self.model = paddle.DataParallel(
            net, comm_buffer_size=megabytes, last_comm_buffer_size=min(megabytes, 1.0)
        )
        self.profiler = paddle.profiler.Profiler()
        self.together: list[float] = []
        self.alone: list[float] = []

    def step(self) -> None:
        self.model(self.x).mean().backward()
        self.model.clear_gradients()

    def block(self) -> None:
        for times in (self.together, self.alone):
            dist.barrier()
            for _ in range(BLOCK):
                begin = time.perf_counter()
                if times is self.together:
                    self.step()
                else:
                    with self.model.no_sync():
                        self.step()
                times.append(time.perf_counter() - begin)

    def trace(self) -> None:
        dist.barrier()
        self.profiler.start()
        for _ in range(BLOCK):
            self.step()
            self.profiler.step()
        self.profiler.stop()


def train(name: str, folder: str) -> tuple[Sweep, list[tuple[float, float]]]:
    """The sweep, and median seconds of a step with communication and without, for each size."""
    case = CASES[name]
    if case.link is not None:
        hold_up(*case.link)
    dist.init_parallel_env()
    group = dist.new_group().process_group
    sweeping = Sweeping(group, SIZES)
    trainings = [Training(case, megabytes) for megabytes in case.megabytes]
    for _ in range(ROUNDS):
        sweeping.round()
        for training in trainings:
            training.step()
            training.trace()
            training.block()
    if dist.get_rank() == 0:
        for training, megabytes in zip(trainings, case.megabytes, strict=True):
            training.profiler.export(Path(folder, f"{megabytes:g}.json"))
    medians = [(statistics.median(t.together), statistics.median(t.alone)) for t in trainings]
    return sweeping.result(), medians


def predictions(name: str, swept: Sweep, folder: str) -> list[list[Prediction]]:
    """For the trace of each size one prediction for each size."""
    sizes, costs = CASES[name].megabytes, CostModel(swept)
    traces = [Trace(Path(folder, f"{megabytes:g}.json")) for megabytes in sizes]
    return [predict(trace, costs, [2], sizes)[0] for trace in traces]


def run(name: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="minipaddle-plan-") as folder:
        swept, measured = dist.spawn(train, (name, folder), nprocs=2).return_queues[0].get()
        predicted = predictions(name, swept, folder)
    rows = []
    for i, megabytes in enumerate(CASES[name].megabytes):
        together, alone = measured[i]
        rows.append({
            "megabytes": megabytes,
            "step_ms": 1e3 * together,
            "exposed_ms": 1e3 * (together - alone),
            "predicted_step_ms": [1e3 * of_trace[i].step for of_trace in predicted],
            "predicted_exposed_ms": [1e3 * of_trace[i].exposed for of_trace in predicted],
        })  # fmt: skip
    return {"case": name, "rows": rows}


def order(times: list[float]) -> list[int]:
    return sorted(range(len(times)), key=times.__getitem__)


def report(found: dict[str, Any]) -> str:
    rows = found["rows"]
    lines = [f"{found['case']}: 2 processes; predicted from the trace with buckets of ... MB"]
    heads = [f"from {row['megabytes']:g}" for row in rows]
    for what, key in (("step", "step_ms"), ("exposed", "exposed_ms")):
        lines.append(f"{what + ' ms':>12} {'measured':>10}" + "".join(f"{h:>18}" for h in heads))
        for row in rows:
            cells = [f"{ms:10.2f} {ms / row[key] - 1:+7.1%}" for ms in row["predicted_" + key]]
            lines.append(f"{row['megabytes']:>9g} MB {row[key]:>10.2f}" + "".join(cells))
    measured = order([row["step_ms"] for row in rows])
    right = [order([row["predicted_step_ms"][i] for row in rows]) == measured
             for i in range(len(rows))]  # fmt: skip
    names = " < ".join(f"{rows[i]['megabytes']:g}" for i in measured)
    lines.append(f"order of the steps, measured: {names} MB; predicted alike from each: {right}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.plan", description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--save", action="store_true")
    options = parser.parse_args()
    found = [run(name) for name in options.cases or CASES]
    print("\n\n".join(map(report, found)))
    if options.save:
        (RESULTS / "plan.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
