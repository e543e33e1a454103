"""The process group for CPU arrays on one Linux host: shared memory and socket messages."""

from __future__ import annotations

import pickle
import sys
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from minipaddle.device.shared_memory import reserve
from minipaddle.distributed.process_group.algorithms import Algorithms
from minipaddle.distributed.process_group.base import (
    DEFAULT_TIMEOUT,
    CollectiveMismatchError,
    LateReport,
    ProcessGroup,
    ReduceOp,
)
from minipaddle.distributed.process_group.channel import Channel
from minipaddle.distributed.process_group.flat import FlatView, check_array, check_movable, frames
from minipaddle.distributed.process_group.mesh import Mesh
from minipaddle.distributed.process_group.message import Call, Code, Phase, failure_text
from minipaddle.distributed.process_group.reduction import Array, check_reducible
from minipaddle.distributed.process_group.rendezvous import adopt_sockets, meet, socket_pairs
from minipaddle.distributed.process_group.staging import map_all

_LEAVE_SECONDS = 5.0


class SharedBuffer:
    """A bucket: memory of every rank that every rank can reach.

    Attributes:
        array: This rank's memory, one-dimensional. It stays valid after the group's end.
        shares: The memory of every rank, in rank order.
        number: The buffer's position in the order of allocation, equal on all ranks.
        mesh: The sockets of the group that made it.
    """

    __slots__ = ("array", "mesh", "number", "shares")

    def __init__(self, mesh: Mesh, number: int, shares: Sequence[Array]) -> None:
        self.mesh, self.number, self.shares = mesh, number, tuple(shares)
        self.array = shares[mesh.rank]


