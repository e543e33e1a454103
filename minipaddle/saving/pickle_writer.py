"""A writer of pickles: small pieces as bytes, arrays as the memory that they have.

It writes what ``pickle_reader`` reads, in the opcodes of protocol 2, which every later protocol has
too; only bytes are written in the protocol's own way. NumPy is named as NumPy 1 names itself, which
NumPy 2 understands.
"""

from __future__ import annotations

import struct
from collections import OrderedDict
from typing import Any

import numpy as np

from minipaddle.imperative.tensor import Tensor
from minipaddle.saving.paddle_format import host_array
from minipaddle.saving.pickled import ELEMENTS, is_key
from minipaddle.saving.values import MAX_DEPTH

Piece = bytes | memoryview
_ARRAY = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85"
_SCALAR = b"cnumpy.core.multiarray\nscalar\n"
_CONSTANTS = {None: b"N", True: b"\x88", False: b"\x89"}


class PickleWriter:
    """Turns one value into the pieces of a file.

    Args:
        protocol: 2, 3 or 4.

    Attributes:
        pieces: What is to be written, in order.
    """

    def __init__(self, protocol: int) -> None:
        self.protocol = protocol
        self.pieces: list[Piece] = []
        self.small = bytearray([0x80, protocol])
        self.memo: dict[int, int] = {}

    def dump(self, value: Any) -> list[Piece]:
        """The pieces for ``value``.

        Raises:
            TypeError: It holds something that is no tensor, array, container or plain value.
            ValueError: It has a model or an optimizer, contains itself, or is too large.
        """
        self._write(value, "obj", 0)
        self.small += b"."
        self._flush()
        return self.pieces

    def _flush(self) -> None:
        self.pieces.append(bytes(self.small))
        self.small = bytearray()

    def _write(self, value: Any, where: str, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise ValueError(f"obj is nested deeper than {MAX_DEPTH} levels, or contains itself")
        kind = type(value)
        if kind in _PLAIN:
            _PLAIN[kind](self, value)
            return
        if isinstance(value, np.generic):
            self._scalar(value, where)
            return
        known = self.memo.get(id(value))
        if known is not None:
            self.small += b"j" + struct.pack("<I", known)
            return
        if isinstance(value, Tensor):
            self._tensor(value, where)
        elif isinstance(value, np.ndarray):
            self.array(value, where)
        elif kind in _CONTAINERS:
            _CONTAINERS[kind](self, value, where, depth + 1)
        else:
            raise _refused(value, where)
        # Remembered when it is complete, so that what contains itself is noticed by its depth.
        self.memo[id(value)] = len(self.memo)
        self.small += b"r" + struct.pack("<I", self.memo[id(value)])

    # ---- plain values ----

    def _constant(self, value: Any) -> None:
        self.small += _CONSTANTS[value]

    def _int(self, value: int) -> None:
        if -(1 << 31) <= value < 1 << 31:
            self.small += b"J" + struct.pack("<i", value)
            return
        raw = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
        head = (
            b"\x8a" + bytes([len(raw)]) if len(raw) < 256 else b"\x8b" + struct.pack("<I", len(raw))
        )
        self.small += head + raw

    def _float(self, value: float) -> None:
        self.small += b"G" + struct.pack(">d", value)

    def _complex(self, value: complex) -> None:
        self._name("complex")
        self._float(value.real)
        self._float(value.imag)
        self.small += b"\x86R"

    def _text(self, value: str) -> None:
        raw = value.encode("utf-8", "surrogatepass")
        self.small += self._head(b"X", b"\x8d", len(raw)) + raw

    def _name(self, builtin: str) -> None:
        module = "__builtin__" if self.protocol < 3 else "builtins"
        self.small += f"c{module}\n{builtin}\n".encode()

    # ---- containers ----

    def _list(self, value: list[Any], where: str, depth: int) -> None:
        self.small += b"]("
        self._items(value, where, depth)
        self.small += b"e"

    def _tuple(self, value: tuple[Any, ...], where: str, depth: int) -> None:
        self.small += b"("
        self._items(value, where, depth)
        self.small += b"t"

    def _items(self, value: Any, where: str, depth: int) -> None:
        for i, item in enumerate(value):
            self._write(item, f"{where}[{i}]", depth)

    def _set(self, value: set[Any], where: str, depth: int) -> None:
        self._name("set")
        for item in value:
            _check_key(item, where)
        self._list(list(value), where, depth)
        self.small += b"\x85R"

    def _dict(self, value: dict[Any, Any], where: str, depth: int) -> None:
        self.small += b"ccollections\nOrderedDict\n)R(" if type(value) is OrderedDict else b"}("
        for key, item in value.items():
            _check_key(key, where)
            self._write(key, where, depth)
            self._write(item, f"{where}[{key!r}]", depth)
        self.small += b"u"

    # ---- arrays ----

    def _tensor(self, tensor: Tensor, where: str) -> None:
        self._text(tensor.name)
        self.array(host_array(tensor), where)
        self.small += b"\x86"

    def array(self, array: np.ndarray[Any, Any], where: str) -> None:
        """Writes an array, its values by way of its own memory if that is C-contiguous."""
        array = _plain_array(array, where)
        self.small += _ARRAY
        self._bytes(memoryview(b"b"))
        self.small += b"\x87R(K\x01("
        for length in array.shape:
            self._int(length)
        self.small += b"t"
        self._dtype(array.dtype)
        self.small += b"\x89"
        self._bytes(array.reshape(-1).view(np.uint8).data)
        self.small += b"tb"

    def _scalar(self, value: np.generic, where: str) -> None:
        array = _plain_array(np.asarray(value), where)
        self.small += _SCALAR
        self._dtype(array.dtype)
        self._bytes(memoryview(array.tobytes()))
        self.small += b"\x86R"

    def _dtype(self, dtype: np.dtype[Any]) -> None:
        order, name = dtype.str[0], dtype.str[1:]
        self.small += b"cnumpy\ndtype\n"
        self._text(name)
        self.small += b"\x89\x88\x87R(K\x03"
        self._text(order)
        self.small += b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"

    def _bytes(self, raw: memoryview) -> None:
        if self.protocol == 2:  # it has no bytes, only text
            self.small += b"c_codecs\nencode\n"
            self._text(raw.tobytes().decode("latin-1"))
            self._text("latin1")
            self.small += b"\x86R"
            return
        self.small += self._head(b"B", b"\x8e", raw.nbytes)
        if raw.nbytes < 1 << 13:
            self.small += raw
        else:
            self._flush()
            self.pieces.append(raw)

    def _head(self, short: bytes, long: bytes, count: int) -> bytes:
        """The opcode for ``count`` bytes, with their number."""
        if count < 1 << 32:
            return short + struct.pack("<I", count)
        if self.protocol < 4:
            raise ValueError("obj has more than 4 GB in one piece; protocol=4 can write that")
        return long + struct.pack("<Q", count)


_PLAIN: dict[type, Any] = {
    type(None): PickleWriter._constant,
    bool: PickleWriter._constant,
    int: PickleWriter._int,
    float: PickleWriter._float,
    complex: PickleWriter._complex,
    str: PickleWriter._text,
}
_CONTAINERS: dict[type, Any] = {
    list: PickleWriter._list,
    tuple: PickleWriter._tuple,
    dict: PickleWriter._dict,
    OrderedDict: PickleWriter._dict,
    set: PickleWriter._set,
}


def _plain_array(array: np.ndarray[Any, Any], where: str) -> np.ndarray[Any, Any]:
    """``array`` as Paddle writes it: bfloat16 as uint16, C-contiguous, in native byte order."""
    if array.dtype.name == "bfloat16":
        array = array.view(np.uint16)
    if array.dtype.str[1:] not in ELEMENTS:
        raise TypeError(
            f"save: {where} is an array of dtype {array.dtype}; arrays of numbers can be saved"
        )
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    return array if array.flags.c_contiguous else array.copy(order="C")


def _check_key(key: Any, where: str) -> None:
    if not is_key(key):
        raise TypeError(
            f"save: a key of {where} is a {type(key).__name__}; keys must be plain values"
        )


def _refused(value: Any, where: str) -> Exception:
    kind = type(value).__name__
    if hasattr(value, "state_dict"):
        return ValueError(f"save: {where} is a {kind}; save its state_dict() instead")
    advice = "; np.frombuffer(value, 'uint8') can be saved" if kind.startswith("byte") else ""
    return TypeError(
        f"save: {where} is a {kind}; tensors, arrays, numbers, text, None, and dict, OrderedDict, "
        f"list, tuple and set of them can be saved{advice}"
    )
