"""What is there before a job and must be there unchanged after it."""

import contextlib
import os
import tempfile
import threading
import time
from multiprocessing import forkserver, resource_tracker
from pathlib import Path

import psutil


def until(condition, seconds=20.0):
    """Waits until ``condition()`` is true; returns whether it became so in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def is_running(pid):
    """Whether the process exists and is more than an entry that nobody has reaped."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
    return False


def session_members(session):
    """Pids of the running processes of a session: what a program has started, in any depth."""
    members = []
    for pid in psutil.pids():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.getsid(pid) == session and is_running(pid):
                members.append(pid)
    return members


def _descriptors():
    """Open descriptors and what they stand for; the one that lists them is left out."""
    found = {}
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):
            found[int(name)] = os.readlink(f"/proc/self/fd/{name}")
    return found


def _sockets():
    return sorted(str(one.laddr) for one in psutil.Process().net_connections())


def snapshot():
    """Processes, descriptors, sockets, threads, shared memory and temporary folders of ours."""
    return {
        "processes": sorted(one.pid for one in psutil.Process().children(recursive=True)),
        "descriptors": _descriptors(),
        "sockets": _sockets(),
        "threads": sorted(thread.name for thread in threading.enumerate()),
        "shared memory": sorted(os.listdir("/dev/shm")),
        "folders": sorted(str(p) for p in Path(tempfile.gettempdir()).glob("minipaddle-*")),
    }


@contextlib.contextmanager
def nothing_left(monkeypatch, folder, start_method="spawn"):
    """Fails if what runs inside leaves anything behind.

    Python's multiprocessing starts a resource tracker (and a fork server for its method) with the
    first process and keeps it until the program ends; so they are started before.
    """
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    resource_tracker.ensure_running()
    if start_method == "forkserver":
        forkserver.ensure_running()
    before = snapshot()
    yield
    if not until(lambda: snapshot() == before, 5.0):
        after = snapshot()
        changed = {what: (before[what], after[what]) for what in before}
        assert not {what: pair for what, pair in changed.items() if pair[0] != pair[1]}