class SharedMemoryGroup(ProcessGroup):
    """Ranks on one Linux host, for NumPy arrays.

    Buckets lie in memory that all ranks map. In a reduction each rank owns one slice: it joins
    that slice of all ranks once, in rank order, and all ranks take its result, so replicas get
    the same bits. Each ring and the user's collectives have sockets of their own: one thread a
    ring and one thread with collectives may run at the same time. Nothing has a name in the file
    system, so nothing can be left behind.

    Example:
        >>> import numpy as np
        >>> from minipaddle.distributed.process_group import SharedMemoryGroup
        >>> group = SharedMemoryGroup.create(0, 1, token="job")
        >>> x = np.ones(3, np.float32)
        >>> group.all_reduce(x)
        >>> x.tolist()
        [1.0, 1.0, 1.0]
        >>> group.destroy()
    """

    blocking = True

    def __init__(self, mesh: Mesh) -> None:
        self.rank = mesh.rank
        self.world_size = len(mesh.ranks)
        self.nrings = len(mesh.sockets) - 1
        self.timeout = mesh.timeout
        self._mesh = mesh
        self._channels = [Channel(mesh, ring) for ring in range(self.nrings + 1)]
        self._algorithms = [Algorithms(channel) for channel in self._channels]
        self._user = self._channels[self.nrings]
        self._buffers = 0
        self._children: weakref.WeakSet[SharedMemoryGroup] = weakref.WeakSet()
        # Also at interpreter exit, so that the peers hear of it and no descriptor is left open.
        self._close = weakref.finalize(self, mesh.close)

    @classmethod
    def create(
        cls,
        rank: int,
        world_size: int,
        token: str,
        nrings: int = 1,
        timeout: float = DEFAULT_TIMEOUT,
    ) -> SharedMemoryGroup:
        """Meets the other ranks of the job on this host.

        Args:
            rank: This process's rank, from 0.
            world_size: Number of processes of the job.
            token: The secret of the job, equal on all ranks and different for every job.
            nrings: Number of channels for ``allreduce_mean``.
            timeout: Seconds that this and every later wait for another rank may last.

        Returns:
            The group, when every rank has come.

        Raises:
            ValueError: If rank, world_size, nrings or timeout are out of range.
            TimeoutError: If a rank does not come; it names the rank.
            RuntimeError: If this is not Linux, or the ranks do not agree.
        """
        if sys.platform != "linux":
            raise RuntimeError(
                f"several processes need Linux (memfd_create), this is {sys.platform}; "
                "one process works everywhere"
            )
        if world_size < 1 or not 0 <= rank < world_size:
            raise ValueError(
                f"rank must be in [0, world_size) and world_size at least 1, got rank {rank} "
                f"and world_size {world_size}"
            )
        if not 1 <= nrings < np.iinfo(np.uint16).max:
            raise ValueError(f"nrings must be at least 1, got {nrings}")
        if not timeout > 0:
            raise ValueError(f"timeout must be a positive number of seconds, got {timeout}")
        sockets = meet(rank, world_size, token, nrings, timeout)
        return cls(Mesh(rank, range(world_size), sockets, timeout))

    def new_group(
        self, ranks: Sequence[int], nrings: int | None = None
    ) -> SharedMemoryGroup | None:
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
        with self._user as channel:
            found = self._wire(channel, call, members, count)
        position = members.index(self.rank)
        sockets = [
            [found[m][channel] if m != self.rank else None for m in members]
            for channel in range(count)
        ]
        world_ranks = [self._mesh.ranks[member] for member in members]
        mesh = Mesh(position, world_ranks, sockets, self.timeout)
        mesh.patience = self._mesh.patience
        group = SharedMemoryGroup(mesh)
        self._children.add(group)
        return group

    def _wire(
        self, channel: Channel, call: Call, members: Sequence[int], count: int
    ) -> dict[int, list[Any]]:
        """Makes the sockets to the higher members and receives those of the lower ones."""
        found: dict[int, list[Any]] = {}
        header = call.header(Phase.FILES)
        try:
            for peer in sorted(set(members) - {self.rank}):
                if peer < self.rank:
                    fds = channel.receive_files(peer, header, call, count)
                    found[peer] = adopt_sockets(fds)
                    continue
                found[peer], theirs = socket_pairs(count)
                try:
                    channel.send(peer, header, call, [sock.fileno() for sock in theirs])
                finally:
                    for sock in theirs:
                        sock.close()
        except BaseException:
            for sock in (sock for sockets in found.values() for sock in sockets):
                sock.close()
            raise
        return found

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

    def empty(self, numel: int, dtype: Any) -> SharedBuffer:
        dtype = np.dtype(dtype)
        check_movable(dtype)
        if numel < 0:
            raise ValueError(f"numel must not be negative, got {numel}")
        nbytes = numel * dtype.itemsize
        room = max(nbytes, 1)
        with self._user as channel:
            self._buffers += 1
            call = channel.call(Code.EMPTY, buffer=self._buffers)
            call.nbytes, call.dtype = nbytes, dtype
            memory = map_all(channel.swap_files(call, reserve(room)), room)
        shares = [share[:nbytes].view(dtype) for share in memory]
        return SharedBuffer(self._mesh, self._buffers, shares)

    def wait_compute(self, ring: int) -> None:
        self._check_ring(ring)

    def divide_before(self, factor: float) -> None:
        for algorithms in self._algorithms[: self.nrings]:
            algorithms.divide_before(factor)

    def allreduce_mean(self, buffer: SharedBuffer | Array, ring: int, token: None = None) -> None:
        self._check_ring(ring)
        if isinstance(buffer, np.ndarray):
            check_reducible(buffer.dtype, ReduceOp.AVG)
            with FlatView(buffer, writable=True) as flat, self._channels[ring] as channel:
                call = channel.call(Code.ALLREDUCE_MEAN, buffer, ReduceOp.AVG)
                self._algorithms[ring].reduce(call, flat)
            return
        if not isinstance(buffer, SharedBuffer) or buffer.mesh is not self._mesh:
            raise TypeError(f"buffer must come from this group's empty(), got {buffer!r}")
        own = buffer.array
        check_reducible(own.dtype, ReduceOp.AVG)
        with self._channels[ring] as channel:
            call = channel.call(Code.ALLREDUCE_MEAN, own, ReduceOp.AVG, buffer=buffer.number)
            self._algorithms[ring].reduce_shares(call, buffer.shares)

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
