"""NVIDIA GPUs as a backend: CuPy arrays, work queued on the current stream.

CuPy is imported when a GPU is first asked for, not before.
"""

from __future__ import annotations

import functools
import importlib.util
from typing import Any

from minipaddle.device import gpu_dlpack
from minipaddle.device.backend import Backend, register_backend
from minipaddle.device.gpu_absence import without_cupy, without_gpu
from minipaddle.device.out_of_memory import out_of_memory


@functools.cache
def _found() -> tuple[Any, int, str]:
    """CuPy, the number of GPUs, and why there are none."""
    if importlib.util.find_spec("cupy") is None:
        return None, 0, without_cupy()
    try:
        import cupy
    except ImportError as error:
        return None, 0, without_cupy(error)
    try:
        count = int(cupy.cuda.runtime.getDeviceCount())
    except Exception as error:  # without a driver CuPy raises an error of its own kind
        return cupy, 0, without_gpu(cupy, error)
    return cupy, count, "" if count else without_gpu(cupy)


class GPUBackend(Backend):
    """The GPUs that CUDA_VISIBLE_DEVICES leaves to this process."""

    name = "gpu"
    visible_devices_env = "CUDA_VISIBLE_DEVICES"
    selected_devices_env = "FLAGS_selected_gpus"
    dlpack_type = gpu_dlpack.CUDA

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
        try:
            if cupy.cuda.runtime.getDevice() == index:
                return cupy.array(array, order="C")
            with cupy.cuda.Device(index):
                return cupy.array(array, order="C")
        except MemoryError as error:
            doing = f"a copy of {list(array.shape)} {array.dtype.name}"
            raise self.out_of_memory(index, error, doing) from error

    def out_of_memory(self, index: int, error: MemoryError, doing: str) -> MemoryError:
        """The error with what there was on the GPU; one of the host stays as it is."""
        return out_of_memory(self.xp, index, error, doing)

    def to_dlpack(self, array: Any, **options: Any) -> Any:
        """A capsule over the array's memory."""
        return gpu_dlpack.export_array(self.xp, array, **options)

    def from_dlpack(self, capsule: Any, copy: bool) -> Any:
        """An array over the memory of the capsule, unless it is to be copied."""
        return gpu_dlpack.import_array(self.xp, capsule, copy)

    def dlpack_stream(self, index: int) -> int:
        """The calling thread's current stream on GPU ``index``."""
        return gpu_dlpack.stream_number(self.xp, index)

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
