"""Smooth activations and their gradients."""

from __future__ import annotations

from typing import Any

from minipaddle.ops.kernels.gpu.elementwise import fused, home, unary
from minipaddle.ops.kernels.gpu.launch import Elementwise
from minipaddle.ops.op import Array, kernel

_FILE = "activation.cu"

for _name in ("erf", "sigmoid", "silu"):
    unary(_name, _name.capitalize(), _FILE)
for _name in ("erf", "sigmoid", "silu", "softplus"):
    fused(_name + "_grad", _name.capitalize() + "Grad", _FILE)

_gelu = (Elementwise("Gelu", _FILE), Elementwise("TanhGelu", _FILE))
_gelu_grad = (Elementwise("GeluGrad", _FILE), Elementwise("TanhGeluGrad", _FILE))
_softplus = Elementwise("Softplus", _FILE)


@kernel("gelu", "gpu")
def gelu(x: Array, approximate: bool = False) -> Array:
    if not isinstance(approximate, bool):
        raise ValueError(f"approximate must be False (by erf) or True (tanh); got {approximate!r}")
    return _gelu[approximate](x)


@kernel("gelu_grad", "gpu")
def gelu_grad(
    x: Array, out: Array, out_grad: Array, approximate: bool, wanted: tuple[bool, ...], into: Any
) -> tuple[Array]:
    # To compute it again costs less than to read what the forward pass found.
    return (_gelu_grad[approximate](x, out_grad, out=home(into, 0, x.shape, x.dtype)),)


@kernel("softplus", "gpu")
def softplus(x: Array, beta: float = 1.0, threshold: float = 20.0) -> Array:
    return _softplus(x, beta, threshold)
