"""Functions of .cu files, applied element by element: grids, blocks and template arguments."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import cupy
import numpy as np

from minipaddle.device.dtype import INTS, compute_dtype, is_float
from minipaddle.ops.kernels.gpu import layout
from minipaddle.ops.kernels.gpu.compiled import compiled, ndarray
from minipaddle.ops.kernels.gpu.source import type_name
from minipaddle.ops.op import Array

FOLDER = Path(__file__).parent
THREADS = 256
_PACK_BYTES = 16  # what one access of a thread moves
_LARGE = 2**18  # elements from which on an operand that runs across the result is laid anew first
_MANY = 4096  # plans that are kept for one function

__all__ = [
    "FOLDER",
    "THREADS",
    "Elementwise",
    "compiled",
    "contiguous",
    "empty",
    "ndarray",
    "processors",
]


@functools.cache
def processors() -> int:
    """Number of multiprocessors of the current GPU."""
    return int(cupy.cuda.Device().attributes["MultiProcessorCount"])


def empty(shape: tuple[int, ...], dtype: Any) -> Array:
    """A new array without values."""
    return ndarray(shape, dtype)


class _Plan(NamedTuple):
    """How operands that lie in one certain way are worked.

    Attributes:
        shape: Of the result.
        kernel: The loop to start, with ``grid``, ``block`` and first arguments ``lead``; None for
            the flat one.
        crossing: Which operands are to be laid anew first.
    """

    shape: tuple[int, ...]
    kernel: Any = None
    grid: tuple[int, ...] = ()
    block: tuple[int, ...] = ()
    lead: tuple[Any, ...] = ()
    crossing: tuple[int, ...] = ()


class Elementwise:
    """A function of a .cu file, applied element by element to operands that broadcast together.

    Args:
        name: The functor, a template on the type that it is computed in.
        file: Where it stands, a name in this folder or a path.
        dtype: Element type of results; by default that of the first array.
        rounded: Numbers are rounded to the arrays' type, also where that is a half type, and ints
            may be any that fit 64 bits: what comparisons want. Otherwise a number is in the type
            that is computed in, and an int must fit the arrays' type.
    """

    def __init__(
        self, name: str, file: str | Path, dtype: Any = None, rounded: bool = False
    ) -> None:
        self.name = name
        self.path = FOLDER / file
        self.dtype = dtype
        self.rounded = rounded
        self._kernels: dict[Any, Any] = {}
        self._plans: dict[Any, _Plan] = {}

    def __call__(self, *operands: Any, out: Array | None = None, dtype: Any = None) -> Array:
        """The function's values.

        Args:
            operands: Arrays and numbers; the first array's dtype says what is computed in. With
                numbers alone that is the dtype of ``out``, which then must be given.
            out: Array of the broadcast shape to write to; by default a new one. It may be an
                operand, but may not overlap one in another way.
            dtype: Element type of a new result, if it is not the function's own.

        Raises:
            ValueError: The shapes do not broadcast together, or not to that of ``out``.
            OverflowError: A number does not fit the arrays' int type.
        """
        arrays = [a for a in operands if a.__class__ is ndarray]
        if len(arrays) != len(operands):
            arrays = arrays or [out]
            passed = _passed(arrays[0].dtype, self.rounded)
            operands = tuple([a if a.__class__ is ndarray else passed(a) for a in operands])
        first = arrays[0]
        dtype = dtype or self.dtype or first.dtype
        shape = first.shape
        bits = 0
        for a in arrays:
            if a.shape != shape or not a._c_contiguous:
                return self._any_layout(arrays, operands, out, dtype)
            bits |= a.data.ptr
        if out is None:
            out = ndarray(shape, dtype)
        elif out.shape != shape or not out._c_contiguous:
            return self._any_layout(arrays, operands, out, dtype)
        whole = (bits | out.data.ptr) % _PACK_BYTES == 0
        kinds = [a.dtype if a.__class__ is ndarray else None for a in operands]
        return self._flat(out, operands, first, (whole, out.dtype, *kinds))

    def _flat(self, out: Array, operands: tuple[Any, ...], first: Array, key: Any) -> Array:
        n = out.size
        if n == 0:
            return out
        found = self._kernels.get(key)
        if found is None:
            found = self._kernels[key] = self._flat_kernel(out, operands, first, key[0])
        kernel, width, per_block = found
        kernel((-(-(n // width) // per_block) or 1,), (THREADS,), (n, out, *operands))
        return out

    def _flat_kernel(
        self, out: Array, operands: tuple[Any, ...], first: Array, whole: bool
    ) -> tuple[Any, int, int]:
        width = _widest(out.dtype, operands) if whole else 1
        singles = [a.__class__ is ndarray and a.size == 1 != out.size for a in operands]
        kernel = self._compile(f"flat<F, Out, {width}", out.dtype, operands, first, singles)
        return kernel, width, THREADS * _per_thread(width)

    def _any_layout(
        self, arrays: list[Any], operands: tuple[Any, ...], out: Array | None, dtype: Any
    ) -> Array:
        whole = _is_aligned(arrays if out is None else [out, *arrays])
        key = (
            whole,
            dtype,
            *[
                (a.dtype, a.shape, a.strides) if a.__class__ is ndarray else None
                for a in (out, *operands)
            ],
        )
        plan = self._plans.get(key)
        if plan is None:
            if len(self._plans) >= _MANY:
                self._plans.clear()
            plan = self._plans[key] = self._plan(arrays, operands, out, dtype, whole)
        if plan.crossing:
            operands = tuple(
                [_copy(a) if i in plan.crossing else a for i, a in enumerate(operands)]
            )
            return self(*operands, out=out, dtype=dtype)
        if out is None:
            out = ndarray(plan.shape, dtype)
        if plan.kernel is None:
            kinds = [_kind(a, out.size) for a in operands]
            return self._flat(
                out, operands, arrays[0], (_is_aligned([out, *arrays]), out.dtype, *kinds)
            )
        plan.kernel(plan.grid, plan.block, (*plan.lead, out, *operands))
        return out

    def _plan(
        self,
        arrays: list[Any],
        operands: tuple[Any, ...],
        out: Array | None,
        dtype: Any,
        whole: bool,
    ) -> _Plan:
        shape = np.broadcast_shapes(*[a.shape for a in arrays])
        if out is not None:
            _check_target(out, shape)
        size = math.prod(shape)
        if size == 0 or _is_flat(shape, out, arrays):
            return _Plan(shape)
        written = layout.contiguous(shape, dtype.itemsize) if out is None else _lie(out)
        lengths, steps = layout.walk(shape, [written, *map(_lie, operands)])
        across = [layout.crossing(lengths, steps[0], step) for step in steps[1:]]
        out_dtype = dtype if out is None else out.dtype
        if len(operands) == 1 and across[0] is not None:
            return self._across(shape, lengths, steps, across[0], (out_dtype, operands[0]))
        anew = tuple(
            i
            for i, (axis, a) in enumerate(zip(across, operands, strict=True))
            if axis is not None and a.size >= _LARGE and not a._c_contiguous
        )
        if anew:
            return _Plan(shape, crossing=anew)
        if layout.has_rows(lengths, steps):
            return self._rows(shape, (lengths, steps), operands, arrays[0], out_dtype, whole)
        fields, small = layout.packed(lengths, steps)
        kernel = self._compile(
            f"strided<F, Out, {_index(small)}", out_dtype, operands, arrays[0], None
        )
        return _Plan(shape, kernel, (-(-size // THREADS),), (THREADS,), (size, fields))

    def _rows(
        self,
        shape: tuple[int, ...],
        walk: layout.Walk,
        operands: tuple[Any, ...],
        first: Array,
        dtype: Any,
        whole: bool,
    ) -> _Plan:
        lengths, steps = walk
        singles = [
            a.__class__ is ndarray and step[-1] == 0
            for a, step in zip(operands, steps[1:], strict=True)
        ]
        width = layout.row_width(lengths, steps, _widest(dtype, operands), whole)
        fields, small = layout.packed(lengths, steps)
        kernel = self._compile(
            f"rows<F, Out, {width}, {_index(small)}", dtype, operands, first, singles
        )
        count, packs = math.prod(lengths[:-1]), lengths[-1] // width
        block = layout.lines(count, packs, THREADS)
        cuts = min(-(-packs // (block[0] * _per_thread(width))), 2**15)
        return _Plan(shape, kernel, (-(-count // block[1]), cuts), block, (count, fields))

    def _across(
        self,
        shape: tuple[int, ...],
        lengths: tuple[int, ...],
        steps: list[tuple[int, ...]],
        axis: int,
        types: tuple[Any, Array],
    ) -> _Plan:
        """The plan for one array that runs across the result, by tiles."""
        dtype, x = types
        last = len(lengths) - 1
        order = [*(i for i in range(last) if i != axis), axis, last]
        lengths = tuple(lengths[i] for i in order)
        fields, small = layout.packed(lengths, [tuple(s[i] for i in order) for s in steps])
        functor, out_type, x_type = self._functor(x), type_name(dtype), type_name(x.dtype)
        kernel = compiled(
            self.path, f"transposed<{functor}, {out_type}, {x_type}, {_index(small)}>"
        )
        side = 32 if x.itemsize > 2 else 64  # as in elementwise.cuh
        tiles = -(-lengths[-1] // side) * -(-lengths[-2] // side)
        return _Plan(shape, kernel, (tiles * math.prod(lengths[:-2]),), (32, 8), (fields,))

    def _functor(self, first: Array) -> str:
        return f"{self.name}<{type_name(compute_dtype(first.dtype))}>"

    def _compile(
        self,
        loop: str,
        dtype: Any,
        operands: tuple[Any, ...],
        first: Array,
        singles: list[bool] | None,
    ) -> Any:
        """``loop``, in which F and Out stand for the function and the result's type."""
        loop = loop.replace("F, Out", f"{self._functor(first)}, {type_name(dtype)}")
        number = f"Number<{type_name(compute_dtype(first.dtype))}>"
        if self.rounded:
            number = f"Rounded<{type_name(first.dtype)}>"
        kinds = [
            f"{'One' if single else 'Array'}<{type_name(a.dtype)}>"
            if a.__class__ is ndarray
            else number
            for a, single in zip(operands, singles or [False] * len(operands), strict=True)
        ]
        return compiled(self.path, f"{loop}, {', '.join(kinds)}>")


