"""Element types: NumPy dtypes under Paddle's names, on every device.

A dtype of minipaddle *is* a ``numpy.dtype``; CuPy and plug-in arrays use the same objects. bfloat16
is NumPy's too once ``ml_dtypes`` is imported, which happens only when somebody asks for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

DType = np.dtype[Any]

NAMES = (
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
)
BY_NAME: dict[str, DType] = {name: np.dtype(name) for name in NAMES}
FLOAT_NAMES = ("float16", "bfloat16", "float32", "float64")

# Those that can carry a gradient; bfloat16 joins when it is first asked for.
FLOATS: set[DType] = {BY_NAME[name] for name in FLOAT_NAMES if name in BY_NAME}

# Those of indices, and those of masks.
INTS = frozenset(BY_NAME[n] for n in ("uint8", "int8", "int16", "int32", "int64"))
BOOLS = frozenset([BY_NAME["bool"]])

FLOAT32 = BY_NAME["float32"]
_default = FLOAT32


def bfloat16() -> DType:
    """The bfloat16 dtype, from the optional package ``ml_dtypes``.

    Raises:
        ImportError: ``ml_dtypes`` is not installed; the text names the command that installs it.
    """
    found = BY_NAME.get("bfloat16")
    if found is None:
        try:
            import ml_dtypes
        except ImportError:
            raise ImportError(
                "bfloat16 needs the package ml_dtypes: pip install 'minipaddle[bf16]'"
            ) from None
        found = BY_NAME["bfloat16"] = np.dtype(ml_dtypes.bfloat16)
        FLOATS.add(found)
    return found


def as_dtype(dtype: Any) -> DType:
    """Turns a name, NumPy type or None (the default float type) into a dtype.

    Raises:
        TypeError: ``dtype`` names no element type; the text lists those that exist.
    """
    if dtype is None:
        return _default
    if isinstance(dtype, str):
        name = dtype.removeprefix("paddle.")
        if name == "bfloat16":
            return bfloat16()
        found = BY_NAME.get(name)
        if found is not None:
            return found
    else:
        try:
            found = np.dtype(dtype)
        except TypeError:
            found = None
        if found is not None and (found.name in BY_NAME or found.name == "bfloat16"):
            return BY_NAME.get(found.name) or bfloat16()
    names = ", ".join([*NAMES, "bfloat16"])
    raise TypeError(f"dtype must be one of {names}; got {dtype!r}")


def is_float(dtype: DType) -> bool:
    """Whether values of ``dtype`` can carry a gradient (half, bfloat16, single, double)."""
    return dtype in FLOATS


def is_half(dtype: DType) -> bool:
    """Whether ``dtype`` is a 2-byte float, whose arithmetic is done in float32."""
    return dtype.itemsize == 2 and dtype in FLOATS


def compute_dtype(dtype: DType) -> DType:
    """The type in which values of ``dtype`` are computed: float32 for a half type."""
    return FLOAT32 if is_half(dtype) else dtype


def get_default_dtype() -> str:
    """Name of the dtype that Python floats and new parameters get.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.get_default_dtype()
        'float32'
    """
    return _default.name


def set_default_dtype(d: Any) -> None:
    """Sets the dtype that Python floats and new parameters get.

    Args:
        d: One of float16, bfloat16, float32, float64, as a name or a dtype.

    Raises:
        TypeError: ``d`` is not a float type.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.set_default_dtype("float64")
        >>> paddle.to_tensor(1.5).dtype
        dtype('float64')
        >>> paddle.set_default_dtype("float32")
    """
    global _default
    found = as_dtype(d)
    if not is_float(found):
        raise TypeError(f"the default dtype must be one of {', '.join(FLOAT_NAMES)}; got {d!r}")
    _default = found
