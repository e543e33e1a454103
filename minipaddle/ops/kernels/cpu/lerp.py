"""lerp and its gradient, each in one pass over memory, block by block.

With d = y - x the result is x + w d where w < 0.5 and y - (1 - w) d elsewhere: exact at both ends,
and lerp(a, a, w) is a. Where d overflows although x and y are finite it is (1 - w) x + w y. The
two-branch form is PyTorch's (ATen/native/Lerp.h); the third is asked of std::lerp by C++20.
Half types are computed in float32 and rounded once.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np

from minipaddle.device.dtype import FLOAT32, DType, compute_dtype
from minipaddle.ops.kernels.cpu.block import Block, Into, cut, flattened, for_each_block
from minipaddle.ops.kernels.cpu.fold import as_middle, sum_part
from minipaddle.ops.op import Array, kernel

R = TypeVar("R")

# Bytes of an array from which on x, y and the result come from memory, beyond the last cache. Then
# a block of all three should fit a core's own cache: [16, 204800] float64, forward and backward,
# takes 5.0 ms with half the usual blocks and 5.5 with whole ones; [16, 102400] float32 takes 0.99
# and 0.94.
_FAR = 12 * 1024 * 1024

# Elements that NumPy should find in a row: it starts anew where an operand repeats, and a product
# of 244 rows with one row of 244 takes twice as long as one of two whole arrays.
_RUN = 2048

# How much larger blocks are for an array of weights, whose passes are twice as many, and with them
# the Python code between: once it is made ready, and else. x [16, 1, 1, 1], y [16, 3, 244, 244],
# weight [3, 1, 244], forward and backward, takes 3.6 ms on two threads so, and 4.9 otherwise.
_READY, _ANY = 4, 2

_BITS = {FLOAT32: np.dtype(np.int32), np.dtype(np.float64): np.dtype(np.int64)}


def _for_each_block(
    work: Callable[[Iterable[Block]], R], out: Array, itemsize: int, larger: int = 1
) -> list[R]:
    """``for_each_block``, by blocks that many times as large as usual if ``larger`` is not 1."""
    if larger > 1:
        return for_each_block(work, out.shape, max(1, itemsize // larger))
    return for_each_block(work, out.shape, itemsize * 2 if out.nbytes > _FAR else itemsize)


def _number_or_array(weight: Any, dtype: DType) -> Any:
    """A weight of one element, whatever its rank, as a Python float; any other as an array."""
    if isinstance(weight, np.ndarray) and weight.size != 1:
        return weight.astype(dtype, copy=False)
    return float(weight) if not isinstance(weight, np.ndarray) else float(weight.item())


def _spread(weight: Array, shape: tuple[int, ...]) -> Array:
    """``weight`` repeated along its inner axes until its rows are long, if that stays small."""
    total = math.prod(shape)
    if total <= _RUN:
        return weight
    padded = [1] * (len(shape) - weight.ndim) + list(weight.shape)
    size, run = weight.size, 1
    for axis in range(len(shape) - 1, -1, -1):
        if run >= _RUN or size * shape[axis] * 8 > total * padded[axis]:
            break
        size = size // padded[axis] * shape[axis]
        padded[axis] = shape[axis]
        run *= shape[axis]
    return np.ascontiguousarray(np.broadcast_to(weight, padded)) if size > weight.size else weight


@kernel("lerp", "cpu")
def lerp(x: Array, y: Array, weight: Any) -> Array:
    shape = x.shape
    weight_shape = getattr(weight, "shape", ())
    if y.shape != shape or (weight_shape != () and weight_shape != shape):
        shape = np.broadcast_shapes(shape, y.shape, weight_shape)
    out = np.empty(shape, x.dtype)
    _lerp_into(out, x, y, weight)
    return out


@kernel("lerp_", "cpu")
def lerp_(x: Array, y: Array, weight: Any) -> Array:
    # An operand that overlaps x is copied: a block written early must not be read again later.
    if y is not x and np.may_share_memory(x, y):
        y = y.copy()
    if isinstance(weight, np.ndarray) and np.may_share_memory(x, weight):
        weight = weight.copy()
    _lerp_into(x, x, y, weight)
    return x


def _lerp_into(out: Array, x: Array, y: Array, weight: Any) -> None:
    dtype = compute_dtype(out.dtype)
    weight, larger = _number_or_array(weight, dtype), 1
    half = dtype != out.dtype
    direct = out is not x and not half
    if isinstance(weight, float):
        out, x, y = flattened([out, x, y])
    else:
        out, x, y, weight = flattened([out, x, y, weight])
        larger = _ANY
        if weight.size * 4 <= out.size:
            weight, larger = _Pivots(_spread(weight, out.shape)), _READY

    def work(share: Iterable[Block]) -> None:
        # An overflow of y - x raises, which costs no pass of its own; that block alone is redone.
        scratch: Array | None = None
        with np.errstate(over="raise", invalid="ignore", under="ignore"):
            for block in share:
                target = cut(out, block, out.ndim)
                result = target if direct else np.empty(target.shape, dtype)
                start, end = cut(x, block, out.ndim), cut(y, block, out.ndim)
                if half:
                    start, end = start.astype(dtype), end.astype(dtype)
                w = _weight_part(weight, block, out.ndim)
                if not isinstance(w, float) and (scratch is None or scratch.shape != result.shape):
                    scratch = np.empty(result.shape, dtype)
                try:
                    _lerp_block(result, start, end, w, scratch)
                except FloatingPointError:
                    _lerp_far_block(result, start, end, w, scratch)
                if not direct:
                    _round_into(target, result)

    _for_each_block(work, out, dtype.itemsize, larger)


def _weight_part(weight: Any, block: Block, ndim: int) -> Any:
    if isinstance(weight, float):
        return weight
    if isinstance(weight, _Pivots):
        return weight.part(block, ndim)
    return _Pivots(cut(weight, block, ndim))


class _Pivots:
    """A weight array made ready: per element the end to start from, and the factor on y - x.

    No branch and no ``np.where`` is taken per element: on weights without a pattern those cost
    more than all the arithmetic.

    Attributes:
        weight: The weights.
        factor: w where w < 0.5, to be added to x; w - 1 elsewhere, to be added to y.
        from_y: Bits all set where the start is y, clear where it is x.
    """

    __slots__ = ("factor", "from_y", "weight")

    def __init__(self, weight: Array, factor: Array | None = None, from_y: Any = None) -> None:
        self.weight = weight
        self.factor: Any = factor
        self.from_y = from_y
        if factor is None:
            far = weight >= 0.5
            self.factor = np.subtract(weight, far, dtype=weight.dtype)
            self.from_y = np.negative(far.view(np.int8)).astype(_BITS[weight.dtype])

    def part(self, block: Block, ndim: int) -> _Pivots:
        """The part that meets a block."""
        return _Pivots(*(cut(a, block, ndim) for a in (self.weight, self.factor, self.from_y)))

    def starts(self, x: Array, y: Array, scratch: Array) -> Array:
        """Of x and y, element by element, the one to start from; written to ``scratch``."""
        bits = self.from_y.dtype
        x, y, chosen = x.view(bits), y.view(bits), scratch.view(bits)
        if max(x.size, self.from_y.size) * 4 <= y.size:  # the masked x stays small
            np.bitwise_and(y, self.from_y, out=chosen)
            np.bitwise_or(chosen, np.bitwise_and(x, np.invert(self.from_y)), out=chosen)
        else:
            np.bitwise_xor(x, y, out=chosen)
            np.bitwise_and(chosen, self.from_y, out=chosen)
            np.bitwise_xor(chosen, x, out=chosen)
        return scratch


def _lerp_block(out: Array, x: Array, y: Array, w: Any, scratch: Array | None) -> None:
    np.subtract(y, x, out=out)
    if isinstance(w, _Pivots):
        assert scratch is not None
        np.multiply(out, w.factor, out=out)
        np.add(out, w.starts(x, y, scratch), out=out)
    elif w < 0.5:
        np.multiply(out, w, out=out)
        np.add(out, x, out=out)
    else:
        np.multiply(out, 1 - w, out=out)
        np.subtract(y, out, out=out)


def _lerp_far_block(out: Array, x: Array, y: Array, w: Any, scratch: Array | None) -> None:
    """The same where some y - x is too large for the type though x and y are not."""
    with np.errstate(over="ignore"):
        _lerp_block(out, x, y, w, scratch)
        far = np.isinf(y - x) & np.isfinite(x) & np.isfinite(y)
        weight = w.weight if isinstance(w, _Pivots) else w
        np.copyto(out, (1 - weight) * x + weight * y, where=far)


def _round_into(target: Array, result: Array) -> None:
    with np.errstate(over="ignore"):
        np.copyto(target, result, casting="same_kind")


class _BlockSum:
    """The gradient of one operand: filled block by block, summed over the axes it broadcast on.

    Attributes:
        even: Axes over which the gradient of the result can be summed before it is multiplied with
            the weight: neither the operand nor the weight varies along them.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        weight_shape: tuple[int, ...],
        like: Array,
        into: Array | None,
    ) -> None:
        self.shape = shape
        self.ndim = like.ndim
        self.into = into
        self.dtype = like.dtype
        compute = compute_dtype(like.dtype)
        padded = (1,) * (like.ndim - len(shape)) + shape
        self.axes = tuple(i for i in range(like.ndim) if padded[i] == 1 != like.shape[i])
        weight_shape = (1,) * (like.ndim - len(weight_shape)) + weight_shape
        self.even = tuple(i for i in self.axes if weight_shape[i] == 1)
        if self.axes:
            self.total = np.zeros(padded, compute)
        else:
            self.total = np.empty(padded, like.dtype) if into is None else into.reshape(padded)
        self.direct = not self.axes and compute == like.dtype

    def share(self) -> _BlockSum:
        """The same gradient for one thread's blocks: a sum of its own, or the same memory."""
        part = copy.copy(self)
        if self.axes:
            part.total = np.zeros_like(self.total)
        return part

    def absorb(self, part: _BlockSum) -> None:
        """Adds the sum of one share."""
        if self.axes:
            np.add(self.total, part.total, out=self.total)

    def buffer(self, block: Block, like: Array) -> Array:
        """Where to compute this block's gradient."""
        return cut(self.total, block, self.ndim) if self.direct else np.empty_like(like)

    def store(self, block: Block, gradient: Array) -> None:
        """Takes in a gradient computed in ``buffer``."""
        if self.axes:
            part = cut(self.total, block, self.ndim)
            np.add(part, _summed(gradient, self.axes), out=part)
        elif not self.direct:
            np.copyto(cut(self.total, block, self.ndim), gradient, casting="same_kind")

    def result(self) -> Array:
        """The whole gradient, in ``into`` if that was given."""
        if self.into is None:
            return self.total.astype(self.dtype, copy=False).reshape(self.shape)
        if self.axes:
            np.copyto(self.into, self.total.reshape(self.shape), casting="same_kind")
        return self.into


