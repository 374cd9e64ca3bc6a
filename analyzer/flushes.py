"""What flushes took in and what survived them, by column family and true reason.

Entries that are overwritten or deleted within the memtables one flush merges never reach a table; a put that
dies with its tombstone leaves the tombstone. A flush reason is that of the event, but for "Write Buffer
Manager" under a line `Flushing all column families with data in WAL number …`: that is the WAL limit.
"""

from collections import Counter
from dataclasses import dataclass, field

from lsmlens.analyzer.events import Event


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

    def add(self, event: Event) -> None:
        """Take in a `flush_finished` event stitched to its start; one without a start says nothing here."""
        if "num_entries" not in event:
            return
        self.flushes += 1
        self.input_entries += event["num_entries"]
        self.input_deletes += event["num_deletes"]
        self.output_entries += event["created_records"]
        self.output_deletes += event["created_deletions"]
        self.empty_flushes += not event["created_files"]
        self.memtables[event["num_memtables"]] += 1
        self.reasons[event.get("true_flush_reason") or "not logged"] += 1

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
