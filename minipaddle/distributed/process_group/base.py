"""What a process group is: the collectives, their errors, and the table of implementations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any

DEFAULT_TIMEOUT = 1800.0
"""Seconds that a wait for another rank may last, unless the group was made with another limit."""

LateReport = Callable[[list[int], float, int], None]


class ReduceOp(IntEnum):
    """How a reduction joins the values of the ranks; the numbers are Paddle's."""

    SUM = 0
    MAX = 1
    MIN = 2
    PROD = 3
    AVG = 4


class PeerError(RuntimeError):
    """Another rank failed or ended while this one needed it.

    Attributes:
        rank: The world rank that failed first.
        reason: What that rank reported, or how its end was noticed.
    """

    def __init__(self, message: str, rank: int, reason: str) -> None:
        super().__init__(message)
        self.rank = rank
        self.reason = reason

    def __reduce__(self) -> tuple[type[PeerError], tuple[str, int, str]]:
        return type(self), (str(self), self.rank, self.reason)


class CollectiveMismatchError(RuntimeError):
    """The ranks called different collectives, or the same one with different arguments."""


class ProcessGroup(ABC):
    """Ranks that work together on arrays of one kind of device.

    Every rank calls the same collectives in the same order. Ranks in arguments count inside the
    group; ranks in error texts are those of the whole job. Every wait ends: with the data, with
    an error when a peer fails, or with a ``TimeoutError``.

    Attributes:
        rank: This process's position in the group, from 0.
        world_size: How many ranks the group has.
        nrings: How many channels ``allreduce_mean`` may use at the same time, one thread each.
        blocking: True if ``allreduce_mean`` returns when the result is there, False if it only
            queues the work on the device.
        timeout: Seconds that a wait for another rank may last.
    """

    rank: int
    world_size: int
    nrings: int
    blocking: bool
    timeout: float

    @classmethod
    @abstractmethod
    def create(
        cls,
        rank: int,
        world_size: int,
        token: str,
        nrings: int = 1,
        timeout: float = DEFAULT_TIMEOUT,
    ) -> ProcessGroup:
        """Meets the other ranks of the job that ``token`` names and returns the group."""

    @abstractmethod
    def new_group(self, ranks: Sequence[int], nrings: int | None = None) -> ProcessGroup | None:
        """Makes a group of some ranks; every rank of this group calls it.

        Args:
            ranks: The members.
            nrings: How many rings it has; as many as this group by default.

        Returns:
            The new group, in which ``ranks[i]`` has rank ``i``, or None on a rank outside it.
        """

    @abstractmethod
    def destroy(self) -> None:
        """Closes the group and all groups made from it; further calls do nothing."""

    @abstractmethod
    def abort(self, exc: BaseException) -> None:
        """Tells the peers that this rank failed with ``exc`` and refuses further use here."""

    @abstractmethod
    def report_waits(self, seconds: float, report: LateReport | None = None) -> None:
        """Has waits for other ranks that last ``seconds`` reported, while they go on.

        Args:
            seconds: How long a wait may last unsaid.
            report: ``report(ranks, seconds, buffer)`` gets the world ranks that are late and the
                number of the bucket that they are late for, 0 for another collective. By default
                a line on standard error.
        """

    # What the Reducer needs.

    @abstractmethod
    def empty(self, numel: int, dtype: Any) -> Any:
        """Makes a bucket: memory with an ``.array``, reduced in place by ``allreduce_mean``.

        A collective: every rank makes the same buckets in the same order.
        """

    @abstractmethod
    def wait_compute(self, ring: int) -> Any:
        """Marks what was computed so far; ``allreduce_mean`` starts after it."""

    @abstractmethod
    def allreduce_mean(self, buffer: Any, ring: int, token: Any) -> Any:
        """Replaces a bucket, or an array, on every rank by the mean; returns a token."""

    @abstractmethod
    def divide_before(self, factor: float) -> None:
        """Has ``allreduce_mean`` divide by ``factor`` before adding, and by the rest after it."""

    @abstractmethod
    def wait_comm(self, token: Any) -> None:
        """Makes computation wait for the reduction that returned ``token``."""

    @abstractmethod
    def allreduce_max(self, bitmap: Any) -> None:
        """Replaces ``bitmap``, a host array, by its elementwise maximum over the ranks."""

    # The collectives of paddle.distributed.

    @abstractmethod
    def all_reduce(self, array: Any, op: int = ReduceOp.SUM) -> None:
        """Replaces ``array`` on every rank by its reduction over the ranks."""

    @abstractmethod
    def reduce(self, array: Any, dst: int, op: int = ReduceOp.SUM) -> None:
        """Replaces ``array`` on rank ``dst`` by its reduction; other ranks keep theirs."""

    @abstractmethod
    def broadcast(self, array: Any, src: int) -> None:
        """Replaces ``array`` on every rank by that of rank ``src``."""

    @abstractmethod
    def all_gather(self, array: Any) -> list[Any]:
        """Returns the arrays of all ranks, in rank order; shapes are equal on all ranks."""

    @abstractmethod
    def reduce_scatter(self, out: Any, arrays: Sequence[Any], op: int = ReduceOp.SUM) -> None:
        """Writes the reduction of every rank's ``arrays[rank]`` into ``out``."""

    @abstractmethod
    def scatter(self, array: Any, arrays: Sequence[Any] | None, src: int) -> None:
        """Writes ``arrays[rank]`` of rank ``src`` into ``array``; others may give None."""

    @abstractmethod
    def alltoall(self, arrays: Sequence[Any]) -> list[Any]:
        """Sends ``arrays[i]`` to rank ``i``; returns what came, in rank order."""

    @abstractmethod
    def send(self, array: Any, dst: int) -> None:
        """Sends ``array`` to rank ``dst``, which calls ``recv``."""

    @abstractmethod
    def recv(self, array: Any, src: int) -> None:
        """Replaces ``array`` by what rank ``src`` sends."""

    @abstractmethod
    def barrier(self) -> None:
        """Returns when every rank has called it."""

    @abstractmethod
    def all_gather_object(self, obj: Any) -> list[Any]:
        """Returns the objects of all ranks, in rank order; they travel as pickles."""

    @abstractmethod
    def broadcast_object(self, obj: Any, src: int) -> Any:
        """Returns the object of rank ``src``; it travels as a pickle."""


