"""Which process of a parallel job this one is: read from, and written for, the environment."""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
from collections.abc import Iterator, Mapping, Sequence

from minipaddle.device.flags import (
    device_index,
    device_kinds,
    device_variables,
    get_flag,
    parse_ids,
)
from minipaddle.device.starters import Start, find_start

# Names under which users know the collectives of a kind of device.
KIND_OF_COMM = {"gloo": "cpu", "nccl": "gpu", "bkcl": "xpu", "mpi": "cpu"}

_RANK = "PADDLE_TRAINER_ID"
_WORLD_SIZE = "PADDLE_TRAINERS_NUM"
_ENDPOINT = "PADDLE_CURRENT_ENDPOINT"
_ENDPOINTS = "PADDLE_TRAINER_ENDPOINTS"
_COMM = "PADDLE_DISTRI_BACKEND"
_TOKEN = "MINIPADDLE_JOB_TOKEN"
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_PROXIES = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")

_thread_lock = threading.Lock()


def _count(variable: str, default: int, low: int) -> int:
    text = os.environ.get(variable, "").strip() or str(default)
    if not text.isdecimal() or int(text) < low:
        raise ValueError(
            f"the environment variable {variable} must be an int >= {low}; got {text!r}"
        )
    return int(text)


def foreign_start() -> Start | None:
    """What mpiexec, srun or torchrun say of this process; None if Paddle's variables say it."""
    if _RANK in os.environ or _WORLD_SIZE in os.environ:
        return None
    return find_start(os.environ)


def trainer_rank() -> int:
    """Number of this process in its job, from 0."""
    start = foreign_start()
    return _count(_RANK, 0, 0) if start is None else start.rank


def trainer_count() -> int:
    """Number of processes in this process's job."""
    start = foreign_start()
    return _count(_WORLD_SIZE, 1, 1) if start is None else start.world_size


class ParallelEnv:
    """Rank, world size, device and endpoints of this process, as the environment has them now.

    A process that nobody started as a part of a job is rank 0 of 1.

    Raises:
        ValueError: A variable holds no sensible value; the text names it.

    Example:
        >>> import minipaddle as paddle
        >>> env = paddle.distributed.ParallelEnv()
        >>> env.rank, env.world_size, env.trainer_endpoints
        (0, 1, [])
    """

    def __init__(self) -> None:
        self._rank = trainer_rank()
        self._world_size = trainer_count()
        if self._rank >= self._world_size:
            raise ValueError(
                f"{_RANK}={self._rank} does not fit {_WORLD_SIZE}={self._world_size}: ranks count "
                "from 0"
            )
        self._nrings = int(get_flag("FLAGS_nccl_nrings"))
        self._current_endpoint = os.environ.get(_ENDPOINT, "")
        listed = os.environ.get(_ENDPOINTS, "").split(",")
        self._trainer_endpoints = [one.strip() for one in listed if one.strip()]
        self._device_type = _device_type()
        start = foreign_start()
        self._device_id = _device_index(self._device_type, 0 if start is None else start.local_rank)
        comm = os.environ.get(_COMM, "").strip() or "auto"
        by_default = start if comm == "auto" and self._device_type == "cpu" else None
        self._over_mpi = comm == "mpi" or (by_default is not None and by_default.over_mpi)
        told = os.environ.get(_TOKEN, "") or ("" if start is None else start.token)
        self._job_token = told or _derived_token(self._trainer_endpoints)

    @property
    def rank(self) -> int:
        """Number of this process in the job, from 0."""
        return self._rank

    @property
    def world_size(self) -> int:
        """Number of processes in the job."""
        return self._world_size

    @property
    def device_id(self) -> int:
        """Index of this process's Place; 0 on the CPU."""
        return self._device_id

    @property
    def device_type(self) -> str:
        """Kind of this process's Place: ``"cpu"``, ``"gpu"`` and so on."""
        return self._device_type

    @property
    def current_endpoint(self) -> str:
        """``"ip:port"`` of this process, or an empty text."""
        return self._current_endpoint

    @property
    def trainer_endpoints(self) -> list[str]:
        """``"ip:port"`` of every process by rank; empty when nobody has set them."""
        return list(self._trainer_endpoints)

    @property
    def nrings(self) -> int:
        """Number of communication rings, from FLAGS_nccl_nrings."""
        return self._nrings

    @property
    def job_token(self) -> str:
        """Text that all processes of this job share, and those of no other job."""
        return self._job_token

    @property
    def over_mpi(self) -> bool:
        """Whether data travels over MPI: PADDLE_DISTRI_BACKEND=mpi, or as mpiexec's default."""
        return self._over_mpi

    local_rank = rank
    nranks = world_size
    dev_id = device_id


