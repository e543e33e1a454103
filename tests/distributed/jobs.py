"""Runs many checks on the processes of one spawn.

A check is a function ``check_...(group)`` of a module. Every process runs all of them in the same
order; each gets a group of its own, so that one whose group ends in an error disturbs no other.
"""

import contextlib
import importlib
import inspect
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

import pytest

import minipaddle as paddle

dist = paddle.distributed

SECONDS_PER_CHECK = 30.0
FOLDER = "MINIPADDLE_TEST_FOLDER"  # where the processes of a job may leave files for one another
# Seconds that the group of a check waits for a rank; the processes themselves meet without haste.
LIMIT = "MINIPADDLE_TEST_LIMIT"
SECONDS_TO_MEET = 20.0


class CheckTimeout(BaseException):
    """A check ran longer than its limit."""


def checks_of(*modules):
    """The checks of some modules, by name."""
    return {
        name: function
        for module in modules
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if name.startswith("check_")
    }


def run(*modules, nprocs=2, **environ):
    """Runs the checks of some modules; returns the errors of each by rank, "" for none."""
    with (
        pytest.MonkeyPatch.context() as patch,
        tempfile.TemporaryDirectory(prefix="minipaddle-jobs-") as folder,
    ):
        patch.setenv(FOLDER, folder)
        patch.setenv("PADDLE_PG_TIMEOUT", str(1000 * SECONDS_TO_MEET))
        for name, value in environ.items():
            patch.setenv(name, value)
        context = dist.spawn(work, tuple(module.__name__ for module in modules), nprocs=nprocs)
        by_rank = [results.get() for results in context.return_queues]
    return {name: [errors[name] for errors in by_rank] for name in checks_of(*modules)}


def run_under_mpiexec(mpiexec, *modules, nprocs=2, **environ):
    """As ``run``, on processes that mpiexec starts, over MPI."""
    names = [module.__name__ for module in modules]
    with tempfile.TemporaryDirectory(prefix="minipaddle-jobs-") as folder:
        process = subprocess.Popen(
            [mpiexec, "-n", str(nprocs), sys.executable, "-m", __name__, *names],
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(sys.path),
                "PADDLE_PG_TIMEOUT": str(1000 * SECONDS_TO_MEET),
                FOLDER: folder,
                **environ,
            },
            start_new_session=True,
        )
        try:
            assert process.wait(SECONDS_PER_CHECK * len(checks_of(*modules))) == 0
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        by_rank = [json.loads(Path(folder, f"errors-{rank}").read_text()) for rank in range(nprocs)]
    return {name: [errors[name] for errors in by_rank] for name in checks_of(*modules)}


def work(*module_names):
    modules = [importlib.import_module(name) for name in module_names]
    world = dist.init_parallel_env()
    if LIMIT in os.environ:
        world.process_group.timeout = float(os.environ[LIMIT])  # of groups made from it
    errors = {}
    for name, check in checks_of(*modules).items():
        group = dist.new_group(world.ranks)
        errors[name] = attempt(check, group)
        dist.all_gather_object([], errors[name])  # nobody goes on before everybody is done
        dist.destroy_process_group(group)
    return errors


def attempt(check, group):
    try:
        with time_limit(SECONDS_PER_CHECK):
            check(group)
    except BaseException as error:
        group.process_group.abort(error)  # lets the others end it too
        return traceback.format_exc()
    return ""


@contextlib.contextmanager
def time_limit(seconds):
    def expire(signum, frame):
        raise CheckTimeout(f"longer than {seconds:g} s")

    signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)


def shared_path(name):
    return Path(os.environ[FOLDER], name)


def wait_for_file(path, seconds=15.0):
    deadline = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < deadline, f"{path.name} did not come"
        time.sleep(0.01)


def from_all(value, group):
    """The values of all ranks."""
    found = []
    dist.all_gather_object(found, value, group=group)
    return found


def assert_same(group, tensors):
    """The tensors have the same bits on all ranks."""
    mine = [(t.shape, t.dtype.name, t.numpy().tobytes()) for t in tensors]
    for rank, theirs in enumerate(from_all(mine, group)):
        assert theirs == mine, f"rank {group.rank} and rank {rank} differ"


@contextlib.contextmanager
def raises(kinds, *parts, within=8.0):
    """The block raises one of ``kinds`` within some seconds, and the text has all ``parts``."""
    begin = time.monotonic()
    try:
        yield
    except kinds as error:
        took, text = time.monotonic() - begin, str(error)
    else:
        raise AssertionError("nothing was raised")
    assert took < within, f"it took {took:.1f} s: {text}"
    for part in parts:
        assert part in text, f"no {part!r} in: {text}"


if __name__ == "__main__":
    found = work(*sys.argv[1:])
    assert type(dist.get_group().process_group).__name__ == "MpiGroup"
    shared_path(f"errors-{dist.get_rank()}").write_text(json.dumps(found))
