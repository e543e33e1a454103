"""LoneGroup: the collectives of a process that is alone, on any device and any system."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from minipaddle.device.backend import current_place
from minipaddle.distributed.process_group.base import (
    DEFAULT_TIMEOUT,
    LateReport,
    ProcessGroup,
    ReduceOp,
)
from minipaddle.ops.op import namespace


class LoneGroup(ProcessGroup):
    """One rank: what it would get from the others is its own.

    Arguments are not checked here, since nothing is done with them.
    """

    def __init__(self, nrings: int = 1, timeout: float = DEFAULT_TIMEOUT) -> None:
        self.rank, self.world_size = 0, 1
        self.nrings = nrings
        self.blocking = True
        self.timeout = timeout

    @classmethod
    def create(
        cls,
        rank: int,
        world_size: int,
        token: str,
        nrings: int = 1,
        timeout: float = DEFAULT_TIMEOUT,
    ) -> LoneGroup:
        """A group of this process.

        Raises:
            ValueError: There are other ranks.
        """
        if (rank, world_size) != (0, 1):
            raise ValueError(f"a LoneGroup is rank 0 of 1; got rank {rank} of {world_size}")
        return cls(nrings, timeout)

    def new_group(self, ranks: Sequence[int], nrings: int | None = None) -> LoneGroup | None:
        """See ``ProcessGroup``."""
        return LoneGroup(nrings or self.nrings, self.timeout) if list(ranks) == [0] else None

    def destroy(self) -> None:
        """Nothing is open."""

    def abort(self, exc: BaseException) -> None:
        """There is nobody to tell."""

    def report_waits(self, seconds: float, report: LateReport | None = None) -> None:
        """Nobody is late."""

    def empty(self, numel: int, dtype: Any) -> Any:
        """See ``ProcessGroup``."""
        return SimpleNamespace(array=namespace(current_place()).full((numel,), 0, dtype))

    def wait_compute(self, ring: int) -> None:
        """Nothing is waited for."""

    def allreduce_mean(self, buffer: Any, ring: int, token: Any) -> None:
        """The mean over one rank is there already."""

    def divide_before(self, factor: float) -> None:
        """One addend is its own mean."""

    def wait_comm(self, token: Any) -> None:
        """Nothing is waited for."""

    def allreduce_max(self, bitmap: Any) -> None:
        """The maximum over one rank is there already."""

    def all_reduce(self, array: Any, op: int = ReduceOp.SUM) -> None:
        """See ``ProcessGroup``."""

    def reduce(self, array: Any, dst: int, op: int = ReduceOp.SUM) -> None:
        """See ``ProcessGroup``."""

    def broadcast(self, array: Any, src: int) -> None:
        """See ``ProcessGroup``."""

    def all_gather(self, array: Any) -> list[Any]:
        """See ``ProcessGroup``."""
        return [namespace(current_place()).assign(array)]

    def reduce_scatter(self, out: Any, arrays: Sequence[Any], op: int = ReduceOp.SUM) -> None:
        """See ``ProcessGroup``."""
        namespace(current_place()).copy_(out, arrays[0])

    def scatter(self, array: Any, arrays: Sequence[Any] | None, src: int) -> None:
        """See ``ProcessGroup``."""
        if arrays is not None:
            namespace(current_place()).copy_(array, arrays[0])

    def alltoall(self, arrays: Sequence[Any]) -> list[Any]:
        """See ``ProcessGroup``."""
        return self.all_gather(arrays[0])

    def send(self, array: Any, dst: int) -> None:
        """Refuses: a process cannot send to itself."""
        raise ValueError(f"dst={dst} is this process itself, which is alone")

    def recv(self, array: Any, src: int) -> None:
        """Refuses: a process cannot receive from itself."""
        raise ValueError(f"src={src} is this process itself, which is alone")

    def barrier(self) -> None:
        """Everybody is here."""

    def all_gather_object(self, obj: Any) -> list[Any]:
        """See ``ProcessGroup``."""
        return [obj]

    def broadcast_object(self, obj: Any, src: int) -> Any:
        """See ``ProcessGroup``."""
        return obj