def _device_type() -> str:
    """The kind that PADDLE_DISTRI_BACKEND means, else that of the selecting flag that is set."""
    comm = os.environ.get(_COMM, "").strip()
    if comm and comm != "auto":
        return KIND_OF_COMM.get(comm, comm)
    for kind in device_kinds():
        if get_flag(device_variables(kind)[1]):
            return kind
    return "cpu"


def _device_index(kind: str, local_rank: int) -> int:
    """The Place of the id that is told; of several ids, of that one whose turn it is."""
    if kind == "cpu":
        return 0
    visible, selected = device_variables(kind)
    text = os.environ.get(selected, "")
    with contextlib.suppress(ValueError):  # a plug-in need not have defined its flag
        text = str(get_flag(selected))
    if not text.strip():
        return local_rank
    ids = parse_ids(text, selected)
    return device_index(ids[local_rank % len(ids)], visible, os.environ)


def _derived_token(endpoints: Sequence[str]) -> str:
    """Jobs that something else than spawn started are told apart by their endpoints."""
    if not endpoints:
        return f"process-{os.getpid()}"
    return hashlib.sha256(",".join(endpoints).encode()).hexdigest()[:32]


def trainer_environ(rank: int, endpoints: Sequence[str], comm: str, token: str) -> dict[str, str]:
    """The variables from which ParallelEnv of a started process learns its part.

    Args:
        rank: Number of the process, from 0.
        endpoints: ``"ip:port"`` of every process by rank.
        comm: Name of the collectives: ``"gloo"``, ``"nccl"``, ``"bkcl"`` or a plug-in's.
        token: The job's token.

    Returns:
        A new dict.
    """
    return {
        _RANK: str(rank),
        _WORLD_SIZE: str(len(endpoints)),
        _ENDPOINT: endpoints[rank],
        _ENDPOINTS: ",".join(endpoints),
        _COMM: comm,
        _TOKEN: token,
    }


def remove_proxies() -> None:
    """Takes the proxy variables away, so that no library sends a peer's traffic through one."""
    for name in _PROXIES:
        os.environ.pop(name, None)


@contextlib.contextmanager
def cpu_threads(share: int) -> Iterator[None]:
    """While this lasts, a started process inherits a limit of ``share`` BLAS and OpenMP threads.

    NumPy reads the limit as it is imported, which in a started process is before any code of ours
    runs; so it has to stand in the environment that the process inherits. Variables that the user
    has set are left as they are. One thread at a time: the environment belongs to the process.
    """
    with _thread_lock:
        ours = [name for name in _THREAD_VARIABLES if name not in os.environ]
        os.environ.update(dict.fromkeys(ours, str(share)))
        try:
            yield
        finally:
            for name in ours:
                os.environ.pop(name, None)


def started_environ(variables: Mapping[str, str], share: int) -> dict[str, str]:
    """The whole environment of a process that is started as a part of a job.

    Args:
        variables: What it is told.
        share: BLAS and OpenMP threads, unless the user has set a number.

    Returns:
        A new dict: this process's environment without proxies, and those on top.
    """
    threads = dict.fromkeys(_THREAD_VARIABLES, str(share))
    environ = {**threads, "PYTHONUNBUFFERED": "1", **os.environ, **variables}
    return {name: value for name, value in environ.items() if name not in _PROXIES}


def one_thread_environ() -> dict[str, str]:
    """This process's environment, with one BLAS and OpenMP thread whatever the user has set."""
    return {**os.environ, **dict.fromkeys(_THREAD_VARIABLES, "1")}
