"""Kernels of .cu files, compiled at first use and started with as little ado as can be."""

from __future__ import annotations

import functools
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cupy
import numpy as np
from cupy.cuda import driver, get_current_stream, runtime

from minipaddle.ops.kernels.gpu.layout import Struct
from minipaddle.ops.kernels.gpu.source import OPTIONS, source_text

_MOST = 64  # arguments of one kernel
_WORD = 8  # bytes; the driver takes of each what the parameter's type has, from its first byte

ndarray = cupy.ndarray
getDevice, launchKernel = runtime.getDevice, driver.launchKernel


@functools.cache
def compiled(path: Path, expression: str) -> Kernel:
    """The kernel that ``expression``, a template with its arguments, names in the file ``path``.

    It is compiled at first use, which takes some tenths of a second; CuPy keeps the result on disk
    and finds it there in another process.
    """
    module = cupy.RawModule(code=source_text(path), options=OPTIONS, name_expressions=(expression,))
    return Kernel(module.get_function(expression))


class _Slots(threading.local):
    """Where a thread puts the arguments of the kernel that it starts next.

    The driver copies them before it returns, without the interpreter's lock, so that no thread may
    use another's.

    Attributes:
        memory: Each argument's word seen as int64 and as double, the address of each argument (its
            word, or a struct that lies elsewhere), and where these addresses begin.
        own: Address of each argument's word.
    """

    def __init__(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            runtime.setDevice(getDevice())  # a new thread has no context, and the driver wants one
        words = np.zeros(_MOST, np.int64)
        self.own = (words.ctypes.data + _WORD * np.arange(_MOST)).tolist()
        places = np.array(self.own, np.int64)
        self.memory = words.data, words.view(np.float64).data, places.data, places.ctypes.data


_slots = _Slots()


class Kernel:
    """A compiled kernel.

    Started by CuPy, one of five arguments costs 5.2 us of host time; by this 3.9.
    """

    def __init__(self, raw: Any) -> None:
        self.raw = raw
        self._functions: dict[int, int] = {}  # of each GPU

    def __call__(
        self,
        grid: Sequence[int],
        block: Sequence[int],
        arguments: Sequence[Any],
        shared_mem: int = 0,
    ) -> None:
        """Queues it on the current stream.

        Args:
            grid: Blocks along each axis, one to three.
            block: Threads of a block along each axis.
            arguments: Arrays, floats (a ``double``), ints and bools, None (no array), structs.
            shared_mem: Bytes of dynamic shared memory.
        """
        function = self._functions.get(getDevice())
        if function is None:
            function = self._functions[getDevice()] = self.raw.kernel.ptr
        integers, reals, places, address = _slots.memory
        structs: list[int] | None = None
        for i, a in enumerate(arguments):
            kind = a.__class__
            if kind is ndarray:
                integers[i] = a.data.ptr
            elif kind is float:
                reals[i] = a
            elif kind is Struct:
                places[i] = a.address
                structs = [i] if structs is None else [*structs, i]
            else:
                integers[i] = 0 if a is None else a
        x, y, z = (grid[0], 1, 1) if len(grid) == 1 else (*grid, 1)[:3]
        along, tall, deep = (block[0], 1, 1) if len(block) == 1 else (*block, 1)[:3]
        stream = get_current_stream().ptr
        try:
            launchKernel(function, x, y, z, along, tall, deep, shared_mem, stream, address, 0)
        finally:
            if structs is not None:
                for i in structs:
                    places[i] = _slots.own[i]

    def allow_shared(self, size: int) -> None:
        """Lets blocks have up to ``size`` bytes of dynamic shared memory."""
        self.raw.max_dynamic_shared_size_bytes = size
