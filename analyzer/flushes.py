"""What flushes took in and what survived them, by column family and true reason.

Entries that are overwritten or deleted within the memtables one flush merges never reach a table; a put that
dies with its tombstone leaves the tombstone. A flush reason is that of the event, but for "Write Buffer
Manager" under a line `Flushing all column families with data in WAL number …`: that is the WAL limit.
"""

from collections import Counter
from dataclasses import dataclass, field

import polars as pl
from lsmlens.analyzer.amplification import UNATTRIBUTED
from lsmlens.analyzer.jobs import FLUSH


@dataclass(slots=True)
class FlushView:
    """The flushes of one column family. Counts of entries; deletes are tombstones, counted in entries too."""

    name: str
    flushes: int = 0
    input_entries: int = 0
    input_deletes: int = 0
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
        puts = self.input_entries - self.input_deletes
        survivors = self.output_entries - self.output_deletes
        return max(0.0, 1 - survivors / puts) if puts > 0 else None

    @property
    def memtables_per_flush(self) -> float | None:
        """Mean number of memtables one flush merged."""
        return sum(count * times for count, times in self.memtables.items()) / self.flushes if self.flushes else None


def flush_views(jobs: pl.DataFrame) -> list[FlushView]:
    """The flushes of each column family, by name; of one whose start is not in the log only the family is known."""
    started = pl.col("memtables").is_not_null()
    flushes = (
        jobs.lazy()
        .filter(pl.col("kind") == FLUSH)
        .with_columns(
            pl.col("column_family").fill_null(UNATTRIBUTED), pl.col("reason").replace("", None).fill_null("not logged")
        )
    )
    sums = flushes.group_by(name="column_family").agg(
        flushes=started.sum(),
        input_entries=pl.col("input_records").filter(started).sum(),
        input_deletes=pl.col("input_deletions").filter(started).sum(),
        output_entries=pl.col("output_records").filter(started).sum(),
        output_deletes=pl.col("output_deletions").filter(started).sum(),
        empty_flushes=(started & (pl.col("output_files") == 0)).sum(),
    )
    views = {row["name"]: FlushView(**row) for row in sums.sort("name").collect().to_dicts()}
    for column, counter in (("reason", "reasons"), ("memtables", "memtables")):
        counts = flushes.filter(started).group_by("column_family", column, maintain_order=True).len().collect()
        for name, value, count in counts.iter_rows():
            getattr(views[name], counter)[value] = count
    return list(views.values())
