"""What the scan of a log yields, in the order of the log: decoded events, and the text lines around them."""

from typing import TypeAlias

import msgspec
from lsmlens.analyzer.logs.events import AnyEvent


class Line(msgspec.Struct, tag_field="event", frozen=True, gc=False):
    """What a text line says; times are local, in milliseconds."""


class JobLine(Line, tag="job line", frozen=True):
    """Of which family a job is, and whether the line begins a memtable's flush."""

    family: str
    job: int
    starts_flush: bool


class CompactedLine(Line, tag="compacted", frozen=True):
    """What a compaction that is done wrote, and into which level."""

    family: str
    level: int
    files: int


class SummaryLine(Line, tag="summary", frozen=True):
    """A family's files in each level."""

    family: str
    files: tuple[int, ...]


class MovingLine(Line, tag="moving", frozen=True):
    """A table about to be moved to a level."""

    number: int
    level: int


class MovedLine(Line, tag="moved", frozen=True):
    """Tables of a family that were moved to a level."""

    family: str
    files: int
    level: int
    bytes: int


class StallLine(Line, tag="stall", frozen=True):
    """Writes are slowed down or stopped for a family."""

    family: str
    kind: str
    cause: str
    millis: int | None


class OpenLine(Line, tag="open", frozen=True):
    """The database is opened; the identity is the same wherever the line is told again."""

    identity: str
    millis: int | None
    rocksdb_version: str | None
    ceph_version: str | None
    session_id: str | None


class ForcedLine(Line, tag="forced", frozen=True):
    """Why flushes follow that a limit of the whole database asks for."""

    reason: str


class SlowLine(Line, tag="slow", frozen=True):
    """Something BlueStore did that took long."""

    what: str
    seconds: float
    millis: int | None


class SlowRequestLine(Line, tag="slow request", frozen=True):
    """An operation that is under way for long: of which OSD where the line says it, since when, and what it is at."""

    osd: int | None
    operation: str
    seconds: float
    state: str
    millis: int | None


class KvThreadLine(Line, tag="kv thread", frozen=True):
    """What BlueStore's thread that commits to RocksDB did for some seconds."""

    idle_seconds: float
    seconds: float
    submitted: int
    millis: int | None


class MemtableLine(Line, tag="memtable", frozen=True):
    """A family begins a new memtable; so many are full, with the one that was just written to."""

    family: str
    immutable: int
    millis: int | None


class ErrorLine(Line, tag="error", frozen=True):
    """Something failed, and the status it gave or the rest of the line."""

    what: str
    status: str
    millis: int | None


class MarkedDownLine(Line, tag="marked down", frozen=True):
    """The OSD was taken for dead, at an epoch of the OSD map."""

    epoch: int
    millis: int | None


class UnknownFields(Line, tag="unknown fields", frozen=True):
    """Fields of an event, as JSON, that its kind is not known to have."""

    kind: str
    job: int | None
    time_micros: int
    fields: str


Record: TypeAlias = (
    AnyEvent
    | JobLine
    | CompactedLine
    | SummaryLine
    | MovingLine
    | MovedLine
    | StallLine
    | OpenLine
    | ForcedLine
    | SlowLine
    | SlowRequestLine
    | KvThreadLine
    | MemtableLine
    | ErrorLine
    | MarkedDownLine
    | UnknownFields
)
