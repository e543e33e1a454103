"""As much of CuPy as the device package asks for, on NumPy's memory; it notes what it is told.

Streams run nothing; ``CuPy.log`` has what was done, in order. Where CuPy refuses
something (bfloat16, a copy for a consumer on the same GPU, too much memory), so does this.
"""

import ctypes
import importlib.util
import sys
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np

from minipaddle.device import backend, dlpack, gpu

GiB = 1 << 30


class OutOfMemoryError(MemoryError):
    def __init__(self, size, total):
        super().__init__(
            f"Out of memory allocating {size:,} bytes (allocated so far: {total:,} bytes)."
        )


def on_device(capsule, kind, index):
    """The capsule, which says that its memory lies there."""
    address = dlpack._tensor_address(capsule) + dlpack._POINTER
    (ctypes.c_int32 * 2).from_address(address)[:] = kind, index
    return capsule


class Array(np.ndarray):
    """An array of a GPU; what is made of it lies there too."""

    cupy = device = None  # NumPy's arrays have a device too, which cannot be set

    def __array_finalize__(self, of):
        if isinstance(of, Array):
            self.cupy, self.device = of.cupy, of.device

    def get(self, order="C"):
        return np.array(self, order=order, subok=False)

    def __dlpack_device__(self):
        return 2, self.device.id

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        assert self.cupy.current == self.device.id, "CuPy looks at the current GPU's stream"
        if self.dtype.name == "bfloat16":
            raise BufferError("dtype is not supported for dlpack export")
        to_host = dl_device == (1, 0)
        if copy is True and not to_host:
            raise BufferError("copy=True only supported for copy to CPU.")
        if not to_host and dl_device not in (None, self.__dlpack_device__()):
            raise BufferError("unsupported device requested.")
        if stream != -1 and not to_host:
            self.cupy.log.append((stream or 1, "waits for", self.cupy.stream().ptr))
        capsule = self.get() if to_host else self.view(np.ndarray)
        capsule = capsule.__dlpack__(max_version=max_version)
        return capsule if to_host else on_device(capsule, 2, self.device.id)


class Device:
    """A device that ``with`` can enter."""

    def __init__(self, cupy, index):
        self.cupy, self.id = cupy, index

    def __enter__(self):
        self.before, self.cupy.current = self.cupy.current, self.id

    def __exit__(self, *exc):
        self.cupy.current = self.before

    def use(self):
        self.cupy.current = self.id

    def synchronize(self):
        self.cupy.log.append((f"gpu:{self.id}", "synchronized"))


class Queue:
    """A stream; the default ones of all GPUs have the pointer 0."""

    def __init__(self, cupy, ptr, index, options=None):
        self.cupy, self.ptr, self.index, self.options = cupy, ptr, index, options
        self.done = True

    def use(self):
        if self.index is not None and self.index != self.cupy.current:
            raise RuntimeError("The device that the stream is created on does not match")
        self.cupy.streams[self.cupy.current] = self

    def synchronize(self):
        self.cupy.log.append((self.ptr, "synchronized"))

    def wait_event(self, event):
        self.cupy.log.append((self.ptr, "waits for", event.recorded))


class Mark:
    """An event; ``recorded`` is the stream."""

    def __init__(self, cupy, block=False, disable_timing=False, interprocess=False):
        self.cupy, self.index = cupy, cupy.current
        self.options = block, disable_timing, interprocess
        self.recorded = None
        self.done = True

    def record(self, stream):
        self.recorded = stream.ptr

    def synchronize(self):
        self.cupy.log.append(("event", self.recorded))


class MemoryHook:
    """Base of hooks, as CuPy's: those that were entered are told of each allocation."""

    def __enter__(self):
        self.registered.append(self)

    def malloc_postprocess(self, **given):
        pass


class CuPy:
    """The module. ``used`` and ``held`` say what its memory pool has of each GPU."""

    def __init__(self, count=2, built=13000, driver=13000, error=None, is_hip=False):
        self.current, self.log, self.count, self.error = 0, [], count, error
        self.streams = [Queue(self, 0, None) for _ in range(count)]
        self.used, self.held, self.limit = [0] * count, [0] * count, 0
        self.hooks = []
        runtime = SimpleNamespace(
            is_hip=is_hip,
            getDevice=lambda: self.current,
            getDeviceCount=self._device_count,
            getDeviceProperties=self._properties,
            runtimeGetVersion=lambda: built,
            driverGetVersion=lambda: driver,
            memGetInfo=lambda: (8 * GiB - self.held[self.current] - GiB, 8 * GiB),
        )
        self.cuda = SimpleNamespace(
            runtime=runtime,
            memory=SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
            MemoryHook=type("MemoryHook", (MemoryHook,), {"registered": self.hooks}),
            Device=lambda index: Device(self, index),
            Stream=self._stream,
            Event=lambda **options: Mark(self, **options),
            get_current_stream=self.stream,
            get_elapsed_time=lambda start, end: 1.5,
        )

    def _device_count(self):
        if self.error:
            raise RuntimeError(self.error)
        return self.count

    def _properties(self, index):
        size = {"totalGlobalMem": 8 * GiB, "multiProcessorCount": 132}
        return {"name": f"GPU {index}".encode(), "major": 9, "minor": 0, **size}

    def _stream(self, **options):
        self.log.append("new stream")
        return Queue(self, 4096 * len(self.log), self.current, options)

    def stream(self, index=-1):
        return self.streams[self.current if index == -1 else index]

    def allocate(self, size):
        """Takes memory of the current GPU out of the pool, or fails and says so as CuPy does."""
        at = self.current
        if self.used[at] + size > 7 * GiB:
            raise OutOfMemoryError(size, self.held[at])
        self.used[at] += size
        self.held[at] = max(self.held[at], self.used[at])
        for hook in self.hooks:
            hook.malloc_postprocess(device_id=at, mem_size=size, size=size, mem_ptr=1, pmem_id=1)

    def array(self, host, order="C"):
        self.allocate(host.nbytes)
        made = np.array(host, order=order).view(Array)
        made.cupy, made.device = self, Device(self, self.current)
        return made

    def from_dlpack(self, producer):
        _, index = producer.__dlpack_device__()
        capsule = on_device(producer.__dlpack__(stream=1, max_version=(1, 0)), 1, 0)
        host = np.from_dlpack(dlpack.Producer(capsule))
        made = np.asarray(dlpack._Writable(host)).view(Array)  # no memory of CuPy is read-only
        made.cupy, made.device = self, Device(self, index)
        return made

    def get_default_memory_pool(self):
        return SimpleNamespace(
            used_bytes=lambda: self.used[self.current],
            total_bytes=lambda: self.held[self.current],
            get_limit=lambda: self.limit,
            free_all_blocks=lambda: self.log.append("freed device memory"),
        )

    def get_default_pinned_memory_pool(self):
        return SimpleNamespace(free_all_blocks=lambda: self.log.append("freed pinned memory"))


@contextmanager
def installed(patch, cupy):
    """Has the device package find ``cupy`` (None: it is not installed); then all is as before."""
    others = {key: place for key, place in backend._places.items() if key[0] != "gpu"}
    patch.setattr(backend, "_places", others)
    patch.setattr(backend, "_current", None)
    patch.setattr(importlib.util, "find_spec", lambda name: cupy and object())
    patch.setitem(sys.modules, "cupy", cupy)
    gpu._found.cache_clear()
    try:
        yield cupy
    finally:
        patch.undo()
        gpu._found.cache_clear()
