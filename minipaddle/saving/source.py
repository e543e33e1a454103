"""Reading from a file that nobody vouches for: never past its end, never more than it may cost."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from minipaddle.saving.errors import CheckpointError

# A file's arrays may take this many times its length: views of one storage are written once and
# read as arrays of their own, transposed ones by way of a second array.
MEMORY_FACTOR, MEMORY_FREE = 8, 1 << 26
# Arrays are laid out in blocks of this size: where the system gives large blocks large pages,
# filling them takes less than half the time. A tensor that outlives the others keeps its block.
BLOCK_BYTES = 1 << 24
# As many objects as take a few GB and about ten seconds; what has more belongs into an array.
MAX_OBJECTS = 20_000_000


class Budget:
    """What reading one checkpoint may still cost.

    Args:
        file_bytes: Length of the file.
    """

    __slots__ = ("_block", "_unread", "_used", "memory", "objects")

    def __init__(self, file_bytes: int) -> None:
        self._unread = file_bytes
        self._block = np.empty(0, np.uint8)
        self._used = 0
        self.memory = MEMORY_FACTOR * file_bytes + MEMORY_FREE
        self.objects = MAX_OBJECTS

    def spend_memory(self, nbytes: int) -> None:
        """Takes ``nbytes`` of memory from the budget.

        Raises:
            CheckpointError: More is asked for than a file of this length can need.
        """
        self.memory -= nbytes
        if self.memory < 0:
            raise CheckpointError(
                f"its arrays would take more than {MEMORY_FACTOR} times the length of the file, "
                "which no honest checkpoint does"
            )

    def spend_objects(self, count: int) -> None:
        """Takes ``count`` Python objects from the budget.

        Raises:
            CheckpointError: There are too many.
        """
        self.objects -= count
        if self.objects < 0:
            raise CheckpointError(
                f"it has more than {MAX_OBJECTS:,} Python objects; keep that many numbers in an "
                "array"
            )

    def allot(self, nbytes: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """Memory for an array, from the budget.

        Raises:
            CheckpointError: More is asked for than a file of this length can need.
        """
        self.spend_memory(nbytes)
        room = -(-nbytes // 64) * 64
        self._unread -= room
        if nbytes >= BLOCK_BYTES:
            return np.empty(nbytes, np.uint8)
        if room > len(self._block) - self._used:
            self._block = np.empty(max(room, min(BLOCK_BYTES, self._unread)), np.uint8)
            self._used = 0
        start, self._used = self._used, self._used + room
        return self._block[start : start + nbytes]


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes that are still in the file: where they begin there, and how many they are."""

    offset: int
    length: int


class Source:
    """A part of a file, read forwards; long stretches of bytes are left where they are.

    Args:
        file: A file or buffer that can seek.
        start: Offset of the first byte that belongs to this part.
        end: Offset behind its last byte.
        budget: What reading may cost.

    Attributes:
        position: Offset in the file of the next byte.
    """

    __slots__ = ("budget", "end", "file", "position")

    def __init__(self, file: BinaryIO, start: int, end: int, budget: Budget) -> None:
        self.file = file
        self.position = start
        self.end = end
        self.budget = budget
        file.seek(start)

    def read(self, count: int) -> bytes:
        """The next ``count`` bytes.

        Raises:
            CheckpointError: There are not so many left.
        """
        self._advance(count)
        found = self.file.read(count)
        if len(found) != count:
            raise CheckpointError("it became shorter while it was read")
        return found

    def number(self, layout: struct.Struct) -> Any:
        """The next number of the given layout."""
        return layout.unpack(self.read(layout.size))[0]

    def line(self) -> str:
        """Text up to the next line break."""
        found = self.file.readline(min(1000, self.end - self.position))
        self.position += len(found)
        if not found.endswith(b"\n"):
            raise CheckpointError("a name in it has no end, so it is damaged or cut short")
        return found[:-1].decode("utf-8")

    def skip(self, count: int) -> Span:
        """Passes over ``count`` bytes, to be read later or not at all."""
        span = Span(self.position, count)
        self._advance(count)
        self.file.seek(self.position)
        return span

    def bytes_of(self, span: Span) -> bytes:
        """The bytes of a span; the position stays."""
        self.budget.spend_memory(span.length)
        self.file.seek(span.offset)
        found = self.file.read(span.length)
        self.file.seek(self.position)
        return found

    def array(self, offset: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        """An array whose values begin at ``offset`` in the file, read straight into its memory."""
        memory = self.budget.allot(math.prod(shape) * dtype.itemsize)
        self.file.seek(offset)
        if self.file.readinto(memory.data) != memory.nbytes:  # type: ignore[attr-defined]
            raise CheckpointError("it became shorter while it was read")
        return memory.view(dtype).reshape(shape)

    def _advance(self, count: int) -> None:
        if count < 0 or count > self.end - self.position:
            raise CheckpointError(
                f"it is damaged or cut short: {count} more bytes should follow byte "
                f"{self.position}, and {self.end - self.position} do"
            )
        self.position += count
