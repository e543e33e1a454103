"""Rules for every test: a time limit, and GPU tests only where there is a GPU."""

import importlib.util
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

import pytest

from minipaddle.device.backend import get_place
from minipaddle.imperative.operand import FUNCTIONS
from minipaddle.ops.op import OPS, namespace
from minipaddle.utils.load_op import _loaded

SECONDS_PER_TEST = 120.0


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests that need more GPUs than there are; ask only if such a test was collected."""
    needs = [
        (item, 2 if item.get_closest_marker("multi_gpu") else 1)
        for item in items
        if item.get_closest_marker("gpu") or item.get_closest_marker("multi_gpu")
    ]
    if not needs:
        return
    present = gpu_count()
    for item, wanted in needs:
        if present < wanted:
            item.add_marker(pytest.mark.skip(reason=f"needs {wanted} GPU(s), found {present}"))


def gpu_count() -> int:
    """Number of GPUs that CuPy can use; 0 without CuPy, without a driver, or without a GPU."""
    if importlib.util.find_spec("cupy") is None:
        return 0
    cupy = importlib.import_module("cupy")
    return cupy.cuda.runtime.getDeviceCount() if cupy.cuda.is_available() else 0


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Fail a test that runs past its limit, set-up and tear-down included.

    The alarm interrupts every wait of the main thread. ``pytest.fail`` raises outside the
    Exception hierarchy, so that an ``except Exception`` in the code under test lets it through.
    """
    marker = item.get_closest_marker("time_limit")
    seconds = float(marker.args[0]) if marker else SECONDS_PER_TEST
    if (
        not hasattr(signal, "setitimer")
        or threading.current_thread() is not threading.main_thread()
    ):
        return (yield)

    def expire(signum: int, frame: FrameType | None) -> None:
        pytest.fail(f"{item.nodeid} ran longer than its limit of {seconds:g} s")

    previous = signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, previous)


@pytest.fixture
def ops_as_before() -> Iterator[None]:
    """Takes ops that the test loads back out afterwards, for which a program has no need."""
    tables: list[dict[Any, Any]] = [OPS, FUNCTIONS, _loaded]
    before = [dict(table) for table in tables]
    yield
    for table, content in zip(tables, before, strict=True):
        table.clear()
        table.update(content)
    namespace(get_place("cpu")).forget()
