"""Compiling and launching: the only place that knows of grids, blocks and template arguments."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import cupy
import numpy as np

from minipaddle.device.dtype import compute_dtype
from minipaddle.ops.kernels.gpu.layout import geometry
from minipaddle.ops.kernels.gpu.source import OPTIONS, source_text, type_name
from minipaddle.ops.op import Array

FOLDER = Path(__file__).parent
THREADS = 256
_PACK_BYTES = 16  # what one access of a thread moves

ndarray = cupy.ndarray


@functools.cache
def compiled(path: Path, expression: str) -> Any:
    """The kernel that ``expression``, a template with its arguments, names in the file ``path``.

    It is compiled at first use, which takes some tenths of a second; CuPy keeps the result on disk
    and finds it there in another process.
    """
    module = cupy.RawModule(code=source_text(path), options=OPTIONS, name_expressions=(expression,))
    return module.get_function(expression)


@functools.cache
def processors() -> int:
    """Number of multiprocessors of the current GPU."""
    return int(cupy.cuda.Device().attributes["MultiProcessorCount"])


def empty(shape: tuple[int, ...], dtype: Any) -> Array:
    """A new array without values."""
    return ndarray(shape, dtype)


class Elementwise:
    """A function of a .cu file, applied element by element to operands that broadcast together.

    Args:
        name: The functor, a template on the type that it is computed in.
        file: Where it stands, a name in this folder or a path.
    """

    def __init__(self, name: str, file: str | Path) -> None:
        self.name = name
        self.path = FOLDER / file
        self._flat_kernels: dict[Any, Any] = {}
        self._strided_kernels: dict[Any, Any] = {}

    def __call__(self, *operands: Any, out: Array | None = None, dtype: Any = None) -> Array:
        """The function's values.

        Args:
            operands: Arrays and numbers, at least one array; the first array's dtype says what is
                computed in.
            out: Array of the broadcast shape to write to; by default a new one. It may be an
                operand, but may not overlap one in another way.
            dtype: Element type of a new result; by default that of the first array.
        """
        arrays = [a for a in operands if a.__class__ is ndarray]
        first = arrays[0]
        shape = first.shape
        plain = first._c_contiguous and first.size < 2**62
        for a in arrays:
            if a.shape != shape or not a._c_contiguous:
                plain = False
                break
        if not plain:
            return self._any_layout(arrays, operands, out, dtype)
        if out is None:
            out = ndarray(shape, dtype or first.dtype)
        elif not out._c_contiguous:
            return self._any_layout(arrays, operands, out, dtype)
        return self._flat(out, operands, arrays)

    def _flat(self, out: Array, operands: tuple[Any, ...], arrays: list[Any]) -> Array:
        n = out.size
        if n == 0:
            return out
        whole = all(a.base is None for a in arrays) and out.base is None
        if not whole:
            whole = all(a.data.ptr % _PACK_BYTES == 0 for a in (out, *arrays))
        key = (whole, out.dtype, *[_kind(a, out) for a in operands])
        found = self._flat_kernels.get(key)
        if found is None:
            found = self._flat_kernels[key] = self._flat_kernel(out, operands, whole)
        kernel, width = found
        packs = n // width
        kernel((-(-(packs + n - packs * width) // THREADS),), (THREADS,), (n, out, *operands))
        return out

    def _any_layout(
        self, arrays: list[Any], operands: tuple[Any, ...], out: Array | None, dtype: Any
    ) -> Array:
        first = arrays[0]
        shape = np.broadcast_shapes(*{a.shape for a in arrays})
        if out is None:
            out = ndarray(shape, dtype or first.dtype)
        if out.size == 0:
            return out
        if out._c_contiguous and all(
            a.size == 1 or (a.shape == shape and a._c_contiguous) for a in arrays
        ):
            return self._flat(out, operands, arrays)
        lies = tuple(
            (a.shape, a.strides, a.itemsize) if a.__class__ is ndarray else None
            for a in (out, *operands)
        )
        fields, small = geometry(shape, lies)
        key = (small, out.dtype, *[_kind(a, None) for a in operands])
        kernel = self._strided_kernels.get(key)
        if kernel is None:
            index = "unsigned int" if small else "i64"
            kernel = self._compile("strided", out, index, operands, None)
            self._strided_kernels[key] = kernel
        grid = -(-out.size // THREADS)
        kernel((grid,), (THREADS,), (out.size, fields, out, *operands))
        return out

    def _flat_kernel(self, out: Array, operands: tuple[Any, ...], whole: bool) -> tuple[Any, int]:
        sizes = [a.itemsize for a in (out, *operands) if a.__class__ is ndarray]
        width = _PACK_BYTES // max(sizes) if whole else 1
        return self._compile("flat", out, str(width), operands, out), width

    def _compile(
        self, loop: str, out: Array, variant: str, operands: tuple[Any, ...], like: Array | None
    ) -> Any:
        first = next(a for a in operands if a.__class__ is ndarray)
        computed = type_name(compute_dtype(first.dtype))
        kinds = [_operand_type(a, computed, like) for a in operands]
        expression = (
            f"{loop}<{self.name}<{computed}>, {type_name(out.dtype)}, {variant}, "
            f"{', '.join(kinds)}>"
        )
        return compiled(self.path, expression)


def _kind(operand: Any, like: Array | None) -> Any:
    """What tells one instance of a template from another, for one operand."""
    if operand.__class__ is not ndarray:
        return operand.__class__
    if like is not None and operand.size == 1 != like.size:
        return (operand.dtype,)
    return operand.dtype


def _operand_type(operand: Any, computed: str, like: Array | None) -> str:
    if operand.__class__ is not ndarray:
        return f"Number<{computed}>"
    kind = "One" if like is not None and operand.size == 1 != like.size else "Array"
    return f"{kind}<{type_name(operand.dtype)}>"
