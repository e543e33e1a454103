"""Starting worker processes: by a server that forks, so that a process with threads never does.

multiprocessing's own server leaves its socket's file behind when the program is killed, and its
processes inherit the thread limits of whoever has started it first. This one has a socket without
a name, has imported minipaddle and the main module, and computes with one thread.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import traceback
import weakref
from contextlib import suppress
from multiprocessing import spawn as mp_spawn
from multiprocessing import util as mp_util
from typing import Any

from minipaddle.device.parallel_env import one_thread_environ
from minipaddle.io.dataloader.link import Link, close_all
from minipaddle.io.dataloader.parcel import pack, unpack
from minipaddle.io.dataloader.worker import run

_STATUS = struct.Struct("<i")
_STOP_SECONDS = 5.0


def preparation() -> dict[str, Any]:
    """What a started process has to know of this one; to be called by ``pack``."""
    found = mp_spawn.get_preparation_data("DataLoader worker")
    if not os.path.exists(found.get("init_main_from_path", "/")):  # from a pipe
        del found["init_main_from_path"]
    return found


class ForkServer:
    """A process that forks workers, with a single thread for numbers."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            code = (
                f"import sys; sys.path[:] = {sys.path!r}; "
                f"from minipaddle.io.dataloader.fork_server import main; main({theirs.fileno()})"
            )
            flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
            command = [os.fsdecode(mp_spawn.get_executable()), *flags, "-c", code]
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                env=one_thread_environ(),
                pass_fds=[theirs.fileno()],
            )
        self._link = Link(ours)
        self._owner = os.getpid()
        weakref.finalize(self, _stop, self._process, self._link, self._owner)
        self._link.send(pack(preparation)[0])

    def usable(self) -> bool:
        """Whether it is this process's and runs."""
        return self._owner == os.getpid() and self._process.poll() is None

    def fork(self, files: list[int]) -> None:
        """Asks for a worker: descriptors of its link and of where its exit code goes."""
        self._link.send(b"", files)


def _stop(process: subprocess.Popen[bytes], link: Link, owner: int) -> None:
    if owner != os.getpid():
        return
    link.close()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


_server: ForkServer | None = None
_lock = threading.Lock()


def fork_server() -> ForkServer:
    """The server of this process, started if it does not run; it ends with the program.

    Raises:
        RuntimeError: This is a started process that imports the main module.
    """
    global _server
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise RuntimeError(
            "a DataLoader with workers was iterated while a worker process imports the main "
            "module; put the program under `if __name__ == '__main__':`"
        )
    with _lock:
        if _server is None or not _server.usable():
            _server = ForkServer()
        return _server


class ChildProcess:
    """A worker process, as its parent sees it.

    Args:
        server: Forks it.

    Attributes:
        link: The messages to and from it.
        status: Descriptor that becomes readable when the process has ended.
    """

    def __init__(self, server: ForkServer) -> None:
        ours, theirs = socket.socketpair()
        self.link = Link(ours)
        self.status, status = os.pipe()
        self._code: int | None = None
        try:
            server.fork([theirs.fileno(), status])
        except BaseException:
            self.close()
            raise
        finally:
            theirs.close()
            os.close(status)

    def exitcode(self, seconds: float) -> int | None:
        """Waits for the end.

        Returns:
            The exit code; minus the signal's number if one ended it; None if it still runs, or
            nobody knows.
        """
        waiter = select.poll()
        waiter.register(self.status, select.POLLIN)
        if self._code is None and self.status >= 0 and waiter.poll(seconds * 1000):
            told = os.read(self.status, _STATUS.size)
            if len(told) == _STATUS.size:
                self._code = _STATUS.unpack(told)[0]
        return self._code

    def close(self) -> None:
        """Closes what this process holds of it; a worker ends by that."""
        self.link.close()
        if self.status >= 0:
            os.close(self.status)
        self.status = -1


def main(fd: int) -> None:
    """The server: forks a worker whenever it is asked to, and reports how each has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the program decides what Ctrl-C means
    control = Link(socket.socket(fileno=fd))
    woken, wake = os.pipe()
    os.set_blocking(woken, False)
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    try:
        broken = _prepare(control.receive()[0])
        signal.signal(signal.SIGCHLD, lambda *_: None)
        found = _serve(control, woken)
    except EOFError:
        return
    if found is None:
        control.close()
        return
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    close_all([woken, wake])
    atexit._clear()  # what the server has registered is not the worker's
    code = 1
    link = Link(socket.socket(fileno=found))
    try:
        code = run(link, broken)
    finally:
        link.close()
        _leave(code)


def _leave(code: int) -> None:
    """Ends a worker; to take the interpreter apart would copy most of the server's memory first."""
    mp_util._exit_function()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    if os.getpgrp() == os.getpid():  # what the data set has started ends too
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.killpg(os.getpid(), signal.SIGTERM)
    os._exit(code)


def _prepare(body: bytes) -> str:
    current: Any = multiprocessing.current_process()
    current._inheriting = True
    try:
        mp_spawn.prepare(unpack(body, []))
    except BaseException:  # the workers tell it to the loader
        return traceback.format_exc()
    finally:
        del current._inheriting
    return ""


def _serve(control: Link, woken: int) -> int | None:
    """Returns in each worker, with the descriptor of its link, and in the server at the end."""
    statuses: dict[int, int] = {}  # by process id
    waiter = select.poll()
    waiter.register(control, select.POLLIN)
    waiter.register(woken, select.POLLIN)
    while not control.ended or control.messages:
        while control.messages:
            files = control.messages.popleft()[1]
            if files is None:
                continue
            pid = os.fork()
            if pid == 0:
                control.close()
                close_all([*statuses.values(), files[1]])
                return files[0]
            os.close(files[0])
            statuses[pid] = files[1]
        waiter.poll()
        _drain(woken)
        control.fill()
        _reap(statuses)
    return None


def _drain(fd: int) -> None:
    try:
        os.read(fd, 4096)
    except BlockingIOError:
        pass


def _reap(statuses: dict[int, int]) -> None:
    for pid in list(statuses):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            told = _STATUS.pack(os.waitstatus_to_exitcode(status))
            try:
                os.write(statuses[pid], told)
            except BrokenPipeError:
                pass  # the loader is gone
            os.close(statuses.pop(pid))
