"""DLPack of host memory: NumPy's capsules, and the two things that NumPy leaves out.

NumPy knows no bfloat16, which travels through it as uint16 with another type code, and takes the
memory of a capsule of the old form (without a version) for read-only, which by convention it is
not. The layout of the structures is that of dlpack.h, https://github.com/dmlc/dlpack.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from minipaddle.device.dtype import as_dtype, bfloat16

CPU = 1  # kDLCPU
UINT, BFLOAT = 1, 4  # kDLUInt, kDLBfloat
_NAMES = (b"dltensor", b"dltensor_versioned")
_POINTER = ctypes.sizeof(ctypes.c_void_p)
_BEFORE_TENSOR = (0, 16 + 2 * _POINTER)  # where DLTensor starts, without and with a version
_FLAGS_BYTES = 8  # they are the last thing before DLTensor, where there is a version
_BEFORE_CODE = _POINTER + 12  # data, device type, device id and ndim stand before the type code

_name_of = ctypes.pythonapi.PyCapsule_GetName
_name_of.restype, _name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype = ctypes.c_void_p
_pointer_of.argtypes = [ctypes.py_object, ctypes.c_char_p]


class Producer:
    """A capsule as the object that a library's ``from_dlpack`` asks for."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return capsule_device(self._capsule)


class _Writable:
    """The memory of a read-only array, to be written to; keeps the array alive."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self._array = array
        self.__array_interface__ = {**array.__array_interface__, "data": (array.ctypes.data, False)}


def is_capsule(value: Any) -> bool:
    """Whether ``value`` is a Python capsule, of whatever content."""
    return type(value).__name__ == "PyCapsule"


def _tensor_address(capsule: Any) -> int:
    name = _name_of(capsule)
    if name not in _NAMES:
        raise ValueError(
            f"a DLPack capsule can be taken once, and this one is named {name!r}; ask its producer "
            "for a new one, or pass the producer itself"
        )
    return int(_pointer_of(capsule, name)) + _BEFORE_TENSOR[_NAMES.index(name)]


def type_code(capsule: Any) -> ctypes.c_uint8:
    """DLPack's number for the kind of element, to be read and written."""
    return ctypes.c_uint8.from_address(_tensor_address(capsule) + _BEFORE_CODE)


def flags_of(capsule: Any) -> ctypes.c_uint64 | None:
    """The flags of a capsule's memory, to be read and written; None in the form without version."""
    address = _tensor_address(capsule)
    versioned = _name_of(capsule) == _NAMES[1]
    return ctypes.c_uint64.from_address(address - _FLAGS_BYTES) if versioned else None


def capsule_device(capsule: Any) -> tuple[int, int]:
    """DLPack's numbers for the kind of device, and for the device, that the memory lies on."""
    device = (ctypes.c_int32 * 2).from_address(_tensor_address(capsule) + _POINTER)
    return device[0], device[1]


def export_array(array: np.ndarray[Any, Any], **options: Any) -> Any:
    """A capsule over the memory of ``array``, which it keeps alive.

    Args:
        array: Any NumPy array of a dtype that minipaddle knows.
        **options: What ``__dlpack__`` was called with; None means that it was not given.

    Raises:
        BufferError: The options ask for another device, or the array is read-only and the consumer
            cannot be told so.
    """
    given = {name: value for name, value in options.items() if value is not None}
    if "stream" in given:
        raise BufferError(
            f"memory of the host knows no stream; stream must be None: {given['stream']}"
        )
    if not array.flags.writeable and not given.get("copy") and "max_version" not in given:
        raise BufferError(
            "this memory is read-only, as that of expand is, and DLPack before 1.0 cannot say so; "
            "clone() makes a tensor with memory of its own"
        )
    if array.dtype.name != "bfloat16":
        return array.__dlpack__(**given)
    capsule = array.view(np.uint16).__dlpack__(**given)
    type_code(capsule).value = BFLOAT
    return capsule


def import_array(capsule: Any, copy: bool) -> np.ndarray[Any, Any]:
    """An array over the memory of a capsule, which is used up, or over a copy of it.

    Raises:
        BufferError: NumPy has no such element type.
        TypeError: minipaddle has no such element type.
        ValueError: The capsule was taken before, or the memory is read-only and not to be copied.
    """
    code = type_code(capsule)
    is_bfloat16 = code.value == BFLOAT
    if is_bfloat16:
        code.value = UINT
    versioned = _name_of(capsule) == _NAMES[1]
    array = np.from_dlpack(Producer(capsule))
    if not versioned:
        array = np.asarray(_Writable(array))
    array = array.view(bfloat16() if is_bfloat16 else as_dtype(array.dtype))
    if copy:
        return np.array(array, order="C")
    if not array.flags.writeable:
        raise ValueError("this memory is read-only and cannot be shared; copy=True copies it")
    return array
