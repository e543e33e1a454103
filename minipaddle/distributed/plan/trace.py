"""Recorded training steps: when gradients were ready, on a clock that counts computing alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from minipaddle.distributed.plan.cost import CostModel

_MICRO = 1e-6
HOW = "record steps of a DataParallel model with paddle.profiler.Profiler and export them"


class Backward(NamedTuple):
    """A backward whose gradients were averaged, and what was computed before it.

    Attributes:
        ready: For each parameter, in the order of declaration, seconds of computing from the
            beginning of the step, or the end of the backward before, until its gradient was final.
        length: Seconds of computing until the end.
    """

    ready: Sequence[float]
    length: float


class Step(NamedTuple):
    """One step, without its communication.

    Attributes:
        backwards: Those whose gradients were averaged.
        rest: Seconds of computing after the last of them.
        seconds: How long it took as it was recorded.
        waited: How long it waited for communication.
    """

    backwards: Sequence[Backward]
    rest: float
    seconds: float
    waited: float

    @property
    def computing(self) -> float:
        """Seconds without communication."""
        return sum(backward.length for backward in self.backwards) + self.rest


@dataclass(frozen=True)
class Model:
    """The data-parallel model of a trace.

    Attributes:
        model: Its number in its process.
        ranks: Number of processes.
        rings: How many buckets could be under way at once.
        limits: Bytes at which the first declared and each other bucket was closed.
        bytes: Of each parameter, in the order of declaration.
        dtypes: Of each parameter.
    """

    model: int
    ranks: int
    rings: int
    limits: Sequence[int]
    bytes: Sequence[int]
    dtypes: Sequence[str]


class Allreduce(NamedTuple):
    """A recorded allreduce: begin and end in seconds, and bytes."""

    begin: float
    end: float
    bytes: int


class Trace:
    """What ``Profiler.export`` wrote, of one process.

    Attributes:
        path: The file.
        model: The model whose steps these are.

    Raises:
        ValueError: The file is no trace, or holds no whole step of a data-parallel model.
    """

    def __init__(self, path: str | Path, number: int | None = None) -> None:
        self.path = path
        try:
            events = json.loads(Path(path).read_text(encoding="utf-8"))["traceEvents"]
            self._read(events, number)
        except (
            UnicodeDecodeError,
            json.JSONDecodeError,
            KeyError,
            TypeError,
            AttributeError,
        ) as error:
            raise ValueError(
                f"{path} is no trace of minipaddle ({type(error).__name__}: {error}); {HOW}"
            ) from None

    def _read(self, events: Sequence[dict[str, Any]], number: int | None) -> None:
        models = [e["args"] for e in events if e.get("name") == "data_parallel"]
        self.model = self._choose(models, number)
        spans = {
            kind: [e for e in events if e.get("cat") == kind] for kind in ("step", "wait", "bucket")
        }
        self._steps = [(_begin(e), _end(e)) for e in spans["step"]]
        self._waits = [
            (_begin(e), _end(e), [t * _MICRO for t in e["args"]["parameters ready"]])
            for e in spans["wait"]
            if e["args"]["model"] == self.model.model
        ]
        self._allreduces = [
            Allreduce(_begin(e), _end(e), e["args"]["bytes"]) for e in spans["bucket"]
        ]
        count = len(self.model.bytes)
        if any(len(ready) != count for *_, ready in self._waits):
            raise ValueError(f"{self.path} does not tell when each of {count} parameters was ready")
        if not self.whole():
            raise ValueError(
                f"{self.path} holds no whole step of a data-parallel model: call profiler.step() "
                "at the end of each"
            )

    def _choose(self, models: Sequence[dict[str, Any]], number: int | None) -> Model:
        if not models:
            raise ValueError(f"{self.path} holds no data-parallel step; {HOW}")
        if number is None and len(models) == 1:
            number = models[0]["model"]
        sizes = {m["model"]: sum(m["bytes"]) for m in models}
        if number not in sizes:
            told = ", ".join(f"{n} ({size} bytes)" for n, size in sizes.items())
            raise ValueError(f"{self.path} holds the models {told}: choose one with --model")
        chosen = next(m for m in models if m["model"] == number)
        if chosen["queued"]:
            raise ValueError(
                f"{self.path} was recorded on a device that queues its work, so that its times are "
                "those of queueing; plan with a trace of a device that does not, such as the CPU"
            )
        return Model(*(chosen[field.name] for field in fields(Model)))

    def whole(self) -> list[tuple[float, float]]:
        """Begin and end of the steps in which gradients were averaged."""
        return [
            (begin, end)
            for begin, end in self._steps
            if any(begin <= wait[0] and wait[1] <= end for wait in self._waits)
        ]

    def steps(self, costs: CostModel) -> list[Step]:
        """The steps, without what communication added to them.

        Waiting is left out, and while an allreduce took processor time from computing, computing
        is counted by the slowdown that the sweep measured.
        """
        clock = self._clock(costs)
        return [self._step(clock, begin, end) for begin, end in self.whole()]

    def _step(self, clock: Callable[[float], float], begin: float, end: float) -> Step:
        backwards, before, waited = [], clock(begin), 0.0
        for wait_begin, wait_end, ready in self._waits:
            if begin <= wait_begin and wait_end <= end:
                now = clock(wait_begin)
                backwards.append(
                    Backward([min(clock(t), now) - before for t in ready], now - before)
                )
                before, waited = now, waited + wait_end - wait_begin
        return Step(backwards, clock(end) - before, end - begin, waited)

    def _clock(self, costs: CostModel) -> Callable[[float], float]:
        """From a time to the seconds of undisturbed computing until then."""
        changes: list[tuple[float, float, int]] = []  # when, of the pace, of the number of waits
        for begin, end, _ in self._waits:
            changes += [(begin, 0.0, 1), (end, 0.0, -1)]
        ranks = self.model.ranks
        for allreduce in self._allreduces if ranks > 1 else ():
            cost = costs.cost(allreduce.bytes, ranks)
            # One that lasts longer has waited for another rank, which takes no processor.
            lasting = (cost.latency + cost.transfer) * cost.stretch
            begin = max(allreduce.begin, allreduce.end - lasting)
            extra = cost.slowdown - 1.0
            changes += [(begin, extra, 0), (allreduce.end, -extra, 0)]
        changes += [(time, 0.0, 0) for step in self._steps for time in step]
        changes.sort()
        times, extras, waits = (np.array(column) for column in zip(*changes, strict=True))
        speed = np.where(np.cumsum(waits) > 0, 0.0, 1.0 / (1.0 + np.cumsum(extras)))
        computed = np.concatenate([[0.0], np.cumsum(speed[:-1] * np.diff(times))])
        return lambda time: float(np.interp(time, times, computed))


def steps_of(traces: Sequence[Trace], costs: CostModel) -> list[Step]:
    """The steps of a job from the traces of some of its ranks: as slow as the slowest of these.

    Ranks go on together from where they have waited for one another.

    Raises:
        ValueError: The traces are not of the same steps of one model.
    """
    found = [trace.steps(costs) for trace in traces]
    for trace, steps in zip(traces, found, strict=True):
        same = (trace.model, [len(step.backwards) for step in steps])
        if same != (traces[0].model, [len(step.backwards) for step in found[0]]):
            raise ValueError(
                f"{traces[0].path} and {trace.path} are not of the same steps of one model"
            )
    return [_slowest(ranks) for ranks in zip(*found, strict=True)]


def _slowest(ranks: Sequence[Step]) -> Step:
    backwards = [
        Backward(
            [max(times) for times in zip(*(one.ready for one in same), strict=True)],
            max(one.length for one in same),
        )
        for same in zip(*(step.backwards for step in ranks), strict=True)
    ]
    return Step(
        backwards,
        max(step.rest for step in ranks),
        max(step.seconds for step in ranks),
        min(step.waited for step in ranks),
    )


def _begin(event: dict[str, Any]) -> float:
    return float(event["ts"]) * _MICRO


def _end(event: dict[str, Any]) -> float:
    return (float(event["ts"]) + float(event["dur"])) * _MICRO
