"""The messages of one channel over MPI, and the end of a process that uses MPI."""

from __future__ import annotations

import atexit
import contextlib
import math
import os
import re
import signal
import time
import weakref
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from minipaddle.distributed.process_group.base import PeerError
from minipaddle.distributed.process_group.channel import Channel
from minipaddle.distributed.process_group.mesh import Mesh
from minipaddle.distributed.process_group.message import (
    MAX_MESSAGE_BYTES,
    Call,
    Code,
    completed_before_abort,
    pack_abort,
    unpack_abort,
)

_DATA, _FAREWELL, _AT_EXIT = 1, 2, 3  # tags
_TELL_SECONDS = 1.0  # for a farewell to be taken over
_LINGER_SECONDS = 3.0
# A wait begins with attempts. Then it sleeps: a peer that is late may need this very processor,
# and so may the thread that computes. MPI moves large data only while somebody calls it, so that
# is not slept over, once all ranks are there.
_ATTEMPTS = 300
_BUSY_SECONDS = 1.0
_NAP, _LONGEST_NAP = 20e-6, 1e-3
ALL = -1  # in place of a peer: an operation that all ranks are part of

_comms: list[Any] = []  # all that this process has made, which MPI keeps to its end
# MPI still writes to the memory of requests that were given up.
_given_up: list[Any] = []
_meshes: weakref.WeakSet[MpiMesh] = weakref.WeakSet()


@cache
def load_mpi() -> Any:
    """Starts MPI in this process and returns the module ``mpi4py.MPI``.

    Raises:
        ModuleNotFoundError: mpi4py is not installed; the text says how to.
        RuntimeError: No MPI library, or one that does not let several threads communicate.
    """
    try:
        import mpi4py

        mpi4py.rc.finalize = False  # see _end
        from mpi4py import MPI
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"the collectives 'mpi' need mpi4py ({error}): pip install 'minipaddle[mpi]', or "
            "mpi4py alone where the cluster has an MPI of its own"
        ) from error
    except (ImportError, RuntimeError) as error:
        raise RuntimeError(
            f"mpi4py cannot load an MPI library: {error}; pip install mpich, or load the MPI "
            "module of the cluster"
        ) from error
    if MPI.Query_thread() < MPI.THREAD_MULTIPLE:
        raise RuntimeError(
            f"{MPI.Get_library_version().split(',')[0].strip()} was started without "
            "MPI_THREAD_MULTIPLE, which communication beside backward needs"
        )
    return MPI


def unname_shared_memory() -> None:
    """Removes the names of MPICH's segments once all ranks of this host have mapped them.

    MPICH does it when MPI ends, so that a killed job would leave them.
    """
    with contextlib.suppress(OSError):  # a system without /proc
        maps = Path("/proc/self/maps").read_text()
        for name in set(re.findall(r"/dev/shm/mpich_shm_\w+", maps)):
            Path(name).unlink(missing_ok=True)


class MpiMesh(Mesh):
    """A communicator for every channel, in place of the sockets.

    Attributes:
        comms: ``comms[channel]``.
        broken: A rank failed, or this one gave up an operation.
    """

    broken = False

    def __init__(self, mpi: Any, comms: Sequence[Any], ranks: Sequence[int], timeout: float):
        super().__init__(comms[0].Get_rank(), ranks, [[] for _ in comms], timeout)
        self.mpi, self.comms = mpi, list(comms)
        _comms.extend(comms)
        _meshes.add(self)

    def _leave(self, told: tuple[int, str] | None) -> None:
        MpiMesh.broken = MpiMesh.broken or told is not None
        origin, reason = told or (self.ranks[self.rank], "")
        requests = []
        for comm, completed in zip(self.comms, self.completed, strict=True):
            message = pack_abort(origin, reason, completed)
            peers = (peer for peer in range(len(self.ranks)) if peer != self.rank)
            requests += [comm.Isend(message, peer, _FAREWELL) for peer in peers]
        deadline = time.monotonic() + _TELL_SECONDS
        while not (told_all := self.mpi.Request.Testall(requests)) and time.monotonic() < deadline:
            time.sleep(_NAP)
        if not told_all:
            _given_up.extend(requests)


