"""Why this process can use no GPU, and what to install: words that may follow a colon."""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Any

_OLDEST, _NEWEST = 12, 13  # versions of CUDA that there is an extra for
_EITHER = "pip install 'minipaddle[gpu-cuda13]' (CUDA 13) or 'minipaddle[gpu-cuda12]' (CUDA 12)"


def driver_version() -> int:
    """The newest CUDA that the driver can run, its first number; 0 if no driver was found.

    The driver's library is asked, without CuPy and without waking a GPU.
    """
    version = ctypes.c_int(0)
    try:
        driver = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
        driver.cuDriverGetVersion(ctypes.byref(version))
    except (AttributeError, OSError):
        return 0
    return version.value // 1000


def _install(driver: int) -> str:
    """What to install for a driver that goes up to CUDA ``driver``, or 0 if there is none."""
    if driver == 0:
        return f"{_EITHER}; no NVIDIA driver was found either"
    if driver < _OLDEST:
        return f"update the driver, which goes up to CUDA {driver}, and then {_EITHER}"
    return (
        f"pip install 'minipaddle[gpu-cuda{min(driver, _NEWEST)}]' (the driver goes up to CUDA "
        f"{driver})"
    )


def without_cupy(error: ImportError | None = None) -> str:
    """Why CuPy is not there: it is not installed, or ``error`` came when it was imported."""
    what = "is not installed" if error is None else f"cannot be imported ({error})"
    return f"CuPy {what}: {_install(driver_version())}"


def without_gpu(cupy: Any, error: Exception | None = None) -> str:
    """Why CuPy finds no GPU: it counted none, or ``error`` came when it was asked."""
    runtime = cupy.cuda.runtime
    if runtime.is_hip:
        install = _install(driver_version())
        return f"the installed CuPy is for AMD GPUs: pip uninstall it, then {install}"
    text = f"{error}".strip()
    if "InsufficientDriver" in text:
        return _wrong_wheel(runtime.runtimeGetVersion() // 1000, runtime.driverGetVersion() // 1000)
    if error is not None and "NoDevice" not in text:
        return text
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return "the driver finds none; a container has to be started with its GPUs"
    return f"the driver finds none, with CUDA_VISIBLE_DEVICES={visible!r}; unset it to see all"


def _wrong_wheel(built: int, driver: int) -> str:
    if driver == 0:
        return "there is no NVIDIA driver; install one, or start the container with its GPUs"
    return (
        f"the installed CuPy is for CUDA {built}, and the driver goes up to CUDA {driver}: "
        f"pip uninstall cupy-cuda{built}x, then {_install(driver)}"
    )
