"""PyTorch's checkpoints, read without PyTorch: the zip format, and the one before it.

Both hold a pickle whose tensors point into storages by persistent ids. A tensor is a storage with
an offset, lengths and strides; several may share one.

References:
    The layout is that of PyTorch's torch/serialization.py and torch/_utils.py.
"""

from __future__ import annotations

import math
import os
import struct
import zipfile
from typing import Any, BinaryIO

import numpy as np

from minipaddle.device.dtype import bfloat16
from minipaddle.saving.errors import CheckpointError
from minipaddle.saving.pickle_reader import PickleReader
from minipaddle.saving.pickled import ALLOWED, Allowed, is_shape, table
from minipaddle.saving.source import Budget, Source

LEGACY_MAGIC = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."
_STORAGES = {
    "Double": "float64", "Float": "float32", "Half": "float16", "BFloat16": "bfloat16",
    "Long": "int64", "Int": "int32", "Short": "int16", "Char": "int8", "Byte": "uint8",
    "Bool": "bool", "ComplexDouble": "complex128", "ComplexFloat": "complex64",
}  # fmt: skip
_FLOAT8 = ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz")
_DTYPES = (*_STORAGES.values(), "uint16", "uint32", "uint64", *_FLOAT8)
_LOCAL_HEADER = struct.Struct("<4s22xHH")


class Storage:
    """A stretch of memory of one element type, still in the file."""

    __slots__ = ("count", "dtype", "offset")

    def __init__(self, dtype: np.dtype[Any], count: Any) -> None:
        if type(count) is not int or count < 0:
            raise CheckpointError("it is damaged: a storage has no length")
        self.dtype = dtype
        self.count = count
        self.offset: int | None = None


class StoredTensor:
    """A tensor of PyTorch's, still in the file."""

    __slots__ = ("dtype", "marks", "offset", "shape", "storage", "strides")

    def __init__(self, storage: Any, offset: Any, shape: Any, strides: Any) -> None:
        whole = is_shape(shape) and is_shape(strides) and len(shape) == len(strides)
        if not (whole and is_shape((offset,)) and isinstance(storage, Storage)):
            raise CheckpointError("it is damaged: a tensor has no proper storage, shape or strides")
        self.storage: Storage = storage
        self.dtype = storage.dtype
        self.offset: int = offset
        self.shape: tuple[int, ...] = shape
        self.strides: tuple[int, ...] = strides
        self.marks: dict[str, Any] = {}

    def read(self, source: Source) -> np.ndarray[Any, Any]:
        """The values as a C-contiguous array in memory of its own."""
        if math.prod(self.shape) == 0:
            return np.empty(self.shape, self.dtype)
        size = self.dtype.itemsize
        reach = 1 + sum((n - 1) * s for n, s in zip(self.shape, self.strides, strict=True))
        start = self.storage.offset
        if start is None or (self.offset + reach) * size > (
            self.storage.count * self.storage.dtype.itemsize
        ):
            raise CheckpointError("it is damaged: a tensor reaches past the end of its storage")
        start += self.offset * size
        if self._is_contiguous():
            found = source.array(start, self.shape, self.dtype)
        else:
            source.budget.spend_memory(math.prod(self.shape) * size)
            flat = source.array(start, (reach,), self.dtype)
            steps = [s * size for s in self.strides]
            found = np.lib.stride_tricks.as_strided(flat, self.shape, steps).copy(order="C")
        if self.marks.get("neg"):
            np.negative(found, out=found)
        return np.conj(found) if self.marks.get("conj") else found

    def _is_contiguous(self) -> bool:
        step = 1
        for length, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if length != 1 and stride != step:
                return False
            step *= length
        return True


def _dtype(name: str) -> np.dtype[Any]:
    if name == "bfloat16" or name in _FLOAT8:
        return bfloat16() if name == "bfloat16" else np.dtype(getattr(_ml_dtypes(), name))
    return np.dtype(name)


def _ml_dtypes() -> Any:
    bfloat16()  # its error names what to install
    import ml_dtypes

    return ml_dtypes


def _make_tensor(args: tuple[Any, ...], budget: Budget) -> StoredTensor:
    tensor = StoredTensor(*args[:4])
    if len(args) > 6 and type(args[6]) is dict:  # after requires_grad and hooks
        tensor.marks = args[6]
    return tensor


def _make_untyped_tensor(args: tuple[Any, ...], budget: Budget) -> StoredTensor:
    tensor = StoredTensor(*args[:4])
    if not isinstance(args[6], Allowed) or args[6].value not in _DTYPES:
        raise CheckpointError("it is damaged: a tensor has no dtype")
    tensor.dtype = _dtype(args[6].value)
    return tensor


def _make_first(args: tuple[Any, ...], budget: Budget) -> Any:
    return args[0]  # a parameter is its tensor, a Size its tuple, a device its name


_ALLOWED: dict[str, Allowed] = {
    **ALLOWED,
    **table(
        {
            "torch._utils._rebuild_tensor": _make_tensor,
            "torch._utils._rebuild_tensor_v2": _make_tensor,
            "torch._utils._rebuild_tensor_v3": _make_untyped_tensor,
            "torch._utils._rebuild_parameter": _make_first,
            "torch._utils._rebuild_parameter_with_state": _make_first,
            "torch.Size": _make_first,
            "torch.device": _make_first,
            "torch.storage.UntypedStorage": None,
            **{f"torch.{kind}Storage": None for kind in _STORAGES},
        }
    ),
    **{f"torch.{name}": Allowed(f"torch.{name}", value=name) for name in _DTYPES},
}


