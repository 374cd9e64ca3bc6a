"""Text lines around the events that say what the events leave out: the column family, opens, stalls.

Each line is found by its anchor, and read from there: what stands before it (host's stamp, thread, source
file, which changes with every build) is never matched. Source: db/ of RocksDB v4.13 to v11.8.1, and
os/bluestore/BlueStore.cc of Ceph for what BlueStore says of its waits on RocksDB.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from stringzilla import rfind

FAMILY_LIMIT = 512
USUAL_BYTES = 48


class LineShape(NamedTuple):
    """One line shape RocksDB writes: its anchor, what follows it, and real lines that prove both.

    The column family's name stands in brackets right before the anchor's own closing bracket.
    """

    name: str
    anchor: bytes
    rest: re.Pattern[bytes]
    examples: tuple[bytes, ...]


JOB = LineShape(
    "job",
    b"] [JOB ",
    # Not wanted: lines that name a job but no family (`[db_impl/…cc:104] [JOB 32] Syncing log #116`), and
    # `Generated table #N`, which stands beside an event that says the same.
    re.compile(rb"(\d{1,18})\] (Compacting|Flushing memtable|Level-0 flush table|Compacted) "),
    (
        b"[compaction/compaction_job.cc:1673] [P] [JOB 29] Compacting 3@0 + 3@1 files to L1, score 1.08",
        b"[flush_job.cc:318] [O-2] [JOB 25] Flushing memtable with next log file: 103",
        b"[db/flush_job.cc:902] [code_shred] [JOB 3] Flushing memtable id 1 with next log file: 30",
        b"[flush_job.cc:394] [P] [JOB 28] Level-0 flush table #112: 4343902 bytes OK",
        b"[default] [JOB 3] Compacted 4@0 + 1@1 files to L1 => 2531339 bytes",
    ),
)
COMPACTED_TO = LineShape(
    "compacted to",
    b"] compacted to: ",
    re.compile(rb"[^\n]{0,400}?level (\d{1,4}), files in\([\d, ]*\)[^\n]{0,80}? out\((\d{1,9})"),
    (
        b"[compaction/compaction_job.cc:743] [P] compacted to: files[0 4 0 0 0 0 0] max score 0.95, MB/sec: 226.2 rd,"
        b" 107.2 wr, level 1, files in(3, 3) out(3) MB in(12.4, 11.0) out(11.1), read-write-amplify(2.8)",
    ),
)
LEVEL_SUMMARY = LineShape(
    "level summary",
    b"] Level summary: ",
    re.compile(rb"(?:base level \d+ [^\n]{0,120}?)?files\[([\d ]*)\]"),
    (b"[db_impl/db_impl_compaction_flush.cc:203] [P] Level summary: files[2 4 0 0 0 0 0] max score 0.95",),
)
MOVED = LineShape(
    "moved",
    b"] Moved #",
    re.compile(rb"(\d{1,9}) files to level-(\d{1,4}) (\d{1,18}) bytes"),
    (
        b"[db_impl/db_impl_compaction_flush.cc:2704] [p-1] Moved #1 files to level-2 4277850 bytes OK:"
        b" files[1 5 1 0 0 0 0] max score 1.27",
    ),
)
MOVING = LineShape(
    "moving",
    b"] Moving #",
    re.compile(rb"(\d{1,18}) to level-(\d{1,4}) \d{1,18} bytes"),
    (b"[db_impl/db_impl_compaction_flush.cc:2676] [p-1] Moving #188 to level-2 4277850 bytes",),
)
STALLING = LineShape(
    "slowdown",
    b"] Stalling writes",
    re.compile(
        rb"(?: because (?:we have|of) (?:\d+ )?|, )"
        rb"(immutable memtables|level-0 files|estimated pending|L0 files \d+, memtables)"
    ),
    (
        b"[db/column_family.cc:799] [default] Stalling writes because we have 4 level-0 files rate 39886",
        b"[db/column_family.cc:932] [default] Stalling writes, L0 files 21, memtables 2, increment 8.000000",  # Speedb
    ),
)
STOPPING = LineShape(
    "stop",
    b"] Stopping writes",
    STALLING.rest,
    (
        b"[db/column_family.cc:743] [default] Stopping writes because we have 2 immutable memtables"
        b" (waiting for flush), max_write_buffer_number is set to 2",
        b"[db/column_family.cc:770] [O-1] Stopping writes because of estimated pending compaction bytes 274877906944",
    ),
)
# The number is of those that were full before; the one that was written to until now is not in it:
#   [default] New memtable created with log file: #11. Immutable memtables: 1.
#   [default] Stopping writes because we have 2 immutable memtables (waiting for flush), …
MEMTABLE = LineShape(
    "memtable switch",
    b"] New memtable created with log file: #",
    re.compile(rb"(\d{1,18})\. Immutable memtables: (\d{1,9})\."),
    (
        b"[db_impl/db_impl_write.cc:1665] [P] New memtable created with log file: #38. Immutable memtables: 1.",
        b"[db/db_impl_write.cc:1373] [default] New memtable created with log file: #11. Immutable memtables: 1.",
    ),
)
# Releases up to 6.x call both causes "Write Buffer Manager" in the flush's event; these lines tell them apart.
WAL_LIMIT = LineShape(
    "WAL limit",
    b"] Flushing all column families with data in WAL",
    re.compile(rb" number (\d{1,18})"),
    (
        b"[db_impl/db_impl_write.cc:1230] Flushing all column families with data in WAL number 103."
        b" Total log size is 67109786 while max_total_wal_size is 67108864",
    ),
)
BUFFER_LIMIT = LineShape(
    "write buffer limit",
    b"] Flushing column family with ",
    re.compile(rb"(?:largest mem table size|oldest memtable entry)"),
    (
        b"[db/db_impl_write.cc:1033] Flushing column family with largest mem table size. Write buffer is using 1 bytes",
        b"[db/db_impl_write.cc:1311] Flushing column family with oldest memtable entry. Write buffers are using",
    ),
)
# A family's table in a statistics dump; its marker stands before, on a line that older releases begin otherwise.
DUMPED = LineShape(
    "statistics dump",
    b"] **",
    re.compile(rb""),
    (b"** Compaction Stats [default] **", b"** File Read Latency Histogram By Level [default] **"),
)
# What every dump begins with. Late releases leave out families in which nothing happened, and then all of them.
DUMP_MARKER = LineShape(
    "statistics dump's marker",
    b"] ------- DUMPING STATS -------",
    re.compile(rb""),
    (b"[db/db_impl/db_impl.cc:1085] ------- DUMPING STATS -------",),
)
OPTIONS_SET = LineShape(
    "options set",
    b"] SetOptions() on column family [",
    re.compile(rb"[^\n]*\], inputs:"),
    (b"[db/db_impl/db_impl.cc:1153] SetOptions() on column family [default], inputs:",),
)
# An open prints these before it recovers the families, and each family created later prints its own.
FAMILY_OPTIONS = LineShape(
    "options of a column family",
    b"] --------------- Options for column family [",
    re.compile(rb"[^\n]{0,512}\]:"),
    (b"[db/column_family.cc:630] --------------- Options for column family [column_family_name_000001]:",),
)
FAMILY_OPTIONS_END = re.compile(rb"\] (?:Created column family|-{15} Options for column family) \[")
# Each open recovers the default family once, in every version, whatever banner came before.
OPENED = LineShape(
    "opened",
    b"] (ID 0), log number is ",
    re.compile(rb"(\d{1,18})"),
    (
        b"[version_set.cc:4574] Column family [default] (ID 0), log number is 4",
        b"Column family [default] (ID 0), log number is 26",
    ),
)
# BlueStore tells of what took longer than bluestore_log_op_age (5 s), log_latency of a call, log_latency_fn of more.
SLOW_OPERATION = LineShape(
    "slow operation",
    b"slow operation observed for ",
    re.compile(rb"([^,\n]{1,80}), latency = (\d{1,9}(?:\.\d{1,12})?)"),
    (
        b"log_latency_fn slow operation observed for _txc_committed_kv, latency = 4.423512000s, txc = 0x55d0f5a2a000",
        b"log_latency slow operation observed for kv_commit, latency = 0.030404553s",
    ),
)
# An operation that is under way for osd_op_complaint_time (30 s) and more; up to 14 with its age, later with its begin.
SLOW_REQUEST = LineShape(
    "slow request",
    b"slow request ",
    re.compile(
        rb"(?:(\d{1,9}\.\d{1,9}) seconds old, received at [\d :T.+Z-]{19,33}: )?(\w[^\n]{1,1000}?)"
        rb"(?: initiated (\d{4}-\d\d-\d\d[ T][\d:.]{8,15})(?:[+-]\d{4})?)? currently ([^\n]{1,200})"
    ),
    (
        b"2018-03-04 21:22:38.132098 osd.0 osd.0 10.10.10.3:6800/2205 784 : cluster [WRN] slow request 30.873970"
        b" seconds old, received at 2018-03-04 21:22:07.258064: osd_op(client.1696664.0:776670 1.6b"
        b" 1:d6adde44:::rbd_data.1:head [write 655360~4096] snapc a=[] ondisk+write+known_if_redirected e201) currently"
        b" waiting for subops from 1,5",
        b"log_channel(cluster) log [WRN] : slow request osd_op(client.4245.0:1030 3.4 3:2ca66b65:::object1029:head"
        b" [write 0~1024] snapc 0=[] ondisk+write+known_if_redirected e13) initiated 2020-02-15T11:38:01.282152+0000"
        b" currently waiting for sub ops",
    ),
)
# Every bluestore_kv_sync_util_logging_s (10 s) at debug_bluestore 5.
KV_THREAD = LineShape(
    "kv thread",
    b"utilization: idle ",
    re.compile(rb"(\d{1,9}(?:\.\d{1,12})?)s of (\d{1,9}(?:\.\d{1,12})?)s, submitted: (\d{1,18})"),
    (b"_kv_sync_thread utilization: idle 1.067797065s of 10.014245987s, submitted: 45998",),
)

# What a failure says: a RocksDB status that is none of a shutdown, of a dropped family or of a cancelled job.
_STATUS = rb"((?:Corruption|IO error|Not implemented|Invalid argument|Memory limit|Unknown)[^\n]{0,400})"
COMPACTION_ERROR = LineShape(
    "failed compaction",
    b"] Compaction error: ",
    re.compile(_STATUS),
    (
        b"[db/db_impl_compaction_flush.cc:2660] Compaction error: Corruption: block checksum mismatch: expected 1,"
        b" got 2  in db/000141.sst offset 1214210 size 4093",
    ),
)
BACKGROUND_ERROR = LineShape(
    "background error",
    b"] Waiting after background ",
    re.compile(rb"(?:compaction|flush) error: " + _STATUS),
    (
        b"[db/db_impl_compaction_flush.cc:2212] Waiting after background compaction error: Corruption: block checksum"
        b" mismatch, Accumulated background error counts: 1",
    ),
)
# From 5.17 on, with the severity behind it in later releases.
SET_ERROR = LineShape(
    "background error set",
    b"ErrorHandler: Set regular background error",
    re.compile(rb"[^\n]{0,40}?" + _STATUS),
    (
        b"[db/error_handler.cc:283] ErrorHandler: Set regular background error. Status: IO error: No space left on"
        b" device: While appending to file",
    ),
)
OPEN_ERROR = LineShape(
    "failed open",
    b"] DB::Open() failed: ",
    re.compile(_STATUS),
    (b"[db/db_impl/db_impl_open.cc:2693] DB::Open() failed: Corruption: CURRENT file corrupted",),
)
CEPH_OPEN_ERROR = LineShape(
    "failed open of the store",
    b"rocksdb: Corruption: ",
    re.compile(rb"([^\n]{0,400})"),
    (b"2019-03-12 10:02:11.123456 7f0f5d1e5d80 -1 rocksdb: Corruption: file is too short (1 bytes) to be an sstable",),
)
SUBMIT_ERROR = LineShape(
    "failed write",
    b"submit_common error: ",
    re.compile(_STATUS),
    (b"-1 rocksdb: submit_common error: Corruption: block checksum mismatch code = 2 Rocksdb transaction:",),
)
BLUEFS_FULL = LineShape(
    "BlueFS out of space",
    b"bluefs enospc",
    re.compile(rb"([^\n]{0,400})"),
    (b'/src/os/bluestore/BlueFS.cc: 2344: ceph_abort_msg("bluefs enospc")',),
)
BAD_CHECKSUM = LineShape(
    "bad checksum of an object",
    b" _verify_csum bad ",
    re.compile(rb"([^\n]{0,400})"),
    (
        b"bluestore(/var/lib/ceph/osd/ceph-8) _verify_csum bad crc32c/0x1000 checksum at blob offset 0x0, got"
        b" 0x6706be76, expected 0x4d0a6d1, device location [0x1f0000~1000], logical extent 0x0~1000",
    ),
)
DEVICE_ERROR = LineShape(
    "device error",
    b"((5) Input/output error)",
    re.compile(rb"([^\n]{0,400})"),
    (b"bdev(0x55d0 /var/lib/ceph/osd/ceph-8/block) _aio_thread got r=-5 ((5) Input/output error)",),
)
# The cluster log's line of an OSD that its peers took for dead, in its own log too.
MARKED_DOWN = LineShape(
    "marked down",
    b"wrongly marked me down at e",
    re.compile(rb"(\d{1,12})"),
    (b"log_channel(cluster) log [WRN] : Monitor daemon marked osd.3 down, but it wrongly marked me down at e4711",),
)
ERRORS = (
    COMPACTION_ERROR,
    BACKGROUND_ERROR,
    SET_ERROR,
    OPEN_ERROR,
    CEPH_OPEN_ERROR,
    SUBMIT_ERROR,
    BLUEFS_FULL,
    BAD_CHECKSUM,
    DEVICE_ERROR,
)

SHAPES: tuple[LineShape, ...] = (
    JOB,
    COMPACTED_TO,
    LEVEL_SUMMARY,
    MOVED,
    MOVING,
    STALLING,
    STOPPING,
    MEMTABLE,
    WAL_LIMIT,
    BUFFER_LIMIT,
    DUMPED,
    DUMP_MARKER,
    OPTIONS_SET,
    FAMILY_OPTIONS,
    OPENED,
    SLOW_OPERATION,
    SLOW_REQUEST,
    KV_THREAD,
    *ERRORS,
    MARKED_DOWN,
)

STALL_CAUSES = {
    b"immutable memtables": "immutable_memtables",
    b"level-0 files": "level0_files",
    b"estimated pending": "pending_compaction_bytes",
}
# Speedb names both and says of neither that it is the cause.
SPEEDB_STALL_CAUSE = "level0_files_or_memtables"


class Version(NamedTuple):
    """A version that a log tells: the words before it, and how it is written."""

    anchors: tuple[bytes, ...]
    shape: re.Pattern[bytes]


BANNER = Version(
    (b"RocksDB version: ", b"SpeeDB version: ", b"Speedb version: "),
    re.compile(rb"(?:RocksDB|SpeeDB|Speedb) version: (\d+\.\d+(?:\.\d+)*)"),
)
CEPH_VERSION = Version((b"ceph version ",), re.compile(rb"ceph version (\d+\.\d+\.\d+\S*)"))
SESSION_ID = re.compile(rb"\bDB Session ID:\s+([0-9A-Z]{20})\b")


def last_version(version: Version, view: memoryview, since: int, start: int) -> tuple[str | None, int]:
    """The last version of its kind told in `view[since:start]`, and where (`since` if nowhere)."""
    for anchor in version.anchors:
        place = rfind(view, anchor, since, start)
        if place >= 0 and (match := version.shape.match(view, place, start)):
            return match[1].decode("utf-8", "replace"), place
    return None, since


def family_before(view: memoryview, anchor: int) -> str | None:
    """The name in the bracket that the anchor at `anchor` closes; None if there is none on that line."""
    # a name may hold brackets itself, but the log puts a space before its own
    before = bytes(view[max(0, anchor - USUAL_BYTES) : anchor])
    start = before.rfind(b" [") + 1
    if not start:
        before = bytes(view[max(0, anchor - FAMILY_LIMIT) : anchor])
        spaced = before.rfind(b" [")
        start = spaced + 1 if spaced >= 0 else before.rfind(b"[")
    if start < 0 or b"\n" in (name := before[start + 1 :]):
        return None
    return _name(name)


@lru_cache(maxsize=1 << 10)
def _name(name: bytes) -> str:
    return name.decode("utf-8", "replace")
