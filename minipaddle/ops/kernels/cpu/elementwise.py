"""Arithmetic, element by element.

Large arrays are worked by blocks, on all threads; small ones by one call of NumPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minipaddle.ops.kernels.cpu.block import quiet
from minipaddle.ops.kernels.cpu.copying import copied
from minipaddle.ops.kernels.cpu.ufunc import binary, fused, unary
from minipaddle.ops.op import Array, kernel

binary("add", np.add)
binary("subtract", np.subtract)
binary("multiply", np.multiply)
binary("divide", np.divide)

unary("sign", np.sign)
unary("square", np.square)
unary("tanh", np.tanh)


def _tanh_grad(x_grad: Array, out: Array, out_grad: Array) -> None:
    np.multiply(out, out, out=x_grad)
    np.subtract(1, x_grad, out=x_grad)
    np.multiply(x_grad, out_grad, out=x_grad)


fused("tanh_grad", _tanh_grad)


@kernel("cast", "cpu")
def cast(x: Array, dtype: Any) -> Array:
    cast: Array = quiet(x.astype, dtype)
    return cast


@kernel("assign", "cpu")
def assign(x: Array) -> Array:
    return copied(x)
