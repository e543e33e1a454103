"""The ranks of one node: scripts as processes of a Job, their logs, and what users see of them."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from minipaddle.distributed.spawn_job import Job, killed_in_words

_TAIL_BYTES = 4000


class ScriptProcess:
    """One rank: a process in a session, and so in a process group, of its own.

    A pair of sockets joins it with the launcher; each side sees there that the other has ended.
    """

    def __init__(
        self, command: Sequence[str], environ: Mapping[str, str], log: Path, fds: Sequence[int]
    ) -> None:
        self._link, theirs = socket.socketpair()
        with theirs, log.open("ab") as output:
            arguments = [str(theirs.fileno()), str(os.getpid()), *command[2:]]
            self._process = subprocess.Popen(
                [sys.executable, "-m", f"{__package__}.script", *command[:2], *arguments],
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=[theirs.fileno(), *fds],
                start_new_session=True,
            )
        self.pid = self._process.pid
        self.sentinel = self._link.fileno()

    @property
    def exitcode(self) -> int | None:
        """None until ``join`` has seen its end."""
        return self._process.returncode

    def join(self, timeout: float | None = None) -> None:
        """Waits for the end of the process, reaps it and closes the link to it."""
        self._process.wait(timeout)
        self._link.close()


@dataclass
class ScriptJob(Job):
    """The ranks of this node.

    Attributes:
        of: Number of ranks of the whole job.
        logs: The log of each rank.
        check: Called several times a second while the job is waited for; what it raises ends it.
        beat: Called as often, also while the job is being ended; raises nothing.
    """

    of: int = 0
    logs: list[Path] = field(default_factory=list)
    check: Callable[[], None] = lambda: None
    beat: Callable[[], None] = lambda: None

    @property
    def world_size(self) -> int:
        """Number of ranks of the whole job, also those of other nodes."""
        return self.of

    def look(self) -> None:
        """Lets ``check`` end the job."""
        self.check()

    def pause(self, seconds: float) -> None:
        """As in any job; and other nodes hear that this one is there."""
        super().pause(seconds)
        self.beat()

    def take_results(self) -> list[bytes]:
        """Scripts return nothing."""
        return [b""] * len(self.processes)

    def ended_well(self, rank: int, code: int) -> bool:
        """Of a script, its exit code says all."""
        return code == 0

    def end_in_words(self, rank: int, code: int) -> str:
        """The signal or the exit code, and how the log ends."""
        how = killed_in_words(-code) if code < 0 else f"ended with exit code {code}"
        tail = _tail(self.logs[rank])
        return f"{how}; its log {self.logs[rank]} ends with\n{tail}" if tail else how


def _tail(path: Path) -> str:
    with path.open("rb") as log:
        log.seek(max(0, path.stat().st_size - _TAIL_BYTES))
        lines = log.read().decode(errors="replace").splitlines(keepends=True)
    return "".join(lines[-20:]).rstrip()


class Echo:
    """Shows the lines that come into a log from now on, each behind the number of its rank."""

    def __init__(self, path: Path, rank: int) -> None:
        self._log: IO[bytes] = path.open("rb")
        self._log.seek(0, os.SEEK_END)
        self._prefix = f"[rank {rank}] "
        self._part = b""

    def pump(self, last: bool = False) -> None:
        """Writes what has come since the last time; a line that is not whole yet only at last."""
        *lines, self._part = (self._part + self._log.read()).split(b"\n")
        if last and self._part:
            lines.append(self._part)
        for line in lines:
            sys.stdout.write(f"{self._prefix}{line.decode(errors='replace')}\n")
        if lines:
            sys.stdout.flush()

    def close(self) -> None:
        """Shows the rest and closes the log."""
        self.pump(last=True)
        self._log.close()