def _summed(array: Array, axes: tuple[int, ...]) -> Array:
    kept = [1 if i in axes else n for i, n in enumerate(array.shape)]
    return sum_part(as_middle(array, axes)).reshape(kept)


@kernel("lerp_grad", "cpu")
def lerp_grad(
    x: Array | None,
    y: Array | None,
    weight: Any,
    x_shape: tuple[int, ...],
    y_shape: tuple[int, ...],
    out_grad: Array,
    wanted: tuple[bool, ...],
    into: Into,
) -> list[Array | None]:
    dtype = compute_dtype(out_grad.dtype)
    half = dtype != out_grad.dtype
    shapes = (x_shape, y_shape, getattr(weight, "shape", ()))
    sums = [
        _BlockSum(shape, shapes[2], out_grad, into[i] if into else None) if wanted[i] else None
        for i, shape in enumerate(shapes)
    ]
    factor = narrow = _number_or_array(weight, dtype)
    if not isinstance(narrow, float):
        factor = _spread(narrow, out_grad.shape)

    def work(share: Iterable[Block]) -> list[_BlockSum | None]:
        parts = [None if s is None else s.share() for s in sums]
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            for block in share:
                g = cut(out_grad, block, out_grad.ndim)
                if half:
                    g = g.astype(dtype)
                w = [a if isinstance(a, float) else cut(a, block, g.ndim) for a in (factor, narrow)]
                _end_gradients(parts, block, g, *w)
                if parts[2] is not None:
                    _weight_gradient(parts[2], block, g, (x, y))
        return parts

    larger = 1 if isinstance(factor, float) else _ANY
    for parts in _for_each_block(work, out_grad, dtype.itemsize, larger):
        for whole, part in zip(sums, parts, strict=True):
            if whole is not None and part is not None:
                whole.absorb(part)
    return [None if s is None else s.result() for s in sums]


