"""Element types: NumPy dtypes under Paddle's names, on every device.

A dtype of minipaddle *is* a ``numpy.dtype``; CuPy and plug-in arrays use the same objects. bfloat16
is NumPy's too once ``ml_dtypes`` is imported, which happens only when somebody asks for it.
"""

from __future__ import annotations

from dataclasses import dataclass
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
# A dtype's name is put together whenever it is read, which takes longer than a small op.
_SAME: dict[DType, DType] = {dtype: dtype for dtype in BY_NAME.values()}
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
    if isinstance(dtype, np.dtype) and dtype in _SAME:
        return _SAME[dtype]
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
    lengths = "; several lengths go in one list, such as [2, 3]" if isinstance(dtype, int) else ""
    raise TypeError(f"dtype must be one of {names}; got {dtype!r}{lengths}")


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


@dataclass(frozen=True)
class FInfo:
    """Limits of a float type, as Python floats.

    Args:
        dtype: Its name.
        bits: Its size.
        eps: Distance from 1 to the next larger number.
        min: Smallest finite number, which is ``-max``.
        max: Largest finite number.
        tiny: Smallest positive number of full precision.
        smallest_normal: The same.
        resolution: Power of ten down to which decimals are kept.
    """

    dtype: str
    bits: int
    eps: float
    min: float
    max: float
    tiny: float
    smallest_normal: float
    resolution: float


@dataclass(frozen=True)
class IInfo:
    """Limits of an int type.

    Args:
        dtype: Its name.
        bits: Its size.
        min: Smallest number.
        max: Largest number.
    """

    dtype: str
    bits: int
    min: int
    max: int


def finfo(dtype: Any) -> FInfo:
    """Limits of a float type.

    Args:
        dtype: A float type, as a name or a dtype.

    Returns:
        An object with ``bits``, ``dtype``, ``eps``, ``max``, ``min``, ``resolution``,
        ``smallest_normal`` and ``tiny``.

    Raises:
        TypeError: ``dtype`` is no float type.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.finfo("float32").eps == 2.0**-23
        True
    """
    found = as_dtype(dtype)
    if not is_float(found):
        raise TypeError(f"finfo: dtype must be a float type; got {dtype!r}; iinfo is for ints")
    if found.name == "bfloat16":
        import ml_dtypes

        limits: Any = ml_dtypes.finfo
    else:
        limits = np.finfo
    info = limits(found)
    names = ("eps", "min", "max", "tiny", "smallest_normal", "resolution")
    return FInfo(found.name, 8 * found.itemsize, *(float(getattr(info, n)) for n in names))


def iinfo(dtype: Any) -> IInfo:
    """Limits of an int type.

    Args:
        dtype: An int type, as a name or a dtype.

    Returns:
        An object with ``bits``, ``dtype``, ``max`` and ``min``.

    Raises:
        TypeError: ``dtype`` is no int type.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.iinfo("uint8").max
        255
    """
    found = as_dtype(dtype)
    if found not in INTS:
        raise TypeError(f"iinfo: dtype must be an int type; got {dtype!r}; finfo is for floats")
    info = np.iinfo(found)
    return IInfo(found.name, 8 * found.itemsize, int(info.min), int(info.max))
