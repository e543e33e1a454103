"""NVIDIA GPUs as a backend: CuPy arrays, work queued on the current stream.

CuPy is imported when a GPU is first asked for, not before.
"""

from __future__ import annotations

import functools
import importlib.util
from typing import Any

from minipaddle.device import dlpack
from minipaddle.device.backend import Backend, register_backend

CUDA = 2  # kDLCUDA, DLPack's number
_INSTALL = "pip install 'minipaddle[gpu-cuda13]' (CUDA 13) or 'minipaddle[gpu-cuda12]' (CUDA 12)"


@functools.cache
def _found() -> tuple[Any, int, str]:
    """CuPy, the number of GPUs, and why there are none."""
    if importlib.util.find_spec("cupy") is None:
        return None, 0, f"CuPy is not installed: {_INSTALL}"
    try:
        import cupy
    except ImportError as error:
        return None, 0, f"CuPy cannot be imported ({error}): {_INSTALL}"
    try:
        count = int(cupy.cuda.runtime.getDeviceCount())
    except Exception as error:  # without a driver CuPy raises an error of its own kind
        return cupy, 0, _why(cupy, error)
    return cupy, count, "" if count else "the driver sees none; CUDA_VISIBLE_DEVICES may hide them"


def _why(cupy: Any, error: Exception) -> str:
    text = f"{error}".strip()
    if "InsufficientDriver" not in text:
        return text
    built = int(cupy.cuda.runtime.runtimeGetVersion()) // 1000
    driver = int(cupy.cuda.runtime.driverGetVersion()) // 1000
    if not driver:
        return "there is no NVIDIA driver"
    return (
        f"the installed CuPy is for CUDA {built}, and the driver goes up to CUDA {driver}: "
        f"pip install 'minipaddle[gpu-cuda{driver}]'"
    )


class GPUBackend(Backend):
    """The GPUs that CUDA_VISIBLE_DEVICES leaves to this process."""

    name = "gpu"
    visible_devices_env = "CUDA_VISIBLE_DEVICES"
    selected_devices_env = "FLAGS_selected_gpus"
    dlpack_type = CUDA

    @property
    def xp(self) -> Any:
        """CuPy."""
        return _found()[0]

    def device_count(self) -> int:
        """How many GPUs there are; 0 without CuPy, a driver or a GPU."""
        return _found()[1]

    def absence(self) -> str:
        """See ``Backend``."""
        return _found()[2]

    def set_device(self, index: int) -> None:
        """Makes GPU ``index`` the calling thread's."""
        self.xp.cuda.Device(index).use()

    def synchronize(self, index: int) -> None:
        """Waits until GPU ``index`` has finished all that was given to it."""
        self.xp.cuda.Device(index).synchronize()

    def to_host(self, array: Any) -> Any:
        """A copy as a NumPy array, C-contiguous."""
        return array.get(order="C")

    def from_host(self, array: Any, index: int) -> Any:
        """A copy on GPU ``index``."""
        cupy = self.xp
        if cupy.cuda.runtime.getDevice() == index:
            return cupy.array(array, order="C")
        with cupy.cuda.Device(index):
            return cupy.array(array, order="C")

    def to_dlpack(self, array: Any, **options: Any) -> Any:
        """A capsule over the array's memory."""
        return array.__dlpack__(**{k: v for k, v in options.items() if v is not None})

    def from_dlpack(self, capsule: Any, copy: bool) -> Any:
        """An array over the memory of the capsule, unless it is to be copied."""
        array = self.xp.from_dlpack(dlpack.Producer(capsule))
        return array.copy(order="C") if copy else array

    def stream(self, index: int) -> Any:
        """A new queue of work on GPU ``index``, which waits for no other."""
        with self.xp.cuda.Device(index):
            return self.xp.cuda.Stream(non_blocking=True)

    def event(self, index: int) -> Any:
        """A mark in a stream of GPU ``index``."""
        with self.xp.cuda.Device(index):
            return self.xp.cuda.Event(disable_timing=True)

    def is_view(self, array: Any, of: Any) -> bool:
        """Whether the two lie in one piece of memory."""
        return array.data.mem is of.data.mem


register_backend(GPUBackend())
