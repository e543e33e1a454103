"""How the ranks of a job on one host find each other: names that vanish with their process."""

from __future__ import annotations

import array
import hashlib
import hmac
import os
import socket
import struct
import time
from collections.abc import Sequence

# magic, proof of the token, rank, world size, rings
_HELLO = struct.Struct("<8s32sIII")
_MAGIC = b"mpdl-pg1"
_PEER_CREDENTIALS = struct.Struct("3i")
_FIRST_PAUSE, _LONGEST_PAUSE = 0.001, 0.05
_STRANGER_SECONDS = 5.0
_FD_BYTES = array.array("i").itemsize


def meet(
    rank: int, world_size: int, token: str, nrings: int, timeout: float
) -> list[list[socket.socket | None]]:
    """Connects this rank with all others.

    Every rank listens on a name made from the token and its rank, calls every lower rank and
    answers every higher one. The lower rank of a pair makes the sockets of all channels.

    Args:
        rank: This rank.
        world_size: Number of ranks of the job.
        token: The secret of the job, equal on all ranks.
        nrings: Number of rings; one more channel is made for the user's collectives.
        timeout: Seconds until a missing rank is an error.

    Returns:
        ``sockets[channel][peer]``, None at this rank.

    Raises:
        TimeoutError: If a rank does not come; it names the rank.
        RuntimeError: If the ranks do not agree, or the rank is taken.
    """
    return _Meeting(rank, world_size, token, nrings, timeout).run()


def socket_pairs(count: int) -> tuple[list[socket.socket], list[socket.socket]]:
    """Makes ``count`` connected pairs of sockets that keep message borders."""
    pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(count)]
    return [ours for ours, _ in pairs], [theirs for _, theirs in pairs]


def adopt_sockets(fds: Sequence[int]) -> list[socket.socket]:
    """Turns received descriptors into sockets, which then own them."""
    return [socket.socket(fileno=fd) for fd in fds]


