"""Starting the processes of a launched job on this machine."""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from minipaddle.device.flags import selection_environ
from minipaddle.device.parallel_env import started_environ
from minipaddle.device.selection import choose_kind, find_kind, present_kinds, resolve_devices
from minipaddle.distributed.job_environ import PortHold, device_count, job_environs
from minipaddle.distributed.launch.worker import command
from minipaddle.distributed.spawn_job import Job


class Child:
    """A started process as a Job sees it.

    It and this process hold the ends of a socket pair, so that each sees the other's end at once,
    however that comes.
    """

    def __init__(
        self, rank: int, folder: Path, program: list[str], environ: Mapping[str, str], log: Path
    ) -> None:
        self._link, theirs = socket.socketpair()
        with theirs, log.open("ab") as output:
            self._process = subprocess.Popen(
                command(rank, theirs.fileno(), folder, program),
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=[theirs.fileno()],
                process_group=0,  # Ctrl-C reaches the launcher alone, which passes it on
            )

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def sentinel(self) -> int:
        """Becomes readable when the process ends."""
        return self._link.fileno()

    @property
    def exitcode(self) -> int | None:
        """Its exit code, minus a signal's number; None while it runs."""
        return self._process.poll()

    def join(self, timeout: float | None = None) -> None:
        """Waits for its end and reaps it."""
        self._process.wait(timeout)

    def close(self) -> None:
        """Gives the link back."""
        self._link.close()


def log_file(folder: str, rank: int) -> Path:
    """Where process ``rank`` writes what it prints."""
    return Path(folder, f"workerlog.{rank}")


def start(given: argparse.Namespace, restarts: int) -> Job:
    """Starts all processes.

    Args:
        given: The launcher's options.
        restarts: How often they have been started before.

    Raises:
        ValueError: Devices are wrong, absent, or not as many as processes.
        RuntimeError: There are fewer devices than processes.
        OSError: The folder of logs cannot be written.
    """
    options = {**given.devices, "backend": given.backend}
    environ = selection_environ()
    backend = find_kind(choose_kind(options, environ, None, present_kinds))
    ids = resolve_devices(backend, given.nproc_per_node, options, environ, device_count(backend))
    Path(given.log_dir).mkdir(parents=True, exist_ok=True)
    ports = PortHold(len(ids), None)
    children: list[Child] = []

    def release() -> None:
        ports.close()
        for child in children:
            child.close()

    job = Job(Path(tempfile.mkdtemp(prefix="minipaddle-launch-")), release)
    program = [*(["-m"] if given.module else []), given.program, *given.arguments]
    share = max(1, len(os.sched_getaffinity(0)) // len(ids))
    try:
        for rank, told in enumerate(job_environs(backend, ids, ports.numbers, options)):
            told["PADDLE_RANK_IN_NODE"] = str(rank)
            told["PADDLE_LOCAL_DEVICE_IDS"] = ids[rank]
            told["PADDLE_WORLD_DEVICE_IDS"] = ",".join(ids)
            told["MINIPADDLE_RESTART_COUNT"] = str(restarts)
            log = log_file(given.log_dir, rank)
            if not restarts:
                log.unlink(missing_ok=True)
            child = Child(rank, job.folder, program, started_environ(told, share), log)
            children.append(child)
            job.processes.append(child)
    except BaseException:
        job.end()
        raise
    return job
