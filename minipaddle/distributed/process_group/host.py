"""Groups of host processes: the collectives on NumPy arrays, however the bytes travel."""

from __future__ import annotations

import pickle
import weakref
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from minipaddle.distributed.process_group.algorithms import Algorithms
from minipaddle.distributed.process_group.base import (
    CollectiveMismatchError,
    LateReport,
    ProcessGroup,
    ReduceOp,
)
from minipaddle.distributed.process_group.channel import Channel
from minipaddle.distributed.process_group.flat import FlatView, check_array, frames
from minipaddle.distributed.process_group.mesh import Mesh
from minipaddle.distributed.process_group.message import Call, Code, Phase, failure_text
from minipaddle.distributed.process_group.reduction import Array, check_reducible

_LEAVE_SECONDS = 5.0


def check_part(rank: int, world_size: int, nrings: int, timeout: float) -> None:
    """Raises a ValueError that names the argument of ``create`` which is out of range."""
    if world_size < 1 or not 0 <= rank < world_size:
        raise ValueError(
            f"rank must be in [0, world_size) and world_size at least 1, got rank {rank} "
            f"and world_size {world_size}"
        )
    if not 1 <= nrings < np.iinfo(np.uint16).max:
        raise ValueError(f"nrings must be at least 1, got {nrings}")
    if not timeout > 0:
        raise ValueError(f"timeout must be a positive number of seconds, got {timeout}")


