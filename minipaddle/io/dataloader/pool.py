"""The worker processes of a loader, seen from the loader."""

from __future__ import annotations

import os
import pickle
import select
import signal
import time
import warnings
import weakref
from collections import deque
from functools import partial
from typing import Any, NoReturn

from minipaddle.io.dataloader.failure import Failure, rebuilt, unpicklable
from minipaddle.io.dataloader.fetcher import Recipe
from minipaddle.io.dataloader.fork_server import (
    ChildProcess,
    ForkServer,
    fork_server,
    preparation,
)
from minipaddle.io.dataloader.link import close_all
from minipaddle.io.dataloader.parcel import pack
from minipaddle.io.dataloader.slots import SlotReader
from minipaddle.io.dataloader.worker import GRACE_SECONDS, Again, Birth, Pass, Result, Task

_END_SECONDS = 2 * GRACE_SECONDS + 3.0
_EXIT_SECONDS = 5.0  # from the end of a process's link to its exit code
_START_SECONDS = 600.0  # for a worker to import the main module and unpickle the data set
_MAX_SHOWN = 32  # sample numbers in an error
_warned = False


class _Member:
    """One worker."""

    def __init__(self, id: int, server: ForkServer) -> None:
        self.id = id
        self.process = ChildProcess(server)
        self.pid = 0  # until it has told
        self.slots = SlotReader()
        self.tasks: deque[Task] = deque()  # asked for and not come yet
        self.early: dict[int, Any] = {}  # messages with a batch before its turn

    def doing(self) -> str:
        """Itself and its batch, as errors name them."""
        who = f"DataLoader worker {self.id}" + (f" (pid {self.pid})" if self.pid else "")
        if not self.tasks:
            return who
        task = self.tasks[0]
        if task.indices is None:
            return f"{who}, batch {task.batch}"
        shown = task.indices
        more = ""
        if isinstance(shown, (list, tuple)) and len(shown) > _MAX_SHOWN:
            shown, more = shown[:_MAX_SHOWN], f" and {len(shown) - _MAX_SHOWN} more"
        return f"{who}, batch {task.batch}, sample indices {shown}{more}"


