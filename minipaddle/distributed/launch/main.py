"""The launcher: starts the processes, shows what rank 0 prints, restarts, ends all."""

from __future__ import annotations

import contextlib
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from minipaddle.distributed.launch.job import log_file, start
from minipaddle.distributed.launch.options import parse
from minipaddle.distributed.spawn_job import Job, ProcessFailedError

# Time for processes to leave by themselves after a signal that was passed on to them.
LEAVE_SECONDS = 10.0
_LOOK_SECONDS = 0.1
_PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class _Echo:
    """Shows the log of rank 0 line by line as it grows."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._shown = 0
        self._rest = b""

    def forward(self, to_the_end: bool = False) -> None:
        """Prints the lines that have come; at the end also one without its line break."""
        with self._path.open("rb") as log:
            log.seek(self._shown)
            new = log.read()
        self._shown += len(new)
        *lines, self._rest = (self._rest + new).split(b"\n")
        if to_the_end and self._rest:
            lines.append(self._rest)
            self._rest = b""
        for line in lines:
            sys.stdout.write(f"[rank 0] {line.decode(errors='replace')}\n")
        sys.stdout.flush()


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the launcher; returns its exit status."""
    given = parse(argv)
    echo = _Echo(log_file(given.log_dir, 0))
    status = 0
    with _received() as signals:
        for restarts in range(given.max_restart + 1):
            try:
                job = start(given, restarts)
            except (OSError, RuntimeError, TypeError, ValueError) as error:
                _say(str(error))
                return 2
            try:
                while not (signals or job.join(_LOOK_SECONDS)):
                    echo.forward()
                if not signals:
                    return 0
                _leave(job, signals)
                return 128 + signals[0]
            except ProcessFailedError as error:
                _say(f"{error}\nthe logs are in {given.log_dir}/")
                status = error.exitcode if error.exitcode and error.exitcode > 0 else 1
            finally:
                job.end()
                echo.forward(to_the_end=True)
            if restarts < given.max_restart:
                _say(f"starting all processes again ({restarts + 1} of {given.max_restart})")
    return status


def _leave(job: Job, signals: list[int]) -> None:
    """Passes a signal on and lets the processes leave; a second signal ends them at once."""
    job.signal(signal.Signals(signals[0]))
    deadline = time.monotonic() + LEAVE_SECONDS
    while job.alive() and time.monotonic() < deadline:
        if len(signals) > 1:
            job.signal(signal.SIGKILL)
        job.pause(deadline - time.monotonic())


@contextlib.contextmanager
def _received() -> Iterator[list[int]]:
    """Gathers the signals that end the launcher, instead of ending it wherever it is."""
    numbers: list[int] = []
    before = {n: signal.signal(n, lambda number, _: numbers.append(number)) for n in _PASSED_ON}
    try:
        yield numbers
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _say(text: str) -> None:
    sys.stderr.write(f"minipaddle launch: {text}\n")
    sys.stderr.flush()
