"""Quantiles of the normal distribution, without scipy: importing that takes longer than many a workload's generation.

Wichura, "Algorithm AS 241: The Percentage Points of the Normal Distribution", Applied Statistics 37 (3), 1988, 477-484:
ratios of two polynomials of the seventh degree, good to about one part in 10^16.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class _Ratio(NamedTuple):
    """Coefficients of a numerator and of a denominator, the highest power first."""

    above: tuple[float, ...]
    below: tuple[float, ...]

    def at(self, r: Floats) -> Floats:
        return _polynomial(self.above, r) / _polynomial(self.below, r)


CENTRE = 0.425  # either side of the median
CENTRE_SQUARED = 0.180625
NEAR = 5.0  # the square root of -log of a tail
_CENTRE = _Ratio(
    (
        *(2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4, 4.5921953931549871457e4),
        *(1.3731693765509461125e4, 1.9715909503065514427e3, 1.3314166789178437745e2, 3.3871328727963666080e0),
    ),
    (
        *(5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4, 2.1213794301586595867e4),
        *(5.3941960214247511077e3, 6.8718700749205790830e2, 4.2313330701600911252e1, 1.0),
    ),
)
_NEAR_TAIL = _Ratio(
    (
        *(7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1, 1.27045825245236838258e0),
        *(3.64784832476320460504e0, 5.76949722146069140550e0, 4.63033784615654529590e0, 1.42343711074968357734e0),
    ),
    (
        *(1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2, 1.48103976427480074590e-1),
        *(6.89767334985100004550e-1, 1.67638483018380384940e0, 2.05319162663775882187e0, 1.0),
    ),
)
_FAR_TAIL = _Ratio(
    (
        *(2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3, 2.65321895265761230930e-2),
        *(2.96560571828504891230e-1, 1.78482653991729133580e0, 5.46378491116411436990e0, 6.65790464350110377720e0),
    ),
    (
        *(2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5, 7.86869131145613259100e-4),
        *(1.48753612908506148525e-2, 1.36929880922735805310e-1, 5.99832206555887937690e-1, 1.0),
    ),
)


def normal_quantiles(p: Floats) -> Floats:
    """The standard normal variate below which each share `p` (shape: n, between 0 and 1) lies."""
    q = p - 0.5
    result = _CENTRE.at(CENTRE_SQUARED - q * q)
    result *= q
    outside = np.flatnonzero(np.abs(q) > CENTRE)
    if len(outside):
        result[outside] = _in_tails(p[outside], q[outside])
    return result


def _in_tails(p: Floats, q: Floats) -> Floats:
    r = np.sqrt(-np.log(np.where(q < 0, p, 1 - p)))
    result = _NEAR_TAIL.at(r - 1.6)
    is_far = r > NEAR
    if is_far.any():
        result[is_far] = _FAR_TAIL.at(r[is_far] - NEAR)
    return np.copysign(result, q)


def _polynomial(coefficients: tuple[float, ...], r: Floats) -> Floats:
    result = np.full_like(r, coefficients[0])
    for one in coefficients[1:]:
        result *= r
        result += one
    return result
