"""Tensors with something around them, as users call them."""

from __future__ import annotations

import operator
from typing import Any

from minipaddle.imperative.dispatch import bound
from minipaddle.imperative.functions.elementwise import assign
from minipaddle.imperative.functions.linalg import diagonal
from minipaddle.imperative.functions.shape import (
    flatten,
    getitem,
    moveaxis,
    put_slice,
    reshape,
)
from minipaddle.imperative.operand import Ints, int_list
from minipaddle.imperative.tensor import Tensor
from minipaddle.ops.axes import normal_axes

_EDGES = ("reflect", "replicate", "circular")
_FORMATS = {3: ("NCL", "NLC"), 4: ("NCHW", "NHWC"), 5: ("NCDHW", "NDHWC")}


@bound
def pad_edges(x: Tensor, pads: Ints, mode: str, name: str | None = None) -> Tensor:
    """Pads with x's own values; ``pads`` counts before and after each axis in turn."""


@bound
def fold_edges(x: Tensor, pads: Ints, mode: str, name: str | None = None) -> Tensor:
    """Adds what ``pad_edges`` put around to where it came from: the gradient of ``pad_edges``."""


def pad(
    x: Tensor,
    pad: Ints,
    mode: str = "constant",
    value: float = 0.0,
    data_format: str | None = None,
    pad_from_left_axis: bool = True,
    name: str | None = None,
) -> Tensor:
    """Puts a number or copies of x's own values around ``x``.

    Args:
        x: Tensor of any shape; of 3 to 5 axes where only spatial axes are padded.
        pad: Two counts for each spatial axis, before and after it, from the last axis to the first:
            left, right, top, bottom, front, back. One int stands for all of them. In constant mode
            two counts for every axis go from the first axis on, other numbers from the last.
        mode: ``"constant"``, ``"reflect"`` (without the edge), ``"replicate"`` (the edge), or
            ``"circular"``. Only in constant mode a count may be negative: it cuts off.
        value: What constant mode puts in.
        data_format: Where the channels are: NCL, NCHW, NCDHW, or NLC, NHWC, NDHWC. Not said,
            they are first.
        pad_from_left_axis: False counts from the last axis where ``pad`` is for all axes.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's dtype.

    Raises:
        ValueError: ``mode`` or ``data_format`` is unknown, or ``pad`` does not fit x.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([[[1.0, 2.0, 3.0]]])
        >>> paddle.nn.functional.pad(x, [2, 1], mode="reflect").tolist()
        [[[3.0, 2.0, 1.0, 2.0, 3.0, 2.0]]]
    """
    if mode != "constant" and mode not in _EDGES:
        raise ValueError(f"pad: mode must be one of {['constant', *_EDGES]}; got {mode!r}")
    spatial = max(0, x.ndim - 2)
    counts = int_list("pad", pad) or ()
    if len(counts) == 1 and x.ndim in _FORMATS:
        counts *= 2 * spatial
    pairs = list(zip(counts[::2], counts[1::2], strict=False))
    if len(counts) == 2 * spatial and x.ndim in _FORMATS:
        pairs = _spatial_pairs(pairs, x.ndim, data_format)
    elif mode == "constant" and len(counts) % 2 == 0 and len(pairs) <= x.ndim:
        pairs += [(0, 0)] * (x.ndim - len(pairs))
        pairs = pairs if pad_from_left_axis and len(counts) == 2 * x.ndim else pairs[::-1]
    else:
        raise ValueError(
            f"pad: {list(counts)} does not fit x of shape {x.shape}; give two counts for each "
            f"spatial axis of 3 to 5 axes, or in constant mode for each axis"
        )
    if mode == "constant":
        return _pad_constant(x, pairs, value)
    return pad_edges(x, tuple(n for pair in pairs for n in pair), mode)


def zeropad2d(
    x: Tensor, padding: Ints, data_format: str = "NCHW", name: str | None = None
) -> Tensor:
    """Puts zeros around images.

    Args:
        x: Tensor of 4 axes.
        padding: Counts at the left, right, top and bottom, or one int for all.
        data_format: ``"NCHW"`` or ``"NHWC"``.
        name: Unused; for Paddle's signature.

    Returns:
        Tensor of x's dtype.

    Raises:
        ValueError: ``padding`` or ``data_format`` does not fit x.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.nn.functional.zeropad2d(paddle.ones([1, 1, 1, 1]), [1, 0, 0, 0]).tolist()
        [[[[0.0, 1.0]]]]
    """
    return pad(x, padding, data_format=data_format)


