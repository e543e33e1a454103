"""Functions of an element and of what its group shares, by functors of a .cu file."""

from __future__ import annotations

from typing import Any

from minipaddle.ops.kernels.gpu.fold import PACK_BYTES, aligned
from minipaddle.ops.kernels.gpu.launch import FOLDER, compiled
from minipaddle.ops.kernels.gpu.row_plan import THREADS
from minipaddle.ops.kernels.gpu.source import type_name
from minipaddle.ops.op import Array

_LONG = 1024  # elements of a row from which on it is worked by blocks of its own
_ACCESSES = 8  # of a thread, where a row has enough for it


class Spread:
    """A functor of spread.cuh's kind, applied to all elements of [outer, n, inner].

    Args:
        functor: As a template with its arguments, where ``{T}`` stands for the element type.
        file: Where it stands, a name in this folder.
        two: It looks at the elements of two arrays.
    """

    def __init__(self, functor: str, file: str, two: bool = False) -> None:
        self.functor = functor
        self.path = FOLDER / file
        self.two = two
        self._kernels: dict[Any, Any] = {}

    def __call__(
        self,
        shape: tuple[int, int, int],
        arrays: tuple[Array, ...],
        out: Array,
        beside: tuple[Any, ...],
        numbers: tuple[float, float] = (0.0, 0.0),
        integer: int = 0,
    ) -> Array:
        """Fills ``out``.

        Args:
            shape: The arrays', seen as [outer, n, inner].
            arrays: One or two, C-contiguous and of one dtype.
            out: C-contiguous; may be one of the arrays.
            beside: Up to three arrays in which groups have something in common.
            numbers: Two that the functor is made from.
            integer: Likewise.
        """
        outer, n, inner = shape
        size = outer * n * inner
        if not size:
            return out
        width = 1
        if aligned(out) and aligned(arrays[0]) and aligned(arrays[-1]):
            width = PACK_BYTES // out.itemsize
        long = inner == 1 and n >= _LONG
        kernel = self._kernel(out.dtype, width, long, size >= 2**31)
        if long:
            chunk = THREADS * width * _ACCESSES
            splits = -(-n // chunk)
            grid, lead = outer * splits, (splits, n, chunk)
        else:
            grid, lead = -(-size // (THREADS * width)), (size, n, inner)
        shared = (*beside, 0, 0)[:3]
        given = (*lead, arrays[0], arrays[-1], out, *shared, *numbers, integer)
        kernel((grid,), (THREADS,), given)
        return out

    def _kernel(self, dtype: Any, width: int, long: bool, large: bool) -> Any:
        key = (dtype, width, long, large)
        found = self._kernels.get(key)
        if found is None:
            element = type_name(dtype)
            two = "true" if self.two else "false"
            functor = self.functor.replace("{T}", element)
            first = f"{functor}, {element}, {width}, {two}"
            index = "i64" if large else "unsigned int"
            name = f"spread_rows<{first}>" if long else f"spread_flat<{first}, {index}>"
            found = self._kernels[key] = compiled(self.path, name)
        return found
