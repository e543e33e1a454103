"""The error function and the normal distribution's tail, without branches.

As in W. J. Cody, Rational Chebyshev approximations for the error function (Math. Comp. 23, 1969),
exp(x²) erfc(x) is a quotient of two polynomials and erf(x) / x near 0 is one in x²; here one
quotient serves from 0 to where the result underflows, since a choice between several for each
element costs more than a higher degree. The coefficients were fitted for minimal relative error in 70 digits:
6.5e-9 and 1.2e-18 for the quotients, 1.5e-9 and 8e-19 for the polynomials. All are positive in the
quotients, so that nothing cancels.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from minipaddle.device.dtype import FLOAT32, DType
from minipaddle.ops.kernels.cpu.pointwise import is_above, pointwise
from minipaddle.ops.op import Array, kernel

# Where erf changes from the polynomial to 1 - erfc.
_NEAR = 0.75


class _Fit(NamedTuple):
    """Coefficients for one dtype, the highest power first.

    Attributes:
        limit: The quotient holds up to here; exp(-limit² / 2) is 0 in this dtype.
        above: Numerator of ``exp(a²/2) (1 - Phi(a))``, Phi being the normal distribution.
        below: Its denominator.
        near: ``erf(x) / x`` in x², up to ``_NEAR``.
    """

    limit: float
    above: tuple[float, ...]
    below: tuple[float, ...]
    near: tuple[float, ...]


_SINGLE = _Fit(
    15.0,
    (
        0.00415224816,
        0.04087601357,
        0.1839560715,
        0.4392689996,
        0.500000003,
    ),
    (
        0.01040803107,
        0.1024670846,
        0.4713735191,
        1.205499189,
        1.676422993,
        1.0,
    ),
    (
        -0.0006749431447,
        0.005114333966,
        -0.02683461881,
        0.1128337646,
        -0.3761261875,
        1.128379165,
    ),
)
_DOUBLE = _Fit(
    39.0,
    (
        2.22536903565641558e-7,
        6.93401081509166275e-6,
        0.000106043277211977431,
        0.00103545601865849802,
        0.00709902434451120532,
        0.0355718456198299038,
        0.131769075784931245,
        0.356789303307583848,
        0.678901185977602087,
        0.827479678140264176,
        0.5,
    ),
    (
        5.57817294626339808e-7,
        0.0000173809875657360787,
        0.000266368894285499957,
        0.00261288432127873591,
        0.0180593105775036978,
        0.0917261356659001121,
        0.347564654929433452,
        0.978486495353829091,
        1.99907437329115656,
        2.81488866345526124,
        2.45284391708339388,
        1.0,
    ),
    (
        1.14637418996311287e-8,
        -1.59375954332018225e-7,
        1.64303876545619683e-6,
        -0.000014924176599235203,
        0.000120552887756785021,
        -0.000854832616905276811,
        0.00522397761512171341,
        -0.0268661706444024303,
        0.112837916709524805,
        -0.376126389031837149,
        1.12837916709551257,
    ),
)


def _fit(dtype: DType) -> _Fit:
    return _SINGLE if dtype == FLOAT32 else _DOUBLE


def _polynomial(x: Array, coefficients: tuple[float, ...]) -> Array:
    out = np.multiply(x, coefficients[0], out=np.empty_like(x))
    for c in coefficients[1:-1]:
        np.add(out, c, out=out)
        np.multiply(out, x, out=out)
    return np.add(out, coefficients[-1], out=out)


def normal_tail(x: Array) -> tuple[Array, Array, Array]:
    """What the normal distribution beyond |x| is made of.

    Returns:
        ``a`` = |x|, but no larger than where everything underflows; ``density`` = exp(-a²/2); and
        ``ratio``: the probability of a value beyond a is ``density * ratio``, with a relative error
        of a few units in the last place and, from the rounding of a²/2, a²/2 half units more.
    """
    fit = _fit(x.dtype)
    a = np.absolute(x, out=np.empty_like(x))
    np.minimum(a, fit.limit, out=a)
    ratio = _polynomial(a, fit.above)
    density = _polynomial(a, fit.below)
    np.divide(ratio, density, out=ratio)
    np.multiply(a, a, out=density)
    np.multiply(density, -0.5, out=density)
    np.exp(density, out=density)
    return a, density, ratio


def _erf_into(out: Array, x: Array) -> None:
    a, density, far = normal_tail(np.multiply(x, math.sqrt(2.0), out=out))
    np.multiply(far, density, out=far)
    np.multiply(far, -2.0, out=far)
    np.add(far, 1.0, out=far)
    np.absolute(x, out=a)
    is_far = is_above(a, _NEAR)
    np.minimum(a, _NEAR, out=a)
    near = _polynomial(np.multiply(a, a, out=out), _fit(x.dtype).near)
    np.multiply(near, a, out=near)
    np.multiply(far, is_far, out=far)
    np.subtract(1, is_far, out=is_far)
    np.multiply(near, is_far, out=near)
    np.add(near, far, out=near)
    np.copysign(near, x, out=out)


@kernel("erf", "cpu")
def erf(x: Array) -> Array:
    return pointwise(_erf_into, x)