def _spatial_pairs(
    pairs: list[tuple[int, int]], rank: int, data_format: str | None
) -> list[tuple[int, int]]:
    """Counts for all axes, from the first on, of a batch in ``data_format``."""
    known = [name for names in _FORMATS.values() for name in names]
    data_format = _FORMATS[rank][0] if data_format is None else data_format
    channels_last = data_format.endswith("C")
    # Paddle's default was that of 4 axes; with other ranks it says no more than channels first.
    if data_format not in known or (channels_last and data_format != _FORMATS[rank][1]):
        raise ValueError(
            f"pad: data_format must be one of {_FORMATS[rank]} for {rank} axes; got {data_format!r}"
        )
    none = (0, 0)
    return [none, *pairs[::-1], none] if channels_last else [none, none, *pairs[::-1]]


def _pad_constant(x: Tensor, pairs: list[tuple[int, int]], value: float) -> Tensor:
    lengths = [before + n + after for n, (before, after) in zip(x.shape, pairs, strict=True)]
    cuts, index = [], []
    for n, (before, after) in zip(x.shape, pairs, strict=True):
        if max(0, -before) + max(0, -after) > n:
            raise ValueError(f"pad: {(before, after)} cuts off more than an axis of {n} elements")
        cuts.append(slice(max(0, -before), n - max(0, -after)))
        first = max(0, before)
        index.append(slice(first, first + cuts[-1].stop - cuts[-1].start))
    inner = getitem(x, tuple(cuts)) if min(map(min, pairs), default=0) < 0 else x
    return put_slice(inner, tuple(lengths), tuple(index), value)


def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Puts vectors on the diagonals of matrices of zeros.

    Args:
        input: Tensor of shape ``[..., n]``.
        offset: By how much the index on ``dim2`` is larger.
        dim1: An axis of the matrices in the result.
        dim2: The other.

    Returns:
        Tensor with one axis more, the matrices of ``n + abs(offset)`` rows and columns.

    Raises:
        ValueError: ``input`` is 0-d, an axis is not there, or the two are one.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.diag_embed(paddle.to_tensor([1, 2])).tolist()
        [[1, 0], [0, 2]]
    """
    if not input.ndim:
        raise ValueError("diag_embed: input must have at least 1 axis; got a 0-d tensor")
    axes = normal_axes((dim1, dim2), input.ndim + 1, "diag_embed: dim1, dim2")
    return moveaxis(_on_diagonal(input, offset, 0), [-2, -1], axes)


def _on_diagonal(x: Tensor, offset: Any, fill_value: float) -> Tensor:
    """Square matrices of ``fill_value`` with ``x`` on a diagonal."""
    shift = operator.index(offset)
    *batch, count = x.shape
    size = count + abs(shift)
    first = shift if shift >= 0 else -shift * size
    every = slice(first, first + count * (size + 1), size + 1)
    flat = put_slice(x, (*batch, size * size), (Ellipsis, every), fill_value)
    return reshape(flat, (*batch, size, size))


def diag(x: Tensor, offset: int = 0, padding_value: float = 0, name: str | None = None) -> Tensor:
    """The matrix with a given diagonal, or the diagonal of a given matrix.

    Args:
        x: Tensor of 1 or 2 axes; a 0-d one counts as a vector of one element.
        offset: Which diagonal; those above the main one are positive.
        padding_value: What stands beside the diagonal of a new matrix.
        name: Unused; for Paddle's signature.

    Returns:
        Of a vector a square matrix; of a matrix a vector.

    Raises:
        ValueError: x has more than 2 axes.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.diag(paddle.to_tensor([1, 2]), padding_value=9).tolist()
        [[1, 9], [9, 2]]
        >>> paddle.diag(paddle.to_tensor([[1, 2], [3, 4]]), offset=1).tolist()
        [2]
    """
    if x.ndim > 2:
        raise ValueError(f"diag: x must have 1 or 2 axes; got shape {x.shape}")
    if x.ndim == 2:
        return assign(diagonal(x, offset))
    return _on_diagonal(flatten(x), offset, padding_value)


def diagflat(x: Tensor, offset: int = 0, name: str | None = None) -> Tensor:
    """The matrix with the values of ``x``, row after row, on its diagonal.

    Args:
        x: Tensor of any shape.
        offset: Which diagonal; those above the main one are positive.
        name: Unused; for Paddle's signature.

    Returns:
        A square matrix.

    Example:
        >>> import minipaddle as paddle
        >>> paddle.diagflat(paddle.to_tensor([[1], [2]])).tolist()
        [[1, 0], [0, 2]]
    """
    return _on_diagonal(flatten(x), offset, 0)


API = (
    *("nn.functional.pad", "nn.functional.zeropad2d"),
    *("diag", "Tensor.diag"),
    *("diagflat", "Tensor.diagflat"),
    *("diag_embed", "nn.functional.diag_embed", "Tensor.diag_embed"),
)
