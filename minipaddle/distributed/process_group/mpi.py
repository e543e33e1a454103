"""The process group over MPI: CPU arrays of processes on one host or many."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minipaddle.distributed.process_group.algorithms import INLINE_BYTES, Algorithms, slices
from minipaddle.distributed.process_group.base import DEFAULT_TIMEOUT
from minipaddle.distributed.process_group.flat import check_movable
from minipaddle.distributed.process_group.host import HostGroup, check_part
from minipaddle.distributed.process_group.message import NO_ROOT, Call
from minipaddle.distributed.process_group.mpi_channel import (
    ALL,
    MpiChannel,
    MpiMesh,
    end_together,
    load_mpi,
    unname_shared_memory,
)
from minipaddle.distributed.process_group.reduction import Array


class MpiBuffer:
    """A bucket.

    Attributes:
        array: The memory, one-dimensional.
        number: The buffer's position in the order of allocation, equal on all ranks.
        mesh: The communicators of the group that made it.
    """

    __slots__ = ("array", "mesh", "number")

    def __init__(self, mesh: MpiMesh, number: int, array: Array) -> None:
        self.mesh, self.number, self.array = mesh, number, array


class MpiAlgorithms(Algorithms):
    """Collectives of which MPI only moves the bytes.

    The values are joined here, in rank order and each by one rank. So replicas get the same bits,
    those of the shared-memory group too, and every dtype and mean works that works there.
    """

    def __init__(self, channel: MpiChannel) -> None:
        super().__init__(channel)
        self._mpi_channel = channel
        self._memory = np.empty(0, np.uint8)

    def reduce(self, call: Call, flat: Array, store: bool = True) -> None:
        """Replaces ``flat`` by its reduction over the ranks; unchanged here if not ``store``."""
        if flat.nbytes <= INLINE_BYTES:
            super().reduce(call, flat, store)
            return
        channel = self._mpi_channel
        channel.exchange(call)
        parts = slices(flat.size, channel.world_size)
        sizes = [(part.stop - part.start) * flat.itemsize for part in parts]
        starts = [part.start * flat.itemsize for part in parts]
        data, byte = flat.view(np.uint8), channel.mpi.BYTE
        own, width, count = parts[self._rank], sizes[self._rank], channel.world_size
        arrived = self._room(width * count)
        sources = list(arrived.view(flat.dtype).reshape(count, -1))
        sent, received = list(sizes), [width] * count
        if store:  # then the own slice is joined in place
            sources[self._rank] = flat[own]
            sent[self._rank] = received[self._rank] = 0
        into = (arrived, received, [width * peer for peer in range(count)], byte)
        self._finish(call, channel.comm.Ialltoallv((data, sent, starts, byte), into))
        out = sources[self._rank]
        self._reduction.join(sources, [out], call.op)
        whole = (data, sizes, starts, byte)
        if call.root == NO_ROOT:
            self._finish(call, channel.comm.Iallgatherv(channel.mpi.IN_PLACE, whole))
            return
        mine = channel.mpi.IN_PLACE if store else (out.view(np.uint8), width, byte)
        request = channel.comm.Igatherv(mine, whole if store else None, call.root)
        self._finish(call, request)

    def broadcast(self, call: Call, flat: Array) -> None:
        """Replaces ``flat`` by that of the rank ``call.root``."""
        if flat.nbytes <= INLINE_BYTES:
            super().broadcast(call, flat)
            return
        channel = self._mpi_channel
        channel.exchange(call)
        self._finish(call, channel.comm.Ibcast((flat.view(np.uint8), channel.mpi.BYTE), call.root))

    def all_gather(self, call: Call, flat: Array, outs: Sequence[Array]) -> None:
        """Writes the array of rank i into ``outs[i]``."""
        if flat.nbytes <= INLINE_BYTES:
            super().all_gather(call, flat, outs)
            return
        channel = self._mpi_channel
        channel.exchange(call)
        arrived = self._room(flat.nbytes * len(outs))
        self._finish(call, channel.comm.Iallgather(flat.view(np.uint8), arrived))
        for out, source in zip(outs, arrived.view(flat.dtype).reshape(len(outs), -1), strict=True):
            np.copyto(out, source)

    def _route(
        self,
        call: Call,
        sources: Sequence[Array],
        like: Array,
        take: Callable[[slice, list[Array]], None],
    ) -> None:
        channel = self._mpi_channel
        channel.exchange(call)
        size, byte = channel.world_size, channel.mpi.BYTE
        sent = np.concatenate(sources).view(np.uint8) if sources else np.empty(0, np.uint8)
        arrived = self._room(like.nbytes * size)
        sends = call.root in (NO_ROOT, self._rank)
        counts = [like.nbytes if call.root in (NO_ROOT, peer) else 0 for peer in range(size)]
        starts = [peer * like.nbytes for peer in range(size)]
        request = channel.comm.Ialltoallv(
            (sent, [like.nbytes * sends] * size, starts if sends else None, byte),
            (arrived, counts, starts, byte),
        )
        self._finish(call, request)
        take(slice(None), list(arrived.view(like.dtype).reshape(size, -1)))

    def _finish(self, call: Call, request: Any) -> None:
        self._mpi_channel.finish({ALL: request}, call)

    def _room(self, nbytes: int) -> Array:
        if self._memory.size < nbytes:
            self._memory = np.empty(nbytes, np.uint8)
        return self._memory[:nbytes]


class MpiGroup(HostGroup):
    """Ranks that MPI's ``mpiexec``, ``srun`` or our launcher has started, for NumPy arrays.

    Each ring and the user's collectives have a communicator of their own. Before data moves the
    ranks compare what they have called, and every wait polls, so that it can end with an error.
    MPI gives communicators out for good: a process can make some hundred groups.

    Example:
        >>> from minipaddle.distributed.process_group import process_group_class
        >>> process_group_class("mpi").__name__
        'MpiGroup'
    """

    def __init__(self, mesh: MpiMesh) -> None:
        channels = [MpiChannel(mesh, ring) for ring in range(len(mesh.comms))]
        super().__init__(mesh, channels, [MpiAlgorithms(channel) for channel in channels])
        self._mpi_mesh = mesh

    @classmethod
    def create(
        cls,
        rank: int,
        world_size: int,
        token: str,
        nrings: int = 1,
        timeout: float = DEFAULT_TIMEOUT,
    ) -> MpiGroup:
        """Meets the other ranks that were started with this one.

        Args:
            rank: This process's rank, from 0; MPI must see it so too.
            world_size: Number of processes of the job.
            token: Not used: who starts MPI's processes keeps jobs apart.
            nrings: Number of channels for ``allreduce_mean``, equal on all ranks.
            timeout: Seconds that this and every later wait for another rank may last.

        Returns:
            The group, when every rank has come.

        Raises:
            ModuleNotFoundError: mpi4py is not installed.
            RuntimeError: MPI sees another rank or world size, or ``nrings`` differ.
            TimeoutError: A rank does not come.
            ValueError: An argument is out of range.
        """
        check_part(rank, world_size, nrings, timeout)
        mpi = load_mpi()
        world = mpi.COMM_WORLD
        if world.Get_size() == 1:  # nobody else to end with, also if this fails
            end_together(mpi)
        if (world.Get_rank(), world.Get_size()) != (rank, world_size):
            raise RuntimeError(
                f"this should be rank {rank} of {world_size}, but MPI sees rank "
                f"{world.Get_rank()} of {world.Get_size()}; start the processes with the mpiexec "
                "of the MPI that mpi4py uses, or srun --mpi=pmi2, or "
                "python -m minipaddle.distributed.launch"
            )
        first, request = world.Idup()
        deadline = time.monotonic() + timeout
        while not request.Test():
            if time.monotonic() > deadline:
                raise TimeoutError(
                    f"timeout: rank {rank} waited {timeout:g} seconds for all {world_size} ranks "
                    "to call init_parallel_env"
                )
            time.sleep(0.001)
        counts = first.allgather(nrings)  # everybody is here
        if len(set(counts)) > 1:
            raise RuntimeError(
                f"the ranks have different numbers of rings (FLAGS_nccl_nrings): {counts}"
            )
        comms = [first, *(first.Dup() for _ in range(nrings))]
        end_together(mpi)
        unname_shared_memory()
        return cls(MpiMesh(mpi, comms, range(world_size), timeout))

    def _part(self, call: Call, members: Sequence[int], count: int) -> MpiGroup:
        mesh = self._mpi_mesh
        parent = mesh.comms[-1]
        # All ranks have agreed on this group a moment ago, so they come.
        first = parent.Create_group(parent.Get_group().Incl(members), call.sequence % 1024)
        comms = [first, *(first.Dup() for _ in range(count - 1))]
        world_ranks = [mesh.ranks[member] for member in members]
        return MpiGroup(MpiMesh(mesh.mpi, comms, world_ranks, self.timeout))

    def empty(self, numel: int, dtype: Any) -> MpiBuffer:
        dtype = np.dtype(dtype)
        check_movable(dtype)
        if numel < 0:
            raise ValueError(f"numel must not be negative, got {numel}")
        with self._user as channel:
            channel.exchange(self._agree_on_bucket(channel, numel, dtype))
        return MpiBuffer(self._mpi_mesh, self._buffers, np.zeros(numel, dtype))

    def allreduce_mean(self, buffer: MpiBuffer | Array, ring: int, token: None = None) -> None:
        if isinstance(buffer, np.ndarray):
            self._mean(buffer, ring)
            return
        if not isinstance(buffer, MpiBuffer) or buffer.mesh is not self._mpi_mesh:
            raise TypeError(f"buffer must come from this group's empty(), got {buffer!r}")
        self._mean(buffer.array, ring, buffer.number)
