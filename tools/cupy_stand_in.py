"""NumPy under CuPy's name, so that kernels for a GPU can be started where there is none.

A launch does nothing and its result is zeros; what is kept is which kernels were asked for. It is
no emulator: it answers what minipaddle asks of CuPy, so far that a call comes to its launches.
"""

from __future__ import annotations

import functools
import importlib.abc
import importlib.machinery
import sys
from types import ModuleType
from typing import Any

import numpy as np

NAMES = ("cupy", "cupyx", "cupy_backends")
PROCESSORS = 132

# What was asked for, the whole source text and a template with its arguments; and its options.
Requests = dict[tuple[str, str], tuple[str, ...]]


class Pointer:
    """Where an array lies."""

    def __init__(self, array: Any) -> None:
        self.ptr = array.__array_interface__["data"][0]
        while isinstance(array.base, np.ndarray):
            array = array.base
        self.mem = array

    def memset_async(self, value: int, count: int) -> None:
        """A launch like any other."""


class ndarray(np.ndarray):
    """An array "on the GPU": new ones are zeros, and every result is one."""

    def __new__(cls, shape: Any, dtype: Any = float, *args: Any, **kwargs: Any) -> ndarray:
        return np.zeros(shape, dtype).view(cls)

    @property
    def _c_contiguous(self) -> bool:
        return self.flags.c_contiguous

    @property
    def data(self) -> Pointer:
        return Pointer(self)

    def get(self, order: str = "C") -> Any:
        """A copy on the host."""
        return np.array(self, order=order, subok=False)

    def set(self, host: Any) -> None:
        """Takes over values of the host."""
        self[...] = host

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return array.view(ndarray)

    def __getitem__(self, index: Any) -> Any:
        return np.asarray(super().__getitem__(index)).view(ndarray)


class Anything:
    """What has no part in which kernels are asked for: called, entered and read without effect."""

    def __call__(self, *args: Any, **kwargs: Any) -> Anything:
        return self

    def __getattr__(self, name: str) -> Anything:
        return self

    def __getitem__(self, index: Any) -> Anything:
        return self

    def __enter__(self) -> Anything:
        return self

    def __exit__(self, *args: Any) -> None:
        pass

    def __int__(self) -> int:
        return PROCESSORS

    __index__ = __int__


def on_gpu(found: Any) -> Any:
    """The result of a NumPy function as CuPy would give it."""
    if isinstance(found, (np.ndarray, np.generic)):
        return np.asarray(found).view(ndarray)
    return type(found)(map(on_gpu, found)) if isinstance(found, (list, tuple)) else found


class StandIn(ModuleType):
    """A module of CuPy: NumPy's functions where it has them, else ``Anything``."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(np, name, None) if self.__name__ == "cupy" else None
        if found is None:
            return Anything()
        if isinstance(found, type) or not callable(found):
            return found

        @functools.wraps(found)
        def function(*args: Any, **kwargs: Any) -> Any:
            return on_gpu(found(*args, **kwargs))

        return function


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Makes a stand-in of every module that is imported under CuPy's names."""

    def __init__(self, requests: Requests) -> None:
        self.requests = requests

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        """See ``MetaPathFinder``."""
        if name.partition(".")[0] not in NAMES:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: Any) -> ModuleType:
        """See ``Loader``."""
        return StandIn(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Fills in what minipaddle needs to be more than ``Anything``."""
        if module.__name__ == "cupy":
            parts: dict[str, Any] = {"ndarray": ndarray, "RawModule": self.raw_module}
            parts["ReductionKernel"] = lambda *args, **kwargs: lambda x: ndarray(())
            vars(module).update(parts)
        elif module.__name__ == "cupy.cuda.runtime":
            counts = {"getDeviceCount": 1, "getDevice": 0, "runtimeGetVersion": 13000}
            vars(module).update({k: functools.partial(int, v) for k, v in counts.items()})

    def raw_module(self, code: str, options: tuple[str, ...], name_expressions: Any) -> Any:
        """CuPy's ``RawModule``, which notes what it is asked for."""
        for name in name_expressions:
            self.requests[code, name] = tuple(options)
        return Anything()


def install() -> Requests:
    """Puts the stand-in in CuPy's place for the rest of this process.

    Returns:
        What kernels are asked for from now on.

    Raises:
        RuntimeError: CuPy itself has been imported.
    """
    loaded = [name for name in NAMES if name in sys.modules]
    if loaded:
        raise RuntimeError(f"{loaded[0]} is imported already; begin with the stand-in")
    requests: Requests = {}
    sys.meta_path.insert(0, Finder(requests))
    for name in ("cupy", "cupy.cuda", "cupy.cuda.runtime"):
        importlib.import_module(name)
    return requests