_CLASSES: dict[str, type[ProcessGroup]] = {}


def register_process_group(place_kind: str, cls: type[ProcessGroup]) -> None:
    """Names the group class that works on the arrays of a kind of device.

    Args:
        place_kind: The kind, such as ``"cpu"`` or ``"xpu"``.
        cls: A subclass of ``ProcessGroup``.

    Raises:
        TypeError: If ``cls`` is not a subclass of ``ProcessGroup``.
        ValueError: If another class already has this kind.

    Example:
        >>> from minipaddle.distributed.process_group import process_group_class
        >>> process_group_class("cpu").__name__
        'SharedMemoryGroup'
    """
    if not (isinstance(cls, type) and issubclass(cls, ProcessGroup)):
        raise TypeError(f"cls must be a subclass of ProcessGroup, got {cls!r}")
    known = _CLASSES.setdefault(place_kind, cls)
    if known is not cls:
        raise ValueError(f"place kind {place_kind!r} already has the group class {known.__name__}")


def process_group_class(place_kind: str) -> type[ProcessGroup]:
    """Returns the group class for a kind of device.

    Args:
        place_kind: The kind, such as ``"cpu"``.

    Raises:
        ValueError: If no class is registered for it; the text lists those that are.

    Example:
        >>> from minipaddle.distributed.process_group import process_group_class
        >>> process_group_class("cpu").blocking
        True
    """
    try:
        return _CLASSES[place_kind]
    except KeyError:
        known = ", ".join(sorted(_CLASSES)) or "none"
        raise ValueError(
            f"no process group for place kind {place_kind!r} (registered: {known}); "
            f"register_process_group({place_kind!r}, YourGroup) adds one"
        ) from None
