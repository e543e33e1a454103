"""Memory that several processes map: anonymous files that vanish with their last user."""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from typing import Any

import numpy as np

if sys.platform == "linux":
    _libc = ctypes.CDLL(None, use_errno=True)
    _mmap, _munmap = _libc.mmap, _libc.munmap
    _mmap.restype = ctypes.c_void_p
    _mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    _munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    _FLAGS = mmap.MAP_SHARED | mmap.MAP_POPULATE  # populate: no page faults in the first step
    _FAILED = ctypes.c_void_p(-1).value


class _Mapping:
    """One mapped range. An array made from it keeps it alive; the last one's end unmaps it.

    The standard library's ``mmap`` keeps a descriptor open for as long as the range is mapped,
    which at eight ranks and a hundred buckets would be most of what a process may open.
    """

    __slots__ = ("__array_interface__", "_address", "_nbytes", "_unmap")

    def __init__(self, fd: int, nbytes: int) -> None:
        protection = mmap.PROT_READ | mmap.PROT_WRITE
        address = _mmap(None, nbytes, protection, _FLAGS, fd, 0)
        if address == _FAILED:
            code = ctypes.get_errno()
            raise MemoryError(f"cannot map {nbytes} bytes of shared memory: {os.strerror(code)}")
        self._address, self._nbytes, self._unmap = address, nbytes, _munmap
        self.__array_interface__: dict[str, Any] = {
            "shape": (nbytes,),
            "typestr": "|u1",
            "data": (address, False),
            "version": 3,
        }

    def __del__(self) -> None:
        if hasattr(self, "_unmap"):
            self._unmap(self._address, self._nbytes)


def reserve(nbytes: int) -> int:
    """Returns the descriptor of an anonymous file with ``nbytes`` bytes really reserved.

    Reserving now turns a lack of memory into an error here instead of a SIGBUS at some write.

    Raises:
        MemoryError: If the system does not have that much; it names the size.
    """
    # The kernel itself would try, and kill processes until it succeeds or none is left.
    available = _available_bytes()
    if nbytes > available:
        raise MemoryError(
            f"cannot reserve {nbytes} bytes of shared memory: {available} are available"
        )
    fd = os.memfd_create("minipaddle", os.MFD_CLOEXEC)
    try:
        os.posix_fallocate(fd, 0, nbytes)
    except OSError as error:
        os.close(fd)
        text = f"cannot reserve {nbytes} bytes of shared memory: {error.strerror}"
        raise MemoryError(text) from error
    return fd


def _available_bytes() -> int:
    with open("/proc/meminfo") as table:
        for line in table:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return sys.maxsize


def map_bytes(fd: int, nbytes: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Maps the first ``nbytes`` of a file as bytes; the caller may close ``fd`` at once."""
    return np.asarray(_Mapping(fd, nbytes))
