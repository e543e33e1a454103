"""Arithmetic of two operands beyond the four operations."""

from __future__ import annotations

from typing import Any

import numpy as np

from minipaddle.ops.kernels.cpu.block import Into, blockwise
from minipaddle.ops.kernels.cpu.ufunc import NUMBERS, binary, filled, prepared
from minipaddle.ops.op import Array, kernel

Gradients = tuple[Array | None, Array | None]


def _atan2(out: Array, x: Any, y: Any) -> None:
    np.arctan2(x, y, out=out)


@kernel("atan2", "cpu")
def atan2(x: Array, y: Array) -> Array:
    return filled(_atan2, x, y)


# ---- the larger and the smaller ----


def _extremum(name: str, ufunc: np.ufunc, tie_to_x: bool) -> None:
    """Registers ``ufunc`` for op ``name``; where both are equal one has the whole gradient."""

    def part(kept: np.ufunc) -> Any:
        def fill(grad: Array, x: Any, y: Any, out_grad: Array) -> None:
            winner = ufunc(x, y)
            kept(winner, x if tie_to_x else y, out=grad)
            np.multiply(grad, out_grad, out=grad)

        return fill

    of_it, of_the_other = part(np.equal), part(np.not_equal)
    x_part, y_part = (of_it, of_the_other) if tie_to_x else (of_the_other, of_it)

    def gradient(
        x: Any, y: Any, out_grad: Array, wanted: tuple[bool, ...], into: Into
    ) -> Gradients:
        return (
            filled(x_part, x, y, out_grad) if wanted[0] else None,
            filled(y_part, x, y, out_grad) if wanted[1] else None,
        )

    binary(name, ufunc)
    kernel(f"{name}_grad", "cpu")(gradient)


_extremum("maximum", np.maximum, tie_to_x=False)
_extremum("minimum", np.minimum, tie_to_x=False)
_extremum("fmax", np.fmax, tie_to_x=True)
_extremum("fmin", np.fmin, tie_to_x=True)


# ---- division with remainder ----

# Elements of a piece, of which a handful of float64 arrays fit into a core's cache.
_PIECE = 16 * 1024


def _like(value: Any, other: Any) -> Any:
    """A number in the dtype of the array beside it."""
    return other.dtype.type(value) if value.__class__ in NUMBERS else value


def _floor_divide(out: Array, x: Any, y: Any) -> None:
    # The quotient of two float32 that is no whole number is further from one than float64 rounds,
    # up to 2**28, and beyond that the result is rounded to a multiple of 16 in any case.
    if not np.isfinite(x).all():
        np.floor_divide(x, y, out=out)
        return
    wide = np.asarray(np.divide(np.asarray(x, np.float64), y))
    np.copyto(out, np.floor(wide, out=wide), casting="same_kind")


def _remainder(out: Array, x: Any, y: Any) -> None:
    wide_x, wide_y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    whole = np.asarray(np.divide(wide_x, wide_y))
    np.floor(whole, out=whole)
    # Below the limit the product is exact in float64, and so is the difference.
    small = whole.max(initial=0.0) < 2.0**28 and whole.min(initial=0.0) > -(2.0**28)
    if not small or not np.isfinite(wide_y).all():
        np.remainder(x, y, out=out)
        return
    np.multiply(whole, wide_y, out=whole)
    np.copyto(out, np.subtract(wide_x, whole, out=whole), casting="same_kind")
    np.copysign(out, y, out=out)  # a zero has the sign of y too


def _divides(name: str, ufunc: np.ufunc, by_float64: Any) -> None:
    """Registers ``ufunc`` for op ``name``; NumPy has fast loops for every step but not for it."""

    def fill(out: Array, x: Any, y: Any) -> None:
        if out.dtype != np.float32:
            ufunc(x, y, out=out)
            return
        by_float64(out, _like(x, y), _like(y, x))

    by_pieces = prepared(fill, _PIECE)

    def compute(x: Any, y: Any) -> Array:
        like = x if y.__class__ in NUMBERS else y
        if like.dtype.kind in "iu" and not np.all(y):
            raise ZeroDivisionError("y must not be 0 where both are ints")
        return blockwise(by_pieces, (x, y))

    kernel(name, "cpu")(compute)


_divides("floor_divide", np.floor_divide, _floor_divide)
_divides("remainder", np.remainder, _remainder)


# ---- powers ----


def _power(out: Array, x: Any, y: Any) -> None:
    if y.__class__ in NUMBERS and y == 2:
        np.square(x, out=out)
    else:
        np.power(x, y, out=out)


@kernel("pow", "cpu")
def pow(x: Any, y: Any) -> Array:
    return filled(_power, x, y)


def _base_grad(x_grad: Array, x: Array, y: Any, out_grad: Array) -> None:
    """The factor is y x^(y - 1), and 0 where y is 0, also at x = 0."""
    _power(x_grad, x, y - 1 + (y == 0))
    np.multiply(x_grad, y, out=x_grad)
    np.multiply(x_grad, out_grad, out=x_grad)


def _exponent_grad(y_grad: Array, x: Any, y: Array, out_grad: Array) -> None:
    """The factor is x^y log(x), and 0 where x is 0."""
    np.power(x, y, out=y_grad)
    log = np.log(x + (x == 0))
    np.multiply(y_grad, float(log) if x.__class__ in NUMBERS else log, out=y_grad)
    np.multiply(y_grad, out_grad, out=y_grad)


@kernel("pow_grad", "cpu")
def pow_grad(
    x: Any,
    y: Any,
    out_grad: Array,
    wanted: tuple[bool, ...],
    into: Into,
) -> Gradients:
    return (
        filled(_base_grad, x, y, out_grad) if wanted[0] else None,
        filled(_exponent_grad, x, y, out_grad) if wanted[1] else None,
    )


binary("gcd", np.gcd)
binary("lcm", np.lcm)
