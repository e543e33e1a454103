"""What spawn gives back: a handle on a job, and the end of jobs at the end of the program."""

from __future__ import annotations

import atexit
import os
import pickle
import queue
import sys
import traceback
import weakref
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from minipaddle.distributed.spawn_child import failure_file, result_file
from minipaddle.distributed.spawn_job import Job, ProcessFailedError


class Mailbox:
    """What one process sends back, read once with ``get()``."""

    def __init__(self, fetch: Callable[[], Any], arrived: Callable[[], bool]) -> None:
        self._fetch = fetch
        self._arrived = arrived
        self._taken = False

    def empty(self) -> bool:
        """Whether there is nothing to get: nothing has come, or it was taken already."""
        return self._taken or not self._arrived()

    def get(self) -> Any:
        """The value; waits until the job has ended.

        Raises:
            queue.Empty: The value was taken before, or the process left none.
            ProcessFailedError: The job failed, and the return value is asked for.
        """
        if self._taken:
            raise queue.Empty("a process sends back one value, and it was taken already")
        value = self._fetch()
        self._taken = True
        return value


def _has_result(job: Job, rank: int) -> bool:
    return bool(job.results) or result_file(job.folder, rank).exists()


def _has_failed(job: Job, rank: int) -> bool:
    return rank in job.failures or failure_file(job.folder, rank).exists()


def _result(job: Job, rank: int) -> Any:
    job.join(None)
    return pickle.loads(job.results[rank])


def _traceback(job: Job, rank: int) -> str:
    with suppress(ProcessFailedError):
        job.join(None)
    failure = job.failures.get(rank)
    if failure is None:
        raise queue.Empty(f"process {rank} left no error")
    return failure.text or failure.summary


class MultiprocessContext:
    """The processes of a job. When nobody holds it any more, its processes are ended.

    Attributes:
        processes: Process objects by rank.
        sentinels: What becomes ready when a process ends, by rank.
        return_queues: By rank; ``get()`` gives the return value of the function.
        error_queues: By rank; ``get()`` gives the traceback of a failure.
    """

    def __init__(self, job: Job) -> None:
        self._job = job
        self.processes = list(job.processes)
        self.sentinels = [process.sentinel for process in job.processes]
        ranks = range(len(job.processes))
        self.return_queues = [
            Mailbox(partial(_result, job, rank), partial(_has_result, job, rank)) for rank in ranks
        ]
        self.error_queues = [
            Mailbox(partial(_traceback, job, rank), partial(_has_failed, job, rank))
            for rank in ranks
        ]
        weakref.finalize(self, job.drop).atexit = False
        _contexts.add(self)

    def join(self, timeout: float | None = None) -> bool:
        """Waits for all processes.

        Args:
            timeout: Seconds to wait at most; None for as long as it takes.

        Returns:
            True when all ended well, False when the time is over.

        Raises:
            ProcessFailedError: A process failed. The others have been ended.

        Example:
            >>> import operator
            >>> import minipaddle as paddle
            >>> context = paddle.distributed.spawn(operator.add, (2, 3), nprocs=1, join=False)
            >>> context.join()
            True
            >>> context.return_queues[0].get()
            5
        """
        return self._job.join(timeout)


_contexts: weakref.WeakSet[MultiprocessContext] = weakref.WeakSet()


@atexit.register
def _end_all() -> None:
    """At the end of the program waits for jobs, as Python does for processes that are no daemons.

    Not after an uncaught exception, Ctrl-C among them: then they are ended.
    """
    failed = getattr(sys, "last_type", None) is not None
    for job in [context._job for context in _contexts if context._job.owner == os.getpid()]:
        try:
            if not (job.closed or failed or job.daemon):
                job.join(None)
        except BaseException:
            traceback.print_exc()
        finally:
            job.end()
