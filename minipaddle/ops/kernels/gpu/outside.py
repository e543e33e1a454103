"""Kernels of ops from outside the tree, made from functors of a .cu file of the user's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from minipaddle.ops.kernels.gpu.elementwise import home
from minipaddle.ops.kernels.gpu.launch import Elementwise
from minipaddle.ops.op import Array, Kernel


def function(functor: str, file: Path) -> Kernel:
    """The kernel of an op: its functor, called with the operands and attributes."""
    return Elementwise(functor, file)


def gradient(functors: list[str], file: Path, at: int) -> Kernel:
    """The kernel of a gradient.

    Args:
        functors: For each input one, called with what is kept, the result's gradient and the
            attributes.
        file: The .cu file.
        at: How many values are kept: the result's gradient comes after them.
    """
    runs = [Elementwise(name, file) for name in functors]

    def differentiate(*args: Any) -> tuple[Array | None, ...]:
        *values, wanted, into = args
        out_grad = values[at]
        # What only a gradient that is not wanted depends on has not been kept.
        values = [out_grad if value is None else value for value in values]
        return tuple(
            run(*values, out=home(into, i, out_grad.shape, out_grad.dtype)) if wanted[i] else None
            for i, run in enumerate(runs)
        )

    return differentiate
