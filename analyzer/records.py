"""What the scan of a log yields, in the order of the log: decoded events, and the text lines around them."""

from typing import Final, TypeAlias

from lsmlens.analyzer.events import Event

# Each record is a plain tuple, so that a spool can hold it; its first item says which.
EVENT: Final = 0
JOB_LINE: Final = 1
COMPACTED_LINE: Final = 2
SUMMARY_LINE: Final = 3
MOVED_LINE: Final = 4
STALL_LINE: Final = 5
OPEN_LINE: Final = 6

EventRecord: TypeAlias = tuple[int, Event]
JobLine: TypeAlias = tuple[int, str, int, bool]  # column family, job, whether it starts a memtable's flush
CompactedLine: TypeAlias = tuple[int, str, int, int]  # column family, output level, files out
SummaryLine: TypeAlias = tuple[int, str, tuple[int, ...]]  # column family, files per level
MovedLine: TypeAlias = tuple[int, str, int, int, int]  # column family, files, level, bytes
StallLine: TypeAlias = tuple[int, str, str, str, int | None]  # column family, slowdown or stop, cause, local millis
# identity of the open, local millis, RocksDB version, Ceph version, DB session id
OpenLine: TypeAlias = tuple[int, str, int | None, str | None, str | None, str | None]

Record: TypeAlias = EventRecord | JobLine | CompactedLine | SummaryLine | MovedLine | StallLine | OpenLine
