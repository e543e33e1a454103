"""relu and its kin, which bend at one or two points, and their gradients."""

from __future__ import annotations

from minipaddle.ops.kernels.gpu.elementwise import fused, register, unary
from minipaddle.ops.kernels.gpu.launch import Elementwise
from minipaddle.ops.op import Array, kernel

_FILE = "rectifier.cu"

unary("relu", "Relu", _FILE)
unary("hardswish", "Hardswish", _FILE)
_GRADIENTS = {
    "relu": "Relu", "leaky_relu": "LeakyRelu", "elu": "Elu", "hardtanh": "Hardtanh",
    "hardsigmoid": "Hardsigmoid", "hardswish": "Hardswish", "thresholded_relu": "ThresholdedRelu",
    "hardshrink": "NotZero", "softshrink": "NotZero",
}  # fmt: skip
for _name, _functor in _GRADIENTS.items():
    fused(_name + "_grad", _functor + "Grad", _FILE)


def _not_negative(op: str, functor: str, attribute: str, default: float) -> None:
    """Registers a function with an attribute that is not below 0."""
    run = Elementwise(functor, _FILE)

    def compute(x: Array, value: float = default, out: Array | None = None) -> Array:
        if not value >= 0:
            raise ValueError(f"{attribute} must be at least 0; got {value!r}")
        return run(x, value, out=out)

    register(op, compute)


_not_negative("leaky_relu", "LeakyRelu", "negative_slope", 0.01)
_not_negative("elu", "Elu", "alpha", 1.0)
_not_negative("hardshrink", "Hardshrink", "threshold", 0.5)
_not_negative("softshrink", "Softshrink", "threshold", 0.5)

_hardtanh = Elementwise("Hardtanh", _FILE)
_hardsigmoid = Elementwise("Hardsigmoid", _FILE)
_thresholded = Elementwise("ThresholdedRelu", _FILE)


def _clipped(x: Array, low: float = -1.0, high: float = 1.0, out: Array | None = None) -> Array:
    if not low <= high:
        raise ValueError(f"min must not be above max; got min={low!r}, max={high!r}")
    return _hardtanh(x, low, high, out=out)


def _over(x: Array, threshold: float = 1.0, value: float = 0.0, out: Array | None = None) -> Array:
    return _thresholded(x, threshold, value, out=out)


register("hardtanh", _clipped)
register("thresholded_relu", _over)


@kernel("hardsigmoid", "gpu")
def hardsigmoid(x: Array, slope: float = 0.1666667, offset: float = 0.5) -> Array:
    return _hardsigmoid(x, slope, offset)
