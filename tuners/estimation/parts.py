"""Parts: what a family's operations were taken apart into, each to become one component of the workload document."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np
from lsmlens.tuners.estimation.intervals import Interval
from lsmlens.tuners.estimation.lifetimes import Floats, kept_share
from lsmlens.tuners.workloads.components import (
    Clustered,
    Component,
    Growth,
    GrowthRow,
    Overwrite,
    OverwriteRow,
    Queue,
    Row,
    WorkingSet,
)
from numpy.typing import NDArray

Counts = NDArray[np.int64]
MILLISECONDS = 3


@dataclass(frozen=True, slots=True)
class Part:
    """Puts and deletes of each interval (shape: intervals), and the component that writes them.

    `kept_puts` and `kept_deletes` are expected to survive each interval's flush; `live` records are expected in the
    database at the end. `component` has no schedule yet. `is_clustered`: keys of one object lie side by side.
    `place`: of keys in groups, those of another place are of other groups. `sets`: the working set of each interval,
    where there are several.
    """

    component: Component
    puts: Counts
    deletes: Counts
    kept_puts: Floats
    kept_deletes: Floats
    live: float
    is_clustered: bool = False
    place: int = 0
    sets: Counts | None = None

    @property
    def operations(self) -> int:
        """All puts and deletes."""
        return int(self.puts.sum() + self.deletes.sum())

    @property
    def is_fresh(self) -> bool:
        """Whether each put is of a key of its own."""
        return isinstance(self.component, Growth | Queue)

    def with_rows(self, intervals: Sequence[Interval], since: float) -> Component:
        """The component with its schedule, times in seconds after `since`."""
        kind = {Overwrite: OverwriteRow, Growth: GrowthRow}.get(type(self.component), Row)
        sets = [()] * len(intervals) if self.sets is None else [(int(one),) for one in self.sets]
        rows = tuple(
            kind(*seconds_of(interval, since), int(puts), int(deletes), *others)
            for interval, puts, deletes, others in zip(intervals, self.puts, self.deletes, sets, strict=True)
            if puts or deletes
        )
        return msgspec.structs.replace(self.component, schedule=rows)

    def in_place(self, place: int) -> "Part":
        """The part with its keys in other groups."""
        return replace(self, place=place)

    def with_(self, **changes: object) -> "Part":
        """The part with fields of its component changed."""
        return replace(self, component=msgspec.structs.replace(self.component, **changes))


def seconds_of(interval: Interval, since: float) -> tuple[float, float]:
    """Where an interval begins and ends, in seconds after `since`, as documents give them."""
    start = round(interval.start - since, MILLISECONDS)
    return start, max(start, round(interval.end - since, MILLISECONDS))


def overwritten(keys: float, puts: Counts, deletes: Counts | None = None, is_filled_first: bool = False) -> Part:
    """Puts spread evenly over `keys` keys, once each has been written if so said; deletes choose keys as puts do."""
    keys = max(1.0, keys)
    gone = np.zeros_like(puts) if deletes is None else deletes
    operations = (puts + gone).astype(np.float64)
    distinct = operations * kept_share(operations / keys)
    if is_filled_first:
        distinct = np.where(np.cumsum(operations) <= keys, operations, distinct)
    share = gone / np.maximum(operations, 1.0)
    last = float(gone.sum()) / max(1.0, float(operations.sum()))
    return Part(
        Overwrite(working_sets=(WorkingSet(round(keys), filled_first=is_filled_first),), schedule=()),
        puts,
        gone,
        distinct * (1 - share),
        distinct * share,
        (1 - last) * -keys * float(np.expm1(-operations.sum() / keys)),
    )


def grown(puts: Counts, deletes: Counts | None = None, is_random: bool = False, repeated_deletes: float = 0.0) -> Part:
    """Fresh keys, each put once; deletes take the oldest, or live ones at random, or again what was deleted before."""
    gone = np.zeros_like(puts) if deletes is None else deletes
    left = max(0.0, float(puts.sum() - (1 - repeated_deletes) * gone.sum()))
    component = Growth(
        delete_order="random" if is_random else "oldest", repeated_deletes=round(repeated_deletes, 4), schedule=()
    )
    return Part(component, puts, gone, puts.astype(np.float64), gone.astype(np.float64), left)


def queued(puts: Counts, deletes: Counts, vanished: Floats, is_single: bool = False) -> Part:
    """Fresh keys deleted first in, first out; `vanished` puts of each interval die in memory.

    Their tombstones stay, unless they are single deletes.
    """
    kept = np.maximum(puts - vanished, 0.0)
    left = max(0.0, float(puts.sum() - deletes.sum()))
    tombstones = np.maximum(deletes - vanished, 0.0) if is_single else deletes.astype(np.float64)
    return Part(Queue(single_delete=is_single, schedule=()), puts, deletes, kept, tombstones, left)


def clustered(
    shape: tuple[int, int],
    removals_per_put: float,
    puts: Counts,
    deletes: Counts,
    kept: tuple[Floats, Floats],
    live: float,
) -> Part:
    """Objects of many keys (`shape`: objects, keys of each) that are written, thinned and cleared."""
    component = Clustered(
        objects=shape[0], keys_per_object=shape[1], removals_per_put=round(removals_per_put, 5), schedule=()
    )
    return Part(component, puts, deletes, kept[0], kept[1], live)


def whole(amounts: Floats) -> Counts:
    """Amounts (shape: rows, parts) as whole numbers with the same sums of rows; fractions go on to the next row.

    A part gets nothing in rows where it has no amount at all: a stray operation would widen a table's range of keys.
    """
    rounded: Counts = np.zeros(amounts.shape, np.int64)
    carried = np.zeros(amounts.shape[1])
    for row, wanted in enumerate(amounts):
        carried += wanted
        total = round(float(wanted.sum()))
        down = np.where(wanted > 0, np.maximum(np.floor(carried), 0), 0).astype(np.int64)
        missing = total - int(down.sum())
        order = np.argsort(np.where(wanted > 0, down - carried, np.inf), kind="stable")[
            : max(1, int((wanted > 0).sum()))
        ]
        while missing > 0:
            down[order[:missing]] += 1
            missing = total - int(down.sum())
        while missing < 0:
            largest = int(down.argmax())
            taken = min(-missing, int(down[largest]))
            down[largest] -= taken
            missing += taken
        rounded[row] = down
        carried -= down
    return rounded
