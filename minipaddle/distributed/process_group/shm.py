"""The process group for CPU arrays on one Linux host: shared memory and socket messages."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from minipaddle.device.shared_memory import reserve
from minipaddle.distributed.process_group.algorithms import Algorithms
from minipaddle.distributed.process_group.base import DEFAULT_TIMEOUT, ReduceOp
from minipaddle.distributed.process_group.channel import Channel
from minipaddle.distributed.process_group.flat import check_movable
from minipaddle.distributed.process_group.host import HostGroup, check_part
from minipaddle.distributed.process_group.mesh import Mesh
from minipaddle.distributed.process_group.message import Call, Code, Phase
from minipaddle.distributed.process_group.reduction import Array, check_reducible
from minipaddle.distributed.process_group.rendezvous import adopt_sockets, meet, socket_pairs
from minipaddle.distributed.process_group.staging import map_all


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


class SharedMemoryGroup(HostGroup):
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

    def __init__(self, mesh: Mesh) -> None:
        channels = [Channel(mesh, ring) for ring in range(len(mesh.sockets))]
        super().__init__(mesh, channels, [Algorithms(channel) for channel in channels])

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
        check_part(rank, world_size, nrings, timeout)
        sockets = meet(rank, world_size, token, nrings, timeout)
        return cls(Mesh(rank, range(world_size), sockets, timeout))

    def _part(self, call: Call, members: Sequence[int], count: int) -> SharedMemoryGroup:
        with self._user as channel:
            found = self._wire(channel, call, members, count)
        position = members.index(self.rank)
        sockets = [
            [found[m][channel] if m != self.rank else None for m in members]
            for channel in range(count)
        ]
        world_ranks = [self._mesh.ranks[member] for member in members]
        return SharedMemoryGroup(Mesh(position, world_ranks, sockets, self.timeout))

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

    # Buckets

    def empty(self, numel: int, dtype: Any) -> SharedBuffer:
        dtype = np.dtype(dtype)
        check_movable(dtype)
        if numel < 0:
            raise ValueError(f"numel must not be negative, got {numel}")
        nbytes = numel * dtype.itemsize
        room = max(nbytes, 1)
        with self._user as channel:
            call = self._agree_on_bucket(channel, numel, dtype)
            memory = map_all(channel.swap_files(call, reserve(room)), room)
        shares = [share[:nbytes].view(dtype) for share in memory]
        return SharedBuffer(self._mesh, self._buffers, shares)

    def allreduce_mean(self, buffer: SharedBuffer | Array, ring: int, token: None = None) -> None:
        if isinstance(buffer, np.ndarray):
            return super().allreduce_mean(buffer, ring, token)
        self._check_ring(ring)
        if not isinstance(buffer, SharedBuffer) or buffer.mesh is not self._mesh:
            raise TypeError(f"buffer must come from this group's empty(), got {buffer!r}")
        own = buffer.array
        check_reducible(own.dtype, ReduceOp.AVG)
        with self._channels[ring] as channel:
            call = channel.call(Code.ALLREDUCE_MEAN, own, ReduceOp.AVG, buffer=buffer.number)
            self._algorithms[ring].reduce_shares(call, buffer.shares)
