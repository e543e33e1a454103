"""Pickles put together by hand, opcode by opcode."""

from __future__ import annotations

import io
import struct
from typing import Any

import minipaddle as paddle


def pickle_of(*parts: bytes) -> bytes:
    """A pickle of protocol 4 with these opcodes."""
    return b"\x80\x04" + b"".join(parts) + b"."


def name(module: str, attribute: str) -> bytes:
    return f"c{module}\n{attribute}\n".encode()


def text(value: str) -> bytes:
    raw = value.encode()
    return b"X" + struct.pack("<I", len(raw)) + raw


def number(value: int) -> bytes:
    return b"\x8a\x09" + value.to_bytes(9, "little", signed=True)


def array(
    shape: tuple[int, ...], raw: bytes, dtype: str = "f4", order: str = "<", fortran: bool = False
) -> bytes:
    """An array as NumPy writes it, with lengths that need not fit."""
    return b"".join([
        name("numpy.core.multiarray", "_reconstruct"), name("numpy", "ndarray"),
        b"K\0\x85C\1b\x87R(K\1(", *map(number, shape), b"t",
        name("numpy", "dtype"), text(dtype), b"\x89\x88\x87R(K\3", text(order),
        b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tb",
        b"\x88" if fortran else b"\x89", b"B" + struct.pack("<I", len(raw)), raw, b"tb",
    ])  # fmt: skip


def load(content: bytes, **configs: bool) -> Any:
    return paddle.load(io.BytesIO(content), **configs)
