"""Fresh keys that are updated and then deleted: fewer of the puts are fresh than flushes keep.

Where tombstones are never replaced, every delete took a record, so fresh puts = deletes + records that live. What else
flushes keep are updates of live records. The lifetimes that windows show are divided in that proportion: a part of each
long lifetime is fresh keys and ends by a delete, at random among the live ones; the other part overwrites.
"""

from collections.abc import Sequence

import numpy as np
from lsmlens.tuners.estimation.intervals import Interval
from lsmlens.tuners.estimation.lifetimes import Lifetimes, fit_lifetimes, kept_share, samples_of, single_lifetimes
from lsmlens.tuners.estimation.parts import Part, grown, overwritten, whole
from lsmlens.tuners.estimation.windows import Window, last_bottom
from lsmlens.tuners.estimation.working_sets import sets_of

# Fresh puts by balance below this share of what flushes kept: the rest were updates.
FEWER = 0.9
ROUNDS = 4


def fresh_by_balance(intervals: Sequence[Interval], windows: Sequence[Window]) -> float | None:
    """Fresh puts up to the last bottom, if every delete took a record, as a share of the puts that flushes kept."""
    bottom = last_bottom(windows)
    if bottom is None:
        return None
    mass = np.minimum(bottom.mass(len(intervals)), 1.0)
    deletes = float(mass @ np.array([one.deletes for one in intervals], np.float64))
    kept = float(mass @ np.array([one.kept_puts for one in intervals], np.float64))
    return max(0.0, deletes + bottom.kept_puts - bottom.lost) / kept if kept else None


def updated_parts(
    intervals: Sequence[Interval], windows: Sequence[Window], fresh_share: float, preexisting: float = 0.0
) -> tuple[list[Part], Lifetimes]:
    """Overwrites, and fresh keys deleted at random; `fresh_share` of the puts that flushes keep are fresh.

    As many records as are `preexisting` were there before the log, so their first puts in it were not fresh.
    """
    regimes = np.zeros(len(intervals), np.int64)
    steady = np.ones(len(intervals))
    samples = samples_of(windows, intervals, regimes, steady)
    lifetimes = fit_lifetimes(samples, single_lifetimes(intervals, regimes, steady))
    sets = sets_of(lifetimes, 0, steady)
    puts = np.array([one.puts for one in intervals], np.float64)
    deletes = np.array([one.deletes for one in intervals], np.int64)
    kept = float(sum(one.kept_puts for one in intervals))
    wanted = min(fresh_share * kept, float(puts.sum()))
    finite = (1 - sets.endless) * sets.shares * puts.sum()
    long = sets.keys / np.maximum(sets.shares, 1e-12) > _typical(intervals) / 4
    fresh = np.zeros(len(sets.keys))
    for _ in range(ROUNDS):  # of the records that live, those of overwritten sets were not counted as fresh
        first_puts = max(0.0, float((sets.keys * (1 - fresh)).sum()) - preexisting)
        left = wanted - sets.endless * float(puts.sum()) - first_puts
        fresh = np.where(long, min(1.0, max(0.0, left) / max(float(finite[long].sum()), 1.0)), 0.0)
    columns = [puts * (1 - sets.endless) * share * (1 - part) for share, part in zip(sets.shares, fresh, strict=True)]
    columns.append(puts - np.sum(columns, axis=0) if columns else puts)
    counts = whole(np.column_stack(columns))
    parts = [
        overwritten(float(keys * (1 - part)), counts[:, place])
        for place, (keys, part) in enumerate(zip(sets.keys, fresh, strict=True))
        if counts[:, place].any()
    ]
    growth = grown(counts[:, -1], deletes, is_random=True)
    live = float((sets.keys * fresh).sum())
    if live:
        kept_fresh = counts[:, -1] * kept_share(counts[:, -1] / live)
        growth = Part(growth.component, growth.puts, growth.deletes, kept_fresh, growth.kept_deletes, live)
    return [*parts, growth], lifetimes


def _typical(intervals: Sequence[Interval]) -> float:
    flushes = [one.puts for one in intervals if one.flush is not None and one.puts]
    return float(np.median(flushes)) if flushes else 1.0
