"""A key-value store over TCP, through which the processes of one job on several hosts meet."""

from __future__ import annotations

import contextlib
import hmac
import secrets
import socket
import threading
import time
from collections.abc import Iterator

from minipaddle.distributed.store_server import (
    ABSENT,
    ADD,
    DELETE,
    GET,
    LENGTH,
    MAGIC,
    MAX_BODY,
    MAX_KEY_BYTES,
    MAX_VALUE_BYTES,
    NONCE_BYTES,
    OK,
    REFUSED,
    REQUEST,
    SECONDS_TO_PROVE,
    SET,
    Server,
    frame,
    proof,
)

_GRACE = 10.0  # what a server that lives may take beyond the time that a request allows it


class Store:
    """Keys and values that all processes of a job see, kept by one of them.

    Methods may be called from several threads at once. A value has at most a mebibyte, a key 255
    bytes. After the serving process has ended every call raises a ``ConnectionError``.

    Attributes:
        host: Name or address of the serving host.
        port: The TCP port there.
        timeout: Seconds that ``get`` and ``barrier`` wait unless told otherwise.

    Example:
        >>> from minipaddle.distributed.store import Store
        >>> with Store.serve("127.0.0.1", 0, token="secret", timeout=10.0) as store:
        ...     other = Store.connect("127.0.0.1", store.port, token="secret", timeout=10.0)
        ...     other.set("greeting", b"hello")
        ...     other.close()
        ...     store.get("greeting")
        b'hello'
    """

    def __init__(
        self, host: str, port: int, token: str, timeout: float, server: Server | None = None
    ) -> None:
        self.host = host
        self.port = port
        self.timeout = timeout
        self._token = token.encode()
        self._server = server
        self._lock = threading.Lock()
        self._closed = False
        self._open: set[socket.socket] = set()
        self._idle: list[socket.socket] = []

    @classmethod
    def serve(cls, host: str, port: int, token: str, timeout: float) -> Store:
        """Starts the server in a thread of this process and returns its first client.

        Args:
            host: The address to listen on; ``"0.0.0.0"`` for all of this host.
            port: The port; 0 for a free one.
            token: What all processes of this job know and nobody else does.
            timeout: Seconds that ``get`` and ``barrier`` wait unless told otherwise.

        Raises:
            OSError: The address cannot be used; the text names host and port.
            ValueError: The token is empty.
        """
        if not token:
            raise ValueError("token must be a text that only this job knows; got an empty one")
        server = Server(host, port, token.encode())
        store = cls(host, server.port, token, timeout, server)
        try:
            with store._link(time.monotonic() + timeout):
                return store
        except BaseException:
            store.close()
            raise

    @classmethod
    def connect(cls, host: str, port: int, token: str, timeout: float) -> Store:
        """Connects to a store, trying until it is there.

        Args:
            host: Name or address of the serving host.
            port: Its port.
            token: The job's token.
            timeout: Seconds to try, and that ``get`` and ``barrier`` wait unless told otherwise.

        Raises:
            TimeoutError: Nobody answered in time; the text names host and port.
            PermissionError: The store there belongs to another job.
            ConnectionError: What answers there is no store.
        """
        store = cls(host, port, token, timeout)
        deadline = time.monotonic() + timeout
        while True:
            try:
                with store._link(deadline):
                    return store
            except (PermissionError, _StrangerError):
                raise
            except OSError as error:
                if time.monotonic() + 0.1 > deadline:
                    raise TimeoutError(
                        f"no store answered at {host}:{port} within {timeout:g} seconds "
                        f"(last: {error}); is the process that serves it running, and the port "
                        "open between the hosts?"
                    ) from error
                time.sleep(0.1)

    def set(self, key: str, value: bytes) -> None:
        """Stores a value under a key, in place of what was there."""
        if len(value) > MAX_VALUE_BYTES:
            raise ValueError(
                f"value of {key!r} must have at most {MAX_VALUE_BYTES} bytes, got {len(value)}"
            )
        self._call(SET, key, bytes(value))

    def get(self, key: str, timeout: float | None = None) -> bytes:
        """Returns the value of a key, waiting until it is there.

        Raises:
            TimeoutError: It was not there within ``timeout`` seconds; the text names the key.
        """
        wait = self.timeout if timeout is None else timeout
        answer = self._call(GET, key, b"%f" % wait, wait)
        if answer == ABSENT:
            raise TimeoutError(
                f"nobody has set the key {key!r} in the store at {self.host}:{self.port} "
                f"within {wait:g} seconds"
            )
        return answer[1:]

    def add(self, key: str, amount: int) -> int:
        """Adds to a counter, which starts at 0, and returns its new value; atomic.

        Raises:
            ValueError: What is stored under the key is no counter.
        """
        answer = self._call(ADD, key, b"%d" % amount)
        if answer == REFUSED:
            raise ValueError(f"key {key!r} holds no counter but another value; use another key")
        return int(answer[1:])

    def delete(self, key: str) -> None:
        """Removes a key; one that is not there is no error."""
        self._call(DELETE, key)

    def barrier(self, name: str, count: int, timeout: float | None = None) -> None:
        """Returns when ``count`` callers have come; the same name may serve again and again.

        Raises:
            TimeoutError: They did not come in time; the text names the barrier.
        """
        number = self.add(f"barrier/{name}", 1)
        turn = (number - 1) // count
        done = f"barrier/{name}/{turn}"
        if number % count == 0:
            self.delete(f"barrier/{name}/{turn - 1}")
            self.set(done, b"")
        try:
            self.get(done, timeout)
        except TimeoutError as error:
            here = self.add(f"barrier/{name}", 0) - turn * count
            raise TimeoutError(f"barrier {name!r}: {here} of {count} came; {error}") from None

    def close(self) -> None:
        """Ends this client, and the server if this process serves; a second call does nothing."""
        with self._lock:
            self._closed = True
            links, self._open = self._open, set()
            self._idle.clear()
        for sock in links:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)  # wakes a thread that waits in it
            sock.close()
        if self._server is not None:
            self._server.close()
            self._server = None

    def __enter__(self) -> Store:
        """Returns the store, which the end of the block closes."""
        return self

    def __exit__(self, *exc: object) -> None:
        """Closes the store."""
        self.close()

    def _call(self, code: int, key: str, data: bytes = b"", wait: float = 0.0) -> bytes:
        name = key.encode()
        if not 0 < len(name) <= MAX_KEY_BYTES:
            raise ValueError(f"key must have 1 to {MAX_KEY_BYTES} bytes, got {len(name)}: {key!r}")
        if self._closed:
            raise RuntimeError("this store was closed")
        deadline = time.monotonic() + wait + _GRACE
        try:
            with self._link(deadline) as sock:
                sock.sendall(frame(REQUEST.pack(code, len(name)) + name + data))
                return _receive(sock, deadline)
        except PermissionError:
            raise
        except OSError as error:
            if self._closed:
                raise RuntimeError("this store was closed") from None
            raise ConnectionError(
                f"the store at {self.host}:{self.port} does not answer any more: {error}; the "
                "process that served it has ended or cannot be reached"
            ) from error

    @contextlib.contextmanager
    def _link(self, deadline: float) -> Iterator[socket.socket]:
        """A connection for one request at a time; one that failed is not used again."""
        with self._lock:
            sock = self._idle.pop() if self._idle else None
        if sock is None:
            sock = _dial(self.host, self.port, self._token, deadline)
        with self._lock:
            self._open.add(sock)
        try:
            yield sock
        except BaseException:
            with self._lock:
                self._open.discard(sock)
            sock.close()
            raise
        with self._lock:
            if not self._closed:
                self._idle.append(sock)
                return
        sock.close()


