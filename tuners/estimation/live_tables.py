"""What a family's live tables hold: operations of which intervals, and how many records of before the log.

A log seldom begins with its database. Tables whose creation it does not show hold what a compaction read beside the
tables it does show; their records are followed through later compactions. Of two puts of a key a compaction drops the
older, so what is newest is kept whole, and of the oldest most is dropped.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from lsmlens.tuners.estimation.history import Compaction, Move, Table

# What bounds the search for how many keys there are, as a multiple of the entries of one table or level.
MOST_KEYS = 1e6
HALVINGS = 40


@dataclass(slots=True)
class LiveTable:
    """A live table: its level, how much of each interval's operations went into it, and records of `before` the log."""

    level: int
    table: Table
    mass: Mapping[int, float]
    before: float = 0.0


@dataclass(frozen=True, slots=True)
class Merged:
    """What a compaction put together: how much of each interval, and how many puts of the log it kept."""

    mass: Mapping[int, float]
    kept_puts: float
    had_tombstones: bool


@dataclass(slots=True)
class LiveTables:
    """The live tables of one family that the log shows, by number; `lost` are puts of before it that were dropped."""

    tables: dict[int, LiveTable] = field(default_factory=dict)
    lost: float = 0.0

    def add(self, table: Table, place: int) -> None:
        """A table in level 0 with all that is left of interval `place`."""
        self.tables[table.number] = LiveTable(0, table, {place: 1.0})

    def merge(self, job: Compaction) -> Merged:
        """Put the compaction's outputs in the place of its inputs."""
        read = [
            (level, self.tables.pop(number, None))
            for level, numbers in sorted(job.inputs.items())
            for number in sorted(numbers, reverse=True)
        ]
        known = [one for _, one in read if one is not None]
        strange = len(read) - len(known)
        older = max(0.0, job.input_records - sum(one.table.entries for one in known)) / max(strange, 1)
        runs: dict[tuple[int, int], _Run] = {}
        for place, (level, one) in enumerate(read):
            run = (level, place if level == 0 else 0)
            own = _Run(one.table.entries, one.table.puts, one.before) if one is not None else _Run(older, older, older)
            runs[run] = runs[run] + own if run in runs else own
        kept = sum(table.puts for table in job.outputs)
        if read:
            before = _before_kept(list(runs.values()), kept)
            self.lost += sum(one.before for one in runs.values()) - before
        else:  # the line of its start was lost: nobody knows whose the records are
            before = float(kept)
        mass = mass_of(known)
        self._give(job, mass, before)
        return Merged(mass, kept - before, any(one.table.tombstones for one in known))

    def move(self, move: Move) -> None:
        """Put tables into another level as they are."""
        for number in move.tables:
            if number in self.tables:
                self.tables[number].level = move.level

    def of_level(self, level: int) -> list[LiveTable]:
        """The tables of one level."""
        return [one for one in self.tables.values() if one.level == level]

    def _give(self, job: Compaction, mass: Mapping[int, float], before: float) -> None:
        """Divide what was read among the tables written, by their entries."""
        entries = sum(table.entries for table in job.outputs)
        for table in job.outputs:
            part = table.entries / entries if entries else 0.0
            own = {place: part * share for place, share in mass.items()}
            self.tables[table.number] = LiveTable(job.output_level, table, own, part * before)


def mass_of(tables: Iterable[LiveTable]) -> dict[int, float]:
    """How much of each interval's operations went into these tables."""
    mass: dict[int, float] = {}
    for one in tables:
        for place, share in one.mass.items():
            mass[place] = mass.get(place, 0.0) + share
    return mass


@dataclass(frozen=True, slots=True)
class _Run:
    """Tables of a compaction that do not overlap: one of level 0, or all of a deeper level."""

    entries: float
    puts: float
    before: float

    def __add__(self, other: "_Run") -> "_Run":
        return _Run(self.entries + other.entries, self.puts + other.puts, self.before + other.before)


def _before_kept(runs: Sequence[_Run], kept: float) -> float:
    """How many of the puts kept are of before the log; `runs` come newest first.

    Where keys are drawn alike from n, a run of e entries takes the share e / n of what is older: n is what leaves as
    many puts as were kept.
    """
    least = max((one.entries for one in runs), default=0.0)
    if kept >= sum(one.puts for one in runs):
        return sum(one.before for one in runs)
    low, high = least, least * MOST_KEYS
    for _ in range(HALVINGS):
        middle = (low * high) ** 0.5
        if _left(runs, middle)[0] < kept:
            low = middle
        else:
            high = middle
    return min(_left(runs, high)[1], kept)


def _left(runs: Sequence[_Run], keys: float) -> tuple[float, float]:
    """Puts, and puts of before the log, that are left where keys are drawn from so many."""
    share, puts, before = 1.0, 0.0, 0.0
    for one in runs:
        puts += share * one.puts
        before += share * one.before
        share *= 1 - one.entries / keys
    return puts, before
