"""What happens inside a worker process: make batches on request, never outlive the loader."""

from __future__ import annotations

import os
import pickle
import random
import signal
import threading
import time
from collections import OrderedDict
from contextlib import suppress
from multiprocessing import process as mp_process
from multiprocessing import spawn as mp_spawn
from typing import Any, NamedTuple

import numpy as np

from minipaddle.device.backend import seed as seed_places
from minipaddle.device.backend import set_device
from minipaddle.device.process_end import wait_for_end
from minipaddle.io.dataloader.collate import to_host
from minipaddle.io.dataloader.failure import Failure, failure_of
from minipaddle.io.dataloader.fetcher import END, Fetcher, Recipe
from minipaddle.io.dataloader.link import Link, close_all
from minipaddle.io.dataloader.parcel import unpack
from minipaddle.io.dataloader.slots import Layout, SlotWriter
from minipaddle.io.dataloader.worker_info import WorkerInfo, set_worker_info

GRACE_SECONDS = 1.0  # for the batch being made, and then again for clean-up, when the loader ends
_KEPT = 16
_UNGUARDED = (
    "the main module could not be imported in the worker processes; put the program under "
    "`if __name__ == '__main__':`"
)


class Birth(NamedTuple):
    """The first message to a worker.

    Attributes:
        parent: Process id of the loader.
        id: The worker's number.
        num_workers: How many there are.
        shared: Whether to use shared memory.
        preparation: What multiprocessing tells a process about the main module and paths.
    """

    parent: int
    id: int
    num_workers: int
    shared: bool
    preparation: dict[str, Any]


class Pass(NamedTuple):
    """A request: start a pass; what is left of an earlier one counts no more."""

    number: int
    seed: int
    skip: int


class Task(NamedTuple):
    """A request: make a batch."""

    number: int
    batch: int
    indices: Any
    freed: list[int]


class Again(NamedTuple):
    """A request: send a batch once more, without shared memory, and all others from now on."""

    batch: int


class Result(NamedTuple):
    """A batch, or why there is none.

    Attributes:
        number: Number of the pass.
        batch: Number of the batch.
        content: The pickled batch, END, or a Failure.
        layout: Where its arrays lie; None if they are in ``content``.
        trouble: Why shared memory was not used, if it should have been.
    """

    number: int
    batch: int
    content: Any
    layout: Layout | None = None
    trouble: str = ""


class _Ended(BaseException):
    """Somebody has asked this process to end."""


def run(link: Link, broken: str) -> int:
    """Serves one loader until that closes the link.

    Args:
        link: To the loader.
        broken: Why the main module could not be imported; empty if it was.

    Returns:
        The exit code.
    """
    signal.signal(signal.SIGTERM, _end)
    try:
        birth: Birth = unpack(link.receive()[0], [])
        with suppress(OSError):
            os.setpgid(0, 0)  # what the data set starts ends with this process
        threading.Thread(
            target=_watch, args=(birth.parent, link.fileno()), name="loader-watcher", daemon=True
        ).start()
        body, files = link.receive()
        if broken:
            link.send(pickle.dumps(Result(0, -1, Failure(None, _UNGUARDED, broken))))
            link.receive()  # ends with the loader
        try:
            worker = _Worker(link, birth, _recipe(body, files or [], birth.preparation))
        except Exception as error:
            link.send(pickle.dumps(Result(0, -1, failure_of(error))))
            link.receive()  # ends with the loader
        link.send(pickle.dumps(os.getpid()))
        worker.serve()
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # the loader needs no more
    except _Ended:
        return 128 + signal.SIGTERM
    return 0


def _end(*_: Any) -> None:
    raise _Ended


def _watch(parent: int, fd: int) -> None:
    """Ends this process and all that it has started when the loader is gone, politely at first."""
    wait_for_end(parent, fd)
    time.sleep(GRACE_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_SECONDS)
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


