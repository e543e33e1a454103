"""The collectives of one channel on flat arrays: what is loaded, joined and stored where."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minipaddle.distributed.process_group.channel import Channel
from minipaddle.distributed.process_group.message import Call, Phase
from minipaddle.distributed.process_group.reduction import Array, Reduction
from minipaddle.distributed.process_group.staging import Bytes, Stage

# Up to here the data travels inside the message: one exchange instead of two.
INLINE_BYTES = 16 << 10
_SLICE_ALIGNMENT = 64  # elements; keeps two ranks from writing into one cache line


def slices(size: int, count: int) -> list[slice]:
    """Cuts ``size`` elements into ``count`` nearly equal parts, some of them empty if short."""
    width = -(-size // count)
    width += -width % _SLICE_ALIGNMENT
    return [slice(min(i * width, size), min((i + 1) * width, size)) for i in range(count)]


class Algorithms:
    """What a channel can do with one-dimensional contiguous arrays.

    Every method takes the ``Call`` that this rank opened, and is called while the channel is held.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._rank = channel.rank
        self._stage = Stage(channel)
        self._reduction = Reduction()

    def divide_before(self, factor: float) -> None:
        """Has means divided by ``factor`` before the addition, and by the rest after it."""
        self._reduction.factor = factor

    def reduce_shares(self, call: Call, shares: Sequence[Array]) -> None:
        """Replaces the shares of all ranks, which all ranks can reach, by their reduction."""
        own = shares[self._rank]
        if own.nbytes <= INLINE_BYTES:
            self._reduction.join(self._swap(call, own), [own], call.op)
            return
        self._channel.exchange(call)
        mine = slices(own.size, len(shares))[self._rank]
        parts = [share[mine] for share in shares]
        self._reduction.join(parts, parts, call.op)
        self._channel.exchange(call, Phase.DONE)

    def reduce(self, call: Call, flat: Array, store: bool = True) -> None:
        """Replaces ``flat`` by its reduction over the ranks; unchanged here if not ``store``."""
        if flat.nbytes <= INLINE_BYTES:
            sources = self._swap(call, flat)
            if store:
                self._reduction.join(sources, [flat], call.op)
            return
        parts = self._chunks(call, flat)
        rank, world_size = self._rank, self._channel.world_size
        # Where the result is stored, the own slice is joined in place and never passes a slot.
        staged = [peer for peer in range(world_size) if not (store and peer == rank)]

        def load(chunk: int, slot: Bytes) -> None:
            part, owned = parts[chunk], slices(parts[chunk].size, world_size)
            for peer in staged:
                np.copyto(_typed(slot, part)[owned[peer]], part[owned[peer]])

        def work(chunk: int, slots: list[Bytes]) -> None:
            mine = slices(parts[chunk].size, world_size)[rank]
            sources = [_typed(slot, parts[chunk])[mine] for slot in slots]
            outs = [sources[rank]]
            if store:
                sources[rank] = parts[chunk][mine]
                outs = [sources[rank], *outs]
            self._reduction.join(sources, outs, call.op)

        def take(chunk: int, slots: list[Bytes]) -> None:
            part, owned = parts[chunk], slices(parts[chunk].size, world_size)
            for peer in staged if store else ():
                np.copyto(part[owned[peer]], _typed(slots[peer], part)[owned[peer]])

        self._stage.stream(call, len(parts), load, take, work)

    def broadcast(self, call: Call, flat: Array) -> None:
        """Replaces ``flat`` by that of the rank ``call.root``."""
        own = self._rank == call.root
        if flat.nbytes <= INLINE_BYTES:
            frames = self._channel.exchange(call, payload=flat.tobytes() if own else b"")
            if not own:
                np.copyto(flat, np.frombuffer(frames[call.root], flat.dtype))
            return
        parts = self._chunks(call, flat)

        def load(chunk: int, slot: Bytes) -> None:
            if own:
                np.copyto(_typed(slot, parts[chunk]), parts[chunk])

        def take(chunk: int, slots: list[Bytes]) -> None:
            if not own:
                np.copyto(parts[chunk], _typed(slots[call.root], parts[chunk]))

        self._stage.stream(call, len(parts), load, take)

    def all_gather(self, call: Call, flat: Array, outs: Sequence[Array]) -> None:
        """Writes the array of rank i into ``outs[i]``."""
        if flat.nbytes <= INLINE_BYTES:
            for out, source in zip(outs, self._swap(call, flat), strict=True):
                np.copyto(out, source)
            return
        parts = self._chunks(call, flat)
        targets = [self._chunks(call, out) for out in outs]

        def load(chunk: int, slot: Bytes) -> None:
            np.copyto(_typed(slot, parts[chunk]), parts[chunk])

        def take(chunk: int, slots: list[Bytes]) -> None:
            for target, slot in zip(targets, slots, strict=True):
                np.copyto(target[chunk], _typed(slot, target[chunk]))

        self._stage.stream(call, len(parts), load, take)

    def reduce_scatter(self, call: Call, sources: Sequence[Array], out: Array) -> None:
        """Writes the reduction of every rank's ``sources[rank]`` into ``out``."""

        def take(part: slice, regions: list[Array]) -> None:
            self._reduction.join(regions, [out[part]], call.op)

        self._route(call, sources, out, take)

    def scatter(self, call: Call, sources: Sequence[Array], out: Array) -> None:
        """Writes ``sources[rank]`` of the rank ``call.root`` into ``out``."""

        def take(part: slice, regions: list[Array]) -> None:
            np.copyto(out[part], regions[call.root])

        self._route(call, sources, out, take)

    def alltoall(self, call: Call, sources: Sequence[Array], outs: Sequence[Array]) -> None:
        """Writes ``sources[rank]`` of rank i into ``outs[i]``."""

        def take(part: slice, regions: list[Array]) -> None:
            for out, region in zip(outs, regions, strict=True):
                np.copyto(out[part], region)

        self._route(call, sources, outs[0], take)

    def _route(
        self,
        call: Call,
        sources: Sequence[Array],
        like: Array,
        take: Callable[[slice, list[Array]], None],
    ) -> None:
        """Brings each rank what is meant for it: slots hold one region a rank."""
        world_size = self._channel.world_size
        region = self._stage.room(call, like.nbytes * world_size) // world_size
        size = region // like.itemsize

        def part_of(chunk: int) -> slice:
            return slice(chunk * size, (chunk + 1) * size)

        def load(chunk: int, slot: Bytes) -> None:
            for peer, source in enumerate(sources):
                part = source[part_of(chunk)]
                np.copyto(_typed(slot[peer * region :], part), part)

        def store(chunk: int, slots: list[Bytes]) -> None:
            start, part = self._rank * region, like[part_of(chunk)]
            take(part_of(chunk), [_typed(slot[start:], part) for slot in slots])

        self._stage.stream(call, max(1, -(-like.size // size)), load, store)

    def _swap(self, call: Call, flat: Array) -> list[Array]:
        """Returns everybody's array in rank order: received copies, and the own one itself."""
        frames = self._channel.exchange(call, payload=flat.tobytes())
        return [
            np.frombuffer(frames[peer], flat.dtype) if peer != self._rank else flat
            for peer in range(self._channel.world_size)
        ]

    def _chunks(self, call: Call, flat: Array) -> list[Array]:
        size = self._stage.room(call, flat.nbytes) // flat.itemsize
        return [flat[start : start + size] for start in range(0, flat.size, size)]


def _typed(slot: Bytes, part: Array) -> Any:
    return slot[: part.nbytes].view(part.dtype)