def _storage(pid: Any) -> tuple[str, Storage]:
    """Key and storage that a persistent id names."""
    if type(pid) is not tuple or len(pid) not in (5, 6) or pid[0] != "storage":
        raise CheckpointError("it is damaged: it points to something that is no storage")
    _, kind, key, _, count, *view = pid
    if not isinstance(kind, Allowed) or not isinstance(key, str) or view not in ([], [None]):
        raise CheckpointError("it is damaged: it points to a storage of unknown kind")
    name = kind.name.removeprefix("torch.").removesuffix("Storage")
    if name != "storage.Untyped" and name not in _STORAGES:
        raise CheckpointError(f"it is damaged: {kind.name} is no storage")
    return key, Storage(_dtype(_STORAGES.get(name, "uint8")), count)


def read_zip(file: BinaryIO, budget: Budget) -> tuple[Any, Source]:
    """What a checkpoint in PyTorch's zip format describes.

    Args:
        file: The file.
        budget: What reading may cost.

    Returns:
        The value, whose tensors are still in the file, and where to read them from.

    Raises:
        CheckpointError: It is damaged, is another kind of zip archive, or uses what is not allowed.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            members = {info.filename: info for info in archive.infolist()}
    except Exception as error:  # zipfile lets through whatever a broken directory leads to
        raise CheckpointError(
            f"it is a zip archive that is damaged or cut short: {error}"
        ) from None
    root = next((n.removesuffix("data.pkl") for n in members if n.endswith("/data.pkl")), None)
    if root is None or f"{root}constants.pkl" in members:
        what = "without data.pkl" if root is None else "with a TorchScript program"
        raise CheckpointError(
            f"it is a zip archive {what}, not a checkpoint; in PyTorch, "
            "torch.save(model.state_dict(), path) writes one"
        )
    parts = {name: _part(file, info, budget) for name, info in members.items()}
    order = parts.get(f"{root}byteorder")
    if order is not None and _content(order) != b"little":
        raise CheckpointError("it was written on a machine of the other byte order")
    storages: dict[str, Storage] = {}

    def persistent(pid: Any) -> Storage:
        key, storage = _storage(pid)
        data = parts.get(f"{root}data/{key}")
        if data is None or storage.count * storage.dtype.itemsize > data.end - data.position:
            raise CheckpointError(f"it is damaged: its storage {key[:40]!r} is missing or short")
        storage.offset = data.position
        return storages.setdefault(key, storage)

    pickled = parts[f"{root}data.pkl"]
    file.seek(pickled.position)
    return PickleReader(pickled, _ALLOWED, persistent).load(), pickled


def _part(file: BinaryIO, info: zipfile.ZipInfo, budget: Budget) -> Source:
    """A member of an archive, which PyTorch does not compress, as a part of the file."""
    if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
        raise CheckpointError(f"it is damaged: its part {info.filename[:80]!r} is compressed")
    end = file.seek(0, os.SEEK_END)
    if info.header_offset < 0:
        raise CheckpointError(f"it is damaged: its part {info.filename[:80]!r} is not there")
    head = Source(file, info.header_offset, end, budget).read(_LOCAL_HEADER.size)
    magic, name, extra = _LOCAL_HEADER.unpack(head)
    start = info.header_offset + _LOCAL_HEADER.size + name + extra
    if magic != b"PK\x03\x04" or start + info.file_size > end:
        raise CheckpointError(f"it is damaged: its part {info.filename[:80]!r} is not there")
    return Source(file, start, start + info.file_size, budget)


def _content(part: Source) -> bytes:
    part.file.seek(part.position)
    return part.read(part.end - part.position)


def read_legacy(source: Source) -> Any:
    """What a checkpoint in PyTorch's format before 1.6 describes; its tensors stay in the file.

    Args:
        source: The file, from its beginning.

    Raises:
        CheckpointError: It is damaged or uses what is not allowed.
    """
    storages: dict[str, Storage] = {}

    def persistent(pid: Any) -> Storage:
        key, storage = _storage(pid)
        return storages.setdefault(key, storage)

    source.skip(len(LEGACY_MAGIC))
    version, system = PickleReader(source).load(), PickleReader(source).load()
    if version != 1001 or type(system) is not dict or system.get("little_endian") is not True:
        raise CheckpointError("it is of a version of PyTorch or a machine that is not known here")
    value = PickleReader(source, _ALLOWED, persistent).load()
    keys = PickleReader(source).load()
    if type(keys) is not list:
        raise CheckpointError("it is damaged: it does not list its storages")
    for key in keys:
        storage = storages.get(key) if isinstance(key, str) else None
        count = struct.unpack("<q", source.read(8))[0]
        if storage is None or storage.offset is not None or count != storage.count:
            raise CheckpointError("it is damaged: its storages are not those that it uses")
        storage.offset = source.skip(count * storage.dtype.itemsize).offset
    return value
