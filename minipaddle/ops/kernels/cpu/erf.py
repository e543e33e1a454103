"""The error function and the normal distribution's tail, without branches.

As in W. J. Cody, Rational Chebyshev approximations for the error function (Math. Comp. 23, 1969),
exp(x²) erfc(x) is a quotient of two polynomials and erf(x) / x near 0 is one in x²; here one
quotient serves from 0 to where the result underflows, since a choice between several for each
element costs more than a higher degree. The coefficients were fitted for minimal relative error
with many digits. For the quotients it is 6.4e-8 (1 + a²/2) in float32, where the rounding of a²/2
costs as much, and 1.2e-18 in float64; for the polynomials 1.5e-9 and 8e-19. All coefficients of the
quotients are positive, so that nothing cancels.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from minipaddle.device.dtype import FLOAT32
from minipaddle.ops.kernels.cpu.pointwise import is_above, pointwise
from minipaddle.ops.op import Array, kernel

# Where erf changes from the polynomial to 1 - erfc.
_NEAR = 0.75


class _Fit(NamedTuple):
    """Coefficients for one dtype.

    Attributes:
        limit: The quotient holds up to here; exp(-limit² / 2) is 0 in this dtype.
        quotient: Numerator and denominator of ``exp(a²/2) (1 - Phi(a))``, Phi being the normal
            distribution; lowest power first.
        near: ``erf(x) / x`` in x², up to ``_NEAR``; highest power first.
    """

    limit: float
    quotient: Array
    near: tuple[float, ...]


# fmt: off
_SINGLE = _Fit(
    15.0,
    np.array(
        [
            [0.499999972, 0.3431729792, 0.1087901846, 0.01452301127, 0.0],
            [1.0, 1.484226832, 0.9018601079, 0.2723238721, 0.03641469991],
        ],
        np.float32,
    ),
    (
            -0.0006749431447, 0.005114333966, -0.02683461881, 0.1128337646, -0.3761261875,
            1.128379165,
    ),
)
_DOUBLE = _Fit(
    39.0,
    np.array(
        [
            [
            0.5, 0.827479678140264176, 0.678901185977602087, 0.356789303307583848,
            0.131769075784931245, 0.0355718456198299038, 0.00709902434451120532,
            0.00103545601865849802, 0.000106043277211977431, 6.93401081509166275e-6,
            2.22536903565641558e-7, 0.0,
            ],
            [
            1.0, 2.45284391708339388, 2.81488866345526124, 1.99907437329115656,
            0.978486495353829091, 0.347564654929433452, 0.0917261356659001121,
            0.0180593105775036978, 0.00261288432127873591, 0.000266368894285499957,
            0.0000173809875657360787, 5.57817294626339808e-7,
            ],
        ],
        np.float64,
    ),
    (
            1.14637418996311287e-8, -1.59375954332018225e-7, 1.64303876545619683e-6,
            -0.000014924176599235203, 0.000120552887756785021, -0.000854832616905276811,
            0.00522397761512171341, -0.0268661706444024303, 0.112837916709524805,
            -0.376126389031837149, 1.12837916709551257,
    ),
)
# fmt: on


# The same quotients times a.
_WEIGHTED = {
    fit.quotient.dtype: np.stack([np.roll(fit.quotient[0], 1), fit.quotient[1]])
    for fit in (_SINGLE, _DOUBLE)
}


def _polynomial(x: Array, coefficients: tuple[float, ...]) -> Array:
    out = np.multiply(x, coefficients[0], out=np.empty_like(x))
    for c in coefficients[1:-1]:
        np.add(out, c, out=out)
        np.multiply(out, x, out=out)
    return np.add(out, coefficients[-1], out=out)


def normal_tail(x: Array, weighted: bool = False) -> Array:
    """The probability that a normal variable lies beyond |x|; ``weighted``: times |x|.

    The relative error is a few units in the last place and, from the rounding of x²/2, up to x²/2
    of them more.
    """
    limit, quotient, _ = _SINGLE if x.dtype == FLOAT32 else _DOUBLE
    if weighted:
        quotient = _WEIGHTED[x.dtype]
    count = quotient.shape[1]
    powers = np.empty((count, *x.shape), x.dtype)
    powers[0] = 1
    a = np.absolute(x, out=powers[1, ...])
    if not np.max(a, initial=0) <= limit:  # the same for NaN
        np.minimum(a, limit, out=a)
    for i in range(2, count):
        if i % 2:
            np.multiply(powers[i - 1], a, out=powers[i, ...])
        else:  # of one operand: half the time of a product of two
            np.square(powers[i // 2], out=powers[i, ...])
    # All coefficients at once: a matrix product costs less than the passes of Horner's rule.
    above, below = np.matmul(quotient, powers.reshape(count, -1)).reshape(2, *x.shape)
    tail = np.divide(above, below, out=powers[1, ...])
    density = np.multiply(powers[2], -0.5, out=powers[2, ...])
    return np.multiply(tail, np.exp(density, out=density), out=tail)


def _erf_into(out: Array, x: Array) -> None:
    far = normal_tail(np.multiply(x, math.sqrt(2.0), out=out))
    np.multiply(far, -2.0, out=far)
    np.add(far, 1.0, out=far)
    a = np.absolute(x, out=np.empty_like(x))
    is_far = is_above(a, _NEAR)
    np.minimum(a, _NEAR, out=a)
    fit = _SINGLE if x.dtype == FLOAT32 else _DOUBLE
    near = _polynomial(np.square(a, out=out), fit.near)
    np.multiply(near, a, out=near)
    np.multiply(far, is_far, out=far)
    np.subtract(1, is_far, out=is_far)
    np.multiply(near, is_far, out=near)
    np.add(near, far, out=near)
    np.copysign(near, x, out=out)


@kernel("erf", "cpu")
def erf(x: Array) -> Array:
    return pointwise(_erf_into, x)
