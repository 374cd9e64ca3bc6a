"""Live victims: a population of keys that is overwritten, and whose live records are deleted.

Per put of the population, let L records live, D deletes come, and live records grow by g; let re-puts and deletes that
fall on any key alike touch a key with rate h0. A live record dies with rate 1 / L, a tombstone is replaced with rate
h0: both are read off what windows keep of puts and of tombstones. Puts on dead keys balance what dies and what grows,

    (1 - L / N) = c + r L / N + g        D = c + r        h0 = (1 + r) / N

with c deletes of live records, r of any key, and N keys, live or not. So

    N = L + (D + g) / h0        r = (D + g) / (1 - L / N) - 1        c = D - r

which holds whether the live victims are single records or whole objects of B records cleared at once. B shows in how
unevenly deletes fall on flushes: clears of exponentially distributed sizes make the variance of a flush's deletes 2 B
times their mean, single deletes 1 time.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from lsmlens.tuners.estimation.history import FamilyHistory
from lsmlens.tuners.estimation.intervals import Interval
from lsmlens.tuners.estimation.lifetimes import Floats, kept_share
from lsmlens.tuners.estimation.parts import Counts, Part, clustered, grown
from lsmlens.tuners.estimation.windows import Window, WindowKind

LENGTHS = 400
LONGEST_WINDOWS = 100.0
# Windows that keep fewer records say too little.
LEAST_KEPT = 100
# Flushes are exact and their records are the largest part of what is written; a bottom lags behind what was put.
FLUSHES_COUNT = 100.0
# Clears below this many records count as single deletes; they are then replayed in clears of this size.
LEAST_CLEAR = 32.0
# Keys beyond this many of the live ones are as good as never put again.
MOST_KEYS_PER_LIVE = 40.0
MOST_KEYS = 1 << 26
LEAST_OPERATIONS = 500
LEAST_FLUSHES = 9
# The mean of squares of normal deviates, over that of all but the largest tenth.
TRIMMED = 1.64
# Compactions that tell how tombstones lie: so many, of so many tables, with a fair share of both kinds of records.
LEAST_JOBS = 8
LEAST_TABLES = 4
TOLD_SHARE = 0.1
# Sizes of objects and of stretches vary; found by replaying known numbers of objects.
OBJECTS_PER_UNEVENNESS = 1.1
# Put batches within an object: they cost time to make and change nothing that a log shows.
BATCH = 32


def live_victims(
    intervals: Sequence[Interval],
    puts: Counts,
    deletes: Counts,
    live: float,
    *,
    was_empty: bool,
    objects: float | None = None,
) -> Part:
    """The part for `puts` and `deletes` of each interval on a population of which `live` records live.

    `was_empty` says that none did when the log began; `objects` are how many are cleared as one, by default as many
    as the scatter of deletes over flushes tells.
    """
    rate = _touch_rate(intervals, puts, deletes)
    every = max(1.0, float(puts.sum()))
    deletes_per_put = float(deletes.sum()) / every
    growth = min(live / every, max(0.0, 1.0 - deletes_per_put)) if was_empty else 0.0
    dead = (deletes_per_put + growth) / rate if rate > 0 else float("inf")
    size = live / objects if objects is not None else clear_size(puts, deletes, deletes_per_put)
    if live + dead > MOST_KEYS_PER_LIVE * live and size < LEAST_CLEAR:
        return grown(puts, deletes, is_random=True)
    keys = min(live + dead, MOST_KEYS_PER_LIVE * live, float(MOST_KEYS))
    of_any = min(deletes_per_put, max(0.0, (deletes_per_put + growth) / max(1 - live / keys, 1e-3) - 1))
    if objects is None and deletes_per_put > of_any:
        size = clear_size(puts, deletes, deletes_per_put - of_any)
    count = max(1, round(live / max(size, LEAST_CLEAR)))
    kept = puts * kept_share(puts / max(live, 1.0)), deletes * kept_share(np.asarray(puts * rate, np.float64))
    part = clustered((count, max(1, round(keys / count))), of_any, puts, deletes, kept, live)
    return replace(part.with_(batch=BATCH), is_clustered=size >= LEAST_CLEAR)


def objects_by_tables(family: FamilyHistory) -> float | None:
    """How many objects there are, by how unevenly tombstones lie in the tables of one compaction.

    A table holds a stretch of the keys. If s is the share of tombstones in it and q that of the whole output, objects
    that were cleared and objects that were not, m of them in a table, make the variance of s about q (1 - q) / m.
    None where too few compactions tell.
    """
    unevenness, expected, tables = 0.0, 0.0, 0.0
    jobs = [one for one in family.compactions if 0 in one.inputs and len(one.outputs) >= LEAST_TABLES]
    told = 0
    for job in jobs:
        entries = np.array([table.entries for table in job.outputs], np.float64)
        shares = np.array([table.tombstones or 0 for table in job.outputs]) / np.maximum(entries, 1)
        mean = float(np.average(shares, weights=entries))
        if not TOLD_SHARE <= mean <= 1 - TOLD_SHARE:
            continue
        told += 1
        unevenness += float(np.average((shares - mean) ** 2, weights=entries))
        expected += mean * (1 - mean)
        tables += len(job.outputs)
    if told < LEAST_JOBS or not unevenness:
        return None
    return OBJECTS_PER_UNEVENNESS * expected / unevenness * tables / told


def clear_size(puts: Counts, deletes: Counts, of_live: float) -> float:
    """Records of one clear, by the scatter of deletes per put between neighbouring flushes; 1 for single deletes."""
    usable = (puts + deletes > LEAST_OPERATIONS) & (puts > 0)
    share = deletes[usable] / np.maximum(puts[usable], 1)
    puts_used = puts[usable].astype(np.float64)
    if len(share) < LEAST_FLUSHES or of_live <= 0:
        return 1.0
    spread = np.diff(share) ** 2 / (1 / puts_used[1:] + 1 / puts_used[:-1])
    # changes of load part their neighbours too, but seldom: the largest tenth is left out, and made good
    kept = np.sort(spread)[: max(1, round(0.9 * len(spread)))]
    return max(1.0, float(kept.mean()) * TRIMMED / (2 * of_live))


def _touch_rate(intervals: Sequence[Interval], puts: Counts, deletes: Counts) -> float:
    """h0: the rate per put at which a tombstone of the population is replaced, from what flushes kept of them."""
    flushed = np.array([one.flush is not None for one in intervals])
    kept = float(sum(one.kept_deletes for one in intervals if one.flush is not None))
    gone: Floats = deletes[flushed].astype(np.float64)
    windows: Floats = puts[flushed].astype(np.float64)
    if not gone.sum() or kept >= gone.sum():
        return 0.0
    low, high = 1e-12, 1.0
    for _ in range(80):
        middle = (low * high) ** 0.5
        if float((gone * kept_share(windows * middle)).sum()) > kept:
            low = middle
        else:
            high = middle
    return low


def live_records(intervals: Sequence[Interval], windows: Sequence[Window], puts: Counts) -> float:
    """The one mean lifetime, in puts, that explains what windows kept; so many records live once load is steady.

    Each kind of window counts alike, and by the root of its records.
    """
    rows = [one for one in windows if one.kept_puts >= LEAST_KEPT]
    if not rows:
        return float(max(1, sum(one.kept_puts - one.kept_deletes for one in intervals)))
    sums = np.append(0, np.cumsum(puts)).astype(np.float64)
    layers = [
        (place, layer.share, sums[layer.last + 1] - sums[layer.first])
        for place, one in enumerate(rows)
        for layer in one.layers
    ]
    window = np.array([layer[0] for layer in layers])
    shares, sizes = np.array([layer[1:] for layer in layers]).T
    kept = np.array([one.kept_puts for one in rows], np.float64)
    weights = np.zeros(len(rows))
    for kind in WindowKind:
        own = np.array([one.kind == kind for one in rows])
        if own.any():
            weights[own] = np.sqrt(kept[own]) / np.sqrt(kept[own]).sum() * np.sqrt(own.sum())
    weights *= [FLUSHES_COUNT if one.kind == WindowKind.FLUSH else 1.0 for one in rows]
    longest = LONGEST_WINDOWS * float(sizes.max())
    lengths = np.geomspace(1.0, longest, LENGTHS)
    errors = []
    for length in lengths:
        expected = np.bincount(window, shares * sizes * kept_share(sizes / length), len(rows))
        errors.append(float((weights * np.log(np.maximum(expected, 1e-9) / kept) ** 2).sum()))
    return float(lengths[int(np.argmin(errors))])
