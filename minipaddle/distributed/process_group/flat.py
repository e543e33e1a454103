"""Arrays as the bytes that collectives move."""

from __future__ import annotations

from typing import Any

import numpy as np

from minipaddle.distributed.process_group.message import MAX_PAYLOAD_BYTES
from minipaddle.distributed.process_group.reduction import Array


class FlatView:
    """An array as one contiguous dimension; copied back at the end if that took a copy."""

    def __init__(self, array: Array, writable: bool = False) -> None:
        check_array(array)
        if writable and not array.flags.writeable:
            raise ValueError("array is written in place and must be writable, got a read-only one")
        self._array = array
        self._back = writable and not array.flags.c_contiguous

    def __enter__(self) -> Array:
        self._flat = self._array.reshape(-1)
        return self._flat

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if self._back and kind is None:
            self._array[...] = self._flat.reshape(self._array.shape)


def check_array(array: Any) -> None:
    """Raises a TypeError unless ``array`` is a NumPy array that can be copied as bytes."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"array must be a numpy.ndarray, got {type(array).__name__}")
    check_movable(array.dtype)


def check_movable(dtype: np.dtype[Any]) -> None:
    """Raises a TypeError if elements of ``dtype`` mean nothing to another process."""
    if dtype.hasobject or not dtype.isnative:
        raise TypeError(
            f"dtype must be plain numbers in native byte order, got {dtype}; "
            "objects travel with all_gather_object and broadcast_object"
        )


def frames(flat: Array) -> list[Array]:
    """Cuts an array into parts that fit a message; at least one, so that empty ones travel."""
    data = flat.view(np.uint8)
    starts = range(0, max(1, data.size), MAX_PAYLOAD_BYTES)
    return [data[start : start + MAX_PAYLOAD_BYTES] for start in starts]
