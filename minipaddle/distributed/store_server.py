"""The serving side of a Store: one thread, and nothing for those who do not know the token."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import selectors
import socket
import struct
import threading
import time
from enum import IntEnum

MAGIC = b"mpdl-st1"
NONCE_BYTES = 32
SIZE = struct.Struct("<I")
MAX_KEY_BYTES, MAX_VALUE_BYTES = 1 << 10, 1 << 20
_REQUEST = struct.Struct("<BHqd")  # operation, bytes of the key, amount, seconds
_MAX_REQUEST = _REQUEST.size + MAX_KEY_BYTES + MAX_VALUE_BYTES
_HELLO_BYTES = NONCE_BYTES + hashlib.sha256().digest_size
_STRANGER_SECONDS, _MAX_STRANGERS = 5.0, 64


class Operation(IntEnum):
    """What a client may ask for."""

    SET = 1
    GET = 2
    ADD = 3
    DELETE = 4


class Status(IntEnum):
    """How an answer begins."""

    OK = 0
    LATE = 1
    WRONG = 2


def proof(token: bytes, side: bytes, challenge: bytes, own: bytes) -> bytes:
    """What only one who knows the token can say, and only in answer to these two nonces."""
    return hmac.digest(token, MAGIC + side + challenge + own, hashlib.sha256)


def pack_request(op: Operation, key: bytes, amount: int, seconds: float, value: bytes) -> bytes:
    """Makes the frame of a request."""
    body = _REQUEST.pack(op, len(key), amount, seconds) + key + value
    return SIZE.pack(len(body)) + body


class _Link:
    """One connection: a stranger's until ``proven``. A client asks one thing at a time."""

    __slots__ = ("awaits", "challenge", "inbox", "outbox", "proven", "sock", "until")

    def __init__(self, sock: socket.socket) -> None:
        self.sock, self.proven = sock, False
        self.challenge = secrets.token_bytes(NONCE_BYTES)
        self.inbox, self.outbox = bytearray(), bytearray()
        self.awaits: str | None = None  # the key that its request waits for
        self.until = time.monotonic() + _STRANGER_SECONDS  # of the proof, or of that wait


