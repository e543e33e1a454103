"""Messages and open files between the loader and one worker process."""

from __future__ import annotations

import os
import select
import socket
import struct
from array import array
from collections import deque
from contextlib import suppress

_HEADER = struct.Struct("<QI")  # bytes of the message, descriptors that come with it
_CHUNK = 1 << 18
MAX_FILES = 64
_ROOM = socket.CMSG_SPACE(MAX_FILES * array("i").itemsize)
_CLOSE_ON_EXEC = getattr(socket, "MSG_CMSG_CLOEXEC", 0)  # which socket.recv_fds passes over
Message = tuple[bytes, list[int] | None]


class Link:
    """One end of a socket pair, with messages of any length.

    Who waits for room to send reads meanwhile, so two ends that both send large messages do not
    wait for each other.

    Args:
        sock: The socket; belongs to the link from now on.

    Attributes:
        messages: What has arrived: bytes, and the descriptors that came with them, or None if the
            system could not hand them over.
        ended: Whether the other end is closed.
    """

    def __init__(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        self._sock = sock
        self._incoming = bytearray()
        self._files: deque[list[int]] = deque()
        self.messages: deque[Message] = deque()
        self.ended = False

    def fileno(self) -> int:
        """The socket's descriptor; -1 once closed."""
        return self._sock.fileno()

    def send(self, body: bytes, files: list[int] | None = None, seconds: float = 0.0) -> None:
        """Sends a message.

        Args:
            body: Its bytes.
            files: Descriptors that the other end gets copies of, at most MAX_FILES.
            seconds: How long to wait for room, again and again as some is found; 0 for ever.

        Raises:
            OSError: The other end is closed.
            TimeoutError: There was no room.
        """
        files = files or []
        left = memoryview(_HEADER.pack(len(body), len(files)) + body)
        while left:
            try:
                part = left[:_CHUNK]
                sent = (
                    socket.send_fds(self._sock, [part], files) if files else self._sock.send(part)
                )
            except BlockingIOError:
                self._wait(select.POLLIN | select.POLLOUT, seconds)
            else:
                left, files = left[sent:], []

    def receive(self) -> Message:
        """The next message; waits for it.

        Raises:
            EOFError: The other end is closed.
        """
        while not self.messages:
            if self.ended:
                raise EOFError("the other end is closed")
            self._wait(select.POLLIN, 0.0)
        return self.messages.popleft()

    def _wait(self, events: int, seconds: float) -> None:
        waiter = select.poll()
        waiter.register(self._sock, events)
        found = waiter.poll(seconds * 1000 if seconds else None)
        if not found:
            raise TimeoutError(f"the other end takes nothing for {seconds:g} s")
        if found[0][1] & ~select.POLLOUT:
            self.fill()

    def fill(self) -> None:
        """Takes in what has arrived, without waiting."""
        while not self.ended:
            try:
                data, ancillary, flags, _ = self._sock.recvmsg(_CHUNK, _ROOM, _CLOSE_ON_EXEC)
            except BlockingIOError:
                break
            except OSError:  # reset
                data, ancillary, flags = b"", [], 0
            files = array("i", b"".join(content for _, _, content in ancillary)).tolist()
            if files or flags & socket.MSG_CTRUNC:
                self._files.append(files)
            self._incoming += data
            self.ended = not data
        self._cut()

    def _cut(self) -> None:
        while len(self._incoming) >= _HEADER.size:
            length, count = _HEADER.unpack_from(self._incoming)
            end = _HEADER.size + length
            if len(self._incoming) < end:
                return
            body = bytes(memoryview(self._incoming)[_HEADER.size : end])
            del self._incoming[:end]
            files: list[int] | None = self._files.popleft() if count and self._files else []
            if files is not None and len(files) < count:
                close_all(files)
                files = None
            self.messages.append((body, files))

    def close(self) -> None:
        """Closes the socket and whatever descriptors have arrived unread."""
        self._sock.close()
        for _, files in self.messages:
            close_all(files or [])
        for files in self._files:
            close_all(files)
        self.messages.clear()
        self._files.clear()


def close_all(files: list[int]) -> None:
    """Closes descriptors."""
    for fd in files:
        with suppress(OSError):
            os.close(fd)
