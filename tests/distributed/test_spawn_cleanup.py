"""Nothing is left: at a good end, at a bad one, and when the parent goes away in any manner."""

import contextlib
import gc
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from pathlib import Path

import psutil
import pytest

from minipaddle.distributed.spawn import spawn
from minipaddle.distributed.spawn_context import MultiprocessContext
from tests.distributed import spawn_targets as targets
from tests.distributed.leftovers import is_running, nothing_left, session_members, until

METHODS = ["spawn", "fork", "forkserver"]
PROGRAM = """
import os, pathlib, signal, sys, time
from minipaddle.distributed.spawn import spawn
from tests.distributed import spawn_targets as targets

if __name__ == "__main__":
    {body}
"""


@pytest.mark.parametrize("method", METHODS)
def test_a_good_end(method, monkeypatch, tmp_path):
    with nothing_left(monkeypatch, tmp_path, method):
        context = spawn(targets.big, args=(1,), nprocs=2, start_method=method)
        assert context.return_queues[1].get().max() == 1.0


def test_a_bad_end_whose_error_is_kept(monkeypatch, tmp_path):
    with nothing_left(monkeypatch, tmp_path):
        try:
            spawn(targets.fail, args=("exception", 1), nprocs=2)
        except RuntimeError as error:
            kept = error
    assert kept.rank == 1


def test_an_ended_job_makes_no_reference_cycle():
    spawn(targets.echo, args=(1,), nprocs=1)
    gc.collect()
    gc.disable()
    try:
        spawn(targets.echo, args=(1,), nprocs=2)
        alive = [one for one in gc.get_objects() if isinstance(one, MultiprocessContext)]
    finally:
        gc.enable()
    assert not alive


def ready(folder, nprocs=2):
    return all((folder / f"ready-{rank}").exists() for rank in range(nprocs))


def test_a_dropped_context_ends_its_processes(monkeypatch, tmp_path):
    with nothing_left(monkeypatch, tmp_path):
        context = spawn(targets.sleep_with_helper, (str(tmp_path),), nprocs=2, join=False)
        pids = [process.pid for process in context.processes]
        assert until(lambda: ready(tmp_path))
        with pytest.warns(ResourceWarning, match=r"ranks \[0, 1\] were ended"):
            del context
        assert not any(map(is_running, pids))


def test_a_forked_process_that_drops_its_copy_ends_nothing(monkeypatch, tmp_path):
    context = spawn(targets.sleep_with_helper, (str(tmp_path),), nprocs=1, join=False)
    pid = context.processes[0].pid
    assert until(lambda: ready(tmp_path, 1))
    monkeypatch.setattr(targets, "KEPT", [context])
    del context
    spawn(targets.forget, nprocs=1, start_method="fork")
    assert is_running(pid)
    with pytest.warns(ResourceWarning, match="were ended"):
        targets.KEPT.clear()
    assert not is_running(pid)


def test_a_dropped_context_that_had_ended_is_quiet(monkeypatch, tmp_path):
    with nothing_left(monkeypatch, tmp_path):
        context = spawn(targets.echo, nprocs=2, join=False)
        job = context._job
        assert until(lambda: not job.alive())
        del context


def test_an_error_in_the_waiting_thread_ends_the_job(monkeypatch, tmp_path):
    def alarm(number, frame):
        raise TimeoutError("woken")

    previous = signal.signal(signal.SIGUSR1, alarm)
    try:
        with nothing_left(monkeypatch, tmp_path):
            context = spawn(targets.sleep_with_helper, (str(tmp_path),), nprocs=2, join=False)
            assert until(lambda: ready(tmp_path))
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGUSR1)).start()
            with pytest.raises(TimeoutError, match="woken"):
                context.join(timeout=60)
            with pytest.raises(RuntimeError, match="ended before they had finished"):
                context.join()
    finally:
        signal.signal(signal.SIGUSR1, previous)


class Program:
    """A program with a session of its own, so that everything it starts can be found."""

    def __init__(self, folder, body):
        self.folder = folder
        # Not below ``folder``: the address of a socket has at most 107 characters.
        self.temporary = Path(tempfile.mkdtemp(prefix="mp-"))
        path = folder / "program.py"
        path.write_text(PROGRAM.format(body=textwrap.indent(textwrap.dedent(body), "    ").strip()))
        environ = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "TMPDIR": str(self.temporary),
        }
        self.process = subprocess.Popen(
            [sys.executable, str(path), str(folder)],
            start_new_session=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environ,
        )

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for pid in session_members(self.process.pid):
            os.kill(pid, signal.SIGKILL)
        self.process.communicate(timeout=30)
        shutil.rmtree(self.temporary)

    def signal_when_ready(self, number):
        assert until(lambda: ready(self.folder)), self.process.poll()
        assert len(session_members(self.process.pid)) >= 5  # with children and their helpers
        self.process.send_signal(number)

    def assert_nothing_left(self, seconds=15.0):
        session = self.process.pid
        assert until(lambda: not session_members(session), seconds), session_members(session)
        assert until(lambda: not self.folders(), 5.0), self.folders()

    def folders(self):
        """Temporary files, but for the address of multiprocessing's fork server (pymp-*)."""
        return [p.name for p in self.temporary.iterdir() if not p.name.startswith("pymp-")]


