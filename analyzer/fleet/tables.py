"""The tables of a data set: what a run's are, and what else each reading of a daemon's logs gave.

Every table is partitioned by cluster, host, daemon and day (UTC), which stand in the folders' names. A row is known
by its key: of rows that several readings gave of the same thing, what the later one tells counts.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

import msgspec
from lsmlens.analyzer.findings import Severity
from lsmlens.analyzer.runs.columns import F64, I64, TEXT, TIME, Column
from lsmlens.analyzer.runs.jobs import Job, Open, Table

if TYPE_CHECKING:
    import polars as pl

SCHEMA: Final = "lsmlens.fleet/1"


class Reading(msgspec.Struct, kw_only=True):
    """One day's share of the logs that were read at once. Counts stand with the reading's first day."""

    began_at: Annotated[int, Column(TIME, "UTC", "The first line's time; of a later day, midnight.")]
    ended_at: Annotated[int, Column(TIME, "UTC", "The last line's time, or the next midnight.")]
    ceph_version: Annotated[str | None, Column(TEXT, "", "Ceph's version at its end.")] = None
    rocksdb_version: Annotated[str | None, Column(TEXT, "", "RocksDB's version at its end.")] = None
    device_class: Annotated[str | None, Column(TEXT, "", "The OSD's device class, where metadata tell.")] = None
    bytes: Annotated[int, Column(I64, "bytes", "What was read.")] = 0
    lines: Annotated[int, Column(I64, "", "Lines in it.")] = 0
    events_rejected: Annotated[int, Column(I64, "", "Events that could not be read.")] = 0
    members_unreadable: Annotated[int, Column(I64, "", "Files that could not be read to their end.")] = 0
    stall_lines: Annotated[int, Column(I64, "", "Lines that say writes are slowed down or stopped.")] = 0
    covered_client_writes: Annotated[
        float | None, Column(F64, "", "Client writes by counters that cover the same time as the log.")
    ] = None
    covered_client_write_bytes: Annotated[
        float | None, Column(F64, "bytes", "Bytes that clients wrote, by the same counters.")
    ] = None


class Option(msgspec.Struct):
    """An option in force at the end of a reading."""

    scope: Annotated[str, Column(TEXT, "", "rocksdb or ceph.", ("rocksdb", "ceph"))]
    column_family: Annotated[str | None, Column(TEXT, "", "Its column family; null for the database and for Ceph.")]
    name: Annotated[str, Column(TEXT, "", "Its name.")]
    value: Annotated[str, Column(TEXT, "", "Its value.")]
    default: Annotated[str | None, Column(TEXT, "", "The release's default, where known.")]
    source: Annotated[str, Column(TEXT, "", "Where the value was read.")]


class Count(msgspec.Struct):
    """A counter of a perf dump."""

    dump: Annotated[str, Column(TEXT, "", "The perf dump, by its content.")]
    name: Annotated[str, Column(TEXT, "", "section.name, as the newest releases call it.")]
    value: Annotated[float, Column(F64, "", "Its value; of an average, the sum in seconds.")]
    count: Annotated[int | None, Column(I64, "", "Of an average, how many it is of.")]


class FindingSeen(msgspec.Struct):
    """A finding of a reading."""

    code: Annotated[str, Column(TEXT, "", "The rule's code.")]
    column_family: Annotated[str | None, Column(TEXT, "", "Its column family; null for the database.")]
    title: Annotated[str, Column(TEXT, "", "What it says.")]
    severity: Annotated[str, Column(TEXT, "", "How much it matters.", tuple(map(str, Severity)))]
    confidence: Annotated[str, Column(TEXT, "", "How sure it is.")]
    value: Annotated[str, Column(TEXT, "", "What was seen.")]
    threshold: Annotated[str, Column(TEXT, "", "What it is held against.")]
    meaning: Annotated[str, Column(TEXT, "", "What it means.")]
    advice: Annotated[str, Column(TEXT, "", "What to do.")]


@dataclass(frozen=True, slots=True)
class Kept:
    """How a table is kept: its rows, their key, and the time, the first that is known, that says their day.

    `is_state` where a later reading of the same day takes the place of an earlier one's rows.
    """

    row: type[msgspec.Struct]
    key: tuple[str, ...]
    moments: tuple[str, ...] = ()
    is_state: bool = False

    @property
    def schema(self) -> "dict[str, pl.DataType]":
        """The polars type of each column of its files: words stand as they are, for every reader's sake."""
        import polars as pl
        from lsmlens.analyzer.runs.columns import columns_of

        return {name: pl.String() if column.values else column.dtype for name, column in columns_of(self.row).items()}


TABLES: Final[Mapping[str, Kept]] = {
    "jobs": Kept(Job, ("kind", "job", "finished_at"), ("finished_at",)),
    "tables": Kept(Table, ("number", "created_at"), ("created_at",)),
    "opens": Kept(Open, ("session",), ("opened_at", "first_event_at")),
    "options": Kept(Option, ("scope", "column_family", "name"), is_state=True),
    "counters": Kept(Count, ("dump", "name")),
    "findings": Kept(FindingSeen, ("code", "column_family"), is_state=True),
    "readings": Kept(Reading, ("began_at",), ("began_at",)),
}
