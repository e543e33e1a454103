"""What the Reducer needs to communicate: a process group, and threads that talk to it."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol


class CommGroup(Protocol):
    """What the Reducer needs of a process group.

    Attributes:
        rank: This process's number.
        world_size: How many processes there are.
        nrings: How many allreduces may be under way at once.
        blocking: ``allreduce_mean`` returns when the result is there, and not before.
        timeout: Seconds after which a wait for another rank is an error.
    """

    rank: int
    world_size: int
    nrings: int
    blocking: bool
    timeout: float

    def empty(self, numel: int, dtype: Any) -> Any:
        """A resident buffer; its ``array`` is 1-D."""

    def wait_compute(self, ring: int) -> Any:
        """Marks, in the thread of backward, the work that an allreduce has to wait for."""

    def allreduce_mean(self, buffer: Any, ring: int, token: Any) -> Any:
        """Averages a buffer, or an array, over the ranks, after ``token``, in the ring's thread."""

    def wait_comm(self, token: Any) -> None:
        """Makes later work of the calling thread wait for an allreduce."""

    def allreduce_max(self, bitmap: Any) -> None:
        """Elementwise maximum over the ranks, in place."""

    def abort(self, exc: BaseException) -> None:
        """Tells the other ranks that this one has failed, so that none waits for it."""


class CommPool:
    """Communication threads, one a lane; a lane's tasks run one after another, in order."""

    def __init__(self, lanes: int) -> None:
        self._queues: list[queue.SimpleQueue[Callable[[], None] | None]] = [
            queue.SimpleQueue() for _ in range(lanes)
        ]
        for lane, tasks in enumerate(self._queues):
            threading.Thread(target=_work, args=(tasks,), name=f"comm-{lane}", daemon=True).start()

    def submit(self, lane: int, task: Callable[[], None]) -> None:
        """Puts ``task``, which must not raise, at the end of a lane."""
        self._queues[lane].put(task)

    def close(self) -> None:
        """Lets the threads end when their lanes are empty."""
        for tasks in self._queues:
            tasks.put(None)


def _work(tasks: queue.SimpleQueue[Callable[[], None] | None]) -> None:
    while (task := tasks.get()) is not None:
        task()
        del task  # a waiting thread must keep nothing alive


class Failure(NamedTuple):
    """What went wrong with a bucket, and in which thread."""

    bucket: Any
    error: BaseException
    thread: int

    def explained(self, where: str) -> BaseException:
        """An error of the same kind whose text says where it struck."""
        error = self.error
        try:
            reason = str(error)
        except Exception:  # a broken __str__ must not hide what it belongs to
            reason = "(its text cannot be made)"
        kind = TimeoutError if isinstance(error, TimeoutError) else RuntimeError
        explained = kind(f"{where} failed: {type(error).__name__}: {reason}")
        explained.__cause__ = error
        return explained