class Server:
    """Listens at once and serves until ``close``.

    Attributes:
        port: The port, also where a free one was asked for.
        values: What the clients have set.
    """

    def __init__(self, host: str, port: int, token: bytes) -> None:
        try:
            family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
            self._listener = socket.create_server(address[:2], family=family, backlog=128)
        except OSError as error:
            reason = error.strerror or str(error)
            raise OSError(
                error.errno,
                f"the store cannot listen at {host}:{port} ({reason}): is the port in use by "
                "another job, and is the host one of this machine's?",
            ) from error
        self.port: int = self._listener.getsockname()[1]
        self.values: dict[str, bytes] = {}
        self._token = token
        self._links: dict[_Link, None] = {}  # in the order of arrival
        self._selector = selectors.DefaultSelector()
        self._bell, self._wake = socket.socketpair()
        for sock in (self._listener, self._bell):
            sock.setblocking(False)
            self._selector.register(sock, selectors.EVENT_READ)
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="minipaddle-store", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Ends the thread and all connections; a second call does nothing."""
        if not self._closing:
            self._closing = True
            self._wake.close()
            self._thread.join()

    def _run(self) -> None:
        try:
            while not self._closing:
                for key, events in self._selector.select(self._pause()):
                    if isinstance(key.data, _Link):
                        self._serve(key.data, events)
                    elif key.fileobj is self._listener:
                        self._accept()
                self._expire()
        finally:
            for link in list(self._links):
                self._drop(link)
            self._selector.close()
            self._listener.close()
            self._bell.close()

    def _timed(self) -> list[_Link]:
        return [link for link in self._links if not link.proven or link.awaits is not None]

    def _pause(self) -> float | None:
        until = [link.until for link in self._timed()]
        return max(0.0, min(until) - time.monotonic()) if until else None

    def _expire(self) -> None:
        now = time.monotonic()
        for link in [link for link in self._timed() if link.until <= now]:
            if link.proven:
                self._answer(link, Status.LATE)
            else:
                self._drop(link)

    def _accept(self) -> None:
        strangers = [link for link in self._links if not link.proven]
        if len(strangers) >= _MAX_STRANGERS:  # the oldest has had the most time
            self._drop(strangers[0])
        try:
            sock, _ = self._listener.accept()
        except OSError:  # it has left already, or no descriptor is free
            return
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        link = _Link(sock)
        self._links[link] = None
        self._selector.register(sock, selectors.EVENT_READ, link)
        self._send(link, MAGIC + link.challenge)

    def _drop(self, link: _Link) -> None:
        if link in self._links:
            del self._links[link]
            self._selector.unregister(link.sock)
            link.sock.close()

    def _serve(self, link: _Link, events: int) -> None:
        if link in self._links and events & selectors.EVENT_WRITE:
            self._flush(link)
        if link not in self._links or not events & selectors.EVENT_READ:
            return
        limit = _MAX_REQUEST if link.proven else _HELLO_BYTES
        try:
            data = link.sock.recv(1 << 16)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        link.inbox += data
        head = bytes(link.inbox[: SIZE.size])
        size = SIZE.unpack(head)[0] if len(head) == SIZE.size else 0
        behind = len(link.inbox) - SIZE.size - size if size else -1
        # It has left, asks too much at once, or does not wait for its answer.
        if not data or size > limit or behind > 0 or link.outbox or link.awaits is not None:
            self._drop(link)
        elif behind == 0:
            body = bytes(link.inbox[SIZE.size :])
            link.inbox.clear()
            if link.proven:
                self._request(link, body)
            else:
                self._meet(link, body)

    def _meet(self, link: _Link, hello: bytes) -> None:
        own, given = hello[:NONCE_BYTES], hello[NONCE_BYTES:]
        link.proven = hmac.compare_digest(given, proof(self._token, b"client", link.challenge, own))
        if link.proven:
            self._send(link, proof(self._token, b"server", link.challenge, own))
        else:
            self._send(link, b"refused")
            self._drop(link)

    def _request(self, link: _Link, body: bytes) -> None:
        try:
            op, length, amount, seconds = _REQUEST.unpack_from(body)
            op = Operation(op)
            key = body[_REQUEST.size : _REQUEST.size + length].decode()
        except (struct.error, ValueError):
            self._drop(link)
            return
        if op is Operation.GET and key not in self.values:
            link.awaits, link.until = key, time.monotonic() + seconds
            return
        if op is Operation.GET:
            self._answer(link, Status.OK, self.values[key])
        elif op is Operation.ADD:
            self._add(link, key, amount)
        elif op is Operation.DELETE:
            self.values.pop(key, None)
            self._answer(link, Status.OK)
        else:
            self._put(key, body[_REQUEST.size + length :])
            self._answer(link, Status.OK)

    def _add(self, link: _Link, key: str, amount: int) -> None:
        held = self.values.get(key, b"0")
        try:
            total = b"%d" % (int(held) + amount)
        except ValueError:
            self._answer(link, Status.WRONG, b"it holds a value that is no counter")
            return
        self._put(key, total)
        self._answer(link, Status.OK, total)

    def _put(self, key: str, value: bytes) -> None:
        self.values[key] = value
        for link in [link for link in self._links if link.awaits == key]:
            self._answer(link, Status.OK, value)

    def _answer(self, link: _Link, status: Status, value: bytes = b"") -> None:
        link.awaits = None
        self._send(link, bytes([status]) + value)

    def _send(self, link: _Link, body: bytes) -> None:
        link.outbox += SIZE.pack(len(body)) + body
        self._flush(link)

    def _flush(self, link: _Link) -> None:
        try:
            del link.outbox[: link.sock.send(link.outbox)]
        except BlockingIOError:
            pass
        except OSError:
            self._drop(link)
            return
        more = selectors.EVENT_WRITE if link.outbox else 0
        self._selector.modify(link.sock, selectors.EVENT_READ | more, link)