class _StrangerError(ConnectionError):
    """What answers is not a store of this version."""


def _dial(host: str, port: int, token: bytes, deadline: float) -> socket.socket:
    """Connects once and proves the token, as the server must prove that it knows it."""
    limit = min(deadline, time.monotonic() + SECONDS_TO_PROVE)
    sock = socket.create_connection((host, port), max(0.01, limit - time.monotonic()))
    try:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        greeting = _receive(sock, limit)
        if len(greeting) != len(MAGIC) + NONCE_BYTES or not greeting.startswith(MAGIC):
            raise _StrangerError(f"what answers at {host}:{port} is no store of this version")
        own = secrets.token_bytes(NONCE_BYTES)
        nonces = greeting[len(MAGIC) :] + own
        sock.sendall(frame(MAGIC + own + proof(token, b"client", nonces)))
        answer = _receive(sock, limit)
        if not hmac.compare_digest(answer, OK + proof(token, b"server", nonces)):
            raise PermissionError(
                f"the store at {host}:{port} belongs to another job: its token is not this job's; "
                "choose another port"
            )
        return sock
    except BaseException:
        sock.close()
        raise


def _receive(sock: socket.socket, deadline: float) -> bytes:
    (size,) = LENGTH.unpack(_exactly(sock, LENGTH.size, deadline))
    if size > MAX_BODY:
        raise _StrangerError(f"a frame of {size} bytes, which no store of this version sends")
    return _exactly(sock, size, deadline)


def _exactly(sock: socket.socket, size: int, deadline: float) -> bytes:
    data = bytearray()
    while len(data) < size:
        sock.settimeout(max(0.01, deadline - time.monotonic()))
        part = sock.recv(min(size - len(data), 1 << 16))
        if not part:
            raise ConnectionResetError("the connection was closed")
        data += part
    return bytes(data)
