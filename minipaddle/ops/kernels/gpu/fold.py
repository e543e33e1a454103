"""Folds: a functor of a .cu file, applied over any axes of an array."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from numpy.lib.array_utils import normalize_axis_tuple

from minipaddle.ops.kernels.gpu.fold_plan import THREADS, Launch, plan
from minipaddle.ops.kernels.gpu.launch import FOLDER, compiled, contiguous, ndarray
from minipaddle.ops.kernels.gpu.source import type_name
from minipaddle.ops.op import Array

Axis = tuple[int, ...] | None

PACK_BYTES = 16  # what one access of a thread moves
_MOST = 4096  # plans that are kept
TOTALS = "totals"  # in the place of a dtype


def axes_of(axis: Axis, ndim: int) -> tuple[int, ...]:
    """The axes that ``axis`` names, counted from the first; None names all."""
    return tuple(range(ndim)) if axis is None else normalize_axis_tuple(axis, ndim, "axis")


def kept_shape(shape: tuple[int, ...], axis: Axis) -> tuple[int, ...]:
    """``shape`` with length 1 on the axes that are folded."""
    axes = axes_of(axis, len(shape))
    return tuple(1 if i in axes else n for i, n in enumerate(shape))


def count_of(shape: tuple[int, ...], axis: Axis) -> int:
    """How many elements are folded to one."""
    return math.prod(shape[a] for a in axes_of(axis, len(shape)))


def aligned(array: Array) -> bool:
    """Whether an access of PACK_BYTES may begin where the array does."""
    start: int = array.data.ptr
    return start % PACK_BYTES == 0


class _Step(NamedTuple):
    kernel: Any
    grid: tuple[int, ...]
    numbers: tuple[int, ...]
    totals: int


class _Way(NamedTuple):
    """How arrays of one kind are folded: the result's shape, how many go in, and the launches."""

    shape: tuple[int, ...]
    folded: int
    steps: tuple[_Step, ...] | None


class Fold:
    """A functor of a .cu file, applied over any axes of an array.

    Args:
        functor: As a template with its arguments, where ``{T}`` stands for the array's element
            type and ``{S}`` for the type of the result, or that given as ``cast``.
        file: Where it stands, a name in this folder.
        total_bytes: The size of a total, at most.
        pairs: What is folded of two arrays that lie alike, a name in fold.cuh; by default the
            elements of one array are.
        ordered: The functor looks at the numbers of elements.
    """

    def __init__(
        self, functor: str, file: str, total_bytes: int = 8, pairs: str = "", ordered: bool = False
    ) -> None:
        self.functor = functor
        self.path = FOLDER / file
        self.total_bytes = total_bytes
        self.pairs = pairs
        self.ordered = ordered
        self._ways: dict[Any, _Way] = {}

    def __call__(
        self,
        x: Array,
        axis: Axis = None,
        keepdim: bool = False,
        dtype: Any = None,
        number: float = 0.0,
        other: Array | None = None,
        cast: Any = None,
        per_count: bool = False,
        out: Array | None = None,
    ) -> Array:
        """``x`` folded over ``axis``.

        Args:
            x: Any array.
            axis: Axes, or None for all.
            keepdim: Keep the folded axes with length 1.
            dtype: The result's; by default that of ``x``. TOTALS for their bytes.
            number: What the functor is made from.
            other: For ``pairs`` the second array, of x's shape and strides.
            cast: Dtype for ``{S}``.
            per_count: ``number`` is added to the number of elements that are folded to one.
            out: Where to write the result, an array of its shape and dtype without gaps.
        """
        lies_well = aligned(x) and (other is None or aligned(other))
        key = (x.shape, x.strides, x.dtype, lies_well, axis, keepdim, dtype, cast)
        way = self._ways.get(key)
        if way is None:
            if len(self._ways) >= _MOST:
                self._ways.clear()
            way = self._ways[key] = self._find(x, *key[3:])
        if way.steps is None:
            there = None if other is None else contiguous(other)
            return self(contiguous(x), axis, keepdim, dtype, number, there, cast, per_count, out)
        raw = dtype is TOTALS
        size = math.prod(way.shape)
        if raw:
            out = ndarray((max(1, size) * self.total_bytes,), "uint8")
        elif out is None:
            out = ndarray(way.shape, x.dtype if dtype is None else dtype)
        if size:
            given = number + way.folded if per_count else number
            self._run(way.steps, x, x if other is None else other, out, float(given))
        return out

    def _run(
        self, steps: tuple[_Step, ...], x: Array, other: Array, out: Array, number: float
    ) -> None:
        last = len(steps) - 1
        for i, (kernel, grid, numbers, totals) in enumerate(steps):
            made = out if i == last else ndarray((totals * self.total_bytes,), "uint8")
            kernel(grid, (THREADS,), (*numbers, x, other, made, number))
            x = other = made

    def _find(
        self, x: Array, lies_well: bool, axis: Axis, keepdim: bool, dtype: Any, cast: Any
    ) -> _Way:
        axes = axes_of(axis, x.ndim)
        kept = kept_shape(x.shape, axis)
        shape = kept if keepdim else tuple(n for i, n in enumerate(kept) if i not in axes)
        width = PACK_BYTES // x.itemsize
        if self.pairs and not lies_well:
            width = 1
        found = plan(x.shape, x.strides, x.itemsize, axes, width, lies_well, self.ordered)
        if found is None:
            return _Way(shape, 0, None)
        last = len(found) - 1
        steps = tuple(
            _Step(
                self._compiled(launch, x.dtype, dtype, cast, i == 0, i == last),
                launch.grid,
                launch.numbers,
                launch.totals,
            )
            for i, launch in enumerate(found)
        )
        return _Way(shape, count_of(x.shape, axis), steps if math.prod(shape) else ())

    def _compiled(
        self, launch: Launch, given: Any, dtype: Any, cast: Any, first: bool, last: bool
    ) -> Any:
        made = given if dtype is None or dtype is TOTALS else dtype
        element = type_name(given)
        functor = self.functor.replace("{T}", element)
        functor = functor.replace("{S}", type_name(made if cast is None else cast))
        source = f"Totals<{functor}>"
        if first:
            item = f"{element}, {launch.width}"
            source = f"Pairs<{self.pairs}, {item}>" if self.pairs else f"Elements<{item}>"
        result = f"Final<{type_name(made)}>"
        if not last or dtype is TOTALS:
            result = f"Partial<{functor}>"
        return compiled(self.path, f"{launch.kernel}<{functor}, {source}, {result}>")
