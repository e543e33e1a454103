"""The server of the key-value store: one thread that trusts nobody who has not proven the token.

A frame is four bytes of length and a body. Before anything else a client proves that it knows the
job's token: the server sends random bytes, the client random bytes of its own and the HMAC of
both, and the server answers with another HMAC. The token itself never travels, a recorded proof
is worth nothing on another connection, and nothing that arrives is ever unpickled.
"""

from __future__ import annotations

import contextlib
import hmac
import secrets
import selectors
import socket
import struct
import threading
import time
from dataclasses import dataclass, field

LENGTH = struct.Struct(">I")
REQUEST = struct.Struct(">BH")  # code and bytes of the key; key and data follow
MAGIC = b"minipaddle-store-1"
NONCE_BYTES = PROOF_BYTES = 32
_HELLO_BYTES = len(MAGIC) + NONCE_BYTES + PROOF_BYTES
MAX_KEY_BYTES = 255
MAX_VALUE_BYTES = 1 << 20
MAX_BODY = REQUEST.size + MAX_KEY_BYTES + MAX_VALUE_BYTES
MAX_STRANGERS = 64
SECONDS_TO_PROVE = 5.0
SET, GET, ADD, DELETE = range(1, 5)
OK, ABSENT, REFUSED = b"\0", b"\1", b"\2"


def proof(token: bytes, side: bytes, nonces: bytes) -> bytes:
    """What only who knows the token can say of these nonces, as client or as server."""
    return hmac.digest(token, MAGIC + side + nonces, "sha256")


def _is_number(value: bytes) -> bool:
    return value.removeprefix(b"-").isdigit()


def frame(body: bytes) -> bytes:
    """A body as it travels."""
    return LENGTH.pack(len(body)) + body


@dataclass(eq=False, slots=True)
class _Peer:
    """One connection as the server sees it."""

    sock: socket.socket
    nonce: bytes
    deadline: float  # until which it proves itself, or waits for a key
    proven: bool = False
    waits_for: bytes | None = None
    inbox: bytearray = field(default_factory=bytearray)
    outbox: bytearray = field(default_factory=bytearray)


