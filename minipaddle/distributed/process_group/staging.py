"""Moving ordinary arrays through shared memory, a few cached chunks at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minipaddle.device.shared_memory import map_bytes, reserve
from minipaddle.distributed.process_group.channel import Channel
from minipaddle.distributed.process_group.message import Call, Phase

Bytes = np.ndarray[Any, np.dtype[np.uint8]]
# Measured with 25 MB: half of this is as fast where the cores share a cache, but a third slower
# where each line has to come out of another core's cache; more no longer fits a shared cache.
CHUNK_BYTES = 1 << 21
_FIRST_BYTES = 1 << 16
# A chunk is loaded, reduced and stored in three consecutive steps, so three are in flight.
_SLOTS = 3


def map_all(files: Sequence[int], nbytes: int) -> list[Bytes]:
    """Maps one file of every rank and closes the descriptors."""
    try:
        return [map_bytes(fd, nbytes) for fd in files]
    finally:
        for fd in files:
            os.close(fd)


class Stage:
    """The chunk memory of one channel: each rank writes its own and reads everybody's.

    It grows with the arrays up to ``CHUNK_BYTES`` a slot and then serves any size.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._slots: list[list[Bytes]] = []
        self._capacity = 0
        self._turn = 0

    def room(self, call: Call, nbytes: int) -> int:
        """Makes slots for ``nbytes`` at a time, fewer if that is a lot; returns how many."""
        wanted = _FIRST_BYTES
        while wanted < min(nbytes, CHUNK_BYTES):
            wanted *= 2
        if wanted > self._capacity:
            total = wanted * _SLOTS
            memory = map_all(self._channel.swap_files(call, reserve(total)), total)
            self._slots = [np.split(own, _SLOTS) for own in memory]
            self._capacity = wanted
        return self._capacity

    def stream(
        self,
        call: Call,
        count: int,
        load: Callable[[int, Bytes], None],
        store: Callable[[int, list[Bytes]], None],
        work: Callable[[int, list[Bytes]], None] | None = None,
    ) -> None:
        """Runs ``count`` chunks through the slots.

        Between two exchanges a rank loads one chunk, works on the one before and stores the one
        before that, so a chunk costs one exchange. A slot is loaded again three steps later, when
        an exchange has shown that everybody has stored from it; the turn goes on over
        collectives to keep that true at their borders.

        Args:
            call: The collective.
            count: The number of chunks, at least 1.
            load: ``load(i, slot)`` writes chunk i into this rank's slot.
            store: ``store(i, slots)`` takes chunk i from the slots of all ranks.
            work: ``work(i, slots)`` changes loaded slots before others store from them.
        """
        depth = 1 if work is None else 2
        for step in range(count + depth):
            if step < count:
                load(step, self._slots[self._channel.rank][(self._turn + step) % _SLOTS])
            if work is not None and 0 < step <= count:
                work(step - 1, self._at(step - 1))
            if step >= depth:
                store(step - depth, self._at(step - depth))
            if step < count + depth - 1:
                self._channel.exchange(call, Phase.STREAM, step)
        self._turn = (self._turn + count) % _SLOTS

    def _at(self, chunk: int) -> list[Bytes]:
        position = (self._turn + chunk) % _SLOTS
        return [slots[position] for slots in self._slots]