def _recipe(body: bytes, files: list[int], preparation: dict[str, Any]) -> Recipe:
    current: Any = mp_process.current_process()
    current._inheriting = True  # a loader that is iterated while the main module is imported
    try:
        mp_spawn.prepare(preparation)
        recipe: Recipe = unpack(body, files)
    except AttributeError as error:
        error.add_note("Classes of a data set must stand in a file that can be imported, not in a "
                       "notebook or an interactive session.")  # fmt: skip
        raise
    finally:
        del current._inheriting
    return recipe


class _Worker:
    def __init__(self, link: Link, birth: Birth, recipe: Recipe) -> None:
        self._link, self._birth, self._recipe = link, birth, recipe
        self._slots, self._shared = SlotWriter(), birth.shared
        self._sent: OrderedDict[int, tuple[bytes, Layout]] = OrderedDict()
        self._trouble = ""
        self._fetcher: Fetcher | None = None
        self._failure: Any = None
        self._initialized = False
        set_device("cpu")  # tensors for other devices are made by the loader

    def serve(self) -> None:
        """Answers requests until the loader closes the link."""
        while True:
            self._link.fill()
            request = pickle.loads(self._link.receive()[0])
            if isinstance(request, Pass):
                self._start(request)
            elif isinstance(request, Again):
                self._send_again(request.batch)
            else:
                self._slots.free(request.freed)
                if not self._overtaken():
                    self._answer(request)

    def _overtaken(self) -> bool:
        """Whether another pass is asked for already: then nobody wants the rest of this one."""
        return any(isinstance(pickle.loads(body), Pass) for body, _ in self._link.messages)

    def _start(self, request: Pass) -> None:
        birth = self._birth
        seed = (request.seed + birth.id) % (1 << 63)
        random.seed(seed)
        np.random.seed([seed & 0xFFFFFFFF, seed >> 32, 1])  # random draws from [low, high] already
        seed_places(seed)
        set_worker_info(WorkerInfo(birth.id, birth.num_workers, self._recipe.dataset, seed))
        self._fetcher = self._failure = None
        try:
            if not self._initialized and self._recipe.worker_init_fn is not None:
                self._recipe.worker_init_fn(birth.id)
            self._initialized = True
            self._fetcher = Fetcher(self._recipe, request.skip)
        except _Ended:
            raise
        except BaseException as error:  # told with the first batch that is asked for
            self._failure = failure_of(error)

    def _answer(self, task: Task) -> None:
        result: Any
        try:
            result = self._failure
            if self._fetcher is not None:
                batch = self._fetcher.fetch(task.indices)
                if batch is not END:
                    self._deliver(task, to_host(batch))
                    return
                result = END
        except (_Ended, EOFError, BrokenPipeError, ConnectionResetError) as error:
            if isinstance(error, _Ended) or self._link.ended:
                raise
            result = failure_of(error)
        except BaseException as error:
            result = failure_of(error)
        self._link.send(pickle.dumps(Result(task.number, task.batch, result), 5))

    def _deliver(self, task: Task, batch: Any) -> None:
        if self._shared:
            try:
                head, layout, files = self._slots.dump(batch)
            except (MemoryError, OSError) as error:
                self._shared, self._trouble = False, str(error)
            else:
                try:
                    if files:  # the loader may not be able to take them
                        self._sent[task.batch] = head, layout
                        while len(self._sent) > _KEPT:
                            self._sent.popitem(last=False)
                    self._link.send(pickle.dumps(Result(*task[:2], head, layout), 5), files)
                finally:
                    close_all(files)
                return
        body = Result(*task[:2], pickle.dumps(batch, 5), None, self._trouble)
        self._link.send(pickle.dumps(body, 5))

    def _send_again(self, index: int) -> None:
        head, layout = self._sent.pop(index)
        batch = pickle.loads(head, buffers=self._slots.read(layout))
        self._shared = False
        self._link.send(pickle.dumps(Result(0, index, pickle.dumps(batch, 5)), 5))