class HostGroup(ProcessGroup):
    """What all groups of NumPy arrays have in common.

    A subclass meets the other ranks and gives a channel and its algorithms for each ring, and one
    more for the user's collectives: one thread a ring and one thread with collectives may run at
    the same time.
    """

    blocking = True

    def __init__(
        self, mesh: Mesh, channels: Sequence[Channel], algorithms: Sequence[Algorithms]
    ) -> None:
        self.rank = mesh.rank
        self.world_size = len(mesh.ranks)
        self.nrings = len(channels) - 1
        self.timeout = mesh.timeout
        self._mesh = mesh
        self._channels = list(channels)
        self._algorithms = list(algorithms)
        self._user = self._channels[self.nrings]
        self._buffers = 0
        self._children: weakref.WeakSet[HostGroup] = weakref.WeakSet()
        # Also at interpreter exit, so that the peers hear of it and no descriptor is left open.
        self._close = weakref.finalize(self, mesh.close)

    @abstractmethod
    def _part(self, call: Call, members: Sequence[int], count: int) -> HostGroup:
        """Makes the group of ``members``, of which this rank is one, with ``count`` channels."""

    def new_group(self, ranks: Sequence[int], nrings: int | None = None) -> HostGroup | None:
        members = [int(rank) for rank in ranks]
        for member in members:
            self._check_rank("ranks", member)
        if not members or len(set(members)) != len(members):
            raise ValueError(f"ranks must be distinct and not empty, got {members}")
        count = (nrings or self.nrings) + 1  # channels: one a ring, and the user's
        own = np.array([count, *members], np.int64).tobytes()
        with self._user as channel:
            call = channel.call(Code.NEW_GROUP)
            frames = channel.exchange(call, payload=own)
            theirs = {peer: bytes(payload) for peer, payload in frames.items()}
        for peer, other in theirs.items():
            if other != own:  # every rank sees a difference if there is one, and stays in step
                names = self._mesh.ranks
                raise CollectiveMismatchError(
                    f"the ranks disagree in new_group: rank {names[self.rank]} gave {members}, "
                    f"rank {names[peer]} gave {np.frombuffer(other, np.int64)[1:].tolist()}, or "
                    "another number of rings"
                )
        if self.rank not in members:
            return None
        group = self._part(call, members, count)
        group._mesh.patience = self._mesh.patience
        self._children.add(group)
        return group

    def destroy(self) -> None:
        for child in list(self._children):
            child.destroy()
        self._mesh.stop("it was destroyed")
        # A thread that was woken must be out of its system call before the number is reused.
        if all(channel.drain(_LEAVE_SECONDS) for channel in self._channels):
            self._close()
        self._algorithms.clear()

    def abort(self, exc: BaseException) -> None:
        for child in list(self._children):
            child.abort(exc)
        self._mesh.abort(self._mesh.ranks[self.rank], failure_text(exc))

    def report_waits(self, seconds: float, report: LateReport | None = None) -> None:
        self._mesh.patience = seconds
        if report is not None:
            self._mesh.report_late = lambda late, waited, call: report(late, waited, call.buffer)

    # Buckets

    def _agree_on_bucket(self, channel: Channel, numel: int, dtype: np.dtype[Any]) -> Call:
        """Opens the making of the next bucket; the caller has the ranks compare it."""
        self._buffers += 1
        call = channel.call(Code.EMPTY, buffer=self._buffers)
        call.nbytes, call.dtype = numel * dtype.itemsize, dtype
        return call

    def wait_compute(self, ring: int) -> None:
        self._check_ring(ring)

    def divide_before(self, factor: float) -> None:
        for algorithms in self._algorithms[: self.nrings]:
            algorithms.divide_before(factor)

    def allreduce_mean(self, buffer: Any, ring: int, token: None = None) -> None:
        self._mean(buffer, ring)

    def _mean(self, array: Array, ring: int, number: int = 0) -> None:
        """Averages an array, which is that of bucket ``number`` if that is not 0."""
        self._check_ring(ring)
        check_reducible(array.dtype, ReduceOp.AVG)
        with FlatView(array, writable=True) as flat, self._channels[ring] as channel:
            call = channel.call(Code.ALLREDUCE_MEAN, array, ReduceOp.AVG, buffer=number)
            self._algorithms[ring].reduce(call, flat)

    def wait_comm(self, token: None) -> None:
        return None

    def allreduce_max(self, bitmap: Array) -> None:
        self.all_reduce(bitmap, ReduceOp.MAX)

    # Collectives on ordinary arrays

    def all_reduce(self, array: Array, op: int = ReduceOp.SUM) -> None:
        op = ReduceOp(op)
        with FlatView(array, writable=True) as flat:
            check_reducible(flat.dtype, op)
            with self._user as channel:
                call = channel.call(Code.ALL_REDUCE, array, op)
                self._algorithms[-1].reduce(call, flat)

    def reduce(self, array: Array, dst: int, op: int = ReduceOp.SUM) -> None:
        op = ReduceOp(op)
        self._check_rank("dst", dst)
        store = self.rank == dst
        with FlatView(array, writable=store) as flat:
            check_reducible(flat.dtype, op)
            with self._user as channel:
                call = channel.call(Code.REDUCE, array, op, dst)
                self._algorithms[-1].reduce(call, flat, store)

    def broadcast(self, array: Array, src: int) -> None:
        self._check_rank("src", src)
        with FlatView(array, writable=self.rank != src) as flat, self._user as channel:
            call = channel.call(Code.BROADCAST, array, root=src)
            self._algorithms[-1].broadcast(call, flat)

    def all_gather(self, array: Array) -> list[Array]:
        with FlatView(array) as flat, self._user as channel:
            call = channel.call(Code.ALL_GATHER, array)
            outs = self._empties(array)
            self._algorithms[-1].all_gather(call, flat, [out.reshape(-1) for out in outs])
        return outs

    def reduce_scatter(self, out: Array, arrays: Sequence[Array], op: int = ReduceOp.SUM) -> None:
        op = ReduceOp(op)
        sources = self._one_a_rank(arrays, out)
        with FlatView(out, writable=True) as flat:
            check_reducible(flat.dtype, op)
            with self._user as channel:
                call = channel.call(Code.REDUCE_SCATTER, out, op)
                self._algorithms[-1].reduce_scatter(call, sources, flat)

    def scatter(self, array: Array, arrays: Sequence[Array] | None, src: int) -> None:
        self._check_rank("src", src)
        if self.rank == src and arrays is None:
            raise ValueError(f"scatter: rank {src} is src and must give arrays, got None")
        sources = self._one_a_rank(arrays, array) if self.rank == src and arrays is not None else []
        with FlatView(array, writable=True) as flat, self._user as channel:
            call = channel.call(Code.SCATTER, array, root=src)
            self._algorithms[-1].scatter(call, sources, flat)

    def alltoall(self, arrays: Sequence[Array]) -> list[Array]:
        if not arrays:
            raise ValueError(f"arrays must hold {self.world_size} arrays, got none")
        sources = self._one_a_rank(arrays, arrays[0])
        outs = self._empties(arrays[0])
        with self._user as channel:
            call = channel.call(Code.ALLTOALL, arrays[0])
            self._algorithms[-1].alltoall(call, sources, [out.reshape(-1) for out in outs])
        return outs

    def send(self, array: Array, dst: int) -> None:
        self._check_peer("dst", dst)
        with FlatView(array) as flat, self._user as channel:
            call = channel.call_peer(array, self.rank, dst)
            for step, part in enumerate(frames(flat)):
                channel.send(dst, call.header(Phase.STREAM, step) + part.tobytes(), call)

    def recv(self, array: Array, src: int) -> None:
        self._check_peer("src", src)
        with FlatView(array, writable=True) as flat, self._user as channel:
            call = channel.call_peer(array, src, self.rank)
            for step, part in enumerate(frames(flat)):
                frame = channel.receive(src, call.header(Phase.STREAM, step), call)
                part[:] = np.frombuffer(frame, np.uint8)

    def barrier(self) -> None:
        with self._user as channel:
            channel.exchange(channel.call(Code.BARRIER))

    def all_gather_object(self, obj: Any) -> list[Any]:
        own = np.frombuffer(pickle.dumps(obj), np.uint8)
        with self._user as channel:
            call = channel.call(Code.ALL_GATHER_OBJECT)
            frames = channel.exchange(call, payload=own.nbytes.to_bytes(8, "little"))
            sizes = [
                int.from_bytes(frames[peer], "little") if peer != self.rank else own.nbytes
                for peer in range(self.world_size)
            ]
            padded = np.zeros(max(sizes), np.uint8)
            padded[: own.nbytes] = own
            outs = [np.empty_like(padded) for _ in sizes]
            self._algorithms[-1].all_gather(call, padded, outs)
        return [pickle.loads(out[:size].data) for out, size in zip(outs, sizes, strict=True)]

    def broadcast_object(self, obj: Any, src: int) -> Any:
        self._check_rank("src", src)
        own = np.frombuffer(pickle.dumps(obj if self.rank == src else None), np.uint8)
        with self._user as channel:
            call = channel.call(Code.BROADCAST_OBJECT, root=src)
            frames = channel.exchange(call, payload=own.nbytes.to_bytes(8, "little"))
            if self.rank != src:
                own = np.empty(int.from_bytes(frames[src], "little"), np.uint8)
            self._algorithms[-1].broadcast(call, own)
        return obj if self.rank == src else pickle.loads(own.data)

    def _empties(self, like: Array) -> list[Array]:
        return [np.empty(like.shape, like.dtype) for _ in range(self.world_size)]

    def _one_a_rank(self, arrays: Sequence[Array], like: Array) -> list[Array]:
        if len(arrays) != self.world_size:
            raise ValueError(
                f"arrays must hold one array for each of the {self.world_size} ranks, "
                f"got {len(arrays)}"
            )
        for position, array in enumerate(arrays):
            check_array(array)
            if (array.shape, array.dtype) != (like.shape, like.dtype):
                raise ValueError(
                    f"arrays[{position}] must have shape {like.shape} and dtype {like.dtype}, "
                    f"got shape {array.shape} and dtype {array.dtype}"
                )
        return [np.ascontiguousarray(array).reshape(-1) for array in arrays]

    def _check_ring(self, ring: int) -> None:
        if not 0 <= ring < self.nrings:
            raise ValueError(f"ring must be in [0, {self.nrings}), got {ring}")

    def _check_rank(self, name: str, rank: int) -> None:
        if not 0 <= rank < self.world_size:
            raise ValueError(f"{name} must be a rank in [0, {self.world_size}), got {rank}")

    def _check_peer(self, name: str, rank: int) -> None:
        self._check_rank(name, rank)
        if rank == self.rank:
            raise ValueError(f"{name} must be another rank, got this rank {rank} itself")
