"""lerp and its gradients.

One launch forward. Backward one, and one more for each operand that was broadcast, to add up the
partial sums of the blocks.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from minipaddle.device.dtype import compute_dtype
from minipaddle.ops.kernels.gpu.elementwise import apart, home
from minipaddle.ops.kernels.gpu.launch import (
    FOLDER,
    Elementwise,
    compiled,
    contiguous,
    empty,
    ndarray,
    processors,
)
from minipaddle.ops.kernels.gpu.layout import Struct, collapsed, packed, steps_of
from minipaddle.ops.kernels.gpu.source import type_name
from minipaddle.ops.op import Array, kernel

_FILE = FOLDER / "lerp.cu"
_THREADS = 256
# As in lerp.cu; the blocks of a launch that sums should all run at once, or else the last of them
# run nearly alone.
_BLOCKS_AT_ONCE = 4
# Packs that a thread has under way.
_DEEP = 2
_LEAST_ROWS = 4
# Packs side by side in a narrow block, and how many of these each processor should have to work at:
# sums over the middle axis of [64, 256, 4096] take 143 us so, and 150 by wide blocks.
_NARROW, _MANY = 16, 8
# From so many blocks that share a group of rows on, these are woven: a sum over [16384, 4096] takes
# 140 us so, and 147 where each block has a stretch of rows of its own.
_WOVEN = 16
NONE, WHOLE, COLUMNS, ROWS = range(4)  # as in lerp.cu
_MODES = ("NONE", "WHOLE", "COLUMNS", "ROWS")

_forward = Elementwise("Lerp", "lerp.cu")
_forward_by_number = Elementwise("LerpByNumber", "lerp.cu")

Shape = tuple[int, ...]


def _lerp(x: Array, y: Array, weight: Any, out: Array | None = None) -> Array:
    if weight.__class__ is not ndarray:
        number = float(weight)
        return _forward_by_number(x, y, number, 1.0 - number, out=out)
    return _forward(x, y, weight.reshape(()) if weight.size == 1 else weight, out=out)


@kernel("lerp", "gpu")
def lerp(x: Array, y: Array, weight: Any) -> Array:
    out = _lerp(x, y, weight)
    if weight.__class__ is ndarray and weight.ndim > out.ndim:
        return out.reshape((1,) * (weight.ndim - out.ndim) + out.shape)
    return out


@kernel("lerp_", "gpu")
def lerp_(x: Array, y: Array, weight: Any) -> Array:
    return _lerp(x, apart(x, y), apart(x, weight), x)


class Part(NamedTuple):
    """How the gradient of one operand is summed up from what the blocks left.

    Attributes:
        mode: As in lerp.cu.
        partials: Number of partial sums.
        results: Number of elements of the gradient.
        terms: How many partial sums make one of them.
        kept, folded: Where they stand: by result, and by term.
        block: Threads along x and y.
    """

    mode: int
    partials: int = 0
    results: int = 0
    terms: int = 0
    kept: Any = None
    folded: Any = None
    block: tuple[int, int] = (1, 1)


class Plan(NamedTuple):
    """Everything about one launch but the arrays; ``sums`` says whether a part is to be summed."""

    kernel: Any
    grid: int
    block: tuple[int, int]
    task: Any
    geometry: Any
    parts: tuple[Part, Part, Part]
    sums: bool


class Layout(NamedTuple):
    """The elements as rows: axes that neighbours share are one.

    Attributes:
        lengths: Of the axes, the last of which are the columns.
        steps: Of weight, x and y along them, in elements.
        masks: Of x, y and weight, whether an axis is theirs or broadcast.
    """

    lengths: Shape
    steps: list[Shape]
    masks: list[Shape]


def layout_of(shape: Shape, shapes: Sequence[Shape], strides: Sequence[Shape]) -> Layout:
    """Collapses the axes of a result of ``shape`` for operands x, y and weight.

    Args:
        shape: Shape of the result.
        shapes: Shapes of x, y and weight.
        strides: Of weight, x and y the steps along the axes of ``shape``.
    """
    masks = [tuple(int(n != 1) for n in (1,) * (len(shape) - len(own)) + own) for own in shapes]
    full = tuple(math.prod(shape[i + 1 :]) for i in range(len(shape)))
    # An axis is joined to the next only where that holds for memory and for what is broadcast; the
    # steps that an array without gaps would have say the latter.
    own_steps = [tuple(m * f for m, f in zip(mask, full, strict=True)) for mask in masks]
    lengths, walks = collapsed(shape, [full, *own_steps, *strides])
    if not lengths:
        lengths, walks = (1,), [(1,)] * 7
    return Layout(lengths, walks[4:], [tuple(int(s != 0) for s in walk) for walk in walks[1:4]])


def _suffix(masks: list[Shape], summed: list[bool]) -> int:
    """How many of the axes of rows, from the last, share the sums of all that is summed."""
    rows = len(masks[0]) - 1
    for count in range(rows + 1):
        axis = rows - 1 - count
        if axis < 0 or any(s and mask[axis] for mask, s in zip(masks, summed, strict=True)):
            return count
    return rows


def _block_shape(packs: int, suffix: int, groups: int) -> tuple[int, int]:
    """Threads along columns and rows: a power of two that covers the packs of a row, if it can.

    Where many rows share sums, and many groups of rows do, few columns do: a block then has all the
    rows of its sums, and the sums need no second launch.
    """
    along = 1
    if suffix >= _NARROW * _LEAST_ROWS and groups * packs >= _NARROW * _MANY * processors():
        return _NARROW, _THREADS // _NARROW
    while along < min(packs, _THREADS):
        along *= 2
    return along, _THREADS // along


def _height(suffix: int, groups: int, tiles: int, tall: int) -> int:
    """Rows a block takes: all that share their sums, unless there would be too few blocks."""
    blocks = _BLOCKS_AT_ONCE * processors()
    wanted = max(1, blocks // max(1, groups * tiles))  # blocks that share a group
    rows = max(tall * _LEAST_ROWS, math.ceil(suffix / wanted))
    return min(suffix, math.ceil(rows / tall) * tall)


def _deep(packs: int) -> int:
    """Packs a thread takes of a long row: few, if only then every processor has work."""
    return _DEEP if packs >= _DEEP * _THREADS * _BLOCKS_AT_ONCE * processors() else 1


@functools.lru_cache(maxsize=1024)
def _plan(
    dtype: Any,
    by_number: bool,
    shape: Shape,
    shapes: tuple[Shape, Shape, Shape],
    strides: tuple[Shape, ...],
    wanted: tuple[bool, ...],
    aligned: bool,
) -> Plan:
    layout = layout_of(shape, shapes, strides)
    # The order of sums is that of all three gradients, whichever are wanted.
    all_modes = _modes(layout.masks, (True, True, True))
    modes = [mode if w else NONE for mode, w in zip(all_modes, wanted, strict=True)]
    *outer, n = layout.lengths
    rows = math.prod(outer)
    by_column = [step[-1] == 1 for step in layout.steps]
    width = _width(layout, by_column, all_modes, dtype) if aligned else 1
    packs = math.ceil(n / width)
    count = _suffix(layout.masks, [mode > WHOLE for mode in all_modes])
    suffix = math.prod(outer[len(outer) - count :])
    long = suffix == 1 and COLUMNS not in all_modes and packs >= _THREADS
    along, tall = (_THREADS, 1) if long else _block_shape(packs, suffix, rows // suffix)
    deep = _deep(packs * rows) if long else 1 if wanted[2] else _DEEP
    tiles = math.ceil(packs / (along * (deep if long else 1)))
    height = _height(suffix, rows // suffix, tiles, tall)
    chunks = math.ceil(suffix / height)
    task = np.array([n, suffix, height, chunks, tiles, chunks >= _WOVEN], np.int64)
    where = (tuple(outer[: len(outer) - count]), chunks, tiles, n)
    parts = [_part(mode, mask, where) for mode, mask in zip(modes, layout.masks, strict=True)]
    told = _template(dtype, by_number, by_column, modes)
    arguments = f"{width}, {deep}, {str(long).lower()}, {told}"
    return Plan(
        compiled(_FILE, f"lerp_grad<{type_name(dtype)}, {arguments}>"),
        rows // suffix * chunks * tiles,
        (along, tall),
        Struct(task),
        packed(tuple(outer), [step[:-1] for step in layout.steps])[0],
        (parts[0], parts[1], parts[2]),
        any(part.mode > WHOLE for part in parts),
    )


def _modes(masks: list[Shape], wanted: tuple[bool, ...]) -> list[int]:
    """How the gradients of x, y and weight come about."""
    summed = [WHOLE if 0 not in mask else COLUMNS if mask[-1] else ROWS for mask in masks]
    return [mode if w else NONE for mode, w in zip(summed, wanted, strict=True)]


def _width(layout: Layout, by_column: list[bool], modes: list[int], dtype: Any) -> int:
    """Elements of a pack: 16 bytes, or one element where a row does not begin and end with a pack.

    One long row alone may end within a pack.
    """
    width = 16 // int(np.dtype(dtype).itemsize)
    n = layout.lengths[-1]
    if len(layout.lengths) == 1 and COLUMNS not in modes and n >= width * _THREADS:
        return width
    steps = [s for step, c in zip(layout.steps, by_column, strict=True) if c for s in step[:-1]]
    return width if n % width == 0 and all(s % width == 0 for s in steps) else 1


def _template(dtype: Any, by_number: bool, by_column: list[bool], modes: list[int]) -> str:
    """What lerp_grad's template is told of operands and gradients."""
    read = [("ELEMENTS" if c else "ROW") if modes[2] else "NOTHING" for c in by_column[1:]]
    held = f"{'ElementWeight' if by_column[0] else 'RowWeight'}<{type_name(dtype)}>"
    if by_number:
        held = f"NumberWeight<{type_name(compute_dtype(dtype))}>"
    return ", ".join([*read, *[_MODES[mode] for mode in modes], held])


