"""Gradients of looking rows up, and of summing them: each is the other."""

from __future__ import annotations

from typing import Any

from minipaddle.ops.op import formula


@formula
def embedding_lookup_grad(
    F: Any,
    x: Any,
    weight_shape: tuple[int, ...],
    out_grad: Any,
    padding_idx: int | None,
    sparse: bool,
    scale_grad_by_freq: bool,
) -> tuple[Any, ...]:
    if scale_grad_by_freq:
        counts = F.cast(F.unique_counts(F.unique_inverse(x)), out_grad.dtype)
        inverse = F.reshape(F.unique_inverse(x), tuple(x.shape))
        lengths = (-1, *[1] * (len(weight_shape) - 1))
        out_grad = F.divide(out_grad, F.embedding_lookup(inverse, F.reshape(counts, lengths)))
    return (F.scatter_rows(x, out_grad, weight_shape[0], padding_idx),)


@formula
def scatter_rows_grad(
    F: Any, index: Any, out_grad: Any, padding_idx: int | None
) -> tuple[Any, ...]:
    return (F.embedding_lookup(index, out_grad, padding_idx),)
