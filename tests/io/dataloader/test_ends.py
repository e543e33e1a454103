"""Nothing of a loader stays: processes, descriptors, memory, threads, files; however it ends."""

import os
import signal
import subprocess
import sys
import tempfile

import pytest

from minipaddle.io import DataLoader
from minipaddle.io.dataloader.fork_server import fork_server
from tests.distributed.leftovers import is_running, nothing_left, session_members, until
from tests.io.samples import Broken, Facts, Large

pytestmark = pytest.mark.time_limit(60)


def finish(loader):
    list(loader)


def break_off(loader):
    for _ in loader:
        break


def raise_in_the_body(loader):
    with pytest.raises(ZeroDivisionError):
        for _ in loader:
            1 / 0  # noqa: B018


def forget(loader):
    next(iter(loader))


def iterate_twice(loader):
    first = iter(loader)
    next(first)
    second = iter(loader)
    next(second)


def hold_batches(loader):
    held = list(loader)
    del held[::2]


@pytest.mark.parametrize(
    "use", [finish, break_off, raise_in_the_body, forget, iterate_twice, hold_batches]
)
@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("shared", [True, False])
def test_nothing_is_left(monkeypatch, tmp_path, use, keep, shared):
    fork_server()
    with nothing_left(monkeypatch, tmp_path):
        use(
            DataLoader(
                Large(), batch_size=2, num_workers=2, persistent_workers=keep,
                use_shared_memory=shared,
            )
        )  # fmt: skip


@pytest.mark.parametrize("how", ["kill", "exit", "value_error", "hang"])
def test_nothing_is_left_of_what_has_failed(monkeypatch, tmp_path, how):
    fork_server()
    with nothing_left(monkeypatch, tmp_path):
        try:
            list(DataLoader(Broken(how=how), num_workers=2, timeout=0.3))
        except (RuntimeError, TimeoutError, ValueError):
            return
        pytest.fail("the loader did not notice")


def test_nothing_is_left_of_what_cannot_start(monkeypatch, tmp_path):
    data = Large()
    data.part = lambda: None
    fork_server()
    with nothing_left(monkeypatch, tmp_path), pytest.raises(TypeError):
        iter(DataLoader(data, num_workers=2))


def test_a_forked_copy_of_a_loader_leaves_the_workers_alone():
    """A copy that ends by itself does not end the workers of the original."""
    loader = DataLoader(Facts(), batch_size=None, num_workers=1, persistent_workers=True)
    (worker,) = {fact["pid"] for fact in loader}
    copy = os.fork()
    if copy == 0:
        loader._pool.close()
        os._exit(0)
    os.waitpid(copy, 0)
    assert {fact["pid"] for fact in loader} == {worker}


PROGRAM = """
import os, subprocess, sys, threading, time
import numpy as np
from minipaddle.io import DataLoader, Dataset, get_worker_info
class Data(Dataset):
    def __len__(self):
        return 1000
    def __getitem__(self, idx):
        if idx == 5 and {helper}:
            helper = subprocess.Popen(["sleep", "50"])
            print("helper", helper.pid, flush=True)
        if idx == 7 and {hang}:
            time.sleep(50)
        return np.ones(100_000) * idx
if __name__ == "__main__":
    loader = DataLoader(Data(), batch_size=1, num_workers=2, persistent_workers={keep})
    batches = iter(loader)
    for _ in range(7):
        next(batches)
    print("ready", flush=True)
    {end}
"""


class Program:
    """A program in a session of its own."""

    def __init__(self, folder, end, keep=False, helper=False, hang=False):
        file = folder / "program.py"
        file.write_text(PROGRAM.format(end=end, keep=keep, helper=helper, hang=hang), "utf-8")
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        path = os.pathsep.join([os.getcwd(), os.environ.get("PYTHONPATH", "")])
        self.process = subprocess.Popen(
            [sys.executable, "-W", "error", file], cwd=folder, start_new_session=True, text=True,
            env={**os.environ, "PYTHONPATH": path, "TMPDIR": str(self.temporary)},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self.said = []
        for line in self.process.stdout:
            self.said.append(line.split())
            if line == "ready\n":
                break
        self.members = session_members(self.process.pid)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pid in session_members(self.process.pid):
            os.kill(pid, signal.SIGKILL)
        self.process.kill()
        self.process.communicate(timeout=20)

    def check_gone(self):
        """All its processes end, and it has left no file."""
        assert len(self.members) >= 4, self.said  # itself, the server, two workers
        assert until(lambda: not session_members(self.process.pid), 15)
        assert until(lambda: not any(is_running(pid) for pid in self.members), 5)
        assert os.listdir(self.temporary) == []


ENDS = {
    "end of the program": ("", 0),
    "sys.exit": ("sys.exit(3)", 3),
    "an error": ("1 / 0", 1),
    "a loop that is left": ("del batches; sys.exit(4)", 4),
}


@pytest.mark.parametrize(("end", "code"), ENDS.values(), ids=list(ENDS))
@pytest.mark.parametrize("keep", [False, True])
def test_the_end_of_a_program(tmp_path, end, code, keep):
    with Program(tmp_path, end, keep) as program:
        assert program.process.wait(30) == code
        stderr = program.process.stderr.read()
        assert ("ZeroDivisionError" in stderr) if code == 1 else not stderr
        assert until(lambda: not session_members(program.process.pid), 15)
        assert os.listdir(program.temporary) == []


@pytest.mark.parametrize("hang", [False, True])
def test_the_sudden_death_of_a_program(tmp_path, hang):
    """A worker in the middle of a batch ends too, with the processes that the data set started."""
    with Program(tmp_path, "time.sleep(50)", helper=True, hang=hang) as program:
        assert [line[0] for line in program.said] == ["helper", "ready"]
        os.kill(program.process.pid, signal.SIGKILL)
        program.process.wait(30)
        program.check_gone()


@pytest.mark.parametrize("waiting", [False, True])
def test_ctrl_c(tmp_path, waiting):
    end = "list(batches)" if waiting else "time.sleep(50)"
    with Program(tmp_path, end, hang=waiting) as program:
        os.killpg(program.process.pid, signal.SIGINT)
        assert program.process.wait(30) == -signal.SIGINT
        assert program.process.stderr.read().count("KeyboardInterrupt") == 1
        program.check_gone()


def test_the_death_of_the_server_is_no_harm():
    """Workers go on without it, and the next ones have another."""
    loader = DataLoader(Facts(), batch_size=None, num_workers=1)
    batches = iter(loader)
    next(batches)
    server = fork_server()
    os.kill(server._process.pid, signal.SIGKILL)
    server._process.wait(20)
    assert len(list(batches)) == 3
    assert fork_server() is not server
    assert len(list(loader)) == 4


def test_temporary_files_are_made_by_nobody(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    list(DataLoader(Large(), num_workers=1))
    assert os.listdir(tmp_path) == []
