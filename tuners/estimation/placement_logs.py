"""Logs of placement groups, as Ceph keeps them in the family P: what a log tells of them.

With every write an entry is put at the end of its group's log, and the group's info again. Once a log is long enough,
each entry that comes lets the oldest be deleted, and leaves a short record (a dup) in its place; once there are enough
of these, they are deleted likewise. So of U puts and D deletes of a flush

    U = 2 e + d        D = d + f

with e entries put, d deleted, f dups deleted. Where logs neither grow nor shrink d = e = U / 3; while they grow, D is
less, and all of entries. Groups of another pool have logs of their own, and are written in other phases. How long logs
are follows from what was put and not deleted; how many groups there are a log does not tell, and it matters little.
"""

from collections.abc import Sequence

import numpy as np
from lsmlens.tuners.estimation.intervals import Interval
from lsmlens.tuners.estimation.lifetimes import Floats
from lsmlens.tuners.estimation.parts import Part, grown, overwritten, queued
from numpy.typing import NDArray

# Placement groups of a pool; keys of other groups lie apart.
GROUPS = 32
TRIM = 100
# Groups trim by many entries at once, so flushes differ: so many on either side count, too.
AROUND = 3
# Where so many of a phase's entries vanish, flushes in which they do tell how many live; so few tell nothing.
VANISHED = 0.03
LEAST_TELLING = 3
LEAST_DELETES = 0.1
LEAST_KEPT_DELETES = 0.99


def placement_logs(intervals: Sequence[Interval], phases: NDArray[np.int64]) -> list[Part]:
    """Entries, dups and infos of each phase's groups; none where deletes are not of such logs."""
    puts = np.array([one.puts for one in intervals], np.float64)
    deletes = np.array([one.deletes for one in intervals], np.float64)
    kept = float(sum(one.kept_deletes for one in intervals))
    if not LEAST_DELETES * puts.sum() <= deletes.sum() <= puts.sum() or kept < LEAST_KEPT_DELETES * deletes.sum():
        return []
    # an entry that is deleted leaves a dup, which is one of the puts
    trimmed = np.minimum(np.floor(deletes * _of_entries(puts, deletes, phases)), puts)
    entries = np.floor((puts - trimmed) / 2)
    kept_puts = np.array([one.kept_puts for one in intervals], np.float64)
    found: list[Part] = []
    for phase in np.unique(phases):
        own = phases == phase
        e, d, f = (np.where(own, one, 0.0) for one in (entries, trimmed, deletes - trimmed))
        infos = np.where(own, puts - entries - trimmed, 0.0).astype(np.int64)
        found += [_queue(d, f, int(phase)), overwritten(GROUPS, infos).in_place(int(phase))]
        # what is kept of entries are the last of each log: more than these live in logs that are no longer written to
        dropped = e + d + np.minimum(infos, GROUPS) - np.where(own, kept_puts, 0.0)
        vanished = np.clip(dropped, 0.0, d)
        telling = vanished > VANISHED * e
        if telling.sum() >= LEAST_TELLING and dropped.sum() > VANISHED * e.sum():
            length = float(np.median((d - vanished)[telling]))
            live = np.cumsum(e - d) - (e - d)
            over = float(np.average(live[telling], weights=e[telling])) - length
            rest = _first(e if over > 0 else d, abs(over))
            if over > 0:
                e = e - rest
                found.append(grown(rest.astype(np.int64)).in_place(int(phase)))
            else:  # of before the log
                d = d - rest
                found.append(_queue(np.zeros(len(rest)), rest, int(phase)))
        found.append(_queue(e, d, int(phase)))
    return [part for part in found if part.operations]


def _first(counts: Floats, wanted: float) -> Floats:
    """The first so many of what the intervals count."""
    before = np.cumsum(counts) - counts
    first: Floats = np.floor(np.clip(wanted - before, 0.0, counts))
    return first


def _of_entries(puts: Floats, deletes: Floats, phases: NDArray[np.int64]) -> Floats:
    """The share of deletes that are of entries: all, up to a third of the puts; over a few flushes of one phase."""
    found = np.ones(len(puts))
    for place in range(len(puts)):
        near = slice(max(0, place - AROUND), place + AROUND + 1)
        alike = phases[near] == phases[place]
        gone = float(deletes[near][alike].sum())
        found[place] = min(1.0, float(puts[near][alike].sum()) / 3 / gone) if gone else 1.0
    return found


def _queue(puts: Floats, deletes: Floats, place: int) -> Part:
    live = np.maximum(0.0, np.cumsum(puts - deletes) - (puts - deletes))
    vanished = np.clip(deletes - live, 0.0, puts)
    part = queued(puts.astype(np.int64), deletes.astype(np.int64), vanished)
    return part.with_(trim=TRIM).in_place(place)