def _part(mode: int, mask: Shape, where: tuple[Shape, int, int, int]) -> Part:
    if mode in (NONE, WHOLE):
        return Part(mode)
    outer, chunks, tiles, n = where
    last = n if mode == COLUMNS else tiles
    lengths = (*outer, chunks, last)
    steps = tuple(math.prod(lengths[i + 1 :]) for i in range(len(lengths)))
    is_kept = [*mask[: len(outer)], 0, int(mode == COLUMNS)]
    axes = list(zip(lengths, steps, is_kept, strict=True))
    kept = [(length, step) for length, step, k in axes if k]
    folded = [(length, step) for length, step, k in axes if not k]
    results, terms = (math.prod(length for length, _ in some) for some in (kept, folded))
    tall = min(32, 2 ** max(0, math.ceil(math.log2(terms / 4))))
    block = (1, _THREADS) if mode == ROWS else (max(32, _THREADS // tall), tall)
    return Part(mode, math.prod(lengths), results, terms, _of_axes(kept), _of_axes(folded), block)


def _of_axes(axes: list[tuple[int, int]]) -> Any:
    lengths, walks = collapsed(tuple(n for n, _ in axes), [tuple(s for _, s in axes)])
    return packed(lengths, walks)[0]


@kernel("lerp_grad", "gpu")
def lerp_grad(
    x: Array | None,
    y: Array | None,
    weight: Any,
    x_shape: tuple[int, ...],
    y_shape: tuple[int, ...],
    out_grad: Array,
    wanted: tuple[bool, ...],
    into: Any,
) -> list[Array | None]:
    shape, dtype = out_grad.shape, out_grad.dtype
    w = weight if weight.__class__ is ndarray else None
    shapes = (x_shape, y_shape, () if w is None else w.shape)
    outs = [_result(into, i, shapes[i], dtype) if wanted[i] else None for i in range(3)]
    if not out_grad.size:
        for out in outs:
            if out is not None:
                out.fill(0)
        return outs
    g = contiguous(out_grad)
    held = _readable(w, shape)
    read = (_readable(x, shape), _readable(y, shape)) if wanted[2] else (None, None)
    strides = (_walk(shape, held), _walk(shape, read[0]), _walk(shape, read[1]))
    aligned = _aligned((g, held, *read, *outs))
    plan = _plan(dtype, w is None, shape, shapes, strides, wanted, aligned)
    targets = outs
    if plan.sums:
        targets = [_target(part, out, g) for part, out in zip(plan.parts, outs, strict=True)]
    number = float(weight) if w is None else held
    plan.kernel((plan.grid,), plan.block, (plan.task, plan.geometry, g, number, *read, *targets))
    if plan.sums:
        for part, out, target in zip(plan.parts, outs, targets, strict=True):
            if target is not out:
                _add_partials(part, target, out)
    return outs


def _result(into: Any, i: int, shape: Shape, dtype: Any) -> Array:
    found = home(into, i, shape, dtype)
    return empty(shape, dtype) if found is None else found


def _readable(array: Array | None, shape: Shape) -> Array | None:
    """``array``, or a copy of it if it has gaps along the last axis of ``shape`` that is one."""
    if array is None or array._c_contiguous:
        return array
    steps = [s for s, n in zip(_walk(shape, array), shape, strict=True) if n != 1]
    return array if not steps or steps[-1] in (0, 1) else contiguous(array)


def _aligned(arrays: Sequence[Array | None]) -> bool:
    bits = 0
    for a in arrays:
        if a is not None:
            bits |= a.data.ptr
    return bits % 16 == 0


def _walk(shape: Shape, array: Array | None) -> Shape:
    if array is None:
        return (0,) * len(shape)
    return steps_of(shape, array.shape, array.strides, array.itemsize)


def _target(part: Part, out: Array | None, g: Array) -> Array | None:
    """Where the blocks leave what they have: partial sums, or at once the gradient."""
    dtype = compute_dtype(g.dtype)
    if part.mode <= WHOLE or (part.terms == 1 and dtype == g.dtype):
        return out
    return empty((part.partials,), dtype)


def _add_partials(part: Part, partials: Array, out: Any) -> None:
    add = compiled(_FILE, f"add_partials<{type_name(out.dtype)}>")
    along, tall = part.block
    grid = (math.ceil(part.results / along),)
    arguments = (part.results, part.terms, part.kept, part.folded, partials, out)
    add(grid, (along, tall), arguments)
