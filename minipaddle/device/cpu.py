"""The CPU as a backend: NumPy arrays, work done at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from minipaddle.device.backend import Backend, register_backend


class CPUBackend(Backend):
    """One device, whatever the number of cores."""

    name = "cpu"
    xp = np

    def device_count(self) -> int:
        """Always 1."""
        return 1

    def to_host(self, array: Any) -> Any:
        """A copy, so that a later in-place op cannot change what the user holds."""
        return np.array(array)

    def from_host(self, array: Any, index: int) -> Any:
        """A C-contiguous copy, so that the user's array and the tensor never share memory."""
        return np.array(array, order="C")


register_backend(CPUBackend())
