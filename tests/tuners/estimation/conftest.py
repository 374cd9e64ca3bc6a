"""A log for the estimator without a database: a declared workload's operations, flushed and merged by hand."""

from collections.abc import Callable

import numpy as np
import pytest
from lsmlens.analyzer.analysis import RunAnalysis, measure
from lsmlens.analyzer.runs.reading import read_runs
from lsmlens.analyzer.runs.selection import Selection
from lsmlens.tuners.estimation.history import Compaction, Flush, History, Table
from lsmlens.tuners.workloads.chunk import Tag
from lsmlens.tuners.workloads.components import Component, Keys
from lsmlens.tuners.workloads.document import ColumnFamily, Workload
from lsmlens.tuners.workloads.generator import DeclaredStream

KEY_BYTES = 24
VALUE_BYTES = 100
SINCE = 1_800_000_000.0
Logged = Callable[..., History]


@pytest.fixture(scope="session")
def logged() -> Logged:
    """A history of one family, "default": flushes of `flush` operations (or of these sizes), level 0 merged by fours.

    Merges take all of level 1 with them, so nothing lies deeper; `has_times` and `has_sequences` say what tables tell.
    """

    def make(
        *components: Component,
        seconds: float = 1000.0,
        flush: int | list[int] = 2000,
        seed: int = 1,
        trigger: int = 4,
        values: float = VALUE_BYTES,
        has_times: bool = True,
        has_sequences: bool = False,
    ) -> History:
        family = ColumnFamily("default", Keys(float(KEY_BYTES)), values, components)
        stream = DeclaredStream(Workload(name="made", seconds=seconds, column_families=(family,)))
        parts = list(stream.operations(seed))
        key = np.concatenate([part.key for part in parts])
        is_put = np.concatenate([part.tag for part in parts]) == Tag.PUT
        when = np.concatenate([part.seconds for part in parts]) + SINCE
        sizes = np.concatenate([part.value_bytes for part in parts])
        return _Tree(key, is_put, when, sizes, trigger, has_times, has_sequences).log(flush)

    return make


class _Tree:
    """Level 0 and one level below it."""

    def __init__(
        self,
        key: np.ndarray,
        is_put: np.ndarray,
        when: np.ndarray,
        sizes: np.ndarray,
        trigger: int,
        has_times: bool,
        has_sequences: bool,
    ) -> None:
        self.key, self.is_put, self.when, self.sizes = key, is_put, when, sizes
        self.trigger, self.has_times, self.has_sequences = trigger, has_times, has_sequences
        self.history = History()
        self.level0: list[tuple[Table, int, int]] = []
        self.level1: Table | None = None
        self.number = 0

    def log(self, flush: int | list[int]) -> History:
        count = len(self.key)
        bounds = np.arange(0, count + 1, flush) if isinstance(flush, int) else np.append(0, np.cumsum(flush))
        self.history.session_starts[0] = float(self.when[0]) - 1.0
        family = self.history.family("default")
        for first, last in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            table = self._table(self._survivors(first, last), first, last)
            own = slice(first, last)
            deletes = int((~self.is_put[own]).sum())
            family.flushes.append(
                Flush(
                    family="default",
                    session=0,
                    seconds=float(self.when[last - 1]) + 1e-6,
                    entries=last - first,
                    deletes=deletes,
                    range_deletes=0,
                    memtables=1,
                    user_bytes=int((last - first) * (KEY_BYTES + 10) + self.sizes[own].sum()),
                    memory_bytes=None,
                    reason="Write Buffer Full",
                    table=table,
                )
            )
            self.level0.append((table, first, last))
            if len(self.level0) == self.trigger:
                self._merge(last)
        self.history.first_seconds = family.flushes[0].seconds
        self.history.last_seconds = family.flushes[-1].seconds
        return self.history

    def _survivors(self, first: int, last: int) -> np.ndarray:
        """Places of the last operation on each key."""
        _, places = np.unique(self.key[first:last][::-1], return_index=True)
        return last - 1 - places

    def _table(self, kept: np.ndarray, first: int, last: int) -> Table:
        self.number += 1
        tombstones = int((~self.is_put[kept]).sum())
        table = Table(
            number=self.number,
            family="default",
            session=0,
            created_seconds=float(self.when[last - 1]) + 2e-6,
            file_bytes=len(kept) * 60,
            entries=len(kept),
            tombstones=tombstones,
            range_tombstones=0,
            merges=0,
            key_bytes=len(kept) * KEY_BYTES,
            value_bytes=int(self.sizes[kept].sum()),
            data_bytes=len(kept) * 60,
            oldest_seconds=float(int(self.when[first])) if self.has_times else None,
            first_sequence=first + 1 if self.has_sequences else None,
            last_sequence=last if self.has_sequences else None,
            compression=None,
        )
        self.history.tables[table.number] = table
        return table

    def _merge(self, now: int) -> None:
        inputs = {0: tuple(table.number for table, _, _ in self.level0)}
        records = sum(table.entries for table, _, _ in self.level0)
        if self.level1 is not None:
            inputs[1] = (self.level1.number,)
            records += self.level1.entries
        kept = self._survivors(0, now)
        kept = kept[self.is_put[kept]]
        self.level1 = self._table(kept, 0, now)
        self.level0 = []
        self.history.family("default").compactions.append(
            Compaction(
                family="default",
                session=0,
                seconds=float(self.when[now - 1]) + 3e-6,
                inputs=inputs,
                output_level=1,
                outputs=(self.level1,),
                input_records=records,
                output_records=len(kept),
                output_bytes=self.level1.file_bytes,
                reason="LevelL0FilesNum",
                level_files=(0, 1),
            )
        )


@pytest.fixture(scope="session")
def analysed(fixtures: "object") -> Callable[[str], RunAnalysis]:
    """The run of a fixture that is no monitor's, measured; each read once."""
    read: dict[str, RunAnalysis] = {}

    def analyse(name: str) -> RunAnalysis:
        if name not in read:
            _, runs = read_runs([str(fixtures / name)])  # type: ignore[operator]
            read[name] = measure(next(run for run in runs if not run.is_monitor), Selection())
        return read[name]

    return analyse
