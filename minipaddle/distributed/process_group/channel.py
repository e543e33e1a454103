"""One sequence of collectives: messages to all peers, and waits that always end."""

from __future__ import annotations

import array
import math
import os
import select
import socket
import threading
import time
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Any

import numpy as np

from minipaddle.distributed.process_group.base import CollectiveMismatchError, PeerError, ReduceOp
from minipaddle.distributed.process_group.mesh import Mesh
from minipaddle.distributed.process_group.message import (
    HEADER_BYTES,
    MAX_MESSAGE_BYTES,
    NO_ROOT,
    Call,
    Code,
    Phase,
    completed_before_abort,
    describe,
    failure_text,
    unpack_abort,
)

# Waking a sleeping process costs tens of microseconds and a peer is mostly a few behind, so a wait
# begins with attempts, each a system call without the GIL, and then sleeps. With more ranks than
# processors the peer may need this very processor, and attempts would only be in its way.
_EAGER_ATTEMPTS = 64
_FD_BYTES = array.array("i").itemsize


class Channel:
    """A socket to each peer, for collectives that are called in the same order everywhere.

    ``with channel:`` holds it for one collective. An error inside stops the group and tells the
    peers, except when all ranks found a disagreement before anything was changed.

    Attributes:
        rank: This process's rank in the group.
        world_size: Number of ranks.
        ring: The ring that this channel serves; the number of rings for the user's channel.
    """

    def __init__(self, mesh: Mesh, ring: int) -> None:
        self.rank = mesh.rank
        self.world_size = len(mesh.ranks)
        self.ring = ring
        self.peers = tuple(peer for peer in range(self.world_size) if peer != mesh.rank)
        self._mesh = mesh
        self._sockets: dict[int, socket.socket] = {
            peer: sock for peer, sock in enumerate(mesh.sockets[ring]) if sock is not None
        }
        self._received = {peer: bytearray(MAX_MESSAGE_BYTES) for peer in self.peers}
        self._sizes = dict.fromkeys(self.peers, 0)
        self._files: dict[int, list[int]] = {}
        self._sequence = 0
        self._streams: dict[tuple[int, int], int] = {}
        self._untouched = True
        crowded = max(mesh.ranks) >= (os.cpu_count() or 1)
        self._attempts = 1 if crowded else _EAGER_ATTEMPTS
        self._lock = threading.Lock()

    def __enter__(self) -> Channel:
        self._lock.acquire()
        if self._mesh.failure is not None:
            self._lock.release()
            raise self._mesh.stopped()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        exc: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if exc is None:
            self._mesh.completed[self.ring] = self._sequence
            self._lock.release()
            return
        self._lock.release()
        if self._untouched and isinstance(exc, CollectiveMismatchError):
            return
        origin = exc.rank if isinstance(exc, PeerError) else self._mesh.ranks[self.rank]
        self._mesh.abort(origin, failure_text(exc))

    def drain(self, seconds: float) -> bool:
        """Returns True when no thread is inside any more, False if that took too long."""
        if not self._lock.acquire(timeout=seconds):
            return False
        self._lock.release()
        return True

    def call(
        self,
        code: Code,
        like: np.ndarray[Any, Any] | None = None,
        op: ReduceOp = ReduceOp.SUM,
        root: int = NO_ROOT,
        buffer: int = 0,
    ) -> Call:
        """Opens the next collective of this channel; all ranks must give the same values.

        Of ``like``, the array to be moved, shape and dtype must be the same.
        """
        self._sequence += 1
        self._untouched = True
        call = Call(code, self._sequence, self.ring, 0, None, op, root, buffer)
        if like is not None:
            call.nbytes, call.dtype, call.shape = like.nbytes, like.dtype, like.shape
        return call

    def call_peer(self, like: np.ndarray[Any, Any], src: int, dst: int) -> Call:
        """Opens the next transfer from ``src`` to ``dst``, which other ranks know nothing of."""
        number = self._streams.get((src, dst), 0) + 1
        self._streams[src, dst] = number
        self._untouched = False
        return Call(
            Code.SEND, number, self.ring, like.nbytes, like.dtype, root=src, shape=like.shape
        )

    def exchange(
        self, call: Call, phase: Phase = Phase.START, step: int = 0, payload: bytes = b""
    ) -> dict[int, memoryview]:
        """Sends a message to every peer and receives the same kind of message from each.

        It is a barrier as well: it returns when every rank has come as far.

        Returns:
            What each peer sent behind the header; valid until the next exchange.

        Raises:
            CollectiveMismatchError: If a peer means another collective.
            PeerError: If a peer failed or ended.
            TimeoutError: If a peer did not come in time.
        """
        header = call.header(phase, step)
        message = header + payload
        for peer in self.peers:
            self.send(peer, message, call)
        self._receive(self.peers, call)
        self._check(self.peers, header)
        self._untouched = False
        return {peer: self._payload(peer) for peer in self.peers}

    def swap_files(self, call: Call, fd: int) -> list[int]:
        """Gives ``fd`` to every peer and returns theirs in rank order, ``fd`` at the own rank.

        The caller closes the descriptors; after an error all are closed.
        """
        header = call.header(Phase.FILES)
        try:
            for peer in self.peers:
                self.send(peer, header, call, [fd])
            files = self._receive_files(self.peers, header, call, 1)
        except BaseException:
            os.close(fd)
            raise
        self._untouched = False
        return [files[peer][0] if peer != self.rank else fd for peer in range(self.world_size)]

    def send(self, peer: int, message: bytes, call: Call, fds: Sequence[int] = ()) -> None:
        """Sends one message to one peer, with descriptors if there are any."""
        sock = self._sockets[peer]
        while True:
            try:
                if fds:
                    rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))
                    sock.sendmsg([message], [rights], socket.MSG_DONTWAIT)
                else:
                    sock.send(message, socket.MSG_DONTWAIT)
                return
            except BlockingIOError:
                deadline = time.monotonic() + self._mesh.timeout
                self._ready([peer], select.POLLOUT, call, deadline)
            except OSError as error:
                raise self._last_words(peer, call) from error

    def receive(self, peer: int, header: bytes, call: Call) -> memoryview:
        """Receives one message from one peer and returns what follows its header."""
        self._receive([peer], call)
        self._check([peer], header)
        return self._payload(peer)

    def receive_files(self, peer: int, header: bytes, call: Call, count: int) -> list[int]:
        """Receives ``count`` descriptors from one peer; the caller owns them."""
        return self._receive_files([peer], header, call, count)[peer]

    def _payload(self, peer: int) -> memoryview:
        return memoryview(self._received[peer])[HEADER_BYTES : self._sizes[peer]]

    def _receive_files(
        self, peers: Sequence[int], header: bytes, call: Call, count: int
    ) -> dict[int, list[int]]:
        self._files = {}
        try:
            self._receive(peers, call, count)
            self._check(peers, header)
            for peer in peers:
                if len(self._files.get(peer, ())) != count:
                    raise RuntimeError(
                        f"rank {self._mesh.ranks[self.rank]} could not take over {count} "
                        f"descriptors from rank {self._mesh.ranks[peer]}; is the limit of open "
                        "files (ulimit -n) reached?"
                    )
        except BaseException:
            for fd in (fd for fds in self._files.values() for fd in fds):
                os.close(fd)
            raise
        return self._files

    def _receive(self, peers: Iterable[int], call: Call, max_fds: int = 0) -> None:
        waiting = list(peers)
        for _ in range(self._attempts):
            waiting = [peer for peer in waiting if not self._read(peer, call, max_fds)]
            if not waiting:
                return
        deadline = time.monotonic() + self._mesh.timeout
        while waiting:
            self._ready(waiting, select.POLLIN, call, deadline)
            waiting = [peer for peer in waiting if not self._read(peer, call, max_fds)]

    def _read(self, peer: int, call: Call, max_fds: int) -> bool:
        try:
            size = self._take(peer, max_fds)
        except BlockingIOError:
            return False
        except ConnectionResetError:
            # The peer closed with messages of ours unread; its own last words may be queued.
            raise self._last_words(peer, call) from None
        except OSError as error:
            raise self._gone(peer, call) from error
        if size == 0:
            raise self._gone(peer, call)
        if self._received[peer][0] == Code.ABORT:
            raise self._aborted(peer, bytes(self._received[peer][:size]), call)
        self._sizes[peer] = size
        return True

    def _take(self, peer: int, max_fds: int) -> int:
        if not max_fds:
            return self._sockets[peer].recv_into(self._received[peer], 0, socket.MSG_DONTWAIT)
        flags = socket.MSG_DONTWAIT | socket.MSG_CMSG_CLOEXEC
        space = socket.CMSG_LEN(max_fds * _FD_BYTES)
        size, ancillary, _, _ = self._sockets[peer].recvmsg_into(
            [self._received[peer]], space, flags
        )
        for _, _, data in ancillary:
            self._files[peer] = list(array.array("i", data[: len(data) // _FD_BYTES * _FD_BYTES]))
        return size

    def _ready(self, waiting: Sequence[int], event: int, call: Call, deadline: float) -> None:
        """Sleeps until a peer of ``waiting`` is ready; any peer's abort ends it too."""
        poller = select.poll()
        for peer, sock in self._sockets.items():
            poller.register(sock, event if peer in waiting else select.POLLIN)
        numbers = {sock.fileno(): peer for peer, sock in self._sockets.items()}
        mesh = self._mesh
        report_at = time.monotonic() + mesh.patience
        while True:
            until = min(deadline, report_at)
            left = max(0.0, until - time.monotonic())
            ready = [(fd, numbers[fd]) for fd, _ in poller.poll(left * 1000)]
            if not ready and until == deadline:
                raise self._late(waiting, call)
            if not ready:
                report_at = math.inf
                mesh.report_late([mesh.ranks[peer] for peer in waiting], mesh.patience, call)
                continue
            if any(peer in waiting for _, peer in ready):
                return
            for fd, peer in ready:
                self._raise_if_aborted(peer, call)
                poller.unregister(fd)

    def _raise_if_aborted(self, peer: int, call: Call) -> None:
        flags = socket.MSG_DONTWAIT | socket.MSG_PEEK
        try:
            message = self._sockets[peer].recv(MAX_MESSAGE_BYTES, flags)
        except OSError:
            return
        if not message or message[0] != Code.ABORT:
            return
        # A peer that is done with this collective has failed in a later one. The others have sent
        # all that is needed here, so this one ends well on every rank.
        if call.code is Code.SEND or completed_before_abort(message) < call.sequence:
            raise self._aborted(peer, message, call)

    def _check(self, peers: Iterable[int], header: bytes) -> None:
        differing = [p for p in peers if not self._received[p].startswith(header)]
        if not differing:
            return
        theirs = [bytes(self._received[peer][:HEADER_BYTES]) for peer in differing]
        if Code.SEND in (header[0], *(other[0] for other in theirs)):
            self._untouched = False  # not every rank takes part, so they cannot go on in step
        names = self._mesh.ranks
        lines = [f"rank {names[self.rank]} called {describe(header, len(self._mesh.sockets) - 1)}"]
        for peer, other in zip(differing, theirs, strict=True):
            lines.append(
                f"rank {names[peer]} called {describe(other, len(self._mesh.sockets) - 1)}"
            )
        raise CollectiveMismatchError("the ranks disagree: " + "; ".join(lines))

    def _late(self, waiting: Sequence[int], call: Call) -> TimeoutError:
        names = self._mesh.ranks
        whom = " and ".join(f"rank {names[peer]}" for peer in waiting)
        where = "" if self.ring == len(self._mesh.sockets) - 1 else f" on ring {self.ring}"
        return TimeoutError(
            f"timeout: rank {names[self.rank]} waited {self._mesh.timeout:g} seconds for {whom} "
            f"in {call}{where}"
        )

    def _last_words(self, peer: int, call: Call) -> Exception:
        """Reads what is queued from a peer that is gone, for the reason that it gave."""
        for _ in range(MAX_MESSAGE_BYTES):
            try:
                message = self._sockets[peer].recv(MAX_MESSAGE_BYTES, socket.MSG_DONTWAIT)
            except ConnectionResetError:
                continue  # reported once, in front of what is queued
            except OSError:
                break
            if not message:
                break
            if message[0] == Code.ABORT:
                return self._aborted(peer, message, call)
        return self._gone(peer, call)

    def _gone(self, peer: int, call: Call) -> Exception:
        if self._mesh.failure is not None:
            return self._mesh.stopped()
        names = self._mesh.ranks
        reason = f"rank {names[peer]} is gone (killed, ended, or its group destroyed)"
        text = f"{reason}; rank {names[self.rank]} noticed it in {call}"
        return PeerError(text, names[peer], reason)

    def _aborted(self, peer: int, message: bytes, call: Call) -> Exception:
        if self._mesh.failure is not None:
            return self._mesh.stopped()
        origin, reason = unpack_abort(message)
        names = self._mesh.ranks
        teller = "" if origin == names[peer] else f" from rank {names[peer]}"
        text = f"rank {origin} failed; rank {names[self.rank]} learned it{teller} in {call}"
        return PeerError(f"{text}:\n{reason}", origin, reason)
