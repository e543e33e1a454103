"""What a started process is given: pickled once, with large arrays in memory that all of them map.

Each process sees the arrays as its own: what it writes there, the others do not see.
"""

from __future__ import annotations

import io
import mmap
import os
import pickle
from collections.abc import Callable
from multiprocessing import context as mp_context
from multiprocessing.reduction import ForkingPickler
from typing import Any

import numpy as np

from minipaddle.device.shared_memory import map_bytes, reserve
from minipaddle.io.dataloader.link import close_all

_LARGE_BYTES = 1 << 16
_ALIGNMENT = 64
_inherited: list[int] = []  # in a started process: descriptors that came with the parcel


class _Inherited:
    """A descriptor inside a parcel: its number among those that come along."""

    def __init__(self, number: int) -> None:
        self._number = number

    def detach(self) -> int:
        """The descriptor, in the started process."""
        return _inherited[self._number]


class _Spawning:
    """Tells multiprocessing's locks, queues and pipes that they are pickled for a new process."""

    def __init__(self) -> None:
        self.files: list[int] = []

    def duplicate_for_child(self, fd: int) -> int:
        self.files.append(os.dup(fd))
        return len(self.files) - 1

    def DupFd(self, number: int) -> _Inherited:
        return _Inherited(number)


def pack(make: Callable[[], Any], share: bool = False) -> tuple[bytes, list[int]]:
    """Pickles what ``make`` returns for other processes.

    Args:
        make: Its result may hold multiprocessing's locks, queues and pipes.
        share: Whether to put large arrays into shared memory, if there is enough.

    Returns:
        The parcel, and descriptors that go with it, to be closed by the caller.

    Raises:
        Exception: Something cannot be pickled.
    """
    buffers: list[memoryview] = []

    def stays(buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        if raw.nbytes < _LARGE_BYTES:
            return True
        buffers.append(raw)
        return False

    try:
        content, files = _dump(make, stays if share else None)
        sizes, memory = [raw.nbytes for raw in buffers], _stored(buffers)
    except (MemoryError, OSError):
        if not share:
            raise
        return pack(make)
    return pickle.dumps((content, sizes, len(files))), files + memory


def _dump(
    make: Callable[[], Any], stays: Callable[[pickle.PickleBuffer], bool] | None
) -> tuple[bytes, list[int]]:
    spawning: Any = _Spawning()
    mp_context.set_spawning_popen(spawning)
    try:
        content = io.BytesIO()
        ForkingPickler(content, 5, True, stays).dump(make())
        return content.getvalue(), spawning.files
    except BaseException:
        close_all(spawning.files)
        raise
    finally:
        mp_context.set_spawning_popen(None)


def _ends(sizes: list[int]) -> list[int]:
    padded = [-(-size // _ALIGNMENT) * _ALIGNMENT for size in sizes]
    return np.cumsum([0, *padded]).tolist()


def _stored(buffers: list[memoryview]) -> list[int]:
    if not buffers:
        return []
    ends = _ends([raw.nbytes for raw in buffers])
    fd = reserve(ends[-1])
    try:
        memory = map_bytes(fd, ends[-1])
        for start, raw in zip(ends, buffers, strict=False):
            memory[start : start + raw.nbytes] = np.frombuffer(raw, np.uint8)
    except BaseException:
        os.close(fd)
        raise
    return [fd]


def unpack(parcel: bytes, files: list[int]) -> Any:
    """What was packed, in the process that it was sent to.

    Args:
        parcel: The bytes.
        files: The descriptors; belong to the result from now on.

    Raises:
        Exception: Something cannot be unpickled here.
    """
    content, sizes, count = pickle.loads(parcel)
    _inherited[:] = files[:count]
    if not sizes:
        return pickle.loads(content)
    ends = _ends(sizes)
    try:
        whole = memoryview(mmap.mmap(files[count], ends[-1], flags=mmap.MAP_PRIVATE))
    finally:
        os.close(files[count])
    parts = [whole[start : start + size] for start, size in zip(ends, sizes, strict=False)]
    return pickle.loads(content, buffers=parts)
