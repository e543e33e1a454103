"""Group: the processes of a job, or some of them, as users name them; and the default group."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence
from typing import Any

from minipaddle.device.backend import get_place, set_device
from minipaddle.device.flags import get_flag, pg_timeout_seconds
from minipaddle.device.parallel_env import ParallelEnv, foreign_start, trainer_count, trainer_rank
from minipaddle.device.selection import kind_of_comm
from minipaddle.distributed.crash import tell_of_crashes
from minipaddle.distributed.process_group import process_group_class
from minipaddle.distributed.process_group.base import ProcessGroup
from minipaddle.distributed.process_group.lone import LoneGroup


class Group:
    """Some ranks of the job that communicate with one another.

    Attributes:
        id: Number of the group; 0 is the group of all.
        ranks: The members, by their rank in the job.
        rank: This process's position among them, or -1.
        process_group: What moves the data, or None on a process outside.
        destroyed: ``destroy_process_group`` has closed it.
    """

    def __init__(self, id: int, ranks: Sequence[int], process_group: ProcessGroup | None) -> None:
        self.id = id
        self.ranks = list(ranks)
        self.process_group = process_group
        self.destroyed = False
        self.rank = -1 if process_group is None else process_group.rank

    @property
    def nranks(self) -> int:
        """Number of members."""
        return len(self.ranks)

    world_size = nranks

    def is_member(self) -> bool:
        """Whether this process belongs to the group."""
        return self.process_group is not None

    def get_group_rank(self, rank: int) -> int:
        """Position in the group of the process whose rank in the job is ``rank``; -1 outside."""
        return self.ranks.index(rank) if rank in self.ranks else -1

    def __repr__(self) -> str:
        return f"Group(id={self.id}, rank={self.rank}, ranks={self.ranks})"


_groups: dict[int, Group] = {}
_numbers = itertools.count(1)


def init_parallel_env() -> Group | None:
    """Meets the other processes of the job; call it first in the function given to ``spawn``.

    Returns:
        The group of all processes; None, with a warning, in a process that is alone. A second call
        returns the same group.

    Raises:
        TimeoutError: A process did not come in time.
        ValueError: The environment is not that of a started job; the text names the variable.
        RuntimeError: The job is on several hosts, and MPI does not connect them.

    Example:
        >>> import minipaddle as paddle
        >>> def train():
        ...     paddle.distributed.init_parallel_env()
        ...     print(paddle.distributed.get_rank())
    """
    if is_initialized():
        return _groups[0]
    env = ParallelEnv()
    if env.world_size < 2:
        warnings.warn(
            "init_parallel_env does nothing: this process is alone. Start several with "
            "paddle.distributed.spawn, or with python -m minipaddle.distributed.launch",
            stacklevel=2,
        )
        return None
    start = foreign_start()
    if start is not None and not env.over_mpi:
        start.check_one_host()
    place = get_place(f"{env.device_type}:{env.device_id}")
    group_class = process_group_class("mpi" if env.over_mpi else place.backend.name)
    process_group = group_class.create(
        env.rank, env.world_size, env.job_token, env.nrings, pg_timeout_seconds()
    )
    process_group.report_waits(float(get_flag("FLAGS_comm_wait_warning")))
    set_device(place)
    tell_of_crashes(abort_default_group)
    _groups[0] = Group(0, range(env.world_size), process_group)
    return _groups[0]


def is_initialized() -> bool:
    """Whether ``init_parallel_env`` has met other processes.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.distributed.is_initialized()
        False
    """
    return 0 in _groups and _groups[0].nranks > 1


def default_group() -> Group:
    """The group of all processes; a process that is alone gets a group of itself.

    Raises:
        RuntimeError: There are other processes, and ``init_parallel_env`` was not called.
    """
    if 0 not in _groups:
        env = ParallelEnv()
        if env.world_size > 1:
            raise RuntimeError(
                f"this is process {env.rank} of {env.world_size}: call "
                "paddle.distributed.init_parallel_env() before anything that communicates"
            )
        _groups[0] = Group(0, [0], LoneGroup(env.nrings, pg_timeout_seconds()))
    return _groups[0]


def get_group(id: int = 0) -> Group:
    """The group of that number; 0 is the group of all.

    Raises:
        ValueError: There is no such group.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.distributed.get_group().nranks
        1
    """
    if id == 0:
        return default_group()
    if id not in _groups:
        raise ValueError(f"there is no group {id}; known: {sorted(_groups)}")
    return _groups[id]


def new_group(ranks: Sequence[int] | None = None, backend: str | None = None) -> Group:
    """Makes a group of some processes; every process of the job calls it, in the same order.

    Args:
        ranks: The members' ranks in the job; all by default.
        backend: Name of the collectives, for Paddle's signature; that of the job by default.

    Returns:
        The group; on a process outside it, one whose collectives do nothing.

    Raises:
        ValueError: A rank is not in the job, or is named twice, or no collectives have that name.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.distributed.new_group([0]).ranks
        [0]
    """
    if backend is not None:
        kind_of_comm(backend)
    world = default_group()
    members = list(world.ranks if ranks is None else ranks)
    if not members or len(set(members)) != len(members) or not set(members) <= set(world.ranks):
        raise ValueError(f"ranks must be distinct and among {world.ranks}; got {members}")
    assert world.process_group is not None
    number = next(_numbers)
    _groups[number] = Group(number, members, world.process_group.new_group(members))
    return _groups[number]


def destroy_process_group(group: Group | None = None) -> None:
    """Closes a group, or all of them.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.distributed.destroy_process_group()
    """
    closing = list(_groups.values()) if group is None or group.id == 0 else [group]
    for one in reversed(closing):
        _groups.pop(one.id, None)
        one.destroyed = True
        if one.process_group is not None:
            one.process_group.destroy()


def abort_default_group(exc: BaseException) -> None:
    """Tells the other processes that this one has failed, so that none waits for it."""
    group = _groups.get(0)
    if group is not None and group.process_group is not None and group.nranks > 1:
        group.process_group.abort(exc)


def get_rank(group: Group | None = None) -> int:
    """This process's rank in the job, or in ``group``.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.distributed.get_rank()
        0
    """
    return trainer_rank() if group is None else group.rank


def get_world_size(group: Group | None = None) -> int:
    """Number of processes in the job, or in ``group``.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.distributed.get_world_size()
        1
    """
    return trainer_count() if group is None else group.nranks


def members_of(group: Any) -> ProcessGroup | None:
    """What moves the data of ``group``, the default one if None; None on a process outside.

    Raises:
        RuntimeError: ``group`` was destroyed.
        TypeError: ``group`` is no Group.
    """
    if group is None:
        group = default_group()
    if not isinstance(group, Group):
        raise TypeError(f"group must be a Group, as new_group returns; got {type(group).__name__}")
    if group.destroyed:
        raise RuntimeError(f"{group} was destroyed")
    return group.process_group
