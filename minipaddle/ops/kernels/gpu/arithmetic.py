"""Arithmetic of two operands.

Ints are divided without a look at the divisors, for which the host would have to wait: by a zero
among them the result is 0, as NumPy's is beneath its warning. A power with a negative exponent is 0
for all ints but 1 and -1. A zero divisor or a negative exponent that is a number is an error, as on
the CPU.
"""

from __future__ import annotations

from typing import Any

from minipaddle.device.dtype import FLOATS
from minipaddle.ops.kernels.gpu.elementwise import binary, fused_pair, gradients, register
from minipaddle.ops.kernels.gpu.launch import Elementwise, ndarray
from minipaddle.ops.op import Array, kernel

_FILE = "arithmetic.cu"
Gradients = tuple[Array | None, Array | None]

_NAMES = (
    "add", "subtract", "multiply", "divide", "atan2", "maximum", "minimum", "fmax", "fmin", "gcd",
    "lcm",
)  # fmt: skip
for _name in _NAMES:
    binary(_name, _name.capitalize(), _FILE)
for _name in ("atan2", "maximum", "minimum", "fmax", "fmin", "pow"):
    _functor = _name.capitalize() + "Grad"
    fused_pair(_name + "_grad", (_functor + "X", _functor + "Y"), _FILE)

_by_dividend = Elementwise("DivideGradX", _FILE)
_by_divisor = Elementwise("DivideGradY", _FILE)


@kernel("divide_grad", "gpu")
def divide_grad(x: Any, y: Any, out_grad: Array, wanted: tuple[bool, ...], into: Any) -> Gradients:
    # Without x only the first gradient is asked for, which does not depend on it.
    values = [out_grad if x is None else x, y, out_grad]
    return gradients(_by_dividend, _by_divisor, values, wanted, into)


def _divides(name: str, functor: str) -> None:
    """Registers a division with remainder."""
    divide = Elementwise(functor, _FILE)

    def compute(x: Any, y: Any, out: Array | None = None) -> Array:
        if y.__class__ is not ndarray and y == 0 and x.dtype not in FLOATS:
            raise ZeroDivisionError("y must not be 0 where both are ints")
        return divide(x, y, out=out)

    register(name, compute)


_divides("floor_divide", "FloorDivide")
_divides("remainder", "Remainder")

_power = Elementwise("Pow", _FILE)
_POWERS = {2: Elementwise("Squared", _FILE), 3: Elementwise("Cubed", _FILE)}


def _pow(x: Any, y: Any, out: Array | None = None) -> Array:
    if y.__class__ is ndarray:
        return _power(x, y, out=out)
    if y < 0 and x.dtype not in FLOATS:
        raise ValueError("Integers to negative integer powers are not allowed.")
    found = _POWERS.get(y)
    return _power(x, y, out=out) if found is None else found(x, out=out)


register("pow", _pow)