_copy = Elementwise("Copy", "copying.cu")


def contiguous(array: Array) -> Array:
    """The array, or a copy without gaps; a 0-d one stays what it is."""
    return array if array._c_contiguous else _copy(array)


@functools.cache
def _passed(dtype: Any, rounded: bool) -> Callable[[Any], Any]:
    """What makes of a number what a kernel is handed beside arrays of ``dtype``."""
    if is_float(dtype):
        return float
    if dtype not in INTS:
        return lambda number: int(bool(number))
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max

    def whole(number: Any) -> int:
        if isinstance(number, float):
            return int(number) if math.isfinite(number) else int(low)
        if not rounded and not low <= number <= high:
            raise OverflowError(f"Python integer {number} out of bounds for {dtype.name}")
        return int(number)

    return whole


def _check_target(out: Array, shape: tuple[int, ...]) -> None:
    if out.shape != shape:
        raise ValueError(
            f"the result would have shape {list(shape)}; what is written in place keeps its own, "
            f"{list(out.shape)}"
        )
    if out.size and any(s == 0 < n - 1 for s, n in zip(out.strides, shape, strict=True)):
        raise ValueError(
            "what is written in place has elements that share memory, as expand() leaves them; "
            "clone() it first"
        )


def _lie(operand: Any) -> layout.Lie | None:
    if operand.__class__ is not ndarray:
        return None
    return operand.shape, operand.strides, operand.itemsize


