"""Reductions of large arrays: by parts that stay in a core's cache, on all threads.

Every reduction is seen as one of an array [outer, n, inner] over its middle axis. A ``part`` folds
one block of it, and ``join`` folds the results of the blocks that share an output.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from minipaddle.device.dtype import compute_dtype
from minipaddle.ops.kernels.cpu.block import BLOCK_BYTES, quiet, share_out
from minipaddle.ops.op import Array

Axis = tuple[int, ...] | None
Part = Callable[..., Array]
Task = tuple[slice, slice, slice]


class Group(NamedTuple):
    """Elements that are folded without a look at others: of all n, in ``pieces`` of block size."""

    outer: slice
    inner: slice
    pieces: list[slice]


# A part makes few passes, so that its blocks may fill a core's cache.
_FOLD_BYTES = 4 * BLOCK_BYTES
# The longest stretch of the inner axis that one block covers, where it cannot have all of n.
_WIDE = 8192
# Sums of this many neighbours are dot products with ones: up to twice as fast as np.add.reduce, and
# as exact, because these sums are then added pairwise. A product of a matrix with ones can take
# three times as long as these: some processors have no good routine for so narrow a matrix.
_SEGMENT = 256
_ONES = {np.dtype(t): np.ones(_SEGMENT, t) for t in (np.float32, np.float64)}
# Products are made with vectors of about so many elements, of one long row in two steps; vectors of
# less than _SHORT cost more than they save.
_SEGMENTS = (_SEGMENT,)
_LONG = (4096, 128)
_SHORT = 32


def axes_of(axis: Axis, ndim: int) -> tuple[int, ...]:
    """The axes that ``axis`` names, counted from the first; None names all."""
    return tuple(range(ndim)) if axis is None else normalize_axis_tuple(axis, ndim, "axis")


def kept_shape(shape: tuple[int, ...], axis: Axis) -> tuple[int, ...]:
    """``shape`` with length 1 on the axes that are folded."""
    axes = axes_of(axis, len(shape))
    return tuple(1 if i in axes else n for i, n in enumerate(shape))


def as_middle(x: Array, axes: tuple[int, ...]) -> Array:
    """``x`` as [outer, n, inner] with ``axes`` as n; a copy where they do not lie together."""
    folded = sorted(a for a in axes if x.shape[a] != 1)
    first, last = (folded[0], folded[-1] + 1) if folded else (x.ndim, x.ndim)
    n = math.prod(x.shape[first:last])
    if any(x.shape[a] != 1 and a not in axes for a in range(first, last)):
        kept = [a for a in range(x.ndim) if a not in axes]
        x, n = x.transpose(*kept, *axes), math.prod(x.shape[a] for a in axes)
        first, last = len(kept), x.ndim
    return x.reshape(math.prod(x.shape[:first]), n, math.prod(x.shape[last:]))


def fold(
    x: Array, axis: Axis, keepdim: bool, part: Part, join: Part, others: tuple[Array, ...] = ()
) -> Array:
    """``x`` folded over ``axis``; NumPy's floating-point warnings are off meanwhile.

    Args:
        x: Any array; half types reach ``part`` as float32.
        axis: Axes, or None for all.
        keepdim: Keep the folded axes with length 1.
        part: ``part(block, *cuts of others)`` folds a block [o, n, i] to [o, i].
        join: Folds [k, o, i], the results of k parts, to [o, i].
        others: Arrays with one element for each group of ``x``.
    """
    kept = kept_shape(x.shape, axis)
    middle = as_middle(x, axes_of(axis, x.ndim))
    outer, _, inner = middle.shape
    beside = [a.reshape(outer, 1, inner) for a in others]
    dtype = compute_dtype(x.dtype)

    def work(share: Iterable[Task]) -> list[Array]:
        return [
            part(
                middle[o, m, i].astype(dtype, copy=False),
                *(a[o, :, i] for a in beside),
            )
            for o, m, i in share
        ]

    parts = groups(middle.shape, dtype.itemsize)
    tasks = [(group.outer, piece, group.inner) for group in parts for piece in group.pieces]
    found = [one for share in share_out(work, tasks) for one in share]
    out = found[0] if len(found) == 1 else _assembled(parts, found, join, (outer, inner))
    axes = axes_of(axis, x.ndim)
    return out.reshape(kept if keepdim else [n for i, n in enumerate(kept) if i not in axes])


def groups(shape: tuple[int, ...], itemsize: int) -> list[Group]:
    """Cuts [outer, n, inner] into groups with no output in common, and these into blocks."""
    outer, n, inner = shape
    limit = _FOLD_BYTES // itemsize
    if n * inner <= limit or not outer:
        step = max(1, limit // max(1, n * inner))
        return [
            Group(slice(o, o + step), slice(0, inner), [slice(0, n)])
            for o in range(0, max(1, outer), step)
        ]
    wide = inner if inner <= _WIDE else max(_WIDE, limit // n)
    rows = max(1, limit // wide)
    pieces = [slice(r, min(n, r + rows)) for r in range(0, n, rows)]
    return [
        Group(slice(o, o + 1), slice(i, i + wide), pieces)
        for o in range(outer)
        for i in range(0, inner, wide)
    ]


def _assembled(parts: list[Group], found: list[Array], join: Part, shape: tuple[int, int]) -> Array:
    out = np.empty(shape, found[0].dtype)
    results = iter(found)
    for group in parts:
        one, *more = islice(results, len(group.pieces))
        out[group.outer, group.inner] = quiet(join, np.stack([one, *more])) if more else one
    return out


def sum_part(block: Array) -> Array:
    """Sums of a block over its middle axis."""
    return _sums(block, lambda x: np.add.reduce(x, axis=1), lambda x: np.vecdot(x, _ONES[x.dtype]))


def square_sum_part(block: Array) -> Array:
    """Sums of the squares of a block over its middle axis."""
    return _sums(block, lambda x: np.add.reduce(np.square(x), axis=1), lambda x: np.vecdot(x, x))


def _sums(block: Array, of_few: Part, of_segments: Part) -> Array:
    """Sums of segments, and then of these: short sums, whose errors are small."""
    outer, n, inner = block.shape
    count = n // _SEGMENT
    if count < 2:
        return np.asarray(of_few(block))
    head, tail = block[:, : count * _SEGMENT], block[:, count * _SEGMENT :]
    if inner == 1 and block.dtype in _ONES:
        # Splitting an axis needs no copy, whatever the strides.
        sums = of_segments(head.reshape(outer, count, _SEGMENT))[:, :, None]
    else:
        sums = of_few(head.reshape(outer * count, _SEGMENT, inner)).reshape(outer, count, inner)
    return np.asarray(np.add.reduce(sums, axis=1) + of_few(tail))


def sum_join(parts: Array) -> Array:
    """Sums of parts, through float64."""
    wide = np.float64 if parts.dtype == np.float32 else parts.dtype
    return np.asarray(np.add.reduce(parts, axis=0, dtype=wide)).astype(parts.dtype)


def ufunc_part(ufunc: np.ufunc) -> Part:
    """The part of a reduction by ``ufunc`` alone."""

    def part(block: Array) -> Array:
        return np.asarray(ufunc.reduce(block, axis=1))

    return part


def ufunc_join(ufunc: np.ufunc) -> Part:
    """The join of a reduction by ``ufunc``."""

    def join(parts: Array) -> Array:
        return np.asarray(ufunc.reduce(parts, axis=0))

    return join


def product_part(block: Array) -> Array:
    """Products of a block over its middle axis.

    Along it NumPy multiplies one number after another. So stretches of it are multiplied as
    vectors, then the halves of what is left, and what is then short is turned round.
    """
    outer, n, inner = block.shape
    if inner >= _SHORT:
        return np.asarray(np.multiply.reduce(block, axis=1))
    for wide in _LONG if outer == 1 else _SEGMENTS:
        n = block.shape[1]
        count = n * inner // wide
        if count > 1:
            step = n // count  # leaves a small rest: to read around a gap takes twice as long
            count = n // step
            stretches = block[:, : count * step].reshape(outer, count, step, inner)
            block = _with_rest(np.multiply.reduce(stretches, axis=1), block[:, count * step :])
    few = 2 if inner > 1 else _SHORT
    while outer * inner > 1 and (n := block.shape[1]) >= few:
        half = n // 2
        halves = np.multiply(block[:, :half], block[:, half : 2 * half])
        block = _with_rest(halves, block[:, 2 * half :])
    if inner == 1 and outer > 1:
        return np.asarray(np.multiply.reduce(block[:, :, 0].T.copy(), axis=0))[:, None]
    return np.asarray(np.multiply.reduce(block, axis=1))


def _with_rest(products: Array, rest: Array) -> Array:
    """``products`` whose first ones are multiplied with what was left over."""
    n = rest.shape[1]
    if n:
        np.multiply(products[:, :n], rest, out=products[:, :n])
    return products
