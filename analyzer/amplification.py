"""Bytes written by column family and by level, and the write amplification they come to.

LSM write amplification = (flush bytes + compaction output bytes) / flush bytes. Flush bytes are the level-0
tables that flushes wrote, and their blob files. Compaction output bytes are `total_output_size` plus, where a
release writes them apart, blob bytes and those of the penultimate ("proximal") level. Trivial moves move no bytes.
The WAL is not in it, nor are tables written while recovering one.
"""

from dataclasses import dataclass

from lsmlens.analyzer.events import Event

UNATTRIBUTED = "(unknown)"


@dataclass(slots=True)
class FamilyWrites:
    """What the flushes, compactions and moves of one column family did. Sizes in bytes.

    `level0_output_bytes` are those of `compaction_output_bytes` that compactions wrote which read level 0.
    """

    name: str
    flushes: int = 0
    flush_bytes: int = 0
    flush_blob_bytes: int = 0
    flush_input_records: int = 0
    flush_output_records: int = 0
    compactions: int = 0
    compaction_input_bytes: int = 0
    compaction_output_bytes: int = 0
    level0_output_bytes: int = 0
    input_records: int = 0
    output_records: int = 0
    blob_output_bytes: int = 0
    proximal_output_bytes: int = 0
    compaction_seconds: float = 0.0
    trivial_moves: int = 0
    trivial_move_bytes: int = 0

    def add_flush(self, event: Event) -> None:
        """Take in a `flush_finished` event, stitched to its start and its tables."""
        self.flushes += 1
        self.flush_bytes += event["created_bytes"] + event["created_blob_bytes"]
        self.flush_blob_bytes += event["created_blob_bytes"]
        self.flush_input_records += event.get("num_entries", 0)
        self.flush_output_records += event["created_records"]

    def add_compaction(self, event: Event) -> None:
        """Take in a `compaction_finished` event."""
        blob, proximal = outside_output_size(event)
        self.compactions += 1
        self.compaction_input_bytes += event.get("input_data_size", 0)
        written = event["total_output_size"] + blob + proximal
        self.compaction_output_bytes += written
        if 0 in event.get("input_levels", ()):
            self.level0_output_bytes += written
        self.blob_output_bytes += blob
        self.proximal_output_bytes += proximal
        self.input_records += event["num_input_records"]
        self.output_records += event["num_output_records"]
        self.compaction_seconds += event["compaction_time_micros"] / 1e6

    def add_move(self, event: Event) -> None:
        """Take in a `trivial_move` event."""
        self.trivial_moves += 1
        self.trivial_move_bytes += event["total_files_size"]

    def merge(self, other: "FamilyWrites") -> None:
        """Add another log's writes of this family, or another family's for a sum."""
        for name in self.__slots__:
            if name != "name":
                setattr(self, name, getattr(self, name) + getattr(other, name))

    @property
    def output_input_ratio(self) -> float | None:
        """Records out per record in over all compactions; None without input."""
        return self.output_records / self.input_records if self.input_records else None

    @property
    def write_amplification(self) -> float | None:
        """LSM write amplification; None where nothing was flushed."""
        if not self.flush_bytes:
            return None
        return (self.flush_bytes + self.compaction_output_bytes) / self.flush_bytes


@dataclass(slots=True)
class LevelWrites:
    """What was written into one level, by flushes (level 0) and compactions, and moved there. Sizes in bytes."""

    level: int
    flushes: int = 0
    flush_bytes: int = 0
    compactions: int = 0
    compaction_input_bytes: int = 0
    compaction_output_bytes: int = 0
    input_records: int = 0
    output_records: int = 0
    compaction_seconds: float = 0.0
    trivial_moves: int = 0
    trivial_move_bytes: int = 0

    def add_flush(self, event: Event) -> None:
        """Take in a `flush_finished` event."""
        self.flushes += 1
        self.flush_bytes += event["created_bytes"] + event["created_blob_bytes"]

    def add_compaction(self, event: Event) -> None:
        """Take in a `compaction_finished` event."""
        self.compactions += 1
        self.compaction_input_bytes += event.get("input_data_size", 0)
        self.compaction_output_bytes += event["total_output_size"] + sum(outside_output_size(event))
        self.input_records += event["num_input_records"]
        self.output_records += event["num_output_records"]
        self.compaction_seconds += event["compaction_time_micros"] / 1e6

    def add_move(self, event: Event) -> None:
        """Take in a `trivial_move` event."""
        self.trivial_moves += 1
        self.trivial_move_bytes += event["total_files_size"]

    @property
    def output_input_ratio(self) -> float | None:
        """Records out per record in over all compactions into this level; None without input."""
        return self.output_records / self.input_records if self.input_records else None


def outside_output_size(event: Event) -> tuple[int, int]:
    """Blob bytes and penultimate-level bytes of a compaction, which `total_output_size` leaves out."""
    return (
        _count(event, "total_blob_output_size"),
        _count(event, "proximal_level_bytes_written") + _count(event, "proximal_level_bytes_written_blob"),
    )


def _count(event: Event, name: str) -> int:
    value = event.get(name, 0)
    return value if isinstance(value, int) else 0
