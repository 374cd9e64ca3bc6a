"""Lifetimes: after how many further puts a put's record is overwritten or deleted, as a distribution.

For a stationary stream the curve of survivors and the distribution of lifetimes are one thing (the working set theory:
P. Denning, S. Schwartz, Properties of the working-set model, CACM 15(3), 1972). If a share w of the puts lives for an
exponential time of mean T, a window of n puts keeps w n phi(n / T) of them, phi(x) = (1 - exp(-x)) / x. A mixture over
a fixed grid of T is linear in its shares, and so are sums over regimes, each with puts and keys of its own: all windows
of a family are fitted at once by non-negative least squares. A log says little between the lengths of its windows.
There the fit stays near the one lifetime that each regime's flushes show by themselves, as far as windows allow; or,
for another end of what the log allows, the distribution is kept smooth.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from lsmlens.tuners.estimation.intervals import Interval
from lsmlens.tuners.estimation.windows import Layer, Window, WindowKind
from numpy.typing import NDArray
from scipy.optimize import nnls

Floats: TypeAlias = NDArray[np.float64]

# Mean lifetimes, in puts of the regime: a quarter of a decade apart up to so many of the longest window, and for ever.
ATOMS_PER_DECADE = 4
LONGEST_WINDOWS = 10.0
# What counts as fitted, as a share of a window's survivors; a mean decade away from the one lifetime costs PULL of it.
TOLERANCE = 0.01
PULL = 0.2
# Windows that keep fewer records say too little.
LEAST_KEPT = 50
# Shares below this are left out.
LEAST_SHARE = 1e-4
_SUM_WEIGHT = 1e3


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """Shares of the puts (shape: regimes, atoms) by mean lifetime in puts (shape: atoms; the last is infinite).

    `misfit` is the root mean square of the windows' relative errors.
    """

    means: Floats
    shares: Floats
    misfit: float


def atoms(longest: float, offset: float = 0.0) -> Floats:
    """The grid of mean lifetimes up to `longest` puts, moved by `offset` of its step; the last is infinite."""
    count = max(3, int(np.log10(max(longest, 1.0)) * ATOMS_PER_DECADE) + 1)
    return np.append(10 ** ((np.arange(count) + offset) / ATOMS_PER_DECADE), np.inf)


@dataclass(frozen=True, slots=True)
class Samples:
    """What windows tell: each is a sum over nested layers (all shapes: layers, but `kept` and `weights`: windows).

    `window` is the place of a layer's window, `share` of the keys it counts for, `puts` (shape: layers, regimes) its
    puts of each regime, `stretch` how large populations are in it. `weights` make each kind of window count alike.
    """

    window: NDArray[np.int64]
    share: Floats
    puts: Floats
    stretch: Floats
    kept: Floats
    weights: Floats

    @property
    def longest(self) -> float:
        """Most puts of one regime in a layer."""
        return float(self.puts.max(initial=1.0))


def samples_of(
    windows: Sequence[Window], intervals: Sequence[Interval], regimes: NDArray[np.int64], stretches: Floats
) -> Samples:
    """The samples of all windows that keep enough to tell; `regimes` and `stretches` are of every interval."""
    count = int(regimes.max()) + 1 if len(regimes) else 1
    puts = np.array([one.puts for one in intervals], np.float64)
    sums = np.zeros((len(intervals) + 1, count))
    for regime in range(count):
        sums[1:, regime] = np.cumsum(np.where(regimes == regime, puts, 0.0))
    usable = [one for one in windows if one.kept_puts >= LEAST_KEPT]
    rows = [
        (place, layer.share, sums[layer.last + 1] - sums[layer.first], _stretch(one, layer, puts, stretches))
        for place, one in enumerate(usable)
        for layer in one.layers
    ]
    layered = np.array([row[2] for row in rows]) if rows else np.zeros((0, count))
    kept = np.array([one.kept_puts for one in usable], np.float64)
    return Samples(
        np.array([row[0] for row in rows], np.int64),
        np.array([row[1] for row in rows], np.float64),
        layered,
        np.array([row[3] for row in rows], np.float64),
        kept,
        _weights(usable, sums),
    )


def fit_lifetimes(
    samples: Samples,
    single: Floats,
    *,
    loaded: int | None = None,
    smoothing: float = 0.0,
    offset: float = 0.0,
    noise: Floats | None = None,
) -> Lifetimes:
    """The lifetimes of puts in each regime, from what windows kept.

    `single` is the one lifetime that each regime's flushes show by themselves. `loaded` is the regime, if any, that
    writes the keys the others overwrite: then what those overwrite is in a window already where that regime is.
    `smoothing` keeps lifetimes smooth instead of near one; `offset` moves their grid by a share of its step, `noise`
    (relative, one for each window) what was kept: for draws of what else would fit.
    """
    count = samples.puts.shape[1]
    means = atoms(LONGEST_WINDOWS * samples.longest, offset)
    if not len(samples.kept):
        return Lifetimes(means, np.eye(len(means))[[-1] * count], 0.0)
    kept = samples.kept if noise is None else samples.kept * np.exp(noise[: len(samples.kept)])
    columns = samples.puts[:, :, None] * _kept(samples.puts / samples.stretch[:, None], means)
    if loaded is not None:
        whole = samples.puts[:, loaded].max()
        there = 1 - samples.puts[:, loaded] / max(float(whole), 1.0)
        others = np.arange(count) != loaded
        columns[:, others, :-1] *= there[:, None, None]
    rows = np.zeros((len(kept), count * len(means)))
    np.add.at(rows, samples.window, samples.share[:, None] * columns.reshape(len(columns), -1))
    total = np.kron(np.eye(count), np.ones(len(means))) * _SUM_WEIGHT
    if smoothing:
        prior = np.kron(np.eye(count), _second_differences(len(means))) * smoothing / TOLERANCE
    else:
        prior = _distances(means, single) * PULL
    scale = samples.weights / (kept * TOLERANCE)
    system = np.vstack([rows * scale[:, None], total, prior])
    target = np.concatenate([kept * scale, np.full(count, _SUM_WEIGHT), np.zeros(len(prior))])
    solution, _ = nnls(system, target, maxiter=50 * system.shape[1])
    shares = solution.reshape(count, len(means))
    shares[shares < LEAST_SHARE] = 0.0
    shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1e-12)
    fitted = rows @ shares.ravel()
    misfit = float(np.sqrt(np.average((fitted / kept - 1) ** 2, weights=samples.weights**2)))
    return Lifetimes(means, shares, misfit)


def kept_share(puts_per_lifetime: Floats) -> Floats:
    """Phi: the share of a window's puts that survive it, by the window's length in mean lifetimes."""
    x = np.asarray(puts_per_lifetime, np.float64)
    small = x < 1e-6
    return np.where(small, 1 - x / 2, -np.expm1(-x) / np.where(small, 1.0, x))


def mean_lifetime(puts: float, kept: float) -> float:
    """The one mean lifetime, in puts, at which a window of `puts` keeps `kept`; infinite if it keeps all."""
    if kept >= puts:
        return float("inf")
    low, high = 1e-9, 1e9
    for _ in range(80):
        middle = (low * high) ** 0.5
        if float(kept_share(np.array(middle))) * puts > kept:
            low = middle
        else:
            high = middle
    return puts / low


def _kept(puts: Floats, means: Floats) -> Floats:
    return kept_share(puts[:, :, None] / means[None, None, :])


def _weights(windows: Sequence[Window], sums: Floats) -> Floats:
    """Each kind of window counts alike in each regime, however many there are of it."""
    keys = []
    for window in windows:
        longest = max(window.layers, key=lambda layer: layer.last - layer.first)
        keys.append((window.kind, int((sums[longest.last + 1] - sums[longest.first]).argmax())))
    counts = Counter(keys)
    return np.array([counts[key] ** -0.5 for key in keys])


def _stretch(window: Window, layer: Layer, puts: Floats, stretches: Floats) -> float:
    """Of a layer: that of its intervals, on average; at a bottom their largest, for smaller ones lie within."""
    own = stretches[layer.first : layer.last + 1]
    weights = np.maximum(puts[layer.first : layer.last + 1], 1.0)
    return float(own.max() if window.kind == WindowKind.BOTTOM else np.average(own, weights=weights))


def single_lifetimes(intervals: Sequence[Interval], regimes: NDArray[np.int64], stretches: Floats) -> Floats:
    """The one mean lifetime at which each regime's flushes together keep what they did (shape: regimes)."""
    count = int(regimes.max()) + 1 if len(regimes) else 1
    found = np.ones(count)
    for regime in range(count):
        own = [
            (one.puts / stretch, one.kept_puts / stretch)
            for one, of, stretch in zip(intervals, regimes, stretches, strict=True)
            if of == regime and one.puts
        ]
        if own:
            puts, kept = np.mean(own, axis=0)
            found[regime] = mean_lifetime(float(puts), float(kept))
    return found


def _distances(means: Floats, single: Floats) -> Floats:
    """A row for each regime: decades between its atoms and its single lifetime (shape: regimes, regimes * atoms)."""
    longest = np.append(means[:-1], means[-2] * 10)
    apart = np.abs(np.log10(longest)[None, :] - np.log10(np.clip(single, 1.0, longest[-1]))[:, None])
    rows = np.zeros((len(single), len(single) * len(means)))
    for regime, row in enumerate(apart):
        rows[regime, regime * len(means) : (regime + 1) * len(means)] = row
    return rows


def _second_differences(count: int) -> Floats:
    """Bends between neighbouring finite lifetimes; puts that live for ever are a thing of their own."""
    bends = np.zeros((count - 3, count))
    for row in range(count - 3):
        bends[row, row : row + 3] = (1.0, -2.0, 1.0)
    return bends