def _is_flat(shape: tuple[int, ...], out: Array | None, arrays: list[Any]) -> bool:
    """Whether the result and all operands but single elements lie without gaps, in one order."""
    return (out is None or out._c_contiguous) and all(
        a.size == 1 or (a.shape == shape and a._c_contiguous) for a in arrays
    )


def _is_aligned(arrays: list[Any]) -> bool:
    """Whether all arrays of several elements begin where an access of a whole pack may."""
    bits = 0
    for a in arrays:
        if a.size > 1:
            bits |= a.data.ptr
    return bits % _PACK_BYTES == 0


def _widest(dtype: Any, operands: tuple[Any, ...]) -> int:
    """Elements of a pack."""
    sizes = [a.itemsize for a in operands if a.__class__ is ndarray]
    return _PACK_BYTES // int(max(dtype.itemsize, *sizes, 1))


def _per_thread(width: int) -> int:
    """Packs that a thread works at a time, as in elementwise.cuh."""
    return 2 if width > 1 else 4


def _index(small: bool) -> str:
    return "unsigned int" if small else "i64"


def _kind(operand: Any, n: int) -> Any:
    """What tells one instance of the flat loop from another, for one operand."""
    if operand.__class__ is not ndarray:
        return None
    return (operand.dtype,) if operand.size == 1 != n else operand.dtype
