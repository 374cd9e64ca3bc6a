"""What flushes took in and what survived them, by column family and true reason.

Entries that are overwritten or deleted within the memtables one flush merges never reach a table; a put that
dies with its tombstone leaves the tombstone. A flush reason is that of the event, but for "Write Buffer
Manager" under a line `Flushing all column families with data in WAL number …`: that is the WAL limit.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lsmlens.analyzer.measures.amplification import UNATTRIBUTED
from lsmlens.analyzer.runs.jobs import FLUSH

if TYPE_CHECKING:
    import polars as pl


@dataclass(slots=True)
class FlushView:
    """The flushes of one column family. Counts of entries; deletes are tombstones, counted in entries too.

    Memtables count range deletes apart from deletes, tables (`output_deletes`) among them.
    """

    name: str
    flushes: int = 0
    input_entries: int = 0
    input_deletes: int = 0
    input_range_deletes: int = 0
    output_entries: int = 0
    output_deletes: int = 0
    empty_flushes: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    memtables: Counter[int] = field(default_factory=Counter)

    @property
    def dropped_entries(self) -> int:
        """Entries that died in memory."""
        return max(0, self.input_entries - self.output_entries)

    @property
    def dropped_share(self) -> float | None:
        """Entries that died in memory, per entry flushed; None without entries."""
        return self.dropped_entries / self.input_entries if self.input_entries else None

    @property
    def dropped_puts_share(self) -> float | None:
        """Puts that died in memory, overwritten or deleted before they were flushed, per put; None without puts."""
        puts, survivors = self.input_puts, self.output_entries - self.output_deletes
        return max(0.0, 1 - survivors / puts) if puts > 0 else None

    @property
    def input_puts(self) -> int:
        """Entries flushed that are no deletes: puts and merges."""
        return self.input_entries - self.input_deletes - self.input_range_deletes

    @property
    def memtables_per_flush(self) -> float | None:
        """Mean number of memtables one flush merged."""
        return sum(count * times for count, times in self.memtables.items()) / self.flushes if self.flushes else None


def flush_views(jobs: "pl.LazyFrame") -> tuple[FlushView, ...]:
    """The flushes of each column family, by name; those whose start is not in the log say nothing here."""
    import polars as pl

    name = pl.col("column_family").fill_null(UNATTRIBUTED).alias("name")
    started = jobs.filter((pl.col("kind") == FLUSH) & pl.col("memtables").is_not_null())
    rows = started.group_by(name).agg(
        flushes=pl.len(),
        input_entries=pl.col("input_records").sum(),
        input_deletes=pl.col("input_deletions").sum(),
        input_range_deletes=pl.col("input_range_deletions").sum(),
        output_entries=pl.col("output_records").sum(),
        output_deletes=pl.col("output_deletions").sum(),
        empty_flushes=(pl.col("output_files") == 0).sum(),
        reasons=pl.col("reason").fill_null("not logged"),
        memtables=pl.col("memtables"),
    )
    views = []
    for row in rows.sort("name").collect().to_dicts():
        reasons, memtables = Counter(row.pop("reasons")), Counter(row.pop("memtables"))
        views.append(FlushView(**row, reasons=reasons, memtables=memtables))
    return tuple(views)
