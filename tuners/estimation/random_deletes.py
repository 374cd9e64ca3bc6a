"""Fresh keys that are deleted at random, beside a few that are overwritten: what each flush tells of them.

Objects of a gateway, entries of a bucket's index and files of a directory are put once; which of them goes next has
little to do with its age. Where L keys live at the start of a flush's interval and M = L + F - D at its end, after F
fresh puts and D deletes, the flush keeps

    M - L (L / M) ** (D / (F - D))

of the fresh ones: those put and not deleted meanwhile, as y' = F - D y / (L + (F - D) t) has it. Beside H keys that all
other puts overwrite, what flushes keep tells F one after another, and with it L; H is found by what merges keep.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from lsmlens.tuners.estimation.intervals import Interval
from lsmlens.tuners.estimation.parts import Part, grown, overwritten

HALVINGS = 30
LEAST_LIVE = 1e-6


def random_parts(intervals: Sequence[Interval], hot_keys: int, before: float = 0.0) -> list[Part]:
    """Fresh keys and `hot_keys` others; `before`: records that lived when the log began."""
    puts, deletes = (np.array([getattr(one, name) for one in intervals], np.int64) for name in ("puts", "deletes"))
    fresh, kept = np.empty_like(puts), np.empty(len(puts))
    live = before
    for place, one in enumerate(intervals):
        low, high = 0.0, float(one.puts)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            others = hot_keys * -math.expm1(-(one.puts - middle) / hot_keys)
            low, high = (middle, high) if _kept(live, middle, one.deletes) + others < one.kept_puts else (low, middle)
        fresh[place] = round(high)
        kept[place] = _kept(live, high, one.deletes)
        live = max(0.0, live + high - one.deletes)
    growth = replace(grown(fresh, deletes, is_random=True), kept_puts=kept)
    return [part for part in (growth, overwritten(hot_keys, puts - fresh)) if part.operations]


def _kept(live: float, fresh: float, deletes: int) -> float:
    """How many of so many fresh puts are kept."""
    live = max(live, LEAST_LIVE)
    after = live + fresh - deletes
    if after <= 0:
        return 0.0
    grown_by = fresh - deletes
    rate = math.log(after / live) / grown_by if abs(grown_by) > LEAST_LIVE else 1 / live
    return after - live * math.exp(-deletes * rate)
