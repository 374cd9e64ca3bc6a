"""What the scan of a log yields, in the order of the log: decoded events, and the text lines around them."""

from typing import Any, Final, TypeAlias

# Each record is a plain tuple, so that a spool can hold it; its first item says which, and what follows:
EVENT: Final = 0  # the event
JOB_LINE: Final = 1  # column family, job, whether it begins a memtable's flush
COMPACTED_LINE: Final = 2  # column family, output level, files written
SUMMARY_LINE: Final = 3  # column family, files per level
MOVED_LINE: Final = 4  # column family, files, level, bytes
STALL_LINE: Final = 5  # column family, "slowdown" or "stop", cause, local time in milliseconds
OPEN_LINE: Final = 6  # identity, local time in milliseconds, RocksDB version, Ceph version, DB session id
FORCED_LINE: Final = 7  # the flush reason that was reached for the whole database
SLOW_LINE: Final = 8  # what BlueStore did, seconds it took, local time in milliseconds
KV_THREAD_LINE: Final = 9  # idle seconds, seconds in all, transactions submitted, local time in milliseconds
MEMTABLE_LINE: Final = 10  # column family, full memtables with the one just switched, local time in milliseconds
MOVING_LINE: Final = 11  # column family, table, level
ERROR_LINE: Final = 12  # what failed, the status or the rest of the line, local time in milliseconds
MARKED_DOWN_LINE: Final = 13  # the OSD map's epoch, local time in milliseconds

Record: TypeAlias = tuple[Any, ...]
