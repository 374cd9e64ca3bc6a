"""Fresh keys that are deleted at random, beside a few that are overwritten: what each flush tells of them.

Objects of a gateway, entries of a bucket's index and files of a directory are put once; which of them goes next has
little to do with its age. Where L keys live and D deletes come beside F fresh puts, a flush keeps

    F (1 - exp(-D / L)) / (D / L)

of these, and L grows by F - D. With H keys that all other puts overwrite, what flushes keep tells F and L flush by
flush; H is found by what merges keep.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from lsmlens.tuners.estimation.intervals import Interval
from lsmlens.tuners.estimation.lifetimes import kept_share
from lsmlens.tuners.estimation.parts import Part, grown, overwritten

# Turns after which fresh puts and live keys agree.
TURNS = 40


def random_parts(intervals: Sequence[Interval], hot_keys: float, before: float = 0.0) -> list[Part]:
    """Fresh keys and `hot_keys` others; `before`: records that lived when the log began."""
    puts, deletes = (np.array([getattr(one, name) for one in intervals], np.int64) for name in ("puts", "deletes"))
    kept = np.array([one.kept_puts for one in intervals], np.float64)
    fresh, share = kept, np.ones(len(kept))
    for _ in range(TURNS):
        hot = puts - fresh
        fresh = np.clip((kept - hot * kept_share(hot / hot_keys)) / share, 0.0, puts)
        live = before + np.cumsum(fresh - deletes) - (fresh - deletes) / 2
        share = kept_share(deletes / np.maximum(live, np.maximum(fresh / 2, 1.0)))
    counts = np.rint(fresh).astype(np.int64)
    growth = replace(grown(counts, deletes, is_random=True), kept_puts=counts * share)
    parts = [growth, overwritten(hot_keys, puts - counts)]
    return [part for part in parts if part.operations]
