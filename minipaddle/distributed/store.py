"""Store: keys and values that the processes of a job share over TCP; strangers are refused."""

from __future__ import annotations

import hmac
import secrets
import socket
import threading
import time
import weakref

from minipaddle.distributed.store_server import (
    MAGIC,
    MAX_KEY_BYTES,
    MAX_VALUE_BYTES,
    NONCE_BYTES,
    SIZE,
    Operation,
    Server,
    Status,
    pack_request,
    proof,
)

_FIRST_PAUSE, _LONGEST_PAUSE = 0.01, 0.5
_GRACE_SECONDS = 10.0  # beyond a wait's own limit, until a silent server counts as gone


class Store:
    """Keys and values of one job. One process serves them; all, that one included, are clients.

    Nothing is accepted from a connection that has not proven that it knows the job's token; the
    token itself never travels. What follows is not encrypted. Threads may share a Store: a wait
    of one does not hold up another.

    Attributes:
        host: The server's host, as it was given.
        port: The server's port.
        timeout: Seconds that a wait may last where no other limit is given.

    Example:
        >>> from minipaddle.distributed.store import Store
        >>> store = Store.serve("127.0.0.1", 0, token="secret", timeout=10)
        >>> other = Store.connect("127.0.0.1", store.port, token="secret", timeout=10)
        >>> other.set("answer", b"42")
        >>> store.get("answer"), store.add("count", 2), other.add("count", 3)
        (b'42', 2, 5)
        >>> other.close(); store.close()
    """

    def __init__(
        self, host: str, port: int, token: str, timeout: float, server: Server | None = None
    ) -> None:
        self.host, self.port, self.timeout = host, port, timeout
        self._token = token.encode()
        self._idle: list[socket.socket] = []
        self._used: weakref.WeakSet[socket.socket] = weakref.WeakSet()
        self._lock = threading.Lock()
        self._ended = ""  # why it cannot be used any more
        self._end = weakref.finalize(self, server.close) if server is not None else None

    @classmethod
    def serve(cls, host: str, port: int, token: str, timeout: float) -> Store:
        """Starts the server, in a thread of this process, and is its first client.

        Args:
            host: Name or address of the interface to listen at.
            port: The port; 0 for a free one.
            token: The job's secret, not empty.
            timeout: Seconds that a wait may last where no other limit is given.

        Raises:
            OSError: The port is in use, or the host is not this machine's; names both.
            ValueError: An argument is out of range.
        """
        _check(token, timeout)
        server = Server(host, port, token.encode())
        store = cls(host, server.port, token, timeout, server)
        try:
            store._put_back(store._join(time.monotonic() + timeout))
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    def connect(cls, host: str, port: int, token: str, timeout: float) -> Store:
        """Joins a job's store, trying again until the server is there.

        Raises:
            TimeoutError: There is no server at that host and port after ``timeout`` seconds.
            PermissionError: The server belongs to a job with another token.
            ValueError: An argument is out of range.
        """
        _check(token, timeout)
        store = cls(host, port, token, timeout)
        store._put_back(store._join(time.monotonic() + timeout))
        return store

    def set(self, key: str, value: bytes) -> None:
        """Gives ``key`` a value of at most 1 MiB and wakes those who wait for it."""
        if len(value) > MAX_VALUE_BYTES:
            raise ValueError(f"value must have at most {MAX_VALUE_BYTES} bytes, got {len(value)}")
        self._ask(Operation.SET, key, value=bytes(value))

    def get(self, key: str, timeout: float | None = None) -> bytes:
        """Returns the value of ``key``, waiting until there is one.

        Raises:
            TimeoutError: There is none after ``timeout`` seconds; names the key.
            ConnectionError: The server is gone.
        """
        seconds = self.timeout if timeout is None else timeout
        return self._ask(Operation.GET, key, seconds=seconds)

    def add(self, key: str, amount: int) -> int:
        """Adds to a counter, which starts at 0, and returns its new value.

        Raises:
            ValueError: ``key`` holds something else than a counter.
        """
        return int(self._ask(Operation.ADD, key, amount=amount))

    def delete(self, key: str) -> None:
        """Forgets ``key``, if it is there."""
        self._ask(Operation.DELETE, key)

    def barrier(self, name: str, count: int, timeout: float | None = None) -> None:
        """Returns when ``count`` callers have come; a name may be used again and again.

        Raises:
            TimeoutError: Some have not come in time; says how many had.
        """
        arrived = self.add(f"barrier/{name}", 1)
        turn, place = divmod(arrived - 1, count)
        if place == count - 1:
            self.set(f"barrier/{name}/{turn}", b"")
            self.delete(f"barrier/{name}/{turn - 1}")  # all have left that one to come here
        seconds = self.timeout if timeout is None else timeout
        try:
            self.get(f"barrier/{name}/{turn}", seconds)
        except TimeoutError:
            came = self.add(f"barrier/{name}", 0) - turn * count
            raise TimeoutError(
                f"barrier {name!r}: {came} of {count} came within {seconds:g} seconds"
            ) from None

    def close(self) -> None:
        """Leaves the store; where it is served, ends the server too. Waits end with an error."""
        with self._lock:
            self._ended = self._ended or "this process has closed it"
            for sock in list(self._used):
                try:
                    sock.shutdown(socket.SHUT_RDWR)  # wakes a thread that waits in it
                except OSError:
                    pass
            for sock in self._idle:
                sock.close()
            self._idle.clear()
        if self._end is not None:
            self._end()

    def _ask(
        self, op: Operation, key: str, value: bytes = b"", amount: int = 0, seconds: float = 0.0
    ) -> bytes:
        name = key.encode()
        if not 0 < len(name) <= MAX_KEY_BYTES:
            raise ValueError(f"key must have 1 to {MAX_KEY_BYTES} bytes, got {len(name)}")
        sock = self._take()
        try:
            sock.settimeout(max(seconds, 0.0) + _GRACE_SECONDS)
            sock.sendall(pack_request(op, name, amount, seconds, value))
            reply = _receive(sock)
        except BaseException as error:
            sock.close()
            if not isinstance(error, OSError):
                raise
            self._ended = self._ended or str(error) or "no answer"
            raise self._gone(f"{op.name.lower()} of key {key!r}") from error
        self._put_back(sock)
        if reply[0] == Status.LATE:
            raise TimeoutError(f"key {key!r} was not set within {seconds:g} seconds")
        if reply[0] == Status.WRONG:
            raise ValueError(f"key {key!r}: {reply[1:].decode()}")
        return reply[1:]

    def _take(self) -> socket.socket:
        with self._lock:
            if self._ended:
                raise self._gone("a new request")
            sock = self._idle.pop() if self._idle else None
        if sock is None:
            try:
                sock = self._join(time.monotonic() + min(self.timeout, _GRACE_SECONDS))
            except TimeoutError as error:
                self._ended = str(error)
                raise self._gone("a new request") from error
        with self._lock:
            self._used.add(sock)
        return sock

    def _gone(self, where: str) -> ConnectionError:
        return ConnectionError(
            f"the store at {self.host}:{self.port} is gone in {where}: {self._ended}"
        )

    def _put_back(self, sock: socket.socket) -> None:
        with self._lock:
            self._used.discard(sock)
            if self._ended:
                sock.close()
            else:
                self._idle.append(sock)

    def _join(self, deadline: float) -> socket.socket:
        """A connection whose two ends have proven to each other that they know the token."""
        pause, problem = _FIRST_PAUSE, "no answer"
        while (left := deadline - time.monotonic()) > 0:
            try:
                sock = socket.create_connection((self.host, self.port), left)
                try:
                    sock.settimeout(left)
                    self._introduce(sock)
                    return sock
                except BaseException:
                    sock.close()
                    raise
            except PermissionError:
                raise
            except OSError as error:  # not there yet, or busy with too many strangers
                problem = str(error)
            time.sleep(max(0.0, min(pause, deadline - time.monotonic())))
            pause = min(2 * pause, _LONGEST_PAUSE)
        raise TimeoutError(
            f"no store answered at {self.host}:{self.port} in time ({problem}): does the process "
            "that serves it run, and does a firewall let this port through?"
        )

    def _introduce(self, sock: socket.socket) -> None:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        challenge = _receive(sock)
        if len(challenge) != len(MAGIC) + NONCE_BYTES or not challenge.startswith(MAGIC):
            raise PermissionError(f"what listens at {self.host}:{self.port} is no store")
        theirs, own = challenge[len(MAGIC) :], secrets.token_bytes(NONCE_BYTES)
        hello = own + proof(self._token, b"client", theirs, own)
        sock.sendall(SIZE.pack(len(hello)) + hello)
        if not hmac.compare_digest(_receive(sock), proof(self._token, b"server", theirs, own)):
            raise PermissionError(
                f"the store at {self.host}:{self.port} belongs to a job with another token; two "
                "jobs cannot share a port: give this one another, or the token of that job"
            )


def _receive(sock: socket.socket) -> bytes:
    (size,) = SIZE.unpack(_exactly(sock, SIZE.size))
    if not 0 < size <= MAX_VALUE_BYTES + 1:
        raise PermissionError("what answers is no store")
    return _exactly(sock, size)


def _exactly(sock: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        part = sock.recv(size - len(data))
        if not part:
            raise ConnectionError("the connection was closed")
        data += part
    return bytes(data)


def _check(token: str, timeout: float) -> None:
    if not token:
        raise ValueError("token must not be empty: it keeps strangers out")
    if not timeout > 0:
        raise ValueError(f"timeout must be a positive number of seconds, got {timeout}")
