"""A run: one database's life as its log tells it."""

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

import polars as pl
from lsmlens.analyzer.bundles.companions import Companion
from lsmlens.analyzer.findings import Evidence
from lsmlens.analyzer.logs.scan import NotUnderstood
from lsmlens.analyzer.logs.spool import Spool
from lsmlens.analyzer.logs.stamps import StampRange
from lsmlens.analyzer.manifest import Manifest
from lsmlens.analyzer.runs.columns import Rows, frame
from lsmlens.analyzer.runs.jobs import BlobFile, Job, MemtableSwitch, Open, OtherEvent, Stall, Table

DUMPS_IN_MEMORY = 16


@dataclass(slots=True)
class Session:
    """One open of the database: job ids start again, file numbers go on.

    `opened_at_millis` is local time by the log's stamps; None for a log that begins later.
    """

    number: int
    opened_at_millis: int | None = None
    rocksdb_version: str | None = None
    ceph_version: str | None = None
    session_id: str | None = None
    first_event_micros: int | None = None
    last_event_micros: int | None = None


@dataclass(slots=True)
class Quality:
    """What was read, and what was not understood."""

    bytes: int = 0
    lines: int = 0
    lines_are_estimated: bool = False
    cut_lines: int = 0
    events_rejected: int = 0
    events_cut: int = 0
    duplicates_removed: int = 0
    damaged: list[str] = field(default_factory=list)  # what is wrong with a member that was read
    not_understood: list[NotUnderstood] = field(default_factory=list)
    unknown_events: Counter[str] = field(default_factory=Counter)
    impossible_values: Counter[str] = field(default_factory=Counter)
    unknown_fields: Counter[str] = field(default_factory=Counter)
    attributed_by: Counter[str] = field(default_factory=Counter)
    without_column_family: Counter[str] = field(default_factory=Counter)
    without_start: Counter[str] = field(default_factory=Counter)
    without_finish: Counter[str] = field(default_factory=Counter)


class SlowOperation(NamedTuple):
    """Something BlueStore says took long: what, for how many seconds, and the local time at its end."""

    what: str
    seconds: float
    millis: int | None


class SlowRequest(NamedTuple):
    """An operation under way for long, by a line of the OSD's or the cluster's log; local time of the line.

    `osd` is the one that was asked, None where its own log says so.
    """

    osd: int | None
    operation: str
    seconds: float
    state: str
    millis: int | None


class ErrorLine(NamedTuple):
    """A failure that the log tells of: what failed, the status it gave, and the local time in milliseconds."""

    what: str
    status: str
    millis: int | None


class KvThreadTime(NamedTuple):
    """A stretch of time of the one thread that commits to RocksDB, with the local time at its end."""

    idle_seconds: float
    seconds: float
    submitted: int
    millis: int | None

    @property
    def busy_share(self) -> float:
        """The share of the time in which it had work."""
        return 1 - self.idle_seconds / self.seconds if self.seconds else 0.0


