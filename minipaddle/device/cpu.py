"""The CPU as a backend: NumPy arrays, work done at once."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from minipaddle.device import dlpack
from minipaddle.device.backend import Backend, register_backend


def thread_count() -> int:
    """How many threads a large computation may use: OMP_NUM_THREADS, else the cores allowed."""
    text = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if text.isdecimal() and int(text) > 0:
        return int(text)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class CPUBackend(Backend):
    """One device, whatever the number of cores."""

    name = "cpu"
    xp = np
    dlpack_type = dlpack.CPU

    def device_count(self) -> int:
        """Always 1."""
        return 1

    def to_host(self, array: Any) -> Any:
        """A copy, so that a later in-place op cannot change what the user holds."""
        return np.array(array)

    def from_host(self, array: Any, index: int) -> Any:
        """A C-contiguous copy, so that the user's array and the tensor never share memory."""
        return np.array(array, order="C")

    def to_dlpack(self, array: Any, **options: Any) -> Any:
        """A capsule over the array's own memory."""
        return dlpack.export_array(array, **options)

    def from_dlpack(self, capsule: Any, copy: bool) -> Any:
        """An array over the memory of the capsule, unless it is to be copied."""
        return dlpack.import_array(capsule, copy)


register_backend(CPUBackend())
