"""Gradients of padding with x's own values, and of its transpose."""

from __future__ import annotations

from typing import Any

from minipaddle.ops.op import formula


@formula
def pad_edges_grad(F: Any, out_grad: Any, pads: tuple[int, ...], mode: str) -> tuple[Any, ...]:
    return (F.fold_edges(out_grad, pads, mode),)


@formula
def fold_edges_grad(F: Any, out_grad: Any, pads: tuple[int, ...], mode: str) -> tuple[Any, ...]:
    return (F.pad_edges(out_grad, pads, mode),)
