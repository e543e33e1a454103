"""Processes that each hold one rank of a group and run the functions that a test sends them."""

import importlib.util
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Client, Connection, Listener, Pipe, wait
from pathlib import Path
from typing import Any

import pytest

from minipaddle.distributed.process_group import ProcessGroup, SharedMemoryGroup
from minipaddle.distributed.process_group.mpi import MpiGroup

ROOT = Path(__file__).resolve().parents[3]
SECONDS = 60.0
MPIEXEC = Path(sys.executable).parent / "mpiexec"
ADDRESS = "MINIPADDLE_TEST_ADDRESS"  # where the ranks of mpiexec find the test
needs_mpi = pytest.mark.skipif(
    importlib.util.find_spec("mpi4py") is None or not MPIEXEC.exists(),
    reason="mpi4py or mpiexec is not installed (pip install 'minipaddle[mpi]')",
)


@dataclass
class Outcome:
    """What a function did on one rank."""

    value: Any = None
    error: str = ""
    text: str = ""
    seconds: float = 0.0


def make_cpu_group(rank: int, world_size: int, token: str, **options: Any) -> ProcessGroup:
    return SharedMemoryGroup.create(rank, world_size, token, **options)


class Ranks:
    """A context manager with ``world_size`` processes, each in a session of its own.

    ``factory(rank, world_size, token, **options)`` makes the group in each process.
    """

    def __init__(
        self,
        world_size: int,
        factory: Callable[..., ProcessGroup] = make_cpu_group,
        **options: Any,
    ) -> None:
        self.world_size = world_size
        self.token = secrets.token_hex(16)
        self.pipes: list[Connection] = []
        self.processes: list[subprocess.Popen[bytes]] = []
        for rank in range(world_size):
            ours, theirs = Pipe()
            with theirs:
                program = f"from {__name__} import serve; serve({theirs.fileno()})"
                command = [sys.executable, "-W", "error", "-c", program]
                environ = dict(os.environ, PYTHONPATH=str(ROOT), OPENBLAS_NUM_THREADS="1")
                self.processes.append(
                    subprocess.Popen(
                        command,
                        pass_fds=[theirs.fileno()],
                        start_new_session=True,
                        cwd=ROOT,
                        env=environ,
                    )
                )
            self.pipes.append(ours)
            ours.send((factory, (rank, world_size, self.token), options))

    def __enter__(self) -> "Ranks":
        return self

    def __exit__(self, *exc: object) -> None:
        for pipe in self.pipes:
            pipe.close()  # the child sees the end of its orders and leaves
        deadline = time.monotonic() + 10
        for process in self.processes:
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait(10)

    def start(self, function: Callable[..., Any], *args: Any, ranks: Any = None) -> None:
        for rank in range(self.world_size) if ranks is None else ranks:
            self.pipes[rank].send((function, args, {}))

    def collect(self, ranks: Any = None, seconds: float = SECONDS) -> list[Outcome]:
        deadline = time.monotonic() + seconds
        outcomes = []
        for rank in range(self.world_size) if ranks is None else ranks:
            if not wait([self.pipes[rank]], max(0.0, deadline - time.monotonic())):
                raise AssertionError(f"rank {rank} gave no answer within {seconds:g} s")
            outcomes.append(self.pipes[rank].recv())
        return outcomes

    def attempt(self, function: Callable[..., Any], *args: Any) -> list[Outcome]:
        """Runs ``function(group, *args)`` on all ranks; errors are part of the outcome."""
        self.start(function, *args)
        return self.collect()

    def run(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        """Runs ``function(group, *args)`` on all ranks; fails with the text of every error."""
        outcomes = self.attempt(function, *args)
        errors = [f"rank {r}: {o.text}" for r, o in enumerate(outcomes) if o.error]
        assert not errors, "\n".join(errors)
        return [outcome.value for outcome in outcomes]

    def kill(self, rank: int) -> None:
        os.kill(self.processes[rank].pid, signal.SIGKILL)
        self.processes[rank].wait(10)


class MpiRanks(Ranks):
    """Ranks that mpiexec starts, all in one session; they call back over a socket."""

    def __init__(self, world_size: int, **options: Any) -> None:
        self.world_size = world_size
        self.pipes = []
        program = f"from {__name__} import call_back; call_back()"
        command = [str(MPIEXEC), "-n", str(world_size), sys.executable, "-W", "error", "-c"]
        with tempfile.TemporaryDirectory() as folder:
            address = f"{folder}/socket"
            environ = dict(
                os.environ, PYTHONPATH=str(ROOT), OPENBLAS_NUM_THREADS="1", **{ADDRESS: address}
            )
            with Listener(address, backlog=world_size) as listener:
                listener._listener._socket.settimeout(SECONDS)  # type: ignore[attr-defined]
                self.processes = [
                    subprocess.Popen(
                        [*command, program], start_new_session=True, cwd=ROOT, env=environ
                    )
                ]
                found = {}
                for _ in range(world_size):
                    pipe = listener.accept()
                    found[pipe.recv()] = pipe
        for rank in range(world_size):
            self.pipes.append(found[rank])
            found[rank].send((make_mpi_group, (rank, world_size, "job"), options))


def make_mpi_group(rank: int, world_size: int, token: str, **options: Any) -> ProcessGroup:
    return MpiGroup.create(rank, world_size, token, **options)


def call_back() -> None:
    with Client(os.environ[ADDRESS]) as pipe:
        pipe.send(int(os.environ["PMI_RANK"]))
        _serve(pipe)


def serve(fd: int) -> None:
    with Connection(fd) as pipe:
        _serve(pipe)


def _serve(pipe: Connection) -> None:
    factory, args, options = pipe.recv()
    group = None
    try:
        group = factory(*args, **options)
        problem = Outcome()
    except Exception as error:
        problem = Outcome(None, type(error).__name__, traceback.format_exc())
    while True:
        try:
            function, args, _ = pipe.recv()
        except EOFError:
            break
        outcome = Outcome(error=problem.error, text=problem.text)
        begin = time.monotonic()
        try:
            if group is not None:
                outcome.value = function(group, *args)
        except BaseException as error:
            outcome = Outcome(None, type(error).__name__, f"{error}\n{traceback.format_exc()}")
        outcome.seconds = time.monotonic() - begin
        pipe.send(outcome)
    if group is not None:
        group.destroy()
