"""Sums, products, extremes and counts; half types are computed in float32 and rounded once.

Chains of float32 additions are short, and their sums are added in float64, always in one order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from minipaddle.ops.kernels.gpu.elementwise import home
from minipaddle.ops.kernels.gpu.fold import Axis, Fold, count_of, kept_shape
from minipaddle.ops.kernels.gpu.launch import Elementwise
from minipaddle.ops.op import Array, kernel

Into = Any

_INT64, _INT32, _BOOL = np.dtype(np.int64), np.dtype(np.int32), np.dtype(np.bool_)
_FILE = "reduction.cu"

_sum = Fold("Sum<{T}, {S}>", _FILE)
_mean = Fold("Mean<{T}, {T}>", _FILE)
_nansum = Fold("NanSum<{T}, {S}>", _FILE)
_nanmean = Fold("NanMean<{T}>", _FILE, 16)
_prod = Fold("Prod<{T}, {S}>", _FILE)
_all = Fold("All<{T}>", _FILE)
_any = Fold("Any<{T}>", _FILE)
_nonzero = Fold("NonZero<{T}>", _FILE)
_to_all = Elementwise("ToExtreme", "extreme.cu")
_shared = Elementwise("ShareOfExtreme", "extreme.cu")


def _added(x: Array, dtype: Any) -> Any:
    """The type that a sum or product has."""
    return (_INT64 if x.dtype.kind in "biu" else x.dtype) if dtype is None else dtype


@kernel("sum", "gpu")
def sum(x: Array, axis: Axis = None, dtype: Any = None, keepdim: bool = False) -> Array:
    return _sum(x, axis, keepdim, _added(x, dtype))


def sum_to(x: Array, axis: Axis, out: Array | None) -> Array:
    """The sum in x's own type, written to ``out`` if that is given."""
    return _sum(x, axis, False, x.dtype, out=out)


@kernel("mean", "gpu")
def mean(x: Array, axis: Axis = None, keepdim: bool = False) -> Array:
    return mean_in(x, axis, keepdim, x.dtype)


def mean_in(x: Array, axis: Axis, keepdim: bool, dtype: Any) -> Array:
    """The mean as an array of ``dtype``."""
    return _mean(x, axis, keepdim, dtype, per_count=True)


@kernel("nansum", "gpu")
def nansum(x: Array, axis: Axis = None, dtype: Any = None, keepdim: bool = False) -> Array:
    return _nansum(x, axis, keepdim, _added(x, dtype))


@kernel("nanmean", "gpu")
def nanmean(x: Array, axis: Axis = None, keepdim: bool = False) -> Array:
    return _nanmean(x, axis, keepdim)


@kernel("prod", "gpu")
def prod(x: Array, axis: Axis = None, keepdim: bool = False, dtype: Any = None) -> Array:
    return _prod(x, axis, keepdim, _added(x, dtype))


@kernel("all", "gpu")
def all(x: Array, axis: Axis = None, keepdim: bool = False) -> Array:
    return _all(x, axis, keepdim, _BOOL)


@kernel("any", "gpu")
def any(x: Array, axis: Axis = None, keepdim: bool = False) -> Array:
    return _any(x, axis, keepdim, _BOOL)


@kernel("count_nonzero", "gpu")
def count_nonzero(x: Array, axis: Axis = None, keepdim: bool = False) -> Array:
    return _nonzero(x, axis, keepdim, _INT64)


def _extreme(name: str) -> None:
    """Registers the kernels of a maximum or minimum, and of their gradients."""
    fold = Fold(f"{name.capitalize()}<{{T}}>", _FILE)
    ties = Fold(f"{name.capitalize()}Ties<{{T}}>", _FILE, 16)

    def register(op: str) -> None:
        def compute(x: Array, axis: Axis = None, keepdim: bool = False) -> Array:
            if not count_of(x.shape, axis):
                raise ValueError(f"no element has no {op}; axis {axis} must not have length 0")
            return fold(x, axis, keepdim)

        def compute_grad(
            x: Array,
            out: Array,
            out_grad: Array,
            axis: Axis,
            keepdim: bool,
            wanted: tuple[bool, ...],
            into: Into,
        ) -> tuple[Array]:
            kept = kept_shape(x.shape, axis)
            operands, run = [x, out.reshape(kept), out_grad.reshape(kept)], _to_all
            if op[0] == "a":
                operands.append(ties(x, axis, True, _INT64))
                run = _shared
            return (run(*operands, out=home(into, 0, x.shape, x.dtype)),)

        kernel(op, "gpu")(compute)
        kernel(op + "_grad", "gpu")(compute_grad)

    register(name)
    register("a" + name)


for _name in ("max", "min"):
    _extreme(_name)


def _position(name: str) -> None:
    """Registers ``argmax`` or ``argmin``: the first of several equal ones, or the first NaN."""
    fold = Fold(f"{name.capitalize()}<{{T}}>", _FILE, 16, ordered=True)

    def compute(
        x: Array, axis: int | None = None, keepdim: bool = False, dtype: Any = "int64"
    ) -> Array:
        if dtype not in (_INT64, _INT32):
            raise ValueError(f"dtype must be int32 or int64; got {dtype}")
        # A 0-d array has, as for NumPy, one axis to go along.
        at = None if axis is None else (normalize_axis_index(axis, max(1, x.ndim)),)
        if at is not None and not x.ndim:
            at = None
        if not count_of(x.shape, at):
            raise ValueError(f"attempt to get {name} of an empty sequence")
        return fold(x, at, keepdim, np.dtype(dtype))

    kernel(name, "gpu")(compute)


for _name in ("argmax", "argmin"):
    _position(_name)
