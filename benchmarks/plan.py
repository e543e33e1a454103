"""What the planner predicts for two processes of this machine, beside what they take.

    python -m benchmarks.plan [CASE ...] [--save]

A case is a communication-bound model, three sizes of buckets, and a link: the process group's own,
or one that is held up to be as slow as a network. Two processes sweep the link and train the model
with each size, recorded, unrecorded, and under ``no_sync``, all in turn. What communication adds is
a step, unrecorded, less one under ``no_sync``. The columns have what is predicted from the sweep
and the traces of each size for all three. Quiet and median are as in README.md.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import minipaddle as paddle
from benchmarks.runner import RESULTS
from minipaddle import nn
from minipaddle.distributed.plan.cost import CostModel
from minipaddle.distributed.plan.prediction import predict
from minipaddle.distributed.plan.sweep import SIZES, Sweep, Sweeping
from minipaddle.distributed.plan.trace import Trace
from minipaddle.distributed.process_group import SharedMemoryGroup

dist = paddle.distributed
ROUNDS, BLOCK = 10, 5


def quiet(times: Iterable[float]) -> float:
    """One of the shortest, which nothing has disturbed."""
    found = sorted(times)
    return found[len(found) // 10]


FIGURES = {"quiet": quiet, "median": statistics.median}


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
                    dist.barrier()  # as slow as the slower rank, as with communication
                times.append(time.perf_counter() - begin)

    def trace(self) -> None:
        dist.barrier()
        self.profiler.start()
        for _ in range(BLOCK):
            self.step()
            self.profiler.step()
        self.profiler.stop()


def train(name: str, folder: str) -> list[tuple[Sweep, list[tuple[float, float]]]]:
    """For each figure the sweep, and for each size a step with communication and without."""
    case = CASES[name]
    if case.link is not None:
        hold_up(*case.link)
    dist.init_parallel_env()
    sweeping = Sweeping(dist.new_group().process_group, SIZES)
    trainings = [Training(case, megabytes) for megabytes in case.megabytes]
    for _ in range(ROUNDS):
        sweeping.round()
        for training in trainings:
            training.step()
            training.trace()
            training.block()
    for training, megabytes in zip(trainings, case.megabytes, strict=True):
        training.profiler.export(Path(folder, f"{megabytes:g}-{dist.get_rank()}.json"))
    return [
        (sweeping.result(typical), [(typical(t.together), typical(t.alone)) for t in trainings])
        for typical in FIGURES.values()
    ]


def run(name: str) -> dict[str, Any]:
    sizes = CASES[name].megabytes
    found: dict[str, Any] = {"case": name, "megabytes": sizes}
    with tempfile.TemporaryDirectory(prefix="minipaddle-plan-") as folder:
        measured = dist.spawn(train, (name, folder), nprocs=2).return_queues[0].get()
        traces = [
            [Trace(Path(folder, f"{megabytes:g}-{rank}.json")) for rank in range(2)]
            for megabytes in sizes
        ]
    for (figure, typical), (sweep, times) in zip(FIGURES.items(), measured, strict=True):
        costs = CostModel(sweep)
        predicted = [predict(both, costs, [2], sizes, typical)[0] for both in traces]
        found[figure] = {
            "step ms": [1e3 * together for together, _ in times],
            "exposed ms": [1e3 * (together - alone) for together, alone in times],
            "predicted step ms": [[1e3 * one.step for one in row] for row in predicted],
            "predicted exposed ms": [[1e3 * one.exposed for one in row] for row in predicted],
        }
    return found


def order(sizes: tuple[float, ...], times: list[float]) -> str:
    return " < ".join(f"{size:g}" for _, size in sorted(zip(times, sizes, strict=True)))


def report(found: dict[str, Any]) -> Iterator[str]:
    sizes = found["megabytes"]
    heads = "".join(f"{f'from {size:g} MB':>18}" for size in sizes)
    for figure in FIGURES:
        times = found[figure]
        for what in ("step ms", "exposed ms"):
            yield f"{found['case'] + ', ' + figure:>15} {what:>12}{heads}"
            for size, ms, *predicted in zip(
                sizes, times[what], *times[f"predicted {what}"], strict=True
            ):
                cells = "".join(f"{one:10.2f} {one / ms - 1:+7.1%}" for one in predicted)
                yield f"{size:>12g} MB {ms:>12.2f}{cells}"
        yield f"order of the steps: {order(sizes, times['step ms'])}; predicted: " + ", ".join(
            order(sizes, row) for row in times["predicted step ms"]
        )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.plan", description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--save", action="store_true")
    options = parser.parse_args()
    found = [run(name) for name in options.cases or CASES]
    print("\n".join(line for case in found for line in report(case)))
    if options.save:
        (RESULTS / "plan.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
