"""The squared error in one pass, and the cross entropy of labelled rows, some rows at a time."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from minipaddle.device.dtype import FLOAT32, compute_dtype, is_half
from minipaddle.ops.axes import normal_axis
from minipaddle.ops.kernels.cpu.block import Block, Into, for_each_block, home, narrowed
from minipaddle.ops.op import Array, kernel


@kernel("mse_loss", "cpu")
def mse_loss(input: Array, label: Array, reduction: str = "mean") -> Array:
    if is_half(input.dtype):
        loss = mse_loss(input.astype(FLOAT32), label.astype(FLOAT32), reduction)
        return narrowed(loss, input.dtype)
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"reduction must be 'mean', 'sum' or 'none'; got {reduction!r}")
    difference = np.asarray(np.subtract(input, label))
    if reduction == "none":
        return np.square(difference, out=difference)
    flat = difference.reshape(-1)
    total = flat.dot(flat)  # a NumPy number, with which the rest costs least
    if reduction == "mean":
        total = total / flat.size if flat.size else np.nan  # the mean of nothing
    return np.asarray(total, difference.dtype)


@kernel("mse_loss_grad", "cpu")
def mse_loss_grad(
    input: Array,
    label: Array,
    out_grad: Array,
    reduction: str,
    wanted: tuple[bool, ...],
    into: Into,
) -> tuple[Array | None, Array | None]:
    half = is_half(input.dtype)
    if half:
        input, label = input.astype(FLOAT32), label.astype(FLOAT32)
    gradient = np.asarray(np.subtract(input, label))
    factor = 2.0 / max(1, gradient.size) if reduction == "mean" else 2.0
    if reduction == "none":
        factor = out_grad * gradient.dtype.type(factor)
    else:
        factor *= out_grad.item()
    np.multiply(gradient, factor, gradient)
    if half:
        gradient = np.asarray(gradient.astype(out_grad.dtype))
    return gradient if wanted[0] else None, np.asarray(np.negative(gradient)) if wanted[1] else None


class _Classes:
    """Labels along an axis of classes: checked, and as places in rows.

    Attributes:
        axis: The axis of the classes, counted from the front.
        at: For each row the class, 0 where it is ignored.
        ignored: Where rows are ignored, or None if none is.
    """

    def __init__(self, label: Array, shape: tuple[int, ...], axis: int, ignore_index: int) -> None:
        self.axis = normal_axis(axis, len(shape))
        rest = (*shape[: self.axis], *shape[self.axis + 1 :])
        if label.shape != rest:
            raise ValueError(
                f"label must have the shape of the input without axis {self.axis}, {list(rest)}; "
                f"got {list(label.shape)}"
            )
        classes = shape[self.axis]
        at = label.astype(np.int64, copy=False)
        self.at, self.ignored = at, None
        allowed = not 0 <= ignore_index < classes
        if allowed and np.all(at.view(np.uint64) < classes):  # a negative one is large there
            return
        ignored = at == ignore_index
        wrong = ((at < 0) | (at >= classes)) & ~ignored
        if wrong.any():
            raise ValueError(
                f"label {at[wrong].flat[0]} is no class: of {classes} classes a label must lie in "
                f"[0, {classes - 1}], or be ignore_index, {ignore_index}"
            )
        if ignored.any():
            self.ignored, self.at = ignored, np.where(ignored, 0, at)

    def rows(self, array: Array) -> Array:
        """A view with the classes last, of rank 2 at least."""
        last = self.axis == array.ndim - 1
        rows = array if last else np.moveaxis(array, self.axis, -1)
        return rows[None] if rows.ndim == 1 else rows

    def per_row(self, array: Array) -> Array:
        """A view on one value a row, of the rank of ``rows`` but for the classes."""
        return array[None] if array.ndim == 0 else array

    def without_ignored(self, values: Array) -> Array:
        """``values``, one a row, with 0 for the ignored ones."""
        return (
            values if self.ignored is None else np.where(self.ignored, values.dtype.type(0), values)
        )


def _marked(rows: Array, at: Array) -> tuple[Array, tuple[Array, Array]]:
    """Contiguous rows as a matrix, and the index of one element in each."""
    matrix = rows.reshape(-1, rows.shape[-1])
    return matrix, (np.arange(len(matrix)), at.reshape(-1))


@kernel("hard_cross_entropy", "cpu")
def hard_cross_entropy(
    input: Array,
    label: Array,
    axis: int = -1,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> tuple[Array, Array, Array]:
    """log(sum(exp(row))) less the labelled element, how many count, and that logarithm."""
    classes = _Classes(label, input.shape, axis, ignore_index)
    wide = compute_dtype(input.dtype)
    loss, total = np.empty(label.shape, wide), np.empty(label.shape, np.float64)
    rows, at = classes.rows(input), classes.per_row(classes.at)
    losses, totals = classes.per_row(loss), classes.per_row(total)

    def work(share: Iterable[Block]) -> None:
        for block in share:
            part = rows[block].astype(wide, copy=False)
            top = np.maximum.reduce(part, axis=-1)
            below = np.empty(part.shape, wide)
            np.subtract(part, top[..., None], out=below)
            matrix, marks = _marked(below, at[block])
            target = matrix[marks].reshape(top.shape)
            if label_smoothing:
                even = label_smoothing * np.mean(below, axis=-1)
                target = (1.0 - label_smoothing) * target + even
            np.exp(below, out=below)
            logarithm = np.log(np.add.reduce(below, axis=-1))
            np.subtract(logarithm, target, out=losses[block])
            np.add(logarithm, top, out=totals[block], dtype=np.float64)

    if loss.size:
        for_each_block(work, rows.shape[:-1], wide.itemsize * rows.shape[-1])
    count = label.size if classes.ignored is None else np.count_nonzero(~classes.ignored)
    loss = np.asarray(classes.without_ignored(loss).astype(input.dtype))
    return loss, np.asarray(max(1, count), wide), total


@kernel("hard_cross_entropy_grad", "cpu")
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
    classes = _Classes(label, input.shape, axis, ignore_index)
    wide = compute_dtype(input.dtype)
    gradient = home(into, 0, input.shape, input.dtype)
    rows, at, out = classes.rows(input), classes.per_row(classes.at), classes.rows(gradient)
    factors = classes.per_row(classes.without_ignored(out_grad.astype(wide)))
    totals = classes.per_row(total)

    def work(share: Iterable[Block]) -> None:
        for block in share:
            factor, high = factors[block], totals[block].astype(wide)
            # What float32 cannot hold of the logarithm is taken off the factor.
            low = (totals[block] - high).astype(wide)
            part = np.empty(rows[block].shape, wide)
            np.subtract(rows[block], high[..., None], out=part, dtype=wide)
            np.exp(part, out=part)
            np.multiply(part, (factor * np.exp(-low))[..., None], out=part)
            if label_smoothing:
                even = factor * (label_smoothing / part.shape[-1])
                np.subtract(part, even[..., None], out=part)
            matrix, marks = _marked(part, at[block])
            matrix[marks] -= ((1.0 - label_smoothing) * factor).reshape(-1)
            np.copyto(out[block], part, casting="same_kind")

    if total.size:
        for_each_block(work, rows.shape[:-1], wide.itemsize * rows.shape[-1])
    if classes.ignored is not None:  # also where the row held an infinity
        classes.rows(gradient)[classes.per_row(classes.ignored)] = 0
    return (gradient,)


@kernel("take_class", "cpu")
def take_class(x: Array, label: Array, axis: int = -1, ignore_index: int = -100) -> Array:
    classes = _Classes(label, x.shape, axis, ignore_index)
    rows, at = classes.rows(x), classes.per_row(classes.at)
    if not label.size:
        return np.zeros(label.shape, x.dtype)
    taken = np.take_along_axis(rows, at[..., None], -1).reshape(label.shape)
    return np.asarray(classes.without_ignored(taken))


@kernel("put_class", "cpu")
def put_class(
    x: Array, label: Array, classes: int, axis: int = -1, ignore_index: int = -100
) -> Array:
    at = normal_axis(axis, x.ndim + 1)
    out = np.zeros((*x.shape[:at], classes, *x.shape[at:]), x.dtype)
    found = _Classes(label, out.shape, axis, ignore_index)
    if x.size:
        kept = found.per_row(np.asarray(found.without_ignored(x)))
        places = found.per_row(found.at)
        np.put_along_axis(found.rows(out), places[..., None], kept[..., None], -1)
    return out
