"""Shared memory that the arrays of batches lie in: written by a worker, read by the loader.

A slot holds one array. The loader makes tensors on the slot's own memory, without a copy, and the
worker may write there again when nobody holds any of them any more.
"""

from __future__ import annotations

import os
import pickle
from collections import deque
from typing import Any, NamedTuple

import numpy as np

from minipaddle.device.shared_memory import map_bytes, reserve
from minipaddle.io.dataloader.link import MAX_FILES, close_all

Bytes = np.ndarray[Any, np.dtype[np.uint8]]
# A smaller array is cheaper inside the message, and large enough a share of a page is not wasted.
SMALL_BYTES = 1 << 14
_MAX_FREE = 16


class Layout(NamedTuple):
    """Where the arrays of a batch lie.

    Attributes:
        slots: ``(number, bytes used)`` of each array's slot.
        made: ``(number, bytes)`` of the slots that are new, in the order of their descriptors.
        dropped: Numbers of slots that exist no more.
    """

    slots: list[tuple[int, int]]
    made: list[tuple[int, int]]
    dropped: list[int]


class SlotWriter:
    """The worker's side."""

    def __init__(self) -> None:
        self._memory: dict[int, Bytes] = {}
        self._free: list[int] = []
        self._dropped: list[int] = []
        self._count = 0

    def free(self, numbers: list[int]) -> None:
        """Takes back slots that the loader has no more use for."""
        self._free += numbers
        while len(self._free) > _MAX_FREE:
            self._drop(self._free.pop(0))

    def _drop(self, number: int) -> None:
        del self._memory[number]
        self._dropped.append(number)

    def dump(self, batch: Any) -> tuple[bytes, Layout, list[int]]:
        """Puts the large arrays of a batch into slots.

        Returns:
            The rest, pickled; where the arrays lie; and descriptors of new slots, to be closed by
            the caller.

        Raises:
            MemoryError: The system has no shared memory left.
            OSError: It cannot be made.
        """
        buffers: list[memoryview] = []

        def stays(buffer: pickle.PickleBuffer) -> bool:
            raw = buffer.raw()
            if raw.nbytes < SMALL_BYTES or len(buffers) == MAX_FILES:
                return True
            buffers.append(raw)
            return False

        head = pickle.dumps(batch, 5, buffer_callback=stays)
        layout, files = Layout([], [], []), list[int]()
        try:
            for raw in buffers:
                number = self._take(raw.nbytes, layout, files)
                layout.slots.append((number, raw.nbytes))
                self._memory[number][: raw.nbytes] = np.frombuffer(raw, np.uint8)
        except BaseException:
            close_all(files)
            made = {number for number, _ in layout.made}
            for number in made:
                self._memory.pop(number, None)
            self._free += [number for number, _ in layout.slots if number not in made]
            raise
        layout.dropped.extend(self._dropped)
        self._dropped.clear()
        return head, layout, files

    def _take(self, nbytes: int, layout: Layout, files: list[int]) -> int:
        fitting = [n for n in self._free if self._memory[n].nbytes >= nbytes]
        if fitting:
            best = min(fitting, key=lambda n: self._memory[n].nbytes)
            self._free.remove(best)
            return best
        size = -(-(nbytes + nbytes // 8) // 4096) * 4096  # batches grow and shrink a little
        files.append(reserve(size))
        number = self._count
        self._memory[number] = map_bytes(files[-1], size)
        self._count += 1
        layout.made.append((number, size))
        return number

    def read(self, layout: Layout) -> list[Bytes]:
        """Copies of the arrays of a batch, for a loader that did not get the descriptors."""
        return [self._memory[number][:used].copy() for number, used in layout.slots]


class _Lease:
    """Memory of a slot while some array lies in it; gives the slot back at the end."""

    __slots__ = ("__array_interface__", "_freed", "_memory", "_number")

    def __init__(self, number: int, memory: Bytes, freed: deque[int]) -> None:
        self._number, self._memory, self._freed = number, memory, freed
        self.__array_interface__ = memory.__array_interface__

    def __del__(self) -> None:
        self._freed.append(self._number)


class SlotReader:
    """The loader's side."""

    def __init__(self) -> None:
        self._memory: dict[int, Bytes] = {}
        self._freed: deque[int] = deque()

    def freed(self) -> list[int]:
        """Numbers of the slots that nobody uses any more, each told once."""
        return [self._freed.popleft() for _ in range(len(self._freed))]

    def load(self, head: bytes, layout: Layout, files: list[int]) -> Any:
        """The batch, with arrays that lie in the slots.

        Raises:
            MemoryError: A new slot cannot be mapped.
        """
        try:
            for (number, size), fd in zip(layout.made, files, strict=True):
                self._memory[number] = map_bytes(fd, size)
        finally:
            for fd in files:
                os.close(fd)
        for number in layout.dropped:
            self._memory.pop(number, None)
        leases = [
            np.asarray(_Lease(number, self._memory[number][:used], self._freed))
            for number, used in layout.slots
        ]
        return pickle.loads(head, buffers=leases)
