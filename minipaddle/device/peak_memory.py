"""The most memory that was in use on a GPU, counted from when it is first asked for.

CuPy keeps no peaks. A hook of its memory pool looks at each allocation of the thread that called
``reset``; a program that never does so pays nothing.
"""

from __future__ import annotations

import threading
from typing import Any

ALLOCATED, RESERVED = "allocated", "reserved"
_local = threading.local()


def now(cupy: Any, what: str) -> int:
    """Bytes of the current GPU that arrays hold, or that the pool holds."""
    pool = cupy.get_default_memory_pool()
    return int(pool.used_bytes() if what == ALLOCATED else pool.total_bytes())


def reset(cupy: Any, index: int, what: str) -> None:
    """Counts the peak on GPU ``index`` anew, and from the first call on counts at all."""
    with cupy.cuda.Device(index):
        _peaks(cupy)[index, what] = now(cupy, what)


def peak(cupy: Any, index: int, what: str) -> int:
    """The most bytes on GPU ``index`` since ``reset``.

    Raises:
        RuntimeError: The calling thread has not called ``reset`` for it.
    """
    counted: int | None = getattr(_local, "peaks", {}).get((index, what))
    if counted is None:
        raise RuntimeError(
            f"the peak of memory on gpu:{index} is not counted, as that costs each allocation; "
            f"call paddle.device.cuda.reset_max_memory_{what}({index}) in this thread first"
        )
    with cupy.cuda.Device(index):
        return max(counted, now(cupy, what))


def _peaks(cupy: Any) -> dict[tuple[int, str], int]:
    """The calling thread's peaks, which a hook keeps from the first call on."""
    found: dict[tuple[int, str], int] | None = getattr(_local, "peaks", None)
    if found is not None:
        return found
    peaks = _local.peaks = {}

    class Peaks(cupy.cuda.MemoryHook):  # type: ignore[misc]
        """Looks at the pool after each allocation, on the GPU of that."""

        name = "minipaddle.peak_memory"

        def malloc_postprocess(self, **given: Any) -> None:
            for key, counted in peaks.items():
                if key[0] == given["device_id"]:
                    peaks[key] = max(counted, now(cupy, key[1]))

    Peaks().__enter__()  # for good; CuPy takes hooks by thread
    return peaks
