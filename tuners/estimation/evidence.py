"""What a log shows of its column families: when they were written, what survived, and what was there before."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.errors import InputError
from lsmlens.analyzer.measures.sorted_runs import SortedRuns, measure_sorted_runs
from lsmlens.tuners.estimation.client_reads import ClientReads, client_reads
from lsmlens.tuners.estimation.history import FamilyHistory, History, Table, read_history
from lsmlens.tuners.estimation.intervals import Interval, intervals_of
from lsmlens.tuners.estimation.windows import Window, WindowKind, windows_of
from lsmlens.tuners.estimation.write_batches import WriteBatches, write_batches


@dataclass(frozen=True, slots=True)
class FamilyEvidence:
    """What the log shows of one family: when it was written, and what survived."""

    history: FamilyHistory
    intervals: tuple[Interval, ...]
    windows: tuple[Window, ...]
    preexisting: float
    """Records that were there before the log began, as far as compactions that read them tell."""

    @property
    def operations(self) -> int:
        """Puts and deletes of all flushes."""
        return sum(one.operations for one in self.intervals)

    def longest_window(self, *kinds: WindowKind) -> int:
        """Puts in the longest window of these kinds; 0 where there is none."""
        return max((one.longest_puts(self.intervals) for one in self.windows if one.kind in kinds), default=0)

    @property
    def tables(self) -> list[Table]:
        """The tables that flushes wrote."""
        return [one.table for one in self.intervals if one.table is not None and one.table.entries]


@dataclass(frozen=True)
class Evidence:
    """What a run's log shows of each family with operations, by name; times are seconds since 1970."""

    run: RunAnalysis
    history: History
    families: Mapping[str, FamilyEvidence]
    since: float
    until: float
    batches: WriteBatches | None = None

    @property
    def seconds(self) -> float:
        """The time from the first operation to the last flush."""
        return self.until - self.since

    @property
    def operations(self) -> dict[str, float]:
        """Puts and deletes of each family."""
        return {name: float(one.operations) for name, one in self.families.items()}

    @cached_property
    def reads(self) -> ClientReads:
        """What was read, where something beside the log's events tells."""
        return client_reads(self.run, self.history)

    @cached_property
    def sorted_runs(self) -> dict[str, SortedRuns]:
        """What a read of each family had to look into, where the log tells."""
        return measure_sorted_runs(self.run.jobs)


def gather_all(run: RunAnalysis) -> Evidence:
    """What the run's log shows. Raises InputError where it shows no flush with operations."""
    history = read_history(run.run)
    families = {name: gather(history, name) for name in sorted(history.families)}
    families = {name: one for name, one in families.items() if one.operations}
    if not families:
        raise InputError(
            run.name,
            "the log shows no flush, so nothing of a workload",
            "a log of more work, or with debug_rocksdb at 4 or more",
        )
    intervals = [interval for one in families.values() for interval in one.intervals if interval.operations]
    since = min(one.start for one in intervals)
    until = max(one.end for one in intervals)
    return Evidence(run, history, families, since, until, write_batches(run, history))


def gather(history: History, name: str) -> FamilyEvidence:
    """The evidence of one family."""
    family = history.families[name]
    intervals = intervals_of(history, name)
    windows = windows_of(family, intervals)
    return FamilyEvidence(family, tuple(intervals), tuple(windows), _preexisting(family, history))


def _preexisting(family: FamilyHistory, history: History) -> float:
    """Records in tables of before the log: those that compactions read, and as many in each table that none did."""
    unknown: set[int] = set()
    records = 0.0
    for job in family.compactions:
        numbers = [number for level in job.inputs.values() for number in level]
        strange = [number for number in numbers if number not in history.tables]
        if strange:
            known = sum(history.tables[number].entries for number in numbers if number in history.tables)
            records += max(0.0, job.input_records - known)
            unknown.update(strange)
    if not unknown:
        return 0.0
    first = family.compactions[0]
    before = sum(first.level_files) - len(first.outputs) + sum(len(level) for level in first.inputs.values())
    flushed = sum(1 for one in family.flushes if one.table is not None and one.seconds < first.seconds)
    return records / len(unknown) * max(len(unknown), before - flushed)
