"""The error function and the normal distribution's tail, without branches.

In float32, erf(x) = tanh(x p(x²)): atanh(erf(x)) / x is smooth and even. A p of degree 6 in x²
gives erf a relative error of 1e-7 up to 4, and beyond it grows on, so that tanh is 1. With all
roundings it is 2.7e-7 (2.3 units in the last place), measured at 3 million places.

In float64, as in W. J. Cody, Rational Chebyshev approximations for the error function (Math. Comp.
23, 1969), exp(x²) erfc(x) is a quotient of two polynomials and erf(x) / x near 0 is one in x²; here
one quotient serves from 0 to where the result underflows, since a choice between several for each
element costs more than a higher degree. Its relative error is 1.2e-18, that of the polynomial
8e-19; all its coefficients are positive, so that nothing cancels.

All coefficients were fitted for minimal relative error of the result; the highest power is first.
"""

from __future__ import annotations

import math

import numpy as np

from minipaddle.device.dtype import FLOAT32
from minipaddle.ops.kernels.cpu.ufunc import filled
from minipaddle.ops.op import Array, kernel

# Where erf in float64 changes from the polynomial to 1 - erfc.
_NEAR = 0.75
# The quotient holds up to here; exp(-_LIMIT² / 2) is 0.
_LIMIT = 39.0

# fmt: off
# atanh(erf(x)) / x in x².
_ATANH = (
    1.418511692e-07, -5.668456484e-06, 8.763720535e-05, -0.0006197843195, -0.0001918312159,
    0.102769056, 1.128379274,
)
# The same of erf(x / sqrt(2)).
_NORMAL_ATANH = tuple(c * 0.5 ** (6.5 - i) for i, c in enumerate(_ATANH))
# exp(a²/2) (1 - Phi(a)), Phi being the normal distribution: numerator and denominator in a.
_ABOVE = (
    2.22536903565641558e-7, 6.93401081509166275e-6, 0.000106043277211977431,
    0.00103545601865849802, 0.00709902434451120532, 0.0355718456198299038, 0.131769075784931245,
    0.356789303307583848, 0.678901185977602087, 0.827479678140264176, 0.5,
)
_BELOW = (
    5.57817294626339808e-7, 0.0000173809875657360787, 0.000266368894285499957,
    0.00261288432127873591, 0.0180593105775036978, 0.0917261356659001121, 0.347564654929433452,
    0.978486495353829091, 1.99907437329115656, 2.81488866345526124, 2.45284391708339388, 1.0,
)
# erf(x) / x in x², up to _NEAR.
_SERIES = (
    1.14637418996311287e-8, -1.59375954332018225e-7, 1.64303876545619683e-6,
    -0.000014924176599235203, 0.000120552887756785021, -0.000854832616905276811,
    0.00522397761512171341, -0.0268661706444024303, 0.112837916709524805, -0.376126389031837149,
    1.12837916709551257,
)
# fmt: on


def _polynomial(x: Array, coefficients: tuple[float, ...], out: Array | None = None) -> Array:
    """By Horner's rule, in ``out`` or a new array; ``out`` may not be x."""
    out = np.multiply(x, coefficients[0], out=np.empty_like(x) if out is None else out)
    for c in coefficients[1:-1]:
        np.add(out, c, out=out)
        np.multiply(out, x, out=out)
    return np.add(out, coefficients[-1], out=out)


def erf_single(out: Array, x: Array, normal: bool = False) -> None:
    """erf(x) in float32; ``normal``: erf(x / sqrt(2))."""
    square = np.square(x, out=np.empty_like(x))
    _polynomial(square, _NORMAL_ATANH if normal else _ATANH, out)
    np.multiply(out, x, out=out)
    np.tanh(out, out=out)


def normal_tail(x: Array, weighted: bool = False) -> Array:
    """The probability that a normal variable lies beyond |x|, in float64; ``weighted``: times |x|.

    The relative error is a few units in the last place and, from the rounding of x²/2, up to x²/2
    of them more.
    """
    a = np.absolute(x, out=np.empty_like(x))
    np.minimum(a, _LIMIT, out=a)
    tail = _polynomial(a, _ABOVE)
    np.divide(tail, _polynomial(a, _BELOW), out=tail)
    if weighted:
        np.multiply(tail, a, out=tail)
    np.square(a, out=a)
    np.multiply(a, -0.5, out=a)
    return np.multiply(tail, np.exp(a, out=a), out=tail)


def _erf_into(out: Array, x: Array) -> None:
    if x.dtype == FLOAT32:
        erf_single(out, x)
        return
    far = normal_tail(np.multiply(x, math.sqrt(2.0), out=out))
    np.multiply(far, -2.0, out=far)
    np.add(far, 1.0, out=far)
    a = np.absolute(x, out=np.empty_like(x))
    is_far = np.greater(a, _NEAR, out=np.empty_like(a), casting="unsafe")
    np.minimum(a, _NEAR, out=a)
    near = _polynomial(np.square(a, out=out), _SERIES)
    np.multiply(near, a, out=near)
    np.multiply(far, is_far, out=far)
    np.subtract(1, is_far, out=is_far)
    np.multiply(near, is_far, out=near)
    np.add(near, far, out=near)
    np.copysign(near, x, out=out)


@kernel("erf", "cpu")
def erf(x: Array) -> Array:
    return filled(_erf_into, x)
