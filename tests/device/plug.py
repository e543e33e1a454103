"""Plugs the fake XPUs in for the length of a test, so that other tests see a machine without."""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from minipaddle.device import backend

_places: dict[tuple[str, int], backend.Place] = {}


@contextmanager
def plugged_in() -> Iterator[ModuleType]:
    """Registers the kind ``xpu``, and takes it away again; gives the module tests.device.fake_xpu.

    There is no public way to unregister a kind, as no program needs one.
    """
    current = backend.get_device()
    module = importlib.import_module("tests.device.fake_xpu")
    backend._backends[module.KIND] = module.BACKEND
    backend._places.update(_places)
    module.BACKEND.set_device(0)
    try:
        yield module
    finally:
        backend.set_device(current)
        del backend._backends[module.KIND]
        for key in [key for key in backend._places if key[0] == module.KIND]:
            _places[key] = backend._places.pop(key)  # one Place a device, also for a later test
