"""What is said when a GPU has not the memory that was asked for."""

from __future__ import annotations

import re
from typing import Any

_UNITS = (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))


class OutOfMemoryError(MemoryError):
    """A GPU has not the memory that was asked for; nothing has changed, and work can go on.

    Attributes:
        requested: Bytes that were asked for; None if CuPy does not say.
        free: Bytes of the GPU that nobody held.
        total: Bytes of the GPU.
        allocated: Bytes that arrays of this process held.
        reserved: Bytes that this process held, for its arrays or for later ones.
        limit: Bytes that this process lets itself hold; 0 for no limit.

    Example:
        >>> import minipaddle as paddle
        >>> issubclass(paddle.device.cuda.OutOfMemoryError, MemoryError)
        True
    """

    requested: int | None = None
    free: int = 0
    total: int = 0
    allocated: int = 0
    reserved: int = 0
    limit: int = 0


def in_units(count: int) -> str:
    """A number of bytes, as in ``1.50 GiB``."""
    for unit, size in _UNITS:
        if count >= size:
            return f"{count / size:.2f} {unit}"
    return f"{count} bytes"


def out_of_memory(cupy: Any, index: int, error: MemoryError, doing: str) -> MemoryError:
    """The error with ``doing`` in front: for CuPy's an OutOfMemoryError that tells more.

    Args:
        cupy: CuPy.
        index: The GPU.
        error: CuPy's error, one of the host, or one that was told already.
        doing: What needed the memory.
    """
    if isinstance(error, OutOfMemoryError):
        return error
    if not isinstance(error, cupy.cuda.memory.OutOfMemoryError):
        return MemoryError(f"{doing}: {error}")
    return _told(cupy, index, error, doing)


def _told(cupy: Any, index: int, error: MemoryError, doing: str) -> OutOfMemoryError:
    """CuPy's error with what there was on GPU ``index``, and what would help."""
    found = re.search(r"allocating ([\d,]+) bytes", str(error))
    with cupy.cuda.Device(index):
        free, total = cupy.cuda.runtime.memGetInfo()
        pool = cupy.get_default_memory_pool()
        used, held, limit = pool.used_bytes(), pool.total_bytes(), pool.get_limit()
    asked = int(found[1].replace(",", "")) if found else None
    what = "more" if asked is None else in_units(asked)
    least = f" (its limit is {in_units(limit)})" if limit else ""
    explained = OutOfMemoryError(
        f"{doing}: out of memory on gpu:{index}: {what} was asked for; {in_units(free)} of "
        f"{in_units(total)} are free; arrays of this process hold {in_units(used)}, and it keeps "
        f"{in_units(held - used)} for later ones{least}; others hold "
        f"{in_units(max(0, total - free - held))}. A smaller batch, no_grad() where nothing is "
        "trained, or recompute takes less; memory_allocated() between steps shows what stays"
    )
    explained.requested, explained.free, explained.total = asked, free, total
    explained.allocated, explained.reserved, explained.limit = used, held, limit
    return explained
