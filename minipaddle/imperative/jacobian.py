"""Whole matrices of derivatives: jacobian and hessian, one backward a row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from minipaddle.imperative.autograd import grad
from minipaddle.imperative.functions.joining import stack
from minipaddle.imperative.tensor import Tensor
from minipaddle.ops.op import namespace

Tensors = Tensor | Sequence[Tensor]


def jacobian(ys: Tensors, xs: Tensors, batch_axis: int | None = None) -> Any:
    """The derivative of every element of ``ys`` by every element of ``xs``.

    It costs one backward per element of ``ys`` (per element of one batch entry with
    ``batch_axis``), and can itself be differentiated.

    Args:
        ys: Tensor, or several, computed from ``xs``.
        xs: Tensor, or several, that a gradient flows to.
        batch_axis: None, or 0 where entry i of ``ys`` depends on entry i of ``xs`` alone.

    Returns:
        Tensor of shape ``ys.shape + xs.shape``, or with ``batch_axis=0`` of shape
        ``[batch] + ys.shape[1:] + xs.shape[1:]``. A tuple where ``ys`` or ``xs`` is one; a tuple of
        tuples, first by ``ys``, where both are.

    Raises:
        ValueError: ``batch_axis`` is neither None nor 0, or batch sizes differ.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> paddle.autograd.jacobian(x * x, x).tolist()
        [[2.0, 0.0], [0.0, 4.0]]
    """
    if batch_axis not in (None, 0):
        raise ValueError(f"batch_axis must be None or 0; got {batch_axis!r}")
    inputs = [xs] if isinstance(xs, Tensor) else list(xs)
    outputs = [ys] if isinstance(ys, Tensor) else list(ys)
    rows = [_blocks(y, inputs, batch_axis) for y in outputs]
    found = [row[0] if isinstance(xs, Tensor) else tuple(row) for row in rows]
    return found[0] if isinstance(ys, Tensor) else tuple(found)


def hessian(ys: Tensor, xs: Tensors, batch_axis: int | None = None) -> Any:
    """The second derivatives of a single number by every two elements of ``xs``.

    Args:
        ys: Tensor of one element; with ``batch_axis=0`` of one element per batch entry.
        xs: Tensor, or several, that a gradient flows to.
        batch_axis: None, or 0 where entry i of ``ys`` depends on entry i of ``xs`` alone.

    Returns:
        Tensor of shape ``xs.shape + xs.shape``, or with ``batch_axis=0`` of shape
        ``[batch] + xs.shape[1:] + xs.shape[1:]``; for several ``xs`` a tuple of tuples.

    Raises:
        ValueError: ``ys`` has more than one element (per batch entry), or see ``jacobian``.

    Example:
        >>> import minipaddle as paddle
        >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> paddle.autograd.hessian((x * x * x).sum(), x).tolist()
        [[6.0, 0.0], [0.0, 12.0]]
    """
    entries = 1 if batch_axis is None or not ys.ndim else ys.shape[0]
    if ys.size != entries:
        per = "" if batch_axis is None else " per batch entry"
        raise ValueError(f"ys must have one element{per}; got shape {ys.shape}")
    inputs = [xs] if isinstance(xs, Tensor) else list(xs)
    slopes = _row(ys.sum(), inputs)
    rows = tuple(tuple(_blocks(slope, inputs, batch_axis)) for slope in slopes)
    return rows[0][0] if isinstance(xs, Tensor) else rows


def _blocks(y: Tensor, xs: list[Tensor], batch_axis: int | None) -> list[Tensor]:
    """The derivatives of one tensor by several."""
    lead = [] if batch_axis is None else y.shape[:1]
    for x in [] if batch_axis is None else xs:
        if not lead or x.shape[:1] != lead:
            raise ValueError(f"batch sizes must agree; ys has shape {y.shape}, xs {x.shape}")
    inner = y.shape[len(lead) :]
    flat = y.reshape([*lead, math.prod(inner)])
    parts = [flat[:, i].sum() if lead else flat[i] for i in range(math.prod(inner))]
    rows = [_row(part, xs) for part in parts]
    blocks = []
    for i, x in enumerate(xs):
        shape = [*lead, *inner, *x.shape[len(lead) :]]
        if rows:
            block = stack([row[i] for row in rows], len(lead))
            blocks.append(block.reshape(shape))
        else:
            blocks.append(_zeros(x, shape))
    return blocks


def _row(y: Tensor, xs: list[Tensor]) -> list[Tensor]:
    """The gradients of a number, with zeros where it does not depend on a tensor."""
    if y.edge is None:
        return [_zeros(x, x.shape) for x in xs]
    gradients = grad(y, xs, create_graph=True, allow_unused=True)
    return [_zeros(x, x.shape) if g is None else g for g, x in zip(gradients, xs, strict=True)]


def _zeros(like: Tensor, shape: list[int]) -> Tensor:
    return Tensor(namespace(like.place).full(tuple(shape), 0, like.data.dtype), like.place)