SLEEP = "spawn(targets.{target}, (sys.argv[1],), nprocs=2, start_method={method!r})"


@pytest.mark.parametrize("target", ["sleep_with_helper", "sleep_deaf"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_death_of_the_parent(number, method, target, tmp_path):
    with Program(tmp_path, SLEEP.format(target=target, method=method)) as program:
        program.signal_when_ready(number)
        assert program.process.wait(10) == -number
        program.assert_nothing_left()


def trackers(session):
    found = []
    for pid in session_members(session):
        with contextlib.suppress(psutil.NoSuchProcess):
            if "resource_tracker" in " ".join(psutil.Process(pid).cmdline()):
                found.append(pid)
    return found


def test_a_helper_that_outlives_the_parent_keeps_no_child_alive(tmp_path):
    """It has the parent's end of every pipe, so the pipes do not tell that the parent is gone."""
    body = """
    context = spawn(targets.sleep_with_helper, (sys.argv[1],), nprocs=2, join=False)
    helper = os.fork()
    if helper:
        pathlib.Path(sys.argv[1], "helper").write_text(str(helper))
    time.sleep(600)
    """
    with Program(tmp_path, body) as program:
        program.signal_when_ready(signal.SIGKILL)
        helper = int((tmp_path / "helper").read_text())
        # Python's resource tracker ends when nobody holds its pipe; the helper does.
        allowed = {helper, *trackers(program.process.pid)}
        assert until(lambda: set(session_members(program.process.pid)) <= allowed)
        assert until(lambda: not program.folders())


@pytest.mark.parametrize("method", METHODS)
def test_ctrl_c_in_the_parent(method, tmp_path):
    body = SLEEP.format(target="sleep_with_helper", method=method)
    with Program(tmp_path, body) as program:
        program.signal_when_ready(signal.SIGINT)
        _, errors = program.process.communicate(timeout=20)
        assert program.process.returncode == -signal.SIGINT
        assert errors.rstrip().endswith("KeyboardInterrupt")
        program.assert_nothing_left()


def test_the_parent_dies_while_its_children_begin(tmp_path):
    body = """
    context = spawn(targets.sleep_deaf, (sys.argv[1],), nprocs=2, join=False)
    signal.raise_signal(signal.SIGKILL)
    """
    with Program(tmp_path, body) as program:
        assert program.process.wait(20) == -signal.SIGKILL
        program.assert_nothing_left()


@pytest.mark.parametrize(
    ("daemon", "last", "done"),
    [
        (False, "pass", True),
        (True, "pass", False),
        (False, "raise SystemExit(3)", True),
        (False, "raise ValueError('of the parent')", False),
    ],
)
def test_the_end_of_the_program(daemon, last, done, tmp_path):
    """Waits for processes, but not for daemons and not after an error: as Python does."""
    body = f"""
    context = spawn(targets.finish_late, (sys.argv[1],), nprocs=2, join=False, daemon={daemon})
    {last}
    """
    with Program(tmp_path, body) as program:
        _, errors = program.process.communicate(timeout=30)
        assert program.process.returncode == {"p": 0, "r": 3 if "Exit" in last else 1}[last[0]]
        assert ("of the parent" in errors) == ("ValueError" in last)
        assert [(tmp_path / f"done-{rank}").exists() for rank in (0, 1)] == [done, done]
        program.assert_nothing_left()


def test_a_failure_that_nobody_waited_for_is_printed_at_the_end(tmp_path):
    body = "context = spawn(targets.fail, ('exception', 1), nprocs=2, join=False)"
    with Program(tmp_path, body) as program:
        _, errors = program.process.communicate(timeout=30)
        assert "ValueError: the-reason" in errors
        program.assert_nothing_left()


def test_a_child_that_is_killed_takes_its_own_job_with_it(tmp_path):
    body = """
    spawn(targets.spawn_again, (sys.argv[1],), nprocs=1)
    """
    with Program(tmp_path, body) as program:
        assert until(lambda: ready(tmp_path))
        os.kill(int((tmp_path / "child").read_text()), signal.SIGKILL)
        _, errors = program.process.communicate(timeout=30)
        assert "was killed by SIGKILL" in errors
        program.assert_nothing_left()


@pytest.mark.parametrize("target", [targets.sleep_with_helper, targets.close_everything])
def test_waiting_costs_next_to_nothing(target, tmp_path):
    context = spawn(target, (str(tmp_path),), nprocs=1, join=False)
    assert until(lambda: ready(tmp_path, 1))
    before = time.process_time()
    assert context.join(timeout=1.0) is False
    assert time.process_time() - before < 0.3
    with pytest.warns(ResourceWarning):
        del context
