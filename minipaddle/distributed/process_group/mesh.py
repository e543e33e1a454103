"""The sockets of one rank of one group, and the reason why they stopped if they did."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import weakref
from collections.abc import Iterator, Sequence
from functools import cache

from minipaddle.distributed.process_group.base import PeerError
from minipaddle.distributed.process_group.message import pack_abort

Sockets = Sequence[socket.socket | None]


class Mesh:
    """A socket to every peer for every channel; shared by the channels of a group.

    Attributes:
        rank: This process's rank in the group.
        ranks: The world rank of each rank of the group, for texts.
        sockets: ``sockets[channel][peer]``; None at the own rank.
        timeout: Seconds that one wait may last.
        failure: None while the group works, else why it no longer does.
    """

    def __init__(
        self, rank: int, ranks: Sequence[int], sockets: Sequence[Sockets], timeout: float
    ) -> None:
        self.rank = rank
        self.ranks = tuple(ranks)
        self.sockets = [list(channel) for channel in sockets]
        self.timeout = timeout
        self.failure: str | None = None
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
            self._stop(f"it failed with\n{reason}", pack_abort(origin, reason))
        else:
            text = f"rank {origin} failed with\n{reason}"
            self._stop(text, pack_abort(origin, reason), (origin, reason))

    def _stop(
        self,
        failure: str,
        message: bytes | None = None,
        culprit: tuple[int, str] | None = None,
    ) -> None:
        with self._lock:
            if self.failure is not None:
                return
            self._culprit = culprit
            self.failure = failure
        for sock in self._open():
            with contextlib.suppress(OSError):  # a peer that is gone needs no message
                if message is not None:
                    sock.send(message, socket.MSG_DONTWAIT)
        for sock in self._open():
            with contextlib.suppress(OSError):
                # Unlike close, this also wakes a thread of this process that waits in the socket.
                sock.shutdown(socket.SHUT_RDWR)

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
