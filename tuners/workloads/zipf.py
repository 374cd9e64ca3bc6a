"""Ranks of a finite population by Zipf's law, of any skew."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

HEAD = 1 << 10


@dataclass(frozen=True, slots=True)
class Zipf:
    """Ranks 0 to `keys` - 1, the i-th (from 1) with a chance in proportion to i^-skew; skew 0 is uniform.

    The first HEAD ranks are drawn by their exact chances. Beyond, the chance of a rank is the integral of x^-skew over
    the unit around it, which differs from i^-skew by less than one part in a million.
    """

    keys: int
    skew: float

    def ranks(self, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """`count` ranks, independently drawn."""
        if self.skew == 0 or self.keys == 1:
            return rng.integers(0, self.keys, count)
        head = np.cumsum(np.arange(1, min(self.keys, HEAD) + 1, dtype=np.float64) ** -self.skew)
        first = HEAD + 0.5
        tail = self._integral(self.keys + 0.5) - self._integral(first) if self.keys > HEAD else 0.0
        drawn = rng.random(count) * (head[-1] + tail)
        in_head = drawn < head[-1]
        ranks = np.empty(count, np.int64)
        ranks[in_head] = np.searchsorted(head, drawn[in_head], side="right")
        beyond = ~in_head
        if tail:
            ranks[beyond] = np.rint(self._inverse(drawn[beyond] - head[-1] + self._integral(first))) - 1
            np.clip(ranks, 0, self.keys - 1, out=ranks)
        else:
            ranks[beyond] = self.keys - 1  # the sum itself, by rounding
        return ranks

    def chances(self) -> NDArray[np.float64]:
        """The chance of each rank; shape: keys."""
        weights: NDArray[np.float64] = np.arange(1, self.keys + 1, dtype=np.float64) ** -self.skew
        weights /= weights.sum()
        return weights

    def _integral(self, x: float) -> float:
        power = 1 - self.skew
        return float(np.log(x)) if abs(power) < 1e-9 else float(x**power / power)

    def _inverse(self, area: NDArray[np.float64]) -> NDArray[np.float64]:
        power = 1 - self.skew
        if abs(power) < 1e-9:
            inverse: NDArray[np.float64] = np.exp(area)
        else:
            inverse = np.asarray(np.power(area * power, 1 / power))
        return inverse
