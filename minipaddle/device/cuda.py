"""``paddle.device.cuda``: questions about NVIDIA GPUs, and their memory."""

from __future__ import annotations

from typing import Any, NamedTuple

from minipaddle.device.backend import get_backend
from minipaddle.device.gpu_choice import gpu_place
from minipaddle.device.out_of_memory import OutOfMemoryError
from minipaddle.device.peak_memory import ALLOCATED, RESERVED, now, peak, reset
from minipaddle.device.streams import Event, Stream, current_stream, set_stream, stream_guard

__all__ = [
    "DeviceProperties",
    "Event",
    "OutOfMemoryError",
    "Stream",
    "current_device",
    "current_stream",
    "device_count",
    "empty_cache",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "reset_max_memory_allocated",
    "reset_max_memory_reserved",
    "set_stream",
    "stream_guard",
    "synchronize",
]


class DeviceProperties(NamedTuple):
    """What a GPU is.

    Attributes:
        name: Its product name.
        major: First number of its compute capability.
        minor: Second number.
        total_memory: Bytes of its memory.
        multi_processor_count: How many multiprocessors it has.
    """

    name: str
    major: int
    minor: int
    total_memory: int
    multi_processor_count: int


def device_count() -> int:
    """How many GPUs this process can use; 0 where there is none.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.device.cuda.device_count() >= 0
        True
    """
    return int(get_backend("gpu").device_count())


def current_device() -> int:
    """Number of the GPU that ``set_device`` has chosen, else of the first.

    Raises:
        ValueError: There is no GPU; the text says why.

    Example:
        >>> import minipaddle as paddle
        >>> if paddle.device.cuda.device_count():
        ...     print(paddle.device.cuda.current_device())
    """
    return gpu_place().index


def _gpu(device: Any) -> tuple[Any, int]:
    """CuPy and the index that ``device`` means."""
    place = gpu_place(device)
    return place.backend.xp, place.index


def get_device_properties(device: Any = None) -> DeviceProperties:
    """Name, compute capability, memory and size of a GPU.

    Args:
        device: ``0``, ``"gpu:0"`` or a Place; by default the current GPU, else the first.

    Raises:
        TypeError: ``device`` is none of these.
        ValueError: There is no such GPU; the text says why.

    Example:
        >>> import minipaddle as paddle
        >>> if paddle.device.cuda.device_count():
        ...     print(paddle.device.cuda.get_device_properties(0).name)
    """
    cupy, index = _gpu(device)
    found = cupy.cuda.runtime.getDeviceProperties(index)
    name = found["name"]
    return DeviceProperties(
        name.decode() if isinstance(name, bytes) else str(name),
        int(found["major"]),
        int(found["minor"]),
        int(found["totalGlobalMem"]),
        int(found["multiProcessorCount"]),
    )


def get_device_name(device: Any = None) -> str:
    """Product name of a GPU; arguments and errors as for ``get_device_properties``.

    Example:
        >>> import minipaddle as paddle
        >>> if paddle.device.cuda.device_count():
        ...     print(paddle.device.cuda.get_device_name())
    """
    return get_device_properties(device).name


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """Compute capability of a GPU, as in ``(9, 0)``; arguments as for ``get_device_properties``.

    Example:
        >>> import minipaddle as paddle
        >>> if paddle.device.cuda.device_count():
        ...     print(paddle.device.cuda.get_device_capability())
    """
    found = get_device_properties(device)
    return found.major, found.minor


def memory_allocated(device: Any = None) -> int:
    """Bytes that arrays of this process hold on a GPU; arguments as for ``get_device_properties``.

    Example:
        >>> import minipaddle as paddle
        >>> if paddle.device.cuda.device_count():
        ...     print(paddle.device.cuda.memory_allocated())
    """
    cupy, index = _gpu(device)
    with cupy.cuda.Device(index):
        return now(cupy, ALLOCATED)


def memory_reserved(device: Any = None) -> int:
    """Bytes that this process keeps on a GPU, in use or for later arrays.

    Arguments as for ``get_device_properties``.

    Example:
        >>> import minipaddle as paddle
        >>> if paddle.device.cuda.device_count():
        ...     print(paddle.device.cuda.memory_reserved())
    """
    cupy, index = _gpu(device)
    with cupy.cuda.Device(index):
        return now(cupy, RESERVED)


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes that arrays held on a GPU since ``reset_max_memory_allocated``.

    It is looked at whenever the calling thread allocates; arguments as for
    ``get_device_properties``.

    Raises:
        RuntimeError: The calling thread has not called ``reset_max_memory_allocated`` before.

    Example:
        >>> import minipaddle as paddle
        >>> if paddle.device.cuda.device_count():
        ...     paddle.device.cuda.reset_max_memory_allocated()
        ...     print(paddle.device.cuda.max_memory_allocated())
    """
    return peak(*_gpu(device), ALLOCATED)


def reset_max_memory_allocated(device: Any = None) -> None:
    """Begins to count ``max_memory_allocated`` anew; arguments as for ``get_device_properties``.

    CuPy counts no peaks. The first call puts a hook to each allocation of the calling thread, which
    takes time from then on.

    Example:
        >>> import minipaddle as paddle
        >>> if paddle.device.cuda.device_count():
        ...     paddle.device.cuda.reset_max_memory_allocated()
    """
    reset(*_gpu(device), ALLOCATED)


def max_memory_reserved(device: Any = None) -> int:
    """The most bytes that were kept on a GPU since ``reset_max_memory_reserved``.

    It is looked at whenever the calling thread allocates; arguments as for
    ``get_device_properties``.

    Raises:
        RuntimeError: The calling thread has not called ``reset_max_memory_reserved`` before.

    Example:
        >>> import minipaddle as paddle
        >>> if paddle.device.cuda.device_count():
        ...     paddle.device.cuda.reset_max_memory_reserved()
        ...     print(paddle.device.cuda.max_memory_reserved())
    """
    return peak(*_gpu(device), RESERVED)


def reset_max_memory_reserved(device: Any = None) -> None:
    """Begins to count ``max_memory_reserved`` anew; arguments as for ``get_device_properties``.

    CuPy counts no peaks. The first call puts a hook to each allocation of the calling thread, which
    takes time from then on.

    Example:
        >>> import minipaddle as paddle
        >>> if paddle.device.cuda.device_count():
        ...     paddle.device.cuda.reset_max_memory_reserved()
    """
    reset(*_gpu(device), RESERVED)


def empty_cache() -> None:
    """Gives memory that is kept for later arrays back to the driver; without a GPU nothing.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.device.cuda.empty_cache()
    """
    if device_count():
        cupy, _ = _gpu(None)
        cupy.get_default_memory_pool().free_all_blocks()
        cupy.get_default_pinned_memory_pool().free_all_blocks()


def synchronize(device: Any = None) -> None:
    """Waits until a GPU has done all its work; arguments as for ``get_device_properties``.

    Example:
        >>> import minipaddle as paddle
        >>> if paddle.device.cuda.device_count():
        ...     paddle.device.cuda.synchronize()
    """
    cupy, index = _gpu(device)
    cupy.cuda.Device(index).synchronize()
