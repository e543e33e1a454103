"""What happens inside a process that spawn has started: run, report, never outlive the parent."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import signal
import threading
import time
import traceback
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any, NamedTuple

from minipaddle.device.backend import set_device
from minipaddle.device.flags import apply_environ
from minipaddle.device.parallel_env import ParallelEnv, remove_proxies
from minipaddle.device.process_end import wait_for_end
from minipaddle.distributed.group import abort_default_group
from minipaddle.distributed.process_group.base import PeerError

# What runs the user's function or program: this package's modules, and Python's for programs.
_OUR_FILES = (str(Path(__file__).parent), "<frozen runpy>")


class Call:
    """A function and its arguments, pickled by themselves.

    The child unpickles them inside its own error handling; were they plain arguments of the
    process, multiprocessing would unpickle them before any code of ours runs, and an error there
    would never reach the caller.
    """

    def __init__(self, function: Any, args: tuple[Any, ...]) -> None:
        self._parts: tuple[Any, tuple[Any, ...]] | None = (function, args)
        self._pickled: bytes | None = None

    def __getstate__(self) -> bytes:
        return bytes(ForkingPickler.dumps(self._parts))

    def __setstate__(self, pickled: bytes) -> None:
        self._parts, self._pickled = None, pickled

    def take(self) -> tuple[Any, tuple[Any, ...]]:
        """The function and its arguments."""
        if self._parts is None:
            assert self._pickled is not None
            self._parts = ForkingPickler.loads(self._pickled)
            self._pickled = None
        return self._parts


class Failure(NamedTuple):
    """How a process ended badly.

    Attributes:
        when: Time of the monotonic clock, which all processes of a machine share.
        summary: The exception in one line, or how the process ended.
        text: The traceback; empty if the process left none.
        of_peer: Whether it only tells that another process failed.
    """

    when: float
    summary: str
    text: str
    of_peer: bool = False


def started_file(folder: Path, rank: int) -> Path:
    """Exists once the process has come as far as running code of ours."""
    return folder / f"started-{rank}"


def result_file(folder: Path, rank: int) -> Path:
    """Holds the pickled return value once the function has returned."""
    return folder / f"result-{rank}"


def failure_file(folder: Path, rank: int) -> Path:
    """Holds a Failure as JSON once the function has failed."""
    return folder / f"failure-{rank}"


def run_child(
    rank: int,
    call: Call,
    variables: Mapping[str, str],
    folder: Path,
    parent: Any = None,
) -> None:
    """Runs ``call`` as process ``rank`` of a job; what comes of it goes into files in ``folder``.

    Files rather than pipes: a pipe holds 64 KiB, and a child that reports more than that would
    wait for a parent that waits for the child. ``parent`` has the ``pid`` of the parent,
    and as its ``sentinel`` a descriptor whose other end it holds; multiprocessing's by default.
    """
    with suppress(OSError):  # already the leader of a group
        os.setpgid(0, 0)
    threading.Thread(
        target=_die_with_parent, args=(folder, parent), name="parent-watcher", daemon=True
    ).start()
    try:
        started_file(folder, rank).touch()
        remove_proxies()
        apply_environ(variables)
        env = ParallelEnv()
        set_device(f"{env.device_type}:{env.device_id}")
        _write(result_file(folder, rank), _outcome(call))
    except BaseException as error:
        _report(error, failure_file(folder, rank))
        raise SystemExit(_exit_code(error)) from None


def _outcome(call: Call) -> bytes:
    """Runs the call; its return value, pickled. A clean ``sys.exit()`` counts as returning None."""
    function, args = call.take()
    try:
        value = function(*args)
    except SystemExit as leaving:
        if leaving.code not in (None, 0):
            raise
        value = None
    try:
        return bytes(ForkingPickler.dumps(value))
    except Exception as error:
        name = getattr(function, "__name__", repr(function))
        raise TypeError(
            f"the value that {name} returned cannot be pickled, so it cannot travel back to the "
            f"caller of spawn: {error}"
        ) from error


def _exit_code(error: BaseException) -> int:
    code = error.code if isinstance(error, SystemExit) else 1
    return code if isinstance(code, int) and 0 < code < 256 else 1


def _write(path: Path, content: bytes) -> None:
    """Writes a file that others see either not at all or whole."""
    draft = path.with_suffix(".part")
    draft.write_bytes(content)
    draft.rename(path)


def _report(error: BaseException, path: Path) -> None:
    when = time.monotonic()  # before anything else: the earliest failure is the one to show
    try:
        frames = error.__traceback__
        while frames is not None and frames.tb_frame.f_code.co_filename.startswith(_OUR_FILES):
            frames = frames.tb_next  # they say nothing to the user
        lines = traceback.format_exception(type(error), error, frames or error.__traceback__)
        summary = traceback.format_exception_only(error)[-1].strip()
        of_a_peer = isinstance(error, PeerError) or isinstance(error.__cause__, PeerError)
        failure = Failure(when, summary, "".join(lines), of_a_peer)
    except BaseException as broken:  # an exception may lie in every respect, and memory may be full
        name = type(error).__name__
        failure = Failure(when, name, f"{name} (its text raised {type(broken).__name__})\n")
    # The folder is gone when the parent is: then nobody is left to read it.
    with suppress(OSError):
        _write(path, json.dumps(failure._asdict()).encode())
    _tell_peers(error)


def _tell_peers(error: BaseException) -> None:
    """Peers that wait for this process in a collective learn at once that it will not come."""
    with suppress(Exception):  # the failure that is being reported is the one that matters
        abort_default_group(error)


def _die_with_parent(folder: Path, parent: Any) -> None:
    """Kills this process and the helpers it has started once the parent is gone.

    A signal that the kernel sends at the death of the parent would be simpler, but it is tied to
    the *thread* that started the process. The end of the parent shows at a pipe; a forked sibling
    may hold the other end of that pipe, so the process itself is watched as well.
    """
    parent = parent or multiprocessing.parent_process()
    if parent is None:
        return
    wait_for_end(parent.pid or 0, parent.sentinel)
    for _ in range(100):  # siblings do the same, and may still have a file to write
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            break
        time.sleep(0.01)
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)
