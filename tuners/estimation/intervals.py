"""When each flush's operations were written, and what became of them: one interval for every flush of a family.

A memtable takes operations from its first key to the moment it is sealed. The first key's time is `oldest_key_time`,
to the second. Where tables carry sequence numbers (they count the operations of the whole database, RocksDB 7.6 on)
the last operation's time is read off them, through the times at which flushes of any family began. Before, it is the
flush's start; but an interval in which the rate collapses ends as soon as the earlier rate had filled it: load stops
and leaves a part-filled memtable lying until the WAL limit or a restart flushes it, and to spread its operations
over that time would carry one phase's load into the next.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from lsmlens.tuners.estimation.history import FamilyHistory, Flush, History, Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

# A rate below this share of the one before has collapsed.
COLLAPSED_RATE = 0.3
# `oldest_key_time` is in whole seconds.
CLOCK_SECONDS = 1.0
# Fewer operations say nothing of a rate.
LEAST_OPERATIONS = 200
SHORTEST_SECONDS = 1e-3
# A memtable that was not written to for this share of its life lay idle.
IDLE_SHARE = 0.3
LEAST_POINTS = 3


@dataclass(frozen=True, slots=True)
class Interval:
    """Operations of one family between two moments (seconds since 1970) that one flush took in.

    `kept_puts` and `kept_deletes` are the puts and tombstones that survived the flush. `flush` is None where a
    restart wrote the table from the WAL; then `puts` and `deletes` are estimated from what survived.
    """

    start: float
    end: float
    puts: int
    deletes: int
    kept_puts: int
    kept_deletes: int
    flush: Flush | None
    table: Table | None

    @property
    def operations(self) -> int:
        """Puts and deletes."""
        return self.puts + self.deletes


def intervals_of(history: History, name: str) -> list[Interval]:
    """The intervals of one family, in order; they do not overlap."""
    family = history.families[name]
    clock = _SequenceClock(history)
    hidden = hides_single_deletes(family)
    found: list[Interval] = []
    rate = 0.0
    for flush in family.flushes:
        for table in _recovered_before(family, found, flush):
            found.append(_recovered(table, found, family, history))
        begins = history.session_starts.get(flush.session, history.first_seconds)
        earliest = max(found[-1].end, begins) if found else begins
        start, end = _span(flush, earliest, rate, clock.end(flush))
        start = min(max(start, earliest), flush.seconds - SHORTEST_SECONDS)
        end = max(start + SHORTEST_SECONDS, min(end, flush.seconds))
        if flush.entries > LEAST_OPERATIONS:
            rate = flush.entries / (end - start)
        found.append(_interval(flush, start, end, hidden))
    for table in _recovered_before(family, found, None):
        found.append(_recovered(table, found, family, history))
    return found


def hides_single_deletes(family: FamilyHistory) -> bool:
    """Whether flushes took in deletes that `num_deletes` does not count.

    Before 7.x it leaves out single deletes, while a table's tombstones count them. Besides, puts alone leave a record
    of every key: where none is left, something took it.
    """
    kept = sum(flush.table.tombstones or 0 for flush in family.flushes if flush.table is not None)
    deletes = sum(flush.deletes for flush in family.flushes)
    has_ranges = any(
        flush.range_deletes or (flush.table is not None and flush.table.range_tombstones) for flush in family.flushes
    )
    emptied = sum(flush.entries for flush in family.flushes if flush.table is None and not flush.deletes)
    return kept > deletes or (not has_ranges and 2 * emptied > sum(flush.entries for flush in family.flushes))


def _interval(flush: Flush, start: float, end: float, hidden: bool) -> Interval:
    table = flush.table
    kept_puts, kept_deletes = (table.puts, table.tombstones or 0) if table is not None else (0, 0)
    puts, deletes = flush.puts, flush.deletes
    if hidden:  # each single delete takes one put with it, so what did not survive is half puts, half deletes
        gone = flush.entries - kept_puts - kept_deletes
        deletes = min(flush.entries, kept_deletes + gone // 2)
        puts = flush.entries - deletes
    return Interval(start, end, puts, deletes, min(kept_puts, puts), min(kept_deletes, deletes), flush, table)


def _span(flush: Flush, earliest: float, rate: float, end: float | None) -> tuple[float, float]:
    """Where the flush's operations began and ended; `rate` is that of the interval before, `end` what is known."""
    oldest = flush.table.oldest_seconds if flush.table is not None else None
    start = earliest
    if oldest is not None and earliest + CLOCK_SECONDS < oldest < flush.seconds:
        start = oldest
    if end is not None:
        is_idle = flush.seconds - end > IDLE_SHARE * (flush.seconds - start)
        return start, end if is_idle else flush.seconds
    end = flush.seconds
    seconds = max(end - start, SHORTEST_SECONDS)
    if rate and start == earliest and flush.entries / seconds < COLLAPSED_RATE * rate:
        end = start + flush.entries / rate
    return start, end


def _recovered_before(family: FamilyHistory, found: Sequence[Interval], flush: Flush | None) -> list[Table]:
    """Tables that restarts wrote since the last interval and before `flush`."""
    since = max((one.table.created_seconds for one in found if one.table is not None), default=0.0)
    until = flush.seconds if flush is not None else float("inf")
    return [table for table in family.recovered if since < table.created_seconds <= until]


def _recovered(table: Table, found: Sequence[Interval], family: FamilyHistory, history: History) -> Interval:
    """A table written from the WAL, taken to have kept as much of its operations as the family's flushes do."""
    entries = sum(flush.entries for flush in family.flushes)
    kept = sum(flush.table.entries for flush in family.flushes if flush.table is not None)
    grown = entries / kept if kept else 1.0
    deletes = table.tombstones or 0
    puts = max(table.puts, round(table.entries * grown) - deletes)
    end = table.created_seconds
    start = found[-1].end if found else history.session_starts.get(table.session, end) - SHORTEST_SECONDS
    return Interval(min(start, end), end, puts, deletes, table.puts, deletes, None, table)


class _SequenceClock:
    """Sequence numbers of the whole database as times: most flushes began when their last operation had been written.

    One that lay idle began later. The flushes around it in number, of any family, tell when its last operation was.
    """

    def __init__(self, history: History) -> None:
        points = sorted(
            (flush.table.last_sequence, flush.seconds)
            for family in history.families.values()
            for flush in family.flushes
            if flush.table is not None and flush.table.last_sequence
        )
        numbers = np.array([point[0] for point in points], np.float64)
        self._numbers: NDArray[np.float64] = numbers
        self._seconds = np.array([point[1] for point in points], np.float64)

    def end(self, flush: Flush) -> float | None:
        """When the flush's last operation was written, by the others; None without sequence numbers."""
        table = flush.table
        if table is None or not table.last_sequence or len(self._numbers) < LEAST_POINTS:
            return None
        others = self._seconds != flush.seconds
        numbers, seconds = self._numbers[others], self._seconds[others]
        if not len(numbers):
            return None
        # Others may have waited for a thread, or lain idle; the earliest start that still follows is nearest the truth.
        seconds = np.minimum.accumulate(seconds[::-1])[::-1]
        return float(np.interp(table.last_sequence, numbers, seconds))