class WorkerPool:
    """Starts workers, sends them requests, and receives the batches of the current pass.

    Args:
        recipe: What batches are made from.
        num_workers: How many workers.
        shared: Whether to use shared memory.
        timeout: Seconds to wait for a batch; 0 for ever.

    Attributes:
        number: Of the current pass.

    Raises:
        TypeError: The data set, or what goes with it, cannot be pickled.
        RuntimeError: The main module is being imported by a worker.
    """

    def __init__(self, recipe: Recipe, num_workers: int, shared: bool, timeout: float) -> None:
        self._timeout = timeout
        self.number = 0
        server = fork_server()  # before what ends the workers, so that it ends after them
        body, files = _dumped(recipe, shared)
        self._members: list[_Member] = []
        self._finalizer = weakref.finalize(self, _close, self._members, os.getpid())
        try:
            for id in range(num_workers):
                self._members.append(_Member(id, server))
                shape = (os.getpid(), id, num_workers, shared)
                birth, _ = pack(partial(_birth, *shape))
                self._members[-1].process.link.send(birth)
            for member in self._members:
                member.process.link.send(body, files, _START_SECONDS)
        except OSError as error:
            self.close()
            raise RuntimeError(f"the worker processes could not be started: {error}") from error
        except BaseException:
            self.close()
            raise
        finally:
            close_all(files)
        self._poll = select.poll()
        for member in self._members:
            self._poll.register(member.process.link, select.POLLIN)
            self._poll.register(member.process.status, select.POLLIN)

    def __len__(self) -> int:
        """The number of workers."""
        return len(self._members)

    @property
    def alive(self) -> bool:
        """Whether the workers have not been ended."""
        return bool(self._finalizer.alive)

    def start(self, seed: int, skips: list[int]) -> None:
        """Begins a pass; what is left of an earlier one is dropped.

        Args:
            seed: Of this pass; each worker adds its number.
            skips: Batches that each worker leaves out, of an iterable data set.
        """
        self.number += 1
        for member, skip in zip(self._members, skips, strict=True):
            member.tasks.clear()
            member.early.clear()
            self._send(member, Pass(self.number, seed, skip))

    def request(self, worker: int, index: int, indices: Any) -> None:
        """Asks a worker for a batch."""
        member = self._members[worker]
        task = Task(self.number, index, indices, member.slots.freed())
        member.tasks.append(task)
        self._send(member, task)

    def _send(self, member: _Member, request: Any) -> None:
        try:
            member.process.link.send(pickle.dumps(request, 5), None, self._timeout)
        except TimeoutError:
            self._fail(TimeoutError(f"{member.doing()}: takes no requests"))
        except OSError:
            self._dead(member)

    def receive(self, worker: int) -> Any:
        """The oldest batch asked of a worker.

        Returns:
            The batch with arrays, or END.

        Raises:
            TimeoutError: It did not come in time; the workers are ended.
            RuntimeError: A worker has died; the others are ended.
            Exception: What the worker has raised.
        """
        if not self.alive:
            raise RuntimeError("the worker processes of this DataLoader have ended")
        try:
            member = self._members[worker]
            while True:
                message = member.early.pop(member.tasks[0].batch, None) or self._next(worker)
                content = self._content(member, message)
                if content is not None:
                    return content[0]
        except (KeyboardInterrupt, SystemExit, GeneratorExit):
            self.close()  # a message may have been taken and not been handled
            raise

    def _content(self, member: _Member, message: Any) -> tuple[Any] | None:
        """What a message brings, or None if that is not for the caller."""
        result: Any = pickle.loads(message[0])
        if isinstance(result, int):
            member.pid = result
            return None
        files = message[1]
        if result.trouble:
            _warn(result.trouble)
        content = result.content
        if result.batch < 0 and isinstance(content, Failure):  # it could not even start
            self._fail(rebuilt(content, f"the start of {member.doing()}"))
        if result.number not in (0, self.number):
            if result.layout is not None:
                _loaded(member, result, files)  # gives the slots back at once
            return None
        if result.batch != member.tasks[0].batch:  # one before it had to be sent again
            member.early[result.batch] = message
            return None
        if result.layout is not None:
            batch = _loaded(member, result, files)
            if batch is None:
                self._send(member, Again(result.batch))
                return None
            member.tasks.popleft()
            return batch
        where = member.doing()
        member.tasks.popleft()
        if isinstance(content, Failure):
            raise rebuilt(content, where)
        return (pickle.loads(content) if isinstance(content, bytes) else content,)

    def _next(self, worker: int) -> Any:
        """The next message of a worker; all are watched meanwhile."""
        messages = self._members[worker].process.link.messages
        seconds = self._timeout
        if seconds and not self._members[worker].pid:
            seconds = max(seconds, _START_SECONDS)
        deadline = time.monotonic() + seconds if seconds else None
        while not messages:
            left = None if deadline is None else max(0.0, deadline - time.monotonic()) * 1000
            ready = {fd for fd, _ in self._poll.poll(left)}
            if not ready:
                doing = self._members[worker].doing()
                self._fail(TimeoutError(f"{doing}: not ready after {seconds:g} s (timeout)"))
            for member in self._members:
                if member.process.link.fileno() in ready:
                    member.process.link.fill()
            for member in self._members:
                if member.process.link.ended or self._ended(member, ready):
                    self._dead(member)
        return messages.popleft()

    def _ended(self, member: _Member, ready: set[int]) -> bool:
        if member.process.status not in ready:
            return False
        if member.process.exitcode(0.0) is not None:
            return True
        self._poll.unregister(member.process.status)  # the server is gone; the link will tell
        return False

    def _dead(self, member: _Member) -> NoReturn:
        link = member.process.link
        link.fill()
        while link.messages:  # batches that it has made before; what it was doing is the one after
            body, files = link.messages.popleft()
            close_all(files or [])
            told: Any = pickle.loads(body)
            if isinstance(told, int):
                member.pid = told
            elif isinstance(told.content, Failure) and told.batch < 0:
                self._fail(rebuilt(told.content, f"the start of {member.doing()}"))
            elif told.number == self.number and len(member.tasks) > 1:
                member.tasks.popleft()
        code = member.process.exitcode(_EXIT_SECONDS)
        how = "exit code unknown" if code is None else f"exit code {code}"
        if code is not None and code < 0:
            how = f"signal {signal.Signals(-code).name}, exit code {code}"
        hint = "; was it out of memory?" if code == -signal.SIGKILL else ""
        self._fail(RuntimeError(f"{member.doing()}: the process has ended ({how}){hint}"))

    def _fail(self, error: Exception) -> NoReturn:
        self.close()
        raise error

    def close(self) -> None:
        """Ends the workers and waits for their end."""
        self._finalizer()


def _birth(parent: int, id: int, num_workers: int, shared: bool) -> Birth:
    return Birth(parent, id, num_workers, shared, preparation())


def _dumped(recipe: Recipe, shared: bool) -> tuple[bytes, list[int]]:
    try:
        return pack(lambda: recipe, shared)
    except Exception as error:
        parts = {"dataset": recipe.dataset, "collate_fn": recipe.collate_fn}
        found = unpicklable({**parts, "worker_init_fn": recipe.worker_init_fn}, error)
        raise found or error from error


def _loaded(member: _Member, result: Result, files: list[int] | None) -> tuple[Any] | None:
    """The batch; None if its memory could not be had."""
    assert result.layout is not None
    try:
        if files is not None:
            return (member.slots.load(result.content, result.layout, files),)
        _warn("the system could not hand over a descriptor; too many files may be open")
    except MemoryError as error:
        _warn(str(error))
    return None


def _warn(trouble: str) -> None:
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            f"DataLoader workers send batches through pipes, which is slower: {trouble}",
            RuntimeWarning,
            stacklevel=2,
        )


def _close(members: list[_Member], owner: int) -> None:
    if os.getpid() != owner:  # a forked copy of the loader: the workers are the other's
        return
    for member in members:
        member.process.link.close()
    deadline = time.monotonic() + _END_SECONDS
    for member in members:
        code = member.process.exitcode(max(0.0, deadline - time.monotonic()))
        if code is None and member.pid and deadline < time.monotonic():
            try:
                os.kill(member.pid, signal.SIGKILL)  # stopped, for instance
            except ProcessLookupError:
                pass
        member.process.close()
    members.clear()
