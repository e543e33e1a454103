"""Runs many checks on the processes of one spawn.

A check is a function ``check_...(group)`` of a module. Every process runs all of them in the same
order; each gets a group of its own, so that one whose group ends in an error disturbs no other.
"""

import contextlib
import importlib
import inspect
import os
import signal
import tempfile
import time
import traceback
from pathlib import Path

import pytest

import minipaddle as paddle

dist = paddle.distributed

SECONDS_PER_CHECK = 30.0
FOLDER = "MINIPADDLE_TEST_FOLDER"  # where the processes of a job may leave files for one another


class CheckTimeout(BaseException):
    """A check ran longer than its limit."""


def checks_of(module):
    """Names of the checks of a module."""
    functions = inspect.getmembers(module, inspect.isfunction)
    return [name for name, function in functions if name.startswith("check_")]


def run(module, nprocs=2, **environ):
    """Runs the checks of a module; returns for each its errors by rank, "" where it went well."""
    with (
        pytest.MonkeyPatch.context() as patch,
        tempfile.TemporaryDirectory(prefix="minipaddle-jobs-") as folder,
    ):
        patch.setenv(FOLDER, folder)
        patch.setenv("PADDLE_PG_TIMEOUT", "20000")
        for name, value in environ.items():
            patch.setenv(name, value)
        context = dist.spawn(work, (module.__name__,), nprocs=nprocs)
        by_rank = [results.get() for results in context.return_queues]
    return {name: [errors[name] for errors in by_rank] for name in checks_of(module)}


def work(module_name):
    module = importlib.import_module(module_name)
    world = dist.init_parallel_env()
    errors = {}
    for name in checks_of(module):
        group = dist.new_group(world.ranks)
        errors[name] = attempt(getattr(module, name), group)
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