class Server:
    """Keeps the keys; one thread serves all connections."""

    def __init__(self, host: str, port: int, token: bytes) -> None:
        try:
            family, _, _, _, address = socket.getaddrinfo(
                host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
            self._listener = socket.create_server(address[:2], family=family, backlog=256)
        except OSError as error:
            raise OSError(
                error.errno,
                f"the store cannot listen on {host}:{port}: {error.strerror}; if another job uses "
                "that port, choose another port",
            ) from error
        self.port: int = self._listener.getsockname()[1]
        self.values: dict[bytes, bytes] = {}
        self.peers: dict[socket.socket, _Peer] = {}
        self._token = token
        self._wake, self._woken = socket.socketpair()
        self._selector = selectors.DefaultSelector()
        for sock in (self._listener, self._woken):
            sock.setblocking(False)
            self._selector.register(sock, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._run, name="minipaddle-store", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Ends the thread and closes every connection."""
        self._wake.close()
        self._thread.join()

    def _run(self) -> None:
        with contextlib.closing(self._selector), self._listener, self._woken:
            while True:
                for key, events in self._selector.select(self._until_next_deadline()):
                    if key.fileobj is self._woken:
                        for peer in list(self.peers.values()):
                            self._drop(peer)
                        return
                    if key.fileobj is self._listener:
                        self._accept()
                    elif key.data.sock in self.peers:  # another one's turn may have dropped it
                        self._serve(key.data, events)
                self._expire()

    def _timed(self) -> list[_Peer]:
        return [p for p in self.peers.values() if not p.proven or p.waits_for is not None]

    def _until_next_deadline(self) -> float | None:
        deadlines = [peer.deadline for peer in self._timed()]
        return max(0.0, min(deadlines) - time.monotonic()) if deadlines else None

    def _expire(self) -> None:
        now = time.monotonic()
        for peer in self._timed():
            if now < peer.deadline:
                continue
            if peer.proven:
                self._answer(peer, ABSENT)
            else:
                self._drop(peer)

    def _accept(self) -> None:
        try:
            sock, _ = self._listener.accept()
        except OSError:
            time.sleep(0.01)  # out of descriptors, most likely: not at full speed
            return
        strangers = [peer for peer in self.peers.values() if not peer.proven]
        if len(strangers) >= MAX_STRANGERS:
            self._drop(strangers[0])  # the oldest; who has the token needs no time to prove it
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        deadline = time.monotonic() + SECONDS_TO_PROVE
        peer = _Peer(sock, secrets.token_bytes(NONCE_BYTES), deadline)
        self.peers[sock] = peer
        self._selector.register(sock, selectors.EVENT_READ, peer)
        self._answer(peer, MAGIC + peer.nonce)

    def _drop(self, peer: _Peer) -> None:
        if self.peers.pop(peer.sock, None) is not None:
            self._selector.unregister(peer.sock)
            peer.sock.close()

    def _serve(self, peer: _Peer, events: int) -> None:
        try:
            if events & selectors.EVENT_WRITE:
                self._flush(peer)
            else:
                self._read(peer)
        except (OSError, ValueError, struct.error):
            self._drop(peer)

    def _read(self, peer: _Peer) -> None:
        limit = MAX_BODY if peer.proven else _HELLO_BYTES
        data = peer.sock.recv(min(1 << 16, limit + LENGTH.size - len(peer.inbox)))
        if not data or peer.waits_for is not None:  # it is gone, or speaks out of turn
            raise ValueError
        peer.inbox += data
        if len(peer.inbox) < LENGTH.size:
            return
        (size,) = LENGTH.unpack_from(peer.inbox)
        if size > limit or len(peer.inbox) > LENGTH.size + size:
            raise ValueError
        if len(peer.inbox) == LENGTH.size + size:
            body = bytes(peer.inbox[LENGTH.size :])
            peer.inbox.clear()
            (self._request if peer.proven else self._hello)(peer, body)

    def _hello(self, peer: _Peer, body: bytes) -> None:
        if len(body) != _HELLO_BYTES or not body.startswith(MAGIC):
            raise ValueError
        theirs, claim = body[len(MAGIC) : -PROOF_BYTES], body[-PROOF_BYTES:]
        nonces = peer.nonce + theirs
        if not hmac.compare_digest(claim, proof(self._token, b"client", nonces)):
            self._answer(peer, REFUSED)
            raise ValueError
        peer.proven = True
        self._answer(peer, OK + proof(self._token, b"server", nonces))

    def _request(self, peer: _Peer, body: bytes) -> None:
        code, size = REQUEST.unpack_from(body)
        key, data = body[REQUEST.size :][:size], body[REQUEST.size + size :]
        if code == SET:
            self._store(key, data)
            self._answer(peer, OK)
        elif code == ADD and not _is_number(self.values.get(key, b"0")):
            self._answer(peer, REFUSED)
        elif code == ADD:
            total = int(self.values.get(key, b"0")) + int(data)
            self._store(key, b"%d" % total)
            self._answer(peer, OK + self.values[key])
        elif code == DELETE:
            self.values.pop(key, None)
            self._answer(peer, OK)
        elif code == GET and key in self.values:
            self._answer(peer, OK + self.values[key])
        elif code == GET:
            peer.waits_for, peer.deadline = key, time.monotonic() + float(data)
        else:
            raise ValueError

    def _store(self, key: bytes, value: bytes) -> None:
        self.values[key] = value
        for peer in [peer for peer in self.peers.values() if peer.waits_for == key]:
            self._answer(peer, OK + value)

    def _answer(self, peer: _Peer, body: bytes) -> None:
        peer.waits_for = None
        peer.outbox += frame(body)
        try:
            self._flush(peer)
        except OSError:
            self._drop(peer)

    def _flush(self, peer: _Peer) -> None:
        """Sends what goes; a peer that does not read gets nothing else done meanwhile."""
        with contextlib.suppress(BlockingIOError):
            del peer.outbox[: peer.sock.send(peer.outbox)]
        event = selectors.EVENT_WRITE if peer.outbox else selectors.EVENT_READ
        self._selector.modify(peer.sock, event, peer)
