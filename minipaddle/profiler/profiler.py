"""Profiler: Paddle's name for what records a part of a program, and RecordEvent for one's own."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from minipaddle.device.parallel_env import trainer_rank
from minipaddle.profiler.recorder import Recorder, Span
from minipaddle.profiler.timeline import chrome_trace, write_timeline


class Profiler:
    """Records ops, buckets, waits and batches of the thread that starts it.

    Args:
        scheduler: ``(first, end)``: only steps first to end - 1 are recorded; all by default.
        on_trace_ready: Called with the profiler when it has stopped.

    Raises:
        ValueError: ``scheduler`` is no such pair.

    Example:
        >>> import minipaddle as paddle
        >>> with paddle.profiler.Profiler() as profiler:
        ...     for _ in range(3):
        ...         y = paddle.ones([4]) * 2.0
        ...         profiler.step()
        >>> [span.name for span in profiler.spans if span.kind == "op"]
        ['multiply', 'multiply', 'multiply']
    """

    def __init__(
        self,
        scheduler: tuple[int, int] | None = None,
        on_trace_ready: Callable[[Profiler], object] | None = None,
    ) -> None:
        first, end = (0, sys.maxsize) if scheduler is None else scheduler
        if not 0 <= first < end:
            raise ValueError(f"scheduler must be (first, end) with first < end; got {scheduler}")
        self._first, self._end = first, end
        self._on_trace_ready = on_trace_ready
        self._recorder = Recorder()
        self._step = 0
        self._began = 0
        self.rank = trainer_rank()

    def start(self) -> None:
        """Begins with step 0.

        Raises:
            RuntimeError: Another profiler is running.
        """
        self._began = time.perf_counter_ns()
        if self._first == 0:
            self._recorder.start()

    def step(self) -> None:
        """Ends a step of the training loop and begins the next."""
        now = time.perf_counter_ns()
        if Recorder.active is self._recorder:
            self._recorder.add("step", f"step {self._step}", self._began, now)
        self._step, self._began = self._step + 1, now
        if self._step == self._first:
            self._recorder.start()
        if self._step == self._end:
            self._recorder.stop()

    def stop(self) -> None:
        """Ends recording, and hands the profiler to ``on_trace_ready``."""
        self._recorder.stop()
        if self._on_trace_ready is not None:
            self._on_trace_ready(self)

    def __enter__(self) -> Profiler:
        """Starts."""
        self.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Stops."""
        self.stop()

    @property
    def spans(self) -> list[Span]:
        """What was recorded, in the order in which it began."""
        return self._recorder.spans

    def trace(self) -> dict[str, Any]:
        """The record in the format of Chrome's and Perfetto's trace viewers."""
        return chrome_trace(self.spans, self.rank, self._recorder.models.values())

    def export(self, path: str | Path, format: str = "json") -> None:
        """Writes the record of this process.

        Args:
            path: The file.
            format: ``"json"``, a trace for ui.perfetto.dev or chrome://tracing; or ``"html"``, a
                page that needs nothing else. ``write_timeline`` makes one page of many processes.

        Raises:
            ValueError: There is no such format.
        """
        if format not in ("json", "html"):
            raise ValueError(f"format must be 'json' or 'html'; got {format!r}")
        if format == "html":
            write_timeline(path, [self.trace()])
        else:
            Path(path).write_text(json.dumps(self.trace()), encoding="utf-8")

    def summary(self) -> str:
        """Prints, and returns, what took how long, the longest first."""
        totals: dict[tuple[str, str], list[int]] = {}
        for span in self.spans:
            entry = totals.setdefault((span.kind, span.name), [0, 0])
            entry[0] += 1
            entry[1] += span.end - span.start
        lines = [f"{'what':40} {'calls':>8} {'total ms':>12} {'mean us':>12}"]
        for (kind, name), (calls, total) in sorted(totals.items(), key=lambda e: -e[1][1]):
            times = f"{total / 1e6:>12.3f} {total / calls / 1e3:>12.1f}"
            lines.append(f"{f'{kind} {name}':40} {calls:>8} {times}")
        text = "\n".join(lines)
        sys.stdout.write(text + "\n")
        return text


class RecordEvent:
    """Gives a part of the program a bar of its own in a running profiler.

    Args:
        name: What the bar is called.

    Example:
        >>> import minipaddle as paddle
        >>> with paddle.profiler.Profiler() as profiler:
        ...     with paddle.profiler.RecordEvent("my part"):
        ...         y = paddle.ones([4]) * 2.0
        >>> [span.name for span in profiler.spans]
        ['my part', 'multiply']
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._began = 0

    def begin(self) -> None:
        """The part begins."""
        self._began = time.perf_counter_ns()

    def end(self) -> None:
        """The part is over."""
        if Recorder.active is not None:
            Recorder.active.add("event", self.name, self._began, time.perf_counter_ns())

    def __enter__(self) -> RecordEvent:
        """Begins."""
        self.begin()
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Ends."""
        self.end()
