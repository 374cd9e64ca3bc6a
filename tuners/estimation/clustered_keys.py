"""Objects with many keys, such as the bucket indexes of a gateway: what a log tells of them.

Of a family whose every put goes to any of N keys in each of K objects, r removals of such keys come with a put, live or
not, and an object is cleared whole after S puts to it, by chance. Then

    a put is gone from a window of n puts with rate  1/(K S) + h,   h = (1 + r) / (K N)
    a tombstone is replaced with rate                h
    deletes per put                                  D = r + 1 / (1 + h K S)

so what flushes drop of puts and of tombstones tells K S and h, deletes tell r; K alone shows only in how unevenly
deletes fall on flushes. A log tells K S, K N and r well, K and N alone within a factor of two or so, and of the size of
batches nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from lsmlens.tuners.estimation.calibration import Floats, Parameter
from lsmlens.tuners.estimation.clusters import clear_size
from lsmlens.tuners.estimation.family_fit import FamilyFit
from lsmlens.tuners.estimation.lifetimes import mean_lifetime
from lsmlens.tuners.estimation.parts import seconds_of
from lsmlens.tuners.estimation.simulated_moments import Simulation
from lsmlens.tuners.workloads.components import MOST_CLUSTERED_KEYS, Clustered, Row
from lsmlens.tuners.workloads.document import ColumnFamily

# Batches within an object cost time to make, and change nothing that a log shows.
BATCH = 32
LEAST_DELETES = 0.05
LEAST_OPERATIONS = 20_000
LEAST_FLUSHES = 6
# Tombstones of which fewer are dropped in flushes are of keys never put again.
LEAST_DROPPED = 0.001
# Tombstones that are replaced at nearly the rate at which puts die are of keys that deletes choose as puts do.
AS_PUTS = 0.8
# Fewer records cleared at once are no objects with many keys.
LEAST_CLEAR = 32.0
MOST_OBJECTS = 20_000
# Deletes of a flush beyond those of single keys vary by how many objects are cleared as much as by how large these are:
# clears follow the log's so far that both together vary as they do there.
FOLLOWED = 0.5**0.5


@dataclass(frozen=True, slots=True)
class ClusteredKeys:
    """Objects with many keys; `base` is the family with one such component, whose rows count puts.

    Parameters are the logarithms of K S, K N and K, and r. `is_aged`: the database is older than the log.
    """

    parameters: Sequence[Parameter]
    base: ColumnFamily
    is_aged: bool

    @property
    def begun(self) -> ColumnFamily:
        """The family where the search begins."""
        return self.family(np.array([one.start for one in self.parameters]))

    def family(self, point: Floats) -> ColumnFamily:
        """The family at a point (shape: 4,)."""
        between, keys, objects = (float(one) for one in np.exp(point[:3]))
        removals, count = float(point[3]), max(1, round(objects))
        live = between / (1 + (1 + removals) * between / keys)
        component = msgspec.structs.replace(
            self.base.components[0],
            objects=count,
            keys_per_object=max(1, round(keys / count)),
            removals_per_put=round(removals, 5),
            clears_per_put=float(f"{count / between:.5g}"),
            preload=round(live) if self.is_aged else 0,
        )
        return msgspec.structs.replace(self.base, components=(component,))


def clustered_keys(fit: FamilyFit, simulation: Simulation, since: float) -> ClusteredKeys | None:
    """The model where to begin with a family; None where the log shows keys of another kind.

    Times in the document count from `since`, seconds since 1970.
    """
    logged, own = simulation.logged, simulation.flushed
    puts, deletes = logged.puts[own], logged.deletes[own]
    every, gone = float(puts.sum()), float(deletes.sum())
    if own.sum() < LEAST_FLUSHES or every + gone < LEAST_OPERATIONS or gone < LEAST_DELETES * every:
        return None
    kept = float(logged.kept_puts[own].sum()) / every
    replaced = 1 - float(logged.kept_deletes[own].sum()) / gone
    if replaced < LEAST_DROPPED or kept > 1 - LEAST_DROPPED:
        return None
    window = float((puts**2).sum()) / every
    dies, touched = 1 / mean_lifetime(window, window * kept), 1 / mean_lifetime(window, window * (1 - replaced))
    if touched >= AS_PUTS * dies:
        return None
    between, per_put = 1 / (dies - touched), gone / every
    removals = min(max(per_put - 1 / (1 + touched * between), 0.1 * per_put), 0.9 * per_put)
    keys = min((1 + removals) / touched, MOST_CLUSTERED_KEYS / 4)
    size = clear_size(puts.astype(np.int64), deletes.astype(np.int64), per_put - removals)
    if size < LEAST_CLEAR:
        return None
    objects = min(max(between / size, 2.0), MOST_OBJECTS / 4)
    parameters = (
        Parameter("puts between clears", np.log(between), 0.25, np.log(between) - 2, np.log(between) + 2),
        Parameter("keys", np.log(keys), 0.4, np.log(between), np.log(MOST_CLUSTERED_KEYS / 2)),
        Parameter("objects", np.log(objects), 0.8, 0.0, np.log(MOST_OBJECTS)),
        Parameter("removals per put", removals, 0.08, 0.0, per_put),
    )
    rest = (1 - FOLLOWED) * (per_put - removals)
    rows = tuple(
        Row(
            *seconds_of(one, since),
            one.puts,
            max(0, round(FOLLOWED * (one.deletes - removals * one.puts) + rest * one.puts)),
        )
        for one in fit.evidence.intervals
        if one.puts
    )
    keys_form = msgspec.structs.replace(fit.column_family.keys, order="sequential", groups=1)
    component = Clustered(objects=1, keys_per_object=1, batch=BATCH, schedule=rows)
    base = msgspec.structs.replace(fit.column_family, keys=keys_form, components=(component,))
    return ClusteredKeys(parameters, base, fit.evidence.preexisting > 0)
