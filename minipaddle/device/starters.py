"""Jobs that mpiexec, srun or torchrun have started, as their variables tell each process."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple


class Start(NamedTuple):
    """What a process is in a job that another program has started.

    Attributes:
        starter: That program.
        rank: Number of the process in the job, from 0.
        world_size: Number of processes of the job.
        local_rank: Number of the process on this host.
        local_size: Number of the job's processes on this host; 0 if it is not known.
        job: Text that all processes of the job share, and those of no other job on this host.
        offers_mpi: MPI's processes find each other through the starter.
    """

    starter: str
    rank: int
    world_size: int
    local_rank: int
    local_size: int
    job: str
    offers_mpi: bool

    @property
    def over_mpi(self) -> bool:
        """Whether arrays of the CPU travel over MPI: between hosts, and under mpiexec."""
        if self.local_size != self.world_size:
            return self.offers_mpi
        return self.starter == "mpiexec" and find_spec("mpi4py") is not None

    @property
    def token(self) -> str:
        """The job's token."""
        return hashlib.sha256(f"{self.starter}:{self.job}".encode()).hexdigest()[:32]

    def check_one_host(self) -> None:
        """Refuses a job on several hosts.

        Raises:
            RuntimeError: It is one.
        """
        if self.local_size != self.world_size:
            here = f"{self.local_size} of them" if self.local_size else "not all"
            raise RuntimeError(
                f"{self.starter} has started {self.world_size} processes, {here} on this host; "
                "only MPI connects processes of several hosts, on CPUs: start them with mpiexec, "
                "srun --mpi=pmi2 or python -m minipaddle.distributed.launch"
            )


def find_start(environ: Mapping[str, str]) -> Start | None:
    """Who has started this process as a part of a job, if anybody did.

    MPI's starters come before srun, inside whose allocations they are used.

    Raises:
        ValueError: A variable that should hold a number does not; the text names it.
    """
    numbers = _Numbers(environ)
    if {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"} <= environ.keys():
        names = ("MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT")
        parts = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")
        return numbers.start("torchrun", parts, " ".join(environ.get(n, "") for n in names))
    if "MPI_LOCALNRANKS" in environ and "PMI_RANK" in environ:
        parts = ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS")
        return numbers.start("mpiexec", parts, _starter_process("PMI_RANK"))
    if "OMPI_COMM_WORLD_RANK" in environ:
        parts = ("RANK", "SIZE", "LOCAL_RANK", "LOCAL_SIZE")
        job = environ.get("PMIX_NAMESPACE") or _starter_process("OMPI_COMM_WORLD_RANK")
        return numbers.start("mpiexec", [f"OMPI_COMM_WORLD_{part}" for part in parts], job)
    if environ.get("SLURM_STEP_ID", "").isdecimal() and "SLURM_PROCID" in environ:
        one_host = environ.get("SLURM_STEP_NUM_NODES") == "1"
        tasks = "SLURM_STEP_NUM_TASKS"
        parts = ("SLURM_PROCID", tasks, "SLURM_LOCALID", tasks if one_host else "")
        job = f"{environ.get('SLURM_JOB_ID')} {environ['SLURM_STEP_ID']}"
        return numbers.start("srun", parts, job)
    return None


class _Numbers:
    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ

    def start(self, starter: str, names: tuple[str, ...] | list[str], job: str) -> Start:
        rank, world_size, local_rank, local_size = (self._number(name) for name in names)
        told_by_mpi = bool({"PMI_RANK", "PMIX_RANK"} & self._environ.keys())
        offers_mpi = starter == "mpiexec" or (starter == "srun" and told_by_mpi)
        return Start(starter, rank, world_size, local_rank, local_size, job, offers_mpi)

    def _number(self, name: str) -> int:
        text = self._environ.get(name, "0").strip()
        if not text.isdecimal():
            raise ValueError(f"the environment variable {name} must be an int >= 0; got {text!r}")
        return int(text)


def _starter_process(variable: str) -> str:
    """Names the process that has started all ranks of this host.

    Between it and this process there may be shells and the like, which were told the same.
    """
    pid, told = os.getpid(), f"{variable}=".encode()
    while True:
        # Behind the command, which may hold anything in brackets: the parent, and the start time.
        fields = Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
        parent = int(fields[1])
        try:
            inside = Path(f"/proc/{parent}/environ").read_bytes().split(b"\0")
        except OSError:  # of another user, as that of an mpiexec that is a service
            inside = []
        if not any(entry.startswith(told) for entry in inside):
            return _identity(parent)
        pid = parent


def _identity(pid: int) -> str:
    """A process id, and when it was started: the two together come once."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("ascii", "replace")
    except OSError:
        return str(pid)
    return f"{pid} {stat.rpartition(')')[2].split()[19]}"
