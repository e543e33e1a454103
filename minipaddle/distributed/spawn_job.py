"""The processes of one job, seen from the parent: wait, gather what they leave, end them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, Protocol

from minipaddle.distributed.spawn_child import (
    Failure,
    failure_file,
    result_file,
    started_file,
)

TERMINATE_GRACE_SECONDS = 5.0
KILL_WAIT_SECONDS = 30.0
REPORTER_GRACE_SECONDS = 2.0
# Sentinels wake the parent at once, but a helper that a process has forked keeps its sentinel open.
LOOK_SECONDS = 0.1
# A process that dies without a word is noticed late, and its peers' complaints may be seen first.
SILENT_DEATH_LEAD_SECONDS = 0.5


class Process(Protocol):
    """What a job needs of a process; those of multiprocessing have it."""

    @property
    def pid(self) -> int | None:
        """Its id; None before it is started."""

    @property
    def sentinel(self) -> int:
        """A descriptor that becomes ready when the process ends."""

    @property
    def exitcode(self) -> int | None:
        """Its exit code, minus a signal's number; None while it runs."""

    def join(self, timeout: float | None = None) -> None:
        """Waits for its end, and reaps it."""


class ProcessFailedError(RuntimeError):
    """A process of a job has failed; raised in the process that called spawn.

    Attributes:
        rank: Number of the process that failed first.
        exitcode: Its exit code; minus the signal's number if a signal ended it.
        pid: Its process id.
        traceback_text: The traceback of the child, or an empty text if it left none.
    """

    def __init__(
        self, message: str, rank: int, exitcode: int | None, pid: int | None, traceback_text: str
    ) -> None:
        super().__init__(message)
        self.rank = rank
        self.exitcode = exitcode
        self.pid = pid
        self.traceback_text = traceback_text

    def __reduce__(self) -> tuple[type[ProcessFailedError], tuple[Any, ...]]:
        state = (str(self), self.rank, self.exitcode, self.pid, self.traceback_text)
        return ProcessFailedError, state


