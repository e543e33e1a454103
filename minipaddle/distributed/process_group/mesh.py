"""The sockets of one rank of one group, and the reason why they stopped if they did."""

from __future__ import annotations

import contextlib
import math
import os
import socket
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from minipaddle.distributed.process_group.base import PeerError
from minipaddle.distributed.process_group.message import Call, pack_abort

Sockets = Sequence[socket.socket | None]


class Mesh:
    """A socket to every peer for every channel; shared by the channels of a group.

    Attributes:
        rank: This process's rank in the group.
        ranks: The world rank of each rank of the group, for texts.
        sockets: ``sockets[channel][peer]``; None at the own rank.
        timeout: Seconds that one wait may last.
        failure: None while the group works, else why it no longer does.
        completed: For each channel the number of the last collective that this rank is done with.
        patience: Seconds after which a wait for other ranks is reported.
        report_late: ``report_late(ranks, seconds, call)`` does that, by world ranks.
    """

    def __init__(
        self, rank: int, ranks: Sequence[int], sockets: Sequence[Sockets], timeout: float
    ) -> None:
        self.rank = rank
        self.ranks = tuple(ranks)
        self.sockets = [list(channel) for channel in sockets]
        self.timeout = timeout
        self.failure: str | None = None
        self.completed = [0] * len(self.sockets)
        self.patience = math.inf
        self.report_late: Callable[[list[int], float, Call], None] = self._print_late
        self._culprit: tuple[int, str] | None = None
        self._lock = threading.Lock()
        self._owner = os.getpid()
        for sock in self._open():
            sock.setblocking(True)
        _install_fork_guard()
        _meshes.add(self)

    def stopped(self) -> RuntimeError:
        """Returns the error for a use after the end; a PeerError if a peer was the cause."""
        text = (
            f"the process group of rank {self.ranks[self.rank]} cannot be used any more: "
            f"{self.failure}"
        )
        if self._culprit is None:
            return RuntimeError(text)
        return PeerError(text, *self._culprit)

    def stop(self, failure: str) -> None:
        """Ends all waits of this rank; a second call does nothing."""
        self._stop(failure)

    def abort(self, origin: int, reason: str) -> None:
        """Tells the peers that world rank ``origin`` failed, then stops."""
        if origin == self.ranks[self.rank]:
            self._stop(f"it failed with\n{reason}", (origin, reason))
        else:
            text = f"rank {origin} failed with\n{reason}"
            self._stop(text, (origin, reason), (origin, reason))

    def _stop(
        self,
        failure: str,
        told: tuple[int, str] | None = None,
        culprit: tuple[int, str] | None = None,
    ) -> None:
        with self._lock:
            if self.failure is not None:
                return
            self._culprit = culprit
            self.failure = failure
        self._leave(told)

    def _leave(self, told: tuple[int, str] | None) -> None:
        """Tells the peers who failed and why, if anybody did, and ends the waits of this rank."""
        for channel, completed in zip(self.sockets, self.completed, strict=True):
            message = b"" if told is None else pack_abort(*told, completed)
            for sock in channel:
                if message and sock is not None:
                    with contextlib.suppress(OSError):  # a peer that is gone needs no message
                        sock.send(message, socket.MSG_DONTWAIT)
        for sock in self._open():
            with contextlib.suppress(OSError):
                # Unlike close, this also wakes a thread of this process that waits in the socket.
                sock.shutdown(socket.SHUT_RDWR)

    def _print_late(self, late: list[int], seconds: float, call: Call) -> None:
        whom = " and ".join(f"rank {rank}" for rank in late)
        own = self.ranks[self.rank]
        sys.stderr.write(f"minipaddle: rank {own} has waited {seconds:g} s for {whom} in {call}\n")
        sys.stderr.flush()

    def close(self) -> None:
        """Stops and gives the descriptors back; no thread may be using the sockets."""
        if os.getpid() == self._owner:
            self.stop("it was destroyed")
        for sock in self._open():
            sock.close()

    def disown(self) -> None:
        """Closes the copies that a forked child got, leaving the connections to the parent.

        A copy that stayed open would hide the parent's death from the peers.
        """
        self.failure = f"it belongs to process {self._owner}, from which this one was forked"
        for sock in self._open():
            sock.close()

    def _open(self) -> Iterator[socket.socket]:
        return (sock for channel in self.sockets for sock in channel if sock is not None)


_meshes: weakref.WeakSet[Mesh] = weakref.WeakSet()


@cache
def _install_fork_guard() -> None:
    os.register_at_fork(after_in_child=_disown_all)


def _disown_all() -> None:
    for mesh in list(_meshes):
        mesh.disown()
