"""Recorder: notes what a thread computes, and what the communication threads do meanwhile."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from minipaddle.imperative.bucket import Bucket
from minipaddle.imperative.grad_node import grad_state
from minipaddle.imperative.reducer import Reducer
from minipaddle.io.reader import DataLoader


class Span(NamedTuple):
    """Something that took time.

    Attributes:
        row: ``"compute"``, the thread that was watched, or ``"comm"``, the others.
        kind: ``"op"``, ``"bucket"``, ``"wait"``, ``"data"``, ``"step"`` or ``"event"``.
        name: Which one.
        start: Nanoseconds of a clock that all processes of a machine share.
        end: When it was over.
        details: What else is known.
    """

    row: str
    kind: str
    name: str
    start: int
    end: int
    details: dict[str, Any] = {}  # noqa: RUF012  (never changed)


class Recorder:
    """Collects spans from ``start`` to ``stop``; one at a time in a process.

    Attributes:
        models: For each data-parallel model, by its number, what a planner needs to know of it.
    """

    active: Recorder | None = None

    def __init__(self) -> None:
        self._ops: list[tuple[str, int, int]] = []
        self._others: list[Span] = []
        self.models: dict[int, dict[str, Any]] = {}
        self._buckets: dict[tuple[int, int], dict[str, Any]] = {}  # what stays the same
        self._ready: dict[tuple[int, int], tuple[int, str]] = {}
        self._on_op = _op_watcher(self._ops.append)

    def start(self) -> None:
        """Begins to record.

        Raises:
            RuntimeError: Another one records.
        """
        if Recorder.active is not None:
            raise RuntimeError("a profiler is running already: stop it first")
        Recorder.active = self
        grad_state.watch(self._on_op)
        Reducer.on_event = self._on_reducer
        DataLoader.watcher = self._timed

    def stop(self) -> None:
        """Ends recording; nothing is left in the way of what runs afterwards."""
        if Recorder.active is self:
            Recorder.active = None
            grad_state.unwatch(self._on_op)
            Reducer.on_event = None
            DataLoader.watcher = None

    def add(self, kind: str, name: str, start: int, end: int) -> None:
        """Notes something that the watched thread did."""
        self._others.append(Span("compute", kind, name, start, end))

    @property
    def spans(self) -> list[Span]:
        """All that was noted, by its beginning."""
        ops = [Span("compute", "op", name, start, end) for name, start, end in self._ops]
        return sorted([*ops, *self._others], key=lambda span: (span.start, -span.end))

    def _on_reducer(
        self, reducer: Reducer, kind: str, bucket: Bucket | None, start: int, end: int
    ) -> None:
        if bucket is None:
            details = {"model": reducer.number, "parameters ready": reducer.ready}
            self._others.append(Span("compute", "wait", "wait for buckets", start, end, details))
            if reducer.number not in self.models:
                self.models[reducer.number] = _description(reducer)
        elif kind == "ready":  # of which ``end`` is the number of the parameter that came last
            self._ready[reducer.number, bucket.index] = start, reducer.names[end]
        else:
            which = reducer.number, bucket.index
            if which not in self._buckets:
                self._buckets[which] = {
                    "model": reducer.number,
                    "bucket": bucket.index,
                    "bytes": int(bucket.flat.array.nbytes),
                    "dtype": bucket.flat.array.dtype.name,
                }
            ready, last = self._ready.get(which, (start, ""))
            details = {**self._buckets[which], "ready": ready, "last parameter": last}
            name = f"bucket {bucket.index}"
            self._others.append(Span("comm", "bucket", name, start, end, details))

    def _timed(self, batches: Iterator[Any]) -> Iterator[Any]:
        while True:
            start = time.perf_counter_ns()
            try:
                batch = next(batches)
            except StopIteration:
                return
            self.add("data", "next batch", start, time.perf_counter_ns())
            yield batch


def _description(reducer: Reducer) -> dict[str, Any]:
    place = reducer.nodes[0].place
    return {
        "model": reducer.number,
        "ranks": reducer.group.world_size,
        "rings": reducer.group.nrings,
        # Where ops are only queued, times are those of queueing.
        "queued": place.backend.stream(place.index) is not None,
        "limits": list(reducer.limits),
        "parameters": reducer.names,
        "bytes": [math.prod(node.shape) * node.dtype.itemsize for node in reducer.nodes],
        "dtypes": [node.dtype.name for node in reducer.nodes],
    }


def _op_watcher(note: Callable[[tuple[str, int, int]], None]) -> Callable[..., Any]:
    clock = time.perf_counter_ns

    def on_op(op: Any, call: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        start = clock()
        result = call(*args)
        note((op.name, start, clock()))
        return result

    return on_op
