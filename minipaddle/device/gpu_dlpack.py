"""DLPack of GPU memory: CuPy's capsules, and what CuPy leaves out.

Those are bfloat16, which travels as uint16 with another type code as on the host, copies for a
consumer on the same GPU, and memory that may not be written.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minipaddle.device.dlpack import BFLOAT, UINT, Producer, flags_of, type_code
from minipaddle.device.dtype import as_dtype, bfloat16

CUDA = 2  # kDLCUDA
LEGACY_STREAM = 1  # in DLPack; CUDA's own number is 0
_READ_ONLY, _COPIED = 1, 2  # bits of a versioned capsule


def stream_number(cupy: Any, index: int) -> int:
    """The stream that this thread queues work of GPU ``index`` on, as DLPack numbers it."""
    return int(cupy.cuda.get_current_stream(index).ptr) or LEGACY_STREAM


def check_stream(stream: Any) -> None:
    """Refuses what is no stream of a consumer.

    Raises:
        TypeError: ``stream`` is neither an int nor None.
        ValueError: It is 0, which DLPack forbids, or below -1.
    """
    if stream is None:
        return
    if isinstance(stream, bool) or not isinstance(stream, int):
        raise TypeError(f"stream must be an int or None; got {stream!r}")
    if stream == 0 or stream < -1:
        raise ValueError(
            "stream must be 1 (legacy default stream), 2 (per-thread default stream), a pointer, "
            f"or -1 (do not wait); got {stream}"
        )


def export_array(cupy: Any, array: Any, **options: Any) -> Any:
    """A capsule over the memory of ``array``, or over a copy; the consumer's stream waits for it.

    Args:
        cupy: CuPy.
        array: Array of CuPy.
        **options: What ``__dlpack__`` was called with; None means that it was not given.

    Raises:
        BufferError: The options ask for a device that memory cannot be taken to.
        TypeError: ``stream`` is neither an int nor None.
        ValueError: No such stream, or ``copy`` is False and the CPU is asked for.
    """
    given = {name: value for name, value in options.items() if value is not None}
    check_stream(given.get("stream"))
    index = int(array.device.id)
    here = given.get("dl_device") in (None, (CUDA, index))
    with cupy.cuda.Device(index):
        copied = bool(here and given.pop("copy", False))
        if copied:
            array = array.copy()
        if array.dtype.name != "bfloat16":
            capsule = array.__dlpack__(**given)
        else:
            capsule = array.view(np.uint16).__dlpack__(**given)
            type_code(capsule).value = BFLOAT
    flags = flags_of(capsule)
    if copied and flags is not None:
        flags.value |= _COPIED
    return capsule


def import_array(cupy: Any, capsule: Any, copy: bool) -> Any:
    """An array over the memory of a capsule, which is used up, or over a copy of it.

    Raises:
        TypeError: There is no such element type.
        ValueError: The capsule was taken before, or the memory is read-only and not to be copied.
    """
    code, flags = type_code(capsule), flags_of(capsule)
    if not copy and flags is not None and flags.value & _READ_ONLY:
        raise ValueError("this memory is read-only and cannot be shared; copy=True copies it")
    is_bfloat16 = code.value == BFLOAT
    if is_bfloat16:
        code.value = UINT
    array = cupy.from_dlpack(Producer(capsule))
    array = array.view(bfloat16() if is_bfloat16 else as_dtype(array.dtype))
    return array.copy(order="C") if copy else array