class _Meeting:
    def __init__(self, rank: int, world_size: int, token: str, nrings: int, timeout: float) -> None:
        self.rank, self.world_size, self.nrings, self.timeout = rank, world_size, nrings, timeout
        digest = hashlib.sha256(b"name:" + token.encode()).hexdigest()[:32]
        self.name = f"\0minipaddle-{digest}-"
        self.proof = hashlib.sha256(b"proof:" + token.encode()).digest()
        self.deadline = time.monotonic() + timeout
        self.found: dict[int, list[socket.socket]] = {}

    def run(self) -> list[list[socket.socket | None]]:
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
                self._listen(listener)
                for peer in range(self.rank):
                    self._call(peer)
                while len(self.found) < self.world_size - 1:
                    self._answer(listener)
        except BaseException:
            for sock in (sock for sockets in self.found.values() for sock in sockets):
                sock.close()
            raise
        return [
            [self.found[p][channel] if p != self.rank else None for p in range(self.world_size)]
            for channel in range(self.nrings + 1)
        ]

    def _listen(self, listener: socket.socket) -> None:
        try:
            listener.bind(f"{self.name}{self.rank}")
        except OSError as error:
            raise RuntimeError(
                f"rank {self.rank} of this job is already taken by another process on this host "
                f"({error.strerror}); every process needs a rank of its own"
            ) from error
        listener.listen(self.world_size)

    def _left(self, missing: Sequence[int]) -> float:
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise self._late(missing)
        return left

    def _late(self, missing: Sequence[int]) -> TimeoutError:
        whom = " and ".join(f"rank {peer}" for peer in missing)
        return TimeoutError(
            f"timeout: rank {self.rank} waited {self.timeout:g} seconds for {whom} to join "
            f"the job of {self.world_size} ranks on this host: does it run, with this job's token?"
        )

    def _hello(self) -> bytes:
        return _HELLO.pack(_MAGIC, self.proof, self.rank, self.world_size, self.nrings)

    def _call(self, peer: int) -> None:
        """Connects to a lower rank and receives the sockets that it made."""
        with self._connect(peer) as link:
            if _user(link) != os.getuid():
                raise RuntimeError(f"the name of rank {peer} is held by another user's process")
            space = socket.CMSG_LEN((self.nrings + 1) * _FD_BYTES)
            link.settimeout(self._left([peer]))
            try:
                link.sendall(self._hello())
                reply, ancillary, _, _ = link.recvmsg(_HELLO.size, space, socket.MSG_CMSG_CLOEXEC)
            except TimeoutError:
                raise self._late([peer]) from None
            except ConnectionError:
                reply, ancillary = b"", []
            fds = [fd for _, _, data in ancillary for fd in array.array("i", data)]
            sockets = adopt_sockets(fds)
            self.found[peer] = sockets
            self._compare(peer, reply)
            if len(sockets) != self.nrings + 1:
                raise RuntimeError(
                    f"rank {self.rank} received {len(sockets)} sockets from rank {peer}, needs "
                    f"{self.nrings + 1}; is the limit of open files (ulimit -n) reached?"
                )

    def _connect(self, peer: int) -> socket.socket:
        pause = _FIRST_PAUSE
        while True:
            link = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            try:
                link.settimeout(self._left([peer]))
                link.connect(f"{self.name}{peer}")
                return link
            except (ConnectionRefusedError, BlockingIOError):  # not there yet, or queue full
                link.close()
            except TimeoutError:
                link.close()
                raise self._late([peer]) from None
            time.sleep(min(pause, self._left([peer])))
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _answer(self, listener: socket.socket) -> None:
        """Lets one higher rank in; a stranger is turned away and the wait goes on."""
        missing = [p for p in range(self.rank + 1, self.world_size) if p not in self.found]
        listener.settimeout(self._left(missing))
        try:
            link, _ = listener.accept()
        except TimeoutError:
            raise self._late(missing) from None
        with link:
            peer = self._introduce(link, missing)
            if peer is None:
                return
            ours, theirs = socket_pairs(self.nrings + 1)
            self.found[peer] = ours
            try:
                fds = array.array("i", [sock.fileno() for sock in theirs])
                link.sendmsg([self._hello()], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
            except ConnectionError as error:
                raise RuntimeError(f"rank {peer} ended while it joined rank {self.rank}") from error
            finally:
                for sock in theirs:
                    sock.close()

    def _introduce(self, link: socket.socket, missing: Sequence[int]) -> int | None:
        """Returns the rank of a caller, or None if it does not belong to this job."""
        if _user(link) != os.getuid():
            return None
        link.settimeout(min(self._left(missing), _STRANGER_SECONDS))
        try:
            hello = link.recv(_HELLO.size)
        except (TimeoutError, ConnectionError):
            return None
        if len(hello) != _HELLO.size:
            return None
        magic, proof, peer, _, _ = _HELLO.unpack(hello)
        if magic != _MAGIC or not hmac.compare_digest(proof, self.proof):
            return None
        try:
            self._compare(peer, hello)
            if peer not in missing:
                raise RuntimeError(f"rank {peer} joined rank {self.rank} twice")
        except RuntimeError:
            link.sendall(self._hello())  # so that the caller can name the difference as well
            raise
        return int(peer)

    def _compare(self, peer: int, hello: bytes) -> None:
        if len(hello) != _HELLO.size:
            raise RuntimeError(
                f"rank {peer} ended while rank {self.rank} joined it; its own error says why"
            )
        _, _, _, world_size, nrings = _HELLO.unpack(hello)
        for what, own, other in (
            ("world_size", self.world_size, world_size),
            ("nrings", self.nrings, nrings),
        ):
            if own != other:
                raise RuntimeError(
                    f"the ranks disagree on {what}: rank {self.rank} has {own}, "
                    f"rank {peer} has {other}"
                )


def _user(link: socket.socket) -> int:
    data = link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER_CREDENTIALS.size)
    return int(_PEER_CREDENTIALS.unpack(data)[1])