def _end_gradients(
    sums: list[_BlockSum | None], block: Block, g: Array, w: Any, narrow: Any
) -> None:
    """``dy = w g`` and ``dx = (1 - w) g`` of one block; ``narrow`` is w where it repeats nothing.

    An array of weights would need a pass more for 1 - w: there dx is g - dy. A number costs none,
    and two products read g from memory once: the second finds it in the cache.
    """
    whole: list[_BlockSum | None] = [None, None]
    for i, total in enumerate(sums[:2]):
        if total is not None and total.even:
            total.store(block, _summed(g, total.even) * (narrow if i else 1 - narrow))
        else:
            whole[i] = total
    sum_x, sum_y = whole
    if sum_x is None and sum_y is None:
        return
    y_grad = np.empty_like(g) if sum_y is None else sum_y.buffer(block, g)
    np.multiply(g, w, out=y_grad)
    if sum_x is not None:
        x_grad = sum_x.buffer(block, g)
        if isinstance(w, float):
            np.multiply(g, 1 - w, out=x_grad)
        else:
            np.subtract(g, y_grad, out=x_grad)
        sum_x.store(block, x_grad)
    if sum_y is not None:
        sum_y.store(block, y_grad)


def _weight_gradient(
    sum_w: _BlockSum, block: Block, g: Array, ends: tuple[Array | None, Array | None]
) -> None:
    x, y = (cut(end, block, g.ndim).astype(g.dtype, copy=False) for end in ends)
    gradient = sum_w.buffer(block, g)
    np.subtract(y, x, out=gradient)
    np.multiply(gradient, g, out=gradient)
    sum_w.store(block, gradient)