class MpiChannel(Channel):
    """A communicator, for collectives that are called in the same order everywhere."""

    def __init__(self, mesh: MpiMesh, ring: int) -> None:
        super().__init__(mesh, ring)
        self.comm = mesh.comms[ring]
        self.mpi = mesh.mpi
        self._sent: dict[int, Any] = {}
        self._counts: dict[int, int] = {}
        self._arriving: dict[int, tuple[Any, bytearray]] = {}
        self._farewells: dict[int, bytes] = {}
        self._status = self.mpi.Status()

    def send(self, peer: int, message: bytes, call: Call, fds: Sequence[int] = ()) -> None:
        """Sends one message to one peer.

        The messages of an exchange are waited for with its answers. Full frames of a transfer
        wait until they are received, so that the peer need not store what it has not asked for.
        """
        if call.code is not Code.SEND:
            self._sent[peer] = self.comm.Isend(message, peer, _DATA)
            return
        send = self.comm.Issend if len(message) == MAX_MESSAGE_BYTES else self.comm.Isend
        self.finish({peer: send(message, peer, _DATA)}, call)

    def _receive(self, peers: Iterable[int], call: Call, max_fds: int = 0) -> None:
        requests = {p: self.comm.Irecv(self._received[p], p, _DATA) for p in peers}
        self.finish(requests, call)
        self._sizes.update({peer: self._counts[peer] for peer in requests})
        sent, self._sent = self._sent, {}
        self.finish(sent, call)

    def finish(self, requests: Mapping[int, Any], call: Call) -> None:
        """Waits until the operations are complete.

        Args:
            requests: The operation with each peer, or one of all ranks under the key ``ALL``.
            call: The collective that they belong to.

        Raises:
            PeerError: A peer failed or ended.
            TimeoutError: A peer did not come in time.
        """
        waiting = dict(requests)
        mesh, begin = self._mesh, time.monotonic()
        reported, nap, attempts = False, _NAP, 0 if self._attempts == 1 else _ATTEMPTS
        try:
            while True:
                waiting = {p: r for p, r in waiting.items() if not self._is_done(p, r)}
                if not waiting:
                    return
                self._raise_if_left(waiting, call)
                waited = time.monotonic() - begin
                if attempts or (ALL in waiting and waited < _BUSY_SECONDS):
                    attempts = max(0, attempts - 1)
                    os.sched_yield()
                    continue
                peers = list(self.peers if ALL in waiting else waiting)
                if waited > mesh.timeout:
                    raise self._late(peers, call)
                if waited > mesh.patience and not reported:
                    reported = True
                    mesh.report_late([mesh.ranks[peer] for peer in peers], mesh.patience, call)
                time.sleep(nap)
                nap = min(1.1 * nap, _LONGEST_NAP)
        except BaseException:
            MpiMesh.broken = True
            _given_up.append((waiting, self._received, requests))
            raise

    def _is_done(self, peer: int, request: Any) -> bool:
        try:
            if not request.Test(self._status):
                return False
        except self.mpi.Exception as error:
            reason = f"MPI cannot reach it: {error}"
            rank = self._mesh.ranks[peer if peer != ALL else self.peers[0]]
            raise PeerError(f"rank {rank} is gone; {reason}", rank, reason) from error
        self._counts[peer] = self._status.Get_count(self.mpi.BYTE)
        return True

    def _raise_if_left(self, waiting: Mapping[int, Any], call: Call) -> None:
        """Raises if the group has stopped, or a peer will not take part in this collective."""
        if self._mesh.failure is not None:
            raise self._mesh.stopped()
        for peer, message in self._farewells.items():
            aborted = unpack_abort(message)[1] != ""
            if call.code is Code.SEND:
                ends = aborted or peer in waiting
            else:
                # A peer that is done with this collective has failed in a later one. The others
                # have sent all that is needed here, so this one ends well on every rank.
                ends = completed_before_abort(message) < call.sequence
            if ends:
                raise self._aborted(peer, message, call) if aborted else self._gone(peer, call)
        # Looked at in the next round: what the peer sent before its farewell comes first.
        status = self._status
        while self.comm.Iprobe(self.mpi.ANY_SOURCE, _FAREWELL, status):
            peer, words = status.Get_source(), bytearray(status.Get_count(self.mpi.BYTE))
            self._arriving[peer] = self.comm.Irecv(words, peer, _FAREWELL), words
        for peer, (request, words) in self._arriving.items():
            if peer not in self._farewells and request.Test():
                self._farewells[peer] = bytes(words)


@cache
def end_together(mpi: Any) -> None:
    """Has the processes leave together when Python ends; all of them call it."""
    atexit.register(_end, mpi, mpi.COMM_WORLD.Dup(), os.getpid())


def _end(mpi: Any, comm: Any, pid: int) -> None:
    """Ends MPI when all ranks have come as far.

    Who starts MPI's processes kills all of them when one leaves without this common end. So after
    a failure a rank waits a little for the others to say what they know.
    """
    if pid != os.getpid() or mpi.Is_finalized():
        return
    for mesh in list(_meshes):
        mesh.close()
    others = set(range(comm.Get_size())) - {comm.Get_rank()}
    _given_up.extend(comm.Isend(b"\1" * MpiMesh.broken, other, _AT_EXIT) for other in others)
    status, leave_at = mpi.Status(), math.inf
    while others and time.monotonic() < leave_at:
        if MpiMesh.broken:
            leave_at = min(leave_at, time.monotonic() + _LINGER_SECONDS)
        if not comm.Iprobe(mpi.ANY_SOURCE, _AT_EXIT, status):
            time.sleep(_LONGEST_NAP)
            continue
        word = bytearray(status.Get_count(mpi.BYTE))
        comm.Recv(word, status.Get_source(), _AT_EXIT)
        others.discard(status.Get_source())
        MpiMesh.broken = MpiMesh.broken or bool(word)
    if MpiMesh.broken:
        # No MPI promises an end with operations given up; MPICH does end.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, _LINGER_SECONDS)
    for left in _comms:  # MPI complains of messages that nobody has taken
        while left.Iprobe(mpi.ANY_SOURCE, _FAREWELL, status):
            left.Recv(bytearray(status.Get_count(mpi.BYTE)), status.Get_source(), _FAREWELL)
    if not others:
        mpi.Finalize()
    signal.setitimer(signal.ITIMER_REAL, 0.0)
