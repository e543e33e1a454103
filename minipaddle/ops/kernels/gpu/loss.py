"""The squared error, and the cross entropy of labelled rows, in one pass over the scores.

A label that is no class is not refused, because the host would have to wait for it: its loss, its
row of the gradient and what ``take_class`` finds are NaN, and ``put_class`` leaves its row zero.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import cupy
import numpy as np

from minipaddle.device.dtype import compute_dtype
from minipaddle.ops.axes import normal_axis
from minipaddle.ops.kernels.gpu.elementwise import home
from minipaddle.ops.kernels.gpu.fold import PACK_BYTES, TOTALS, Fold, aligned
from minipaddle.ops.kernels.gpu.launch import (
    FOLDER,
    THREADS,
    Elementwise,
    compiled,
    contiguous,
    empty,
)
from minipaddle.ops.kernels.gpu.row_plan import held
from minipaddle.ops.kernels.gpu.source import type_name
from minipaddle.ops.kernels.gpu.spread import Spread
from minipaddle.ops.op import Array, kernel

Into = Any

_FILE = "loss.cu"
_squares = Fold("Squares<{T}>", _FILE, pairs="Difference")
_error = Elementwise("SquaredError", "squared_error.cu")
_error_grad = Elementwise("SquaredErrorGrad", "squared_error.cu")
_used = Fold("Used<{T}>", _FILE)
# By whether labels are smoothed.
_FUNCTORS = {False: "LogSumExp<{T}>", True: "Scores<{T}>"}
_sums = {smoothed: Fold(functor, _FILE, 24) for smoothed, functor in _FUNCTORS.items()}


@kernel("mse_loss", "gpu")
def mse_loss(input: Array, label: Array, reduction: str = "mean") -> Array:
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"reduction must be 'mean', 'sum' or 'none'; got {reduction!r}")
    if reduction == "none":
        return _error(input, label)
    if input.shape != label.shape:
        shape = np.broadcast_shapes(input.shape, label.shape)
        input, label = cupy.broadcast_to(input, shape), cupy.broadcast_to(label, shape)
    if not (input._c_contiguous and label._c_contiguous):
        input, label = contiguous(input), contiguous(label)
    mean = reduction == "mean"
    return _squares(input, number=0.0 if mean else 1.0, other=label, per_count=mean)


@kernel("mse_loss_grad", "gpu")
def mse_loss_grad(
    input: Array,
    label: Array,
    out_grad: Array,
    reduction: str,
    wanted: tuple[bool, ...],
    into: Into,
) -> tuple[Array | None, Array | None]:
    shape, factor = input.shape, 2.0
    if shape != label.shape:
        shape = np.broadcast_shapes(shape, label.shape)
    if reduction == "mean":
        factor /= max(1, math.prod(shape))
    operands = (input, label, out_grad)
    found: list[Array | None] = [None, None]
    for i, number in enumerate((factor, -factor)):
        if wanted[i]:
            found[i] = _error_grad(*operands, number, out=home(into, i, shape, input.dtype))
    return found[0], found[1]


def _middle(label: Array, shape: tuple[int, ...], axis: int) -> tuple[int, int, int]:
    """``shape`` as [outer, n, inner], where n are the classes, if there is a label for each row."""
    at = normal_axis(axis, len(shape))
    rest = (*shape[:at], *shape[at + 1 :])
    if label.shape != rest:
        raise ValueError(
            f"label must have the shape of the input without axis {at}, {list(rest)}; "
            f"got {list(label.shape)}"
        )
    return math.prod(shape[:at]), shape[at], math.prod(shape[at + 1 :])


@functools.cache
def _compiled(name: str, dtype: Any, label: Any, numbers: tuple[int, ...] = ()) -> Any:
    element = type_name(dtype)
    arguments = ", ".join([element, type_name(label), *map(str, numbers)])
    return compiled(FOLDER / _FILE, f"{name.replace('{T}', element)}{arguments}>")


@functools.cache
def _gradient(label: Any) -> Spread:
    return Spread(f"CrossEntropyGrad<{{T}}, {type_name(label)}>", _FILE)


def _blocks(count: int) -> tuple[int]:
    return (-(-count // THREADS),)


def _losses(
    shape: tuple[int, int, int], arrays: tuple[Array, ...], smoothing: float, ignored: int
) -> None:
    """Fills the last two of input, label, losses and logarithms of the rows' sums."""
    x, label = arrays[:2]
    outer, n, inner = shape
    functor, types = _FUNCTORS[smoothing != 0], (x.dtype, label.dtype)
    way = held(n, PACK_BYTES // x.itemsize, aligned(x))
    if inner == 1 and way.packs:
        run = _compiled(f"cross_entropy_rows<{functor}, ", *types, way[:3])
        run((way.grid(outer),), (way.threads,), (outer, n, *arrays, smoothing, ignored))
        return
    sums = _sums[smoothing != 0](x.reshape(shape), (1,), dtype=TOTALS)
    run = _compiled(f"cross_entropy<{functor}, ", *types)
    given = (label.size, n, inner, sums, *arrays, smoothing, ignored)
    run(_blocks(label.size), (THREADS,), given)


@kernel("hard_cross_entropy", "gpu")
def hard_cross_entropy(
    input: Array,
    label: Array,
    axis: int = -1,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> tuple[Array, Array, Array]:
    """log(sum(exp(row))) less the labelled element, how many count, and that logarithm."""
    shape = _middle(label, input.shape, axis)
    loss, total = empty(label.shape, input.dtype), empty(label.shape, "float64")
    label = contiguous(label)
    number = _used(label, dtype=compute_dtype(input.dtype), number=ignore_index)
    if label.size:
        arrays = (contiguous(input), label, loss, total)
        _losses(shape, arrays, float(label_smoothing), ignore_index)
    return loss, number, total


@kernel("hard_cross_entropy_grad", "gpu")
def hard_cross_entropy_grad(
    input: Array,
    label: Array,
    total: Array,
    out_grad: Array,
    axis: int,
    ignore_index: int,
    label_smoothing: float,
    wanted: tuple[bool, ...],
    into: Into,
) -> tuple[Array]:
    """The softmax less the labelled element's 1, times ``out_grad``."""
    shape = _middle(label, input.shape, axis)
    to = home(into, 0, input.shape, input.dtype)
    gradient = empty(input.shape, input.dtype) if to is None else to
    beside = tuple(contiguous(a) for a in (label, total, out_grad))
    numbers = (float(label_smoothing), float(shape[1]))
    rows = (contiguous(input),)
    run = _gradient(label.dtype)
    return (run(shape, rows, gradient, beside, numbers, ignore_index),)


def _move(name: str, shape: tuple[int, int, int], arrays: tuple[Array, ...], ignored: int) -> Array:
    """Runs a kernel with a thread a label; of the arrays the second are labels, the last filled."""
    x, label, out = contiguous(arrays[0]), contiguous(arrays[1]), arrays[2]
    if label.size:
        given = (label.size, *shape[1:], x, label, out, ignored)
        _compiled(f"{name}<", x.dtype, label.dtype)(_blocks(label.size), (THREADS,), given)
    return out


@kernel("take_class", "gpu")
def take_class(x: Array, label: Array, axis: int = -1, ignore_index: int = -100) -> Array:
    shape = _middle(label, x.shape, axis)
    return _move("take_class", shape, (x, label, empty(label.shape, x.dtype)), ignore_index)


@kernel("put_class", "gpu")
def put_class(
    x: Array, label: Array, classes: int, axis: int = -1, ignore_index: int = -100
) -> Array:
    at = normal_axis(axis, x.ndim + 1)
    out = cupy.zeros((*x.shape[:at], classes, *x.shape[at:]), x.dtype)
    return _move("put_class", _middle(label, out.shape, axis), (x, label, out), ignore_index)
