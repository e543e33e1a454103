"""What the ranks tell each other before they touch each other's memory."""

from __future__ import annotations

import struct
import traceback
import zlib
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from typing import Any

import numpy as np

from minipaddle.distributed.process_group.base import PeerError, ReduceOp

# code, op, root, ring, step, buffer, sequence number, bytes, dtype name, shape; a multiple of 16
# bytes, so that data behind it is aligned for every dtype.
_HEADER = struct.Struct("<BBHHHIIQQ16s32s")
_SHAPE_BYTES = 32
HEADER_BYTES = _HEADER.size
MAX_MESSAGE_BYTES = 1 << 16
MAX_PAYLOAD_BYTES = MAX_MESSAGE_BYTES - HEADER_BYTES
_ABORT_HEAD = struct.Struct("<BxxxIQ")
_ABORT_TEXT_BYTES = 12_000
NO_ROOT = 0xFFFF


class Code(IntEnum):
    """The kinds of message."""

    ABORT = 1
    BARRIER = 2
    ALL_REDUCE = 3
    REDUCE = 4
    BROADCAST = 5
    ALL_GATHER = 6
    REDUCE_SCATTER = 7
    SCATTER = 8
    ALLTOALL = 9
    SEND = 10
    ALL_GATHER_OBJECT = 11
    BROADCAST_OBJECT = 12
    NEW_GROUP = 13
    EMPTY = 14
    ALLREDUCE_MEAN = 15


class Phase(IntEnum):
    """Which exchange of a collective a message belongs to."""

    START = 0
    FILES = 1
    STREAM = 2
    DONE = 3


@dataclass(slots=True)
class Call:
    """One collective as one rank means it; all ranks must mean the same."""

    code: Code
    sequence: int
    ring: int
    nbytes: int = 0
    dtype: np.dtype[Any] | None = None
    op: ReduceOp = ReduceOp.SUM
    root: int = NO_ROOT
    buffer: int = 0
    shape: tuple[int, ...] = ()

    def header(self, phase: int = Phase.START, step: int = 0) -> bytes:
        """Returns the bytes that are equal on all ranks if and only if they agree."""
        name = b"" if self.dtype is None else _dtype_name(self.dtype)
        return _HEADER.pack(
            self.code, self.op, self.root, self.ring, phase, self.buffer, step & 0xFFFFFFFF,
            self.sequence, self.nbytes, name, _shape_text(self.shape),
        )  # fmt: skip

    def __str__(self) -> str:
        return f"{self.code.name.lower()} number {self.sequence}"


@cache
def _dtype_name(dtype: np.dtype[Any]) -> bytes:
    return dtype.name.encode()[:16]


@cache
def _shape_text(shape: tuple[int, ...]) -> bytes:
    text = ", ".join(map(str, shape)).encode()
    if len(text) <= _SHAPE_BYTES:
        return text
    digest = f"... {zlib.crc32(text):08x}".encode()  # tells long shapes apart
    return text[: _SHAPE_BYTES - len(digest)] + digest


def describe(header: bytes, user_ring: int) -> str:
    """Puts a header into words for an error text."""
    code, op, root, ring, phase, buffer, step, sequence, nbytes, name, shape = _HEADER.unpack(
        header
    )
    parts = [] if ring == user_ring else [f"ring {ring}"]
    dtype = name.rstrip(b"\0").decode()
    if dtype:
        parts.append(f"{nbytes} bytes of {dtype}")
    if shape := shape.rstrip(b"\0"):
        parts.append(f"shape [{shape.decode()}]")
    if code in (Code.ALL_REDUCE, Code.REDUCE, Code.REDUCE_SCATTER):
        parts.append(f"op {ReduceOp(op).name}")
    if root != NO_ROOT:
        parts.append(f"root {root}")
    if buffer:
        parts.append(f"buffer {buffer}")
    if phase > Phase.FILES:
        parts.append(f"exchange {step} of its {Phase(phase).name.lower()} phase")
    details = f" ({', '.join(parts)})" if parts else ""
    return f"{Code(code).name.lower()} number {sequence}{details}"


def pack_abort(rank: int, reason: str, completed: int = 0) -> bytes:
    """Makes the message that ends the other ranks' waits.

    ``completed`` is the number of the channel's last collective that the sender has seen through:
    in those all ranks have sent all, and whoever is still in one of them finishes it.
    """
    return _ABORT_HEAD.pack(Code.ABORT, rank, completed) + reason.encode(errors="replace")


def unpack_abort(message: bytes) -> tuple[int, str]:
    """Returns the world rank that failed and its text."""
    return _ABORT_HEAD.unpack_from(message)[1], message[_ABORT_HEAD.size :].decode(errors="replace")


def completed_before_abort(message: bytes) -> int:
    """Returns the number of the channel's last collective that the sender has seen through."""
    return int(_ABORT_HEAD.unpack_from(message)[2])


def failure_text(exc: BaseException) -> str:
    """Formats an exception with its traceback, cut in the middle if it is very long."""
    if isinstance(exc, PeerError):
        return exc.reason
    text = "".join(traceback.format_exception(exc)).strip()
    if len(text) <= _ABORT_TEXT_BYTES:
        return text
    half = _ABORT_TEXT_BYTES // 2
    left_out = len(text) - 2 * half
    return f"{text[:half]}\n... ({left_out} characters left out) ...\n{text[-half:]}"
