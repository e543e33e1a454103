"""``paddle.device.cuda``: questions about NVIDIA GPUs, and their memory."""

from __future__ import annotations

from typing import Any, NamedTuple

from minipaddle.device.backend import Place, current_place, get_backend, get_place


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


def _gpu(device: Any) -> tuple[Any, int]:
    """CuPy and the index that ``device`` means.

    Raises:
        TypeError: ``device`` is no int, text or Place.
        ValueError: There is no such GPU; the text says why, or it names another kind of device.
    """
    if device is None:
        place = current_place()
        place = place if place.backend.name == "gpu" else get_place("gpu")
    elif isinstance(device, int) and not isinstance(device, bool):
        place = get_place(f"gpu:{device}")
    elif isinstance(device, (str, Place)):
        place = get_place(device)
    else:
        raise TypeError(f"device must be an int, 'gpu:0' or a Place; got {device!r}")
    if place.backend.name != "gpu":
        raise ValueError(f"device must be a GPU, as 0 or 'gpu:0'; got {device!r}")
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
        return int(cupy.get_default_memory_pool().used_bytes())


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
        return int(cupy.get_default_memory_pool().total_bytes())


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
