"""What the scan of one log, or of one piece of a rotated log, found."""

from collections import Counter
from dataclasses import dataclass, field

from lsmlens.analyzer.findings import Evidence
from lsmlens.analyzer.logs.events import ANCHOR
from lsmlens.analyzer.logs.records import Record
from lsmlens.analyzer.logs.spool import Spool
from lsmlens.analyzer.logs.stamps import StampRange


@dataclass(slots=True)
class NotUnderstood:
    """A line that has an anchor but not what should follow it: where, why, and its beginning."""

    member: str
    line: int | None
    reason: str
    text: str


@dataclass(slots=True)
class Scan:
    """What one log, or one piece of a rotated log, holds.

    The first line (`head`) and what follows the last newline (`tail`) are kept unread: in a log cut at an
    arbitrary byte they are the halves of lines whose other halves stand in the pieces before and after.
    """

    member: str
    damage: str | None = None
    head: bytes = b""
    tail: bytes = b""
    by_source: dict[str, Spool[Record]] = field(default_factory=dict)
    stamps: dict[str, StampRange] = field(default_factory=dict)
    daemons: dict[str, str] = field(default_factory=dict)
    opens: set[str] = field(default_factory=set)
    first_event: tuple[int, str, str] | None = None
    last_event: tuple[int, str, str] | None = None
    sketch: set[tuple[int, str, str]] = field(default_factory=set)
    utc_offset_seconds: int | None = None
    bytes: int = 0
    lines: int = 0
    lines_are_estimated: bool = False
    cut_lines: int = 0
    events_cut: int = 0
    events_rejected: int = 0
    not_understood: list[NotUnderstood] = field(default_factory=list)
    unknown_fields: Counter[str] = field(default_factory=Counter)
    impossible_values: Counter[str] = field(default_factory=Counter)
    stall_places: dict[tuple[str, str, str], Evidence] = field(default_factory=dict)
    slow_places: dict[str, tuple[float, Evidence]] = field(default_factory=dict)
    error_places: dict[str, list[Evidence]] = field(default_factory=dict)
    dumps: dict[str, Spool[tuple[int | None, str]]] = field(default_factory=dict)
    options_text: dict[str, str] = field(default_factory=dict)
    rocksdb_version: str | None = None
    ceph_version: str | None = None

    def stamps_of(self, source: str) -> StampRange:
        """The stamps of one source's lines."""
        stamps = self.stamps.get(source)
        if stamps is None:
            stamps = self.stamps[source] = StampRange()
        return stamps

    @property
    def has_records(self) -> bool:
        """Whether RocksDB wrote anything here that was found."""
        found = [*map(len, self.by_source.values()), *map(len, self.dumps.values())]
        return any(found) or ANCHOR in self.head or ANCHOR in self.tail