@dataclass(slots=True)
class Run:
    """One database's life: its sessions, and what its events and the lines around them told, as tables.

    Rows are added while the log is stitched; frames are made of them when they are asked for. `dumps` are the
    statistics dumps' texts with their local times in milliseconds, `stall_moments` the local time in milliseconds, the
    column family and the kind of each stall line that has one; `slow_operations` and `kv_thread` are what BlueStore's
    lines say, `slow_places` the line of the longest of each, `slow_requests` the operations that an OSD's own log calls
    slow; `errors` are the failures that were logged,
    `error_places` the first lines of each kind; `marked_down` are the epochs at which an OSD was taken for dead, with
    the local time of its line. `options_text` is what was logged around the last open and when
    options were set; `manifest` is what the database's MANIFEST says at the log's end, if that was given.
    """

    name: str
    is_monitor: bool
    members: list[str]
    sessions: list[Session] = field(default_factory=list)
    event_counts: Counter[str] = field(default_factory=Counter)
    stall_lines: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    stall_places: dict[tuple[str, str, str], Evidence] = field(default_factory=dict)
    stall_moments: list[tuple[int, str, str]] = field(default_factory=list)
    memtable_switches: Rows[MemtableSwitch] = field(default_factory=lambda: Rows(MemtableSwitch))
    slow_operations: Spool[SlowOperation] = field(default_factory=lambda: Spool(SlowOperation))
    slow_requests: Spool[SlowRequest] = field(default_factory=lambda: Spool(SlowRequest))
    slow_places: dict[str, tuple[float, Evidence]] = field(default_factory=dict)
    errors: Spool[ErrorLine] = field(default_factory=lambda: Spool(ErrorLine))
    marked_down: dict[int, int | None] = field(default_factory=dict)
    error_places: dict[str, list[Evidence]] = field(default_factory=dict)
    kv_thread: list[KvThreadTime] = field(default_factory=list)
    stamps: StampRange = field(default_factory=StampRange)
    utc_offset_seconds: int | None = None
    rocksdb_version: str | None = None
    ceph_version: str | None = None
    quality: Quality = field(default_factory=Quality)
    companions: list[Companion] = field(default_factory=list)
    dumps: Spool[tuple[int | None, str]] = field(default_factory=lambda: Spool(tuple[int | None, str], DUMPS_IN_MEMORY))
    options_text: str = ""
    manifest: Manifest | None = None
    job_rows: Rows[Job] = field(default_factory=lambda: Rows(Job))
    unfinished_rows: Rows[Job] = field(default_factory=lambda: Rows(Job))
    table_rows: Rows[Table] = field(default_factory=lambda: Rows(Table, late="deleted_at"))
    blob_file_rows: Rows[BlobFile] = field(default_factory=lambda: Rows(BlobFile))
    other_event_rows: Rows[OtherEvent] = field(default_factory=lambda: Rows(OtherEvent))
    first_event_micros: int | None = None
    last_event_micros: int | None = None

    @property
    def jobs(self) -> pl.DataFrame:
        """Finished flushes, compactions and moves, in the log's order; columns as `Job` declares them."""
        return self.job_rows.frame()

    @property
    def unfinished(self) -> pl.DataFrame:
        """Flushes and compactions that started and never finished; columns as `Job` declares them."""
        return self.unfinished_rows.frame()

    @property
    def tables(self) -> pl.DataFrame:
        """Table files that were created; columns as `Table` declares them."""
        return self.table_rows.frame()

    @property
    def blob_files(self) -> pl.DataFrame:
        """Blob files that were created; columns as `BlobFile` declares them."""
        return self.blob_file_rows.frame()

    @property
    def other_events(self) -> pl.DataFrame:
        """What is in no other table; columns as `OtherEvent` declares them."""
        return self.other_event_rows.frame()

    @property
    def opens(self) -> pl.DataFrame:
        """The sessions; columns as `Open` declares them."""
        return frame(Open, [self._open(one) for one in self.sessions])

    @property
    def stalls(self) -> pl.DataFrame:
        """The stall lines that have a time; columns as `Stall` declares them."""
        return frame(
            Stall, [Stall(self.utc_micros(moment), family, kind) for moment, family, kind in self.stall_moments]
        )

    def scan_jobs(self) -> pl.LazyFrame:
        """What `jobs` has; a query over it reads no more than the columns it names, which long logs need."""
        return self.job_rows.lazy()

    def scan_tables(self) -> pl.LazyFrame:
        """What `tables` has, likewise."""
        return self.table_rows.lazy()

    def spans(self, kind: str) -> list[tuple[int, int]]:
        """Start and end, in microseconds since 1970, of each finished job of a kind whose start is in the log."""
        times = pl.col("started_at", "finished_at").to_physical()
        return self.scan_jobs().filter(kind=kind).select(times).drop_nulls().collect().rows()

    def utc_micros(self, local_millis: int) -> int:
        """A local time of the log in microseconds since 1970, UTC."""
        return (local_millis - 1000 * (self.utc_offset_seconds or 0)) * 1000

    def _open(self, session: Session) -> Open:
        return Open(
            session=session.number,
            opened_at=None if session.opened_at_millis is None else self.utc_micros(session.opened_at_millis),
            first_event_at=session.first_event_micros,
            last_event_at=session.last_event_micros,
            rocksdb_version=session.rocksdb_version,
            ceph_version=session.ceph_version,
            session_id=session.session_id,
        )