@dataclass
class Job:
    """A job's processes and all else that has to be taken away when it ends.

    Attributes:
        folder: Private folder of the files that the processes leave.
        release: Gives back what was reserved for the job.
        daemon: Whether the processes end with the program.
        processes: By rank; those not started yet have no pid.
        results: Pickled return values by rank, once all processes have ended well.
        failures: How processes failed, by rank, once one has.
        ends: Time at which a process was seen ended, and its exit code, by rank.
    """

    folder: Path
    release: Callable[[], None]
    daemon: bool = False
    processes: list[Process] = field(default_factory=list)
    results: list[bytes] = field(default_factory=list)
    failures: dict[int, Failure] = field(default_factory=dict)
    ends: dict[int, tuple[float, int]] = field(default_factory=dict)
    owner: int = field(default_factory=os.getpid)
    closed: bool = False

    def join(self, timeout: float | None) -> bool:
        """Waits until all processes have ended well (True) or the time is over (False).

        Raises:
            ProcessFailedError: A process failed.
        """
        if self.failures:
            raise self._error()
        if self.closed:
            if not self.results:
                raise RuntimeError("the processes of this job were ended before they had finished")
            return True
        deadline = None if timeout is None else time.monotonic() + timeout
        try:
            ended = self._wait(deadline)
            if ended:
                self._gather()
        except BaseException:
            self.end()
            raise
        return ended

    def _wait(self, deadline: float | None) -> bool:
        while True:
            running = self.alive()
            if self._found_failures():
                self._fail()
            if not running:
                return True
            left = LOOK_SECONDS if deadline is None else deadline - time.monotonic()
            if left <= 0:
                return False
            self.pause(left)

    def _gather(self) -> None:
        ranks = range(len(self.processes))
        self.results = [result_file(self.folder, rank).read_bytes() for rank in ranks]
        for process in self.processes:
            process.join(KILL_WAIT_SECONDS)
        self.close()

    def _fail(self) -> None:
        """Ends the job and raises its earliest failure."""
        self._let_reporters_leave()
        ended_by_us = self.alive()
        failures = self._found_failures()
        self.kill()
        failures.update((r, f) for r, f in self._found_failures().items() if r not in ended_by_us)
        self.failures = failures
        raise self._error()

    def _let_reporters_leave(self) -> None:
        """Lets those that report a failure tell their peers and end with their own exit code.

        While all that is known is that a peer of theirs failed, it is that peer's turn to report.
        """
        deadline = time.monotonic() + REPORTER_GRACE_SECONDS
        while time.monotonic() < deadline:
            running, found = self.alive(), self._found_failures()
            cause_is_open = all(failure.of_peer for failure in found.values())
            if not (set(running) & set(found) or (running and cause_is_open)):
                return
            self.pause(deadline - time.monotonic())

    def _error(self) -> ProcessFailedError:
        # A peer may see the end of a failed rank before that rank reports: its clean-up runs first.
        by_time = sorted(
            self.failures, key=lambda r: (self.failures[r].of_peer, self.failures[r].when)
        )
        rank = by_time[0]
        first, pid = self.failures[rank], self.processes[rank].pid
        code = self.ends[rank][1] if rank in self.ends else None
        who = f"Process {rank} of {len(self.processes)} (pid {pid})"
        others = "".join(
            f"\nAfter that rank {other} failed: {self.failures[other].summary[:200]}"
            for other in by_time[1:]
        )
        what = f"failed with exit code {code}:\n\n{first.text}" if first.text else first.summary
        return ProcessFailedError(f"{who} {what}{others}", rank, code, pid, first.text)

    def alive(self) -> list[int]:
        """Ranks whose process has not ended; notes when and how the others did."""
        running = []
        for rank, process in enumerate(self.processes):
            if process.pid is None or rank in self.ends:
                continue
            code = _exit_code(process)
            if code is None:
                running.append(rank)
            else:
                self.ends[rank] = (time.monotonic(), code)
        return running

    def pause(self, seconds: float) -> None:
        """Waits until a process ends, or for a moment."""
        sentinels = [self.processes[rank].sentinel for rank in self.alive()]
        ready = wait(sentinels, max(0.0, min(seconds, LOOK_SECONDS))) if sentinels else []
        if ready and len(self.alive()) == len(sentinels):
            time.sleep(0.005)  # the sentinel of a process closes a little before its end

    def _found_failures(self) -> dict[int, Failure]:
        """What processes say of their failures, or what their end says for them."""
        found = {rank: self._failure(rank) for rank in range(len(self.processes))}
        return {rank: failure for rank, failure in found.items() if failure is not None}

    def _failure(self, rank: int) -> Failure | None:
        path = failure_file(self.folder, rank)
        if path.exists():
            return Failure(**json.loads(path.read_bytes()))
        if rank not in self.ends:
            return None
        when, code = self.ends[rank]
        if code == 0 and result_file(self.folder, rank).exists():
            return None
        return Failure(when - SILENT_DEATH_LEAD_SECONDS, self._end_in_words(rank, code), "")

    def _end_in_words(self, rank: int, code: int) -> str:
        if code < 0:
            try:
                return f"was killed by {signal.Signals(-code).name}"
            except ValueError:
                return f"was killed by signal {-code}"
        if code == 0:
            return "ended with exit code 0 before its function returned"
        if not started_file(self.folder, rank).exists():
            return (
                f"ended with exit code {code} before its function began: the main module could "
                "not be imported again (the error output of the process says why). A program "
                "calls spawn under `if __name__ == '__main__':`"
            )
        return f"ended with exit code {code} and no traceback"

    def kill(self) -> None:
        """Ends the processes with their helpers: SIGTERM, a time of grace, then SIGKILL."""
        self.signal(signal.SIGTERM)
        deadline = time.monotonic() + TERMINATE_GRACE_SECONDS
        while self.alive() and time.monotonic() < deadline:
            self.pause(deadline - time.monotonic())
        # Also for those that have ended: helpers may be left in their groups.
        self.signal(signal.SIGKILL)
        for process in self.processes:
            if process.pid is not None:
                process.join(KILL_WAIT_SECONDS)

    def signal(self, number: signal.Signals) -> None:
        """Sends a signal to the processes and to what they have started."""
        for rank, process in enumerate(self.processes):
            pid = process.pid
            if pid is None:
                continue
            try:
                # Until its first lines have run the child is in our own group.
                leads = os.getpgid(pid) == pid
            except ProcessLookupError:
                # Reaped, as the fork server does. While helpers are left its group has this
                # number, and the kernel gives it to nobody.
                leads = started_file(self.folder, rank).exists()
                if not leads:
                    continue
            with suppress(ProcessLookupError, PermissionError):
                (os.killpg if leads else os.kill)(pid, number)

    def close(self) -> None:
        """Gives everything back; the processes have ended. Safe to repeat."""
        if self.closed:
            return
        self.closed = True
        shutil.rmtree(self.folder, ignore_errors=True)
        self.release()
        for process in self.processes:
            popen = getattr(process, "_popen", None)
            if popen is not None and process.exitcode is not None:
                popen.close()  # its pipes; Process.close() would forget the exit code as well

    def end(self) -> None:
        """Kills what runs and gives everything back."""
        if self.closed:
            return
        try:
            self.kill()
        finally:
            self.close()

    def drop(self) -> None:
        """Ends a job whose context nobody holds any more."""
        if self.closed or self.owner != os.getpid():  # a forked process has only a copy
            return
        running = self.alive()
        self.end()
        if running:
            warnings.warn(
                f"the context of a running job was dropped, so its ranks {running} were ended; "
                "keep what spawn(join=False) returns and call its join()",
                ResourceWarning,
                stacklevel=2,
            )


def _exit_code(process: Process) -> int | None:
    """The exit code of a process that has ended, without reaping it.

    Until a process is reaped its pid is not given to another, and so it names its group.
    """
    try:
        end = os.waitid(os.P_PID, process.pid or 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:  # reaped already, or a child of the fork server
        return process.exitcode
    if end is None:
        return None
    return end.si_status if end.si_code == os.CLD_EXITED else -end.si_status
