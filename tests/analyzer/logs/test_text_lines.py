"""The text lines around the events: found where they stand, whoever logged them, and nothing else found."""

import io
from typing import Any, cast

import pytest
from lsmlens.analyzer.bundles.compression import DamagedStream
from lsmlens.analyzer.bundles.roles import Role
from lsmlens.analyzer.logs import records
from lsmlens.analyzer.logs.blocks import StreamedBlocks
from lsmlens.analyzer.logs.records import Record
from lsmlens.analyzer.logs.scan import Scan
from lsmlens.analyzer.logs.scanner import Scanner
from lsmlens.analyzer.logs.text_lines import (
    BANNER,
    CEPH_VERSION,
    DUMP_MARKER,
    DUMPED,
    ERRORS,
    FAMILY_OPTIONS,
    KV_THREAD,
    MARKED_DOWN,
    OPTIONS_SET,
    SESSION_ID,
    SHAPES,
    SLOW_OPERATION,
    SLOW_REQUEST,
    LineShape,
    family_before,
)

NATIVE = b"2026/11/21-07:33:02.040964 10094 "
ORIGINAL = b"(Original Log Time 2026/11/21-07:33:02.040927) "
CEPH = b"2026-11-21T07:33:02.037+0000 7f9fa51141c0  4 rocksdb: "
NAUTILUS = b"2026-11-21 07:33:02.037 7f9fa51141c0  3 rocksdb: "
WARNING = NATIVE + b"[WARN] "
CONTAINER = b"debug " + CEPH
CRASH = b"  -161> " + CEPH
PREFIXES = {
    "native": NATIVE,
    "original time": NATIVE + ORIGINAL,
    "warning": WARNING,
    "Ceph": CEPH,
    "Ceph, original time": CEPH + ORIGINAL,
    "Nautilus": NAUTILUS,
    "container": CONTAINER,
    "crash dump": CRASH,
}
STAMP = 1795246382037  # of the lines above, but for the native ones
NATIVE_STAMP = 1795246382040

# Lines as RocksDB writes them, and the record each comes to.
LINES: list[tuple[bytes, Record]] = [
    (
        b"[compaction/compaction_job.cc:1673] [P] [JOB 29] Compacting 3@0 + 3@1 files to L1, score 1.08",
        records.JobLine("P", 29, False),
    ),
    (
        b"[flush_job.cc:318] [O-2] [JOB 25] Flushing memtable with next log file: 103",
        records.JobLine("O-2", 25, True),
    ),
    (
        b"[db/flush_job.cc:902] [code_shred] [JOB 3] Flushing memtable id 1 with next log file: 30",
        records.JobLine("code_shred", 3, True),
    ),
    (
        b"[/home/jenkins-build/build/workspace/ceph-build/rocksdb/db/flush_job.cc:394] [default] [JOB 28] Level-0 flush"
        b" table #112: 4343902 bytes OK",
        records.JobLine("default", 28, False),
    ),
    (
        b"[db\\db_impl\\flush_job.cc:394] [p-2] [JOB 28] Level-0 flush table #112: started",
        records.JobLine("p-2", 28, False),
    ),
    (b"[default] [JOB 3] Compacted 4@0 + 1@1 files to L1 => 2531339 bytes", records.JobLine("default", 3, False)),
    (
        b"[compaction/compaction_job.cc:743] [P] compacted to: files[0 4 0 0 0 0 0] max score 0.95, MB/sec: 226.2 rd,"
        b" 107.2 wr, level 1, files in(3, 3) out(3) MB in(12.4, 11.0) out(11.1), read-write-amplify(2.8)"
        b" write-amplify(0.9) OK, records in: 54111, records dropped: 17018 output_compression: NoCompression",
        records.CompactedLine("P", 1, 3),
    ),
    (
        b"[/compaction_job.cc:634] [default] compacted to: base level 6 level multiplier 10.00 max bytes base 536870912"
        b" files[0 0 0 0 0 0 12] max score 0.00, estimated pending compaction bytes 77 (3 files need compaction),"
        b" MB/sec: 32.0 rd, 21.6 wr, level 6, files in(4, 8) filtered(1, 0) out(11 +2 blob) MB in(2.0, 5.9 +0.1 blob)"
        b" filtered(0.1, 0.0) out(5.3 +1.0 blob)",
        records.CompactedLine("default", 6, 11),
    ),
    (
        b"[db_impl/db_impl_compaction_flush.cc:203] [P] Level summary: files[2 4 0 0 0 0 0] max score 0.95",
        records.SummaryLine("P", (2, 4, 0, 0, 0, 0, 0)),
    ),
    (
        b"[db/db_impl/db_impl_compaction_flush.cc:203] [users] Level summary: base level 5 level multiplier 10.00"
        b" max bytes base 524288 files[1 0 0 0 0 2 13] max score 0.33, estimated pending compaction bytes 0",
        records.SummaryLine("users", (1, 0, 0, 0, 0, 2, 13)),
    ),
    (
        b"[db_impl/db_impl_compaction_flush.cc:2704] [p-1] Moved #1 files to level-2 4277850 bytes OK:"
        b" files[1 5 1 0 0 0 0] max score 1.27",
        records.MovedLine("p-1", 1, 2, 4277850),
    ),
    (
        b"[db_impl/db_impl_compaction_flush.cc:2676] [p-1] Moving #188 to level-2 4277850 bytes",
        records.MovingLine(188, 2),
    ),
]
STALLS: list[tuple[bytes, tuple[str, str, str]]] = [
    (
        b"[db/column_family.cc:799] [default] Stalling writes because we have 4 level-0 files rate 39886",
        ("default", "slowdown", "level0_files"),
    ),
    (
        b"[/column_family.cc:750] [m-0] Stalling writes because we have 3 immutable memtables (waiting for flush),"
        b" max_write_buffer_number is set to 4 rate 16777216",
        ("m-0", "slowdown", "immutable_memtables"),
    ),
    (
        b"[/column_family.cc:780] [m-0] Stalling writes because of estimated pending compaction bytes 68719476736"
        b" rate 16777216",
        ("m-0", "slowdown", "pending_compaction_bytes"),
    ),
    (
        b"[db/column_family.cc:743] [default] Stopping writes because we have 2 immutable memtables"
        b" (waiting for flush), max_write_buffer_number is set to 2",
        ("default", "stop", "immutable_memtables"),
    ),
    (
        b"[/column_family.cc:760] [O-1] Stopping writes because we have 36 level-0 files",
        ("O-1", "stop", "level0_files"),
    ),
    (
        b"[db/column_family.cc:770] [O-1] Stopping writes because of estimated pending compaction bytes 274877906944",
        ("O-1", "stop", "pending_compaction_bytes"),
    ),
]
OPENINGS = [
    b"[version_set.cc:4574] Column family [default] (ID 0), log number is 4",
    b"Column family [default] (ID 0), log number is 26",
    b"[db/version_set.cc:6209] Column family [default] (ID 0), log number is 0",
]
# No job's family, and no stall, is said by any of these.
OTHERS = [
    b"[db_impl/db_impl_compaction_flush.cc:104] [JOB 32] Syncing log #116",
    b"[db_impl/db_impl_files.cc:348] [JOB 45] Try to delete WAL files size 189536558, prev total WAL file size 85",
    b"[compaction/compaction_job.cc:1344] [p-1] [JOB 47] Generated table #147: 155607 keys, 68426145 bytes",
    b"[default] [JOB x] Compacting 4@0",
    b"[db/column_family.cc:805] [default] Increasing compaction threads because we have 4 level-0 files",
    b"[db/column_family.cc:805] [default] Stalling writes because of the weather",
    b"[version_set.cc:4574] Column family [m-0] (ID 1), log number is 3",
    b"[p-1] Moved #many files to level-2 4277850 bytes OK",
    b"[P] Level summary: files(2 4 0)",
    b"[P] compacted to: files[0 4] max score 0.95, MB/sec: 226.2 rd",
    b"no bracket] [JOB 29] Compacting 3@0 + 3@1 files to L1",
    b"[JOB 29] Compacting 3@0 + 3@1 files to L1",
]
FORCED = [
    (
        b"[db_impl/db_impl_write.cc:1230] Flushing all column families with data in WAL number 103. Total log size is"
        b" 67109786 while max_total_wal_size is 67108864",
        "WAL Full",
    ),
    (
        b"[db/db_impl_write.cc:1033] Flushing column family with largest mem table size. Write buffer is using 1 bytes",
        "Write Buffer Manager",
    ),
    (
        b"[db/db_impl_write.cc:1311] Flushing column family with oldest memtable entry. Write buffers are using 268 M",
        "Write Buffer Manager",
    ),
]
# The records of these end in the time of the line.
TIMED: list[tuple[bytes, tuple[Any, ...]]] = [
    (
        b"log_channel(cluster) log [WRN] : map e4712 wrongly marked me down at e4711",
        (records.MarkedDownLine, 4711),
    ),
    (
        b"[db_impl/db_impl_write.cc:1665] [P] New memtable created with log file: #38. Immutable memtables: 1.",
        (records.MemtableLine, "P", 2),
    ),
    (
        b"bluestore(/var/lib/ceph/osd/ceph-0) log_latency_fn slow operation observed for _txc_committed_kv, latency ="
        b" 4.423512000s, txc = 0x55d0f5a2a000",
        (records.SlowLine, "_txc_committed_kv", 4.423512),
    ),
    (
        b"bluestore(/var/lib/ceph/osd/ceph-0) log_latency slow operation observed for submit_transact, latency = 5s",
        (records.SlowLine, "submit_transact", 5.0),
    ),
    (
        b"bluestore(/var/lib/ceph/osd/ceph-0) _kv_sync_thread utilization: idle 1.067797065s of 10.014245987s,"
        b" submitted: 45998",
        (records.KvThreadLine, 1.067797065, 10.014245987, 45998),
    ),
    (
        b"log_channel(cluster) log [WRN] : slow request 30.873970 seconds old, received at 2026-11-21 07:32:31.258064:"
        b" osd_op(client.1.0:2 1.6b 1:d6adde44:::a:head [write 0~1] snapc 0=[] ondisk+write e201) currently waiting for"
        b" subops from 1,5",
        (
            records.SlowRequestLine,
            None,
            "osd_op(client.1.0:2 1.6b 1:d6adde44:::a:head [write 0~1] snapc 0=[] ondisk+write e201)",
            30.87397,
            "waiting for subops from 1,5",
        ),
    ),
]
# What failed, and the status or the rest of the line.
FAILED: list[tuple[bytes, tuple[str, str]]] = [
    (
        b"[db/db_impl_compaction_flush.cc:2660] Compaction error: Corruption: block checksum mismatch: expected 1,"
        b" got 2",
        ("failed compaction", "Corruption: block checksum mismatch: expected 1, got 2"),
    ),
    (
        b"[db/db_impl_compaction_flush.cc:2212] Waiting after background flush error: IO error: No space left on"
        b" device, Accumulated background error counts: 1",
        ("background error", "IO error: No space left on device, Accumulated background error counts: 1"),
    ),
    (
        b"[db/error_handler.cc:283] ErrorHandler: Set regular background error, status: Corruption: bad block,"
        b" background_errors: 1",
        ("background error set", "Corruption: bad block, background_errors: 1"),
    ),
    (
        b"[db/db_impl/db_impl_open.cc:2693] DB::Open() failed: Corruption: CURRENT file corrupted",
        ("failed open", "Corruption: CURRENT file corrupted"),
    ),
    (
        b"submit_common error: Corruption: block checksum mismatch code = 2 Rocksdb transaction:",
        ("failed write", "Corruption: block checksum mismatch code = 2 Rocksdb transaction:"),
    ),
    (b'ceph_abort_msg("bluefs enospc")', ("BlueFS out of space", '")')),
    (
        b"bluestore(/var/lib/ceph/osd/ceph-8) _verify_csum bad crc32c/0x1000 checksum at blob offset 0x0",
        ("bad checksum of an object", "crc32c/0x1000 checksum at blob offset 0x0"),
    ),
    (b"bdev(0x55d0 /dev/x) _aio_thread got r=-5 ((5) Input/output error)", ("device error", "")),
    (b"-1 rocksdb: Corruption: file is too short", ("failed open of the store", "file is too short")),
]
EVERY_LINE = (
    [line for line, _ in (*LINES, *TIMED)]
    + [line for line, _ in FORCED]
    + [line for line, _ in STALLS]
    + OPENINGS
    + [line for line, _ in FAILED]
)


def scanned(*lines: bytes) -> Scan:
    text = b"".join(line + b"\n" for line in (b"a first line, which is set aside", *lines))
    return Scanner("LOG", Role.ROCKSDB_LOG).read(StreamedBlocks(DamagedStream(io.BytesIO(text))))


def found(*lines: bytes) -> list[Record]:
    return list(scanned(*lines).by_source.get("", ()))


def opened(*lines: bytes) -> list[records.OpenLine]:
    openings = found(*lines)
    assert all(isinstance(one, records.OpenLine) for one in openings)
    return cast("list[records.OpenLine]", openings)


@pytest.mark.parametrize(
    ("shape", "example"), [(shape, example) for shape in SHAPES for example in shape.examples], ids=lambda value: ""
)
def test_a_shape_matches_its_own_examples(shape: LineShape, example: bytes) -> None:
    at = example.index(shape.anchor)
    assert shape.rest.match(example, at + len(shape.anchor))
    if shape not in (
        SLOW_OPERATION,
        SLOW_REQUEST,
        KV_THREAD,
        MARKED_DOWN,
        *ERRORS,
    ):  # BlueStore's, of the whole database
        family = family_before(memoryview(example), at)
        assert family
        assert b"[" + family.encode() + b"]" in example
    assert [other.name for other in SHAPES if other.anchor in example] == [shape.name]


def test_every_shape_is_tried_below() -> None:
    kept_as_texts = (DUMPED, DUMP_MARKER, OPTIONS_SET, FAMILY_OPTIONS)  # these are read in test_run_texts.py
    for shape in SHAPES:
        assert shape in kept_as_texts or any(shape.anchor in line for line in EVERY_LINE), shape.name


@pytest.mark.parametrize("prefix", PREFIXES.values(), ids=PREFIXES)
@pytest.mark.parametrize(("line", "record"), LINES, ids=[line[:40].decode() for line, _ in LINES])
def test_a_line_is_found_whoever_logged_it(prefix: bytes, line: bytes, record: Record) -> None:
    assert found(prefix + line) == [record]


@pytest.mark.parametrize("prefix", PREFIXES.values(), ids=PREFIXES)
@pytest.mark.parametrize(("line", "record"), TIMED, ids=[str(record[1]) for _, record in TIMED])
def test_what_bluestore_says_of_waiting(prefix: bytes, line: bytes, record: tuple[Any, ...]) -> None:
    millis = NATIVE_STAMP if prefix.startswith(NATIVE) else STAMP
    kind, *said = record
    assert found(prefix + line) == [kind(*said, millis)]


@pytest.mark.parametrize("prefix", PREFIXES.values(), ids=PREFIXES)
@pytest.mark.parametrize(("line", "said"), FAILED, ids=[said[0] for _, said in FAILED])
def test_a_failure_is_found_with_its_status(prefix: bytes, line: bytes, said: tuple[str, str]) -> None:
    millis = NATIVE_STAMP if prefix.startswith(NATIVE) else STAMP
    assert found(prefix + line) == [records.ErrorLine(*said, millis)]


@pytest.mark.parametrize("status", [b"Shutdown in progress", b"Column family dropped", b"Incomplete: canceled"])
def test_the_end_of_a_database_is_no_failure(status: bytes) -> None:
    assert found(NATIVE + b"[db/x.cc:1] Compaction error: " + status) == []


@pytest.mark.parametrize(
    "line",
    [b"utilization: idle xs of 10s, submitted: 1", b"slow operation observed for x", b"slow operation observed for "],
)
def test_a_torn_line_of_bluestore_is_none(line: bytes) -> None:
    assert found(line) == []


@pytest.mark.parametrize("prefix", PREFIXES.values(), ids=PREFIXES)
@pytest.mark.parametrize(("line", "said"), STALLS, ids=[" ".join(said) for _, said in STALLS])
def test_a_stall_is_found_with_its_cause_and_time(prefix: bytes, line: bytes, said: tuple[str, str, str]) -> None:
    millis = NATIVE_STAMP if prefix.startswith(NATIVE) else STAMP
    assert found(prefix + line) == [records.StallLine(*said, millis)]


@pytest.mark.parametrize("prefix", PREFIXES.values(), ids=PREFIXES)
@pytest.mark.parametrize("line", OPENINGS)
def test_an_opening_is_found_with_its_time(prefix: bytes, line: bytes) -> None:
    millis = NATIVE_STAMP if prefix.startswith(NATIVE) else STAMP
    (opening,) = opened(prefix + line)
    assert opening.millis == millis
    assert (opening.rocksdb_version, opening.ceph_version, opening.session_id) == (None, None, None)
    assert opening.identity in scanned(prefix + line).opens


@pytest.mark.parametrize("prefix", PREFIXES.values(), ids=PREFIXES)
@pytest.mark.parametrize(("line", "reason"), FORCED)
def test_what_forces_flushes_is_found(prefix: bytes, line: bytes, reason: str) -> None:
    assert found(prefix + line) == [records.ForcedLine(reason)]


def test_an_opening_is_the_same_however_it_was_carried() -> None:
    identities = {opened(prefix + OPENINGS[0])[0].identity for prefix in (CEPH, CONTAINER, CRASH, b"debug" + CEPH)}
    assert len(identities) == 1


def test_an_opening_takes_the_versions_before_it() -> None:
    lines = [
        NATIVE + b"RocksDB version: 6.29.5",
        NATIVE + b"DB Session ID:  OLDSESSIONOLDSESSION",
        NATIVE + OPENINGS[0],
        NATIVE + b"RocksDB version: 7.8.3",
        NATIVE + b"DB Session ID:  FSKLNKL6XH5HIHVCHQMR",
        NATIVE.replace(b"02.040964", b"03.040964") + OPENINGS[0],
    ]
    first, second = opened(*lines)
    assert (first.rocksdb_version, first.session_id) == ("6.29.5", "OLDSESSIONOLDSESSION")
    assert (second.rocksdb_version, second.session_id) == ("7.8.3", "FSKLNKL6XH5HIHVCHQMR")
    assert first.identity != second.identity


def test_an_opening_of_an_osd_takes_the_version_of_ceph() -> None:
    banner = b"0 ceph version 16.2.15 (618f440892089921c3e944a991122ddc44e60516) pacific (stable), process ceph-osd"
    (one,) = opened(CEPH.replace(b"4 rocksdb: ", banner), CEPH + b"RocksDB version: 6.8.1", CEPH + OPENINGS[0])
    assert (one.rocksdb_version, one.ceph_version, one.session_id) == ("6.8.1", "16.2.15", None)


@pytest.mark.parametrize(
    ("line", "version"),
    [
        (b"RocksDB version: 6.8.1", b"6.8.1"),
        (b"RocksDB version: 11.8.1", b"11.8.1"),
        (b"RocksDB version: 4.13", b"4.13"),
        (b"SpeeDB version: 2.2.1 (6.29.5)", b"2.2.1"),
        (b"Speedb version: 2.7.0", b"2.7.0"),
    ],
)
def test_banners(line: bytes, version: bytes) -> None:
    match = BANNER.shape.search(NATIVE + line)
    assert match
    assert match[1] == version
    assert any(anchor in line for anchor in BANNER.anchors)


def test_the_version_of_ceph_may_have_a_build() -> None:
    match = CEPH_VERSION.shape.search(b"ceph version 11.0.0-1688-g6f48ee6 (6f48ee6bc5c85f44d7ca4c984f9bef1339c2bea4)")
    assert match
    assert match[1] == b"11.0.0-1688-g6f48ee6"


def test_a_session_id_has_twenty_characters() -> None:
    assert SESSION_ID.search(b"DB Session ID:  FSKLNKL6XH5HIHVCHQMR\n")
    assert not SESSION_ID.search(b"DB Session ID:  FSKLNKL6XH5HIHVCHQM\n")


@pytest.mark.parametrize("prefix", [NATIVE, CEPH])
@pytest.mark.parametrize("line", OTHERS)
def test_other_lines_say_nothing(prefix: bytes, line: bytes) -> None:
    assert found(prefix + line) == []


@pytest.mark.parametrize("name", ["my family", "a]b", "a[b]", "[x]", "[", "x.*+?", "p-0", "Größe", "a/b:1", "]"])
@pytest.mark.parametrize("prefix", [NATIVE, NATIVE + b"[db/flush_job.cc:902] ", CEPH + b"[flush_job.cc:318] "])
def test_a_family_may_have_any_name(name: str, prefix: bytes) -> None:
    anchor = b"] [JOB 3] Compacting 1@0 files"
    line = prefix + b"[" + name.encode() + anchor
    text = b"an earlier [line] [x\n" + line
    assert family_before(memoryview(text), text.rindex(anchor)) == name
    assert found(line) == [records.JobLine(name, 3, False)]


def test_a_family_without_a_name() -> None:
    assert found(NATIVE + b"[flush_job.cc:902] [] [JOB 3] Compacting 1@0 files") == [records.JobLine("", 3, False)]


def test_a_bracket_of_the_line_before_is_no_family() -> None:
    line = b"[default]\nfamily] [JOB 3] Compacting "
    assert family_before(memoryview(line), line.index(b"] [JOB")) is None


def test_no_bracket_no_family() -> None:
    assert family_before(memoryview(b"default] [JOB 3]"), 7) is None
    assert family_before(memoryview(b"] [JOB 3]"), 0) is None


def test_several_lines_are_found_in_order_among_others() -> None:
    lines = [line for pair in zip((line for line, _ in LINES), OTHERS, strict=False) for line in pair]
    assert found(*(CEPH + line for line in lines)) == [record for _, record in LINES]


def test_a_line_at_the_very_end_waits_for_the_rest_of_it() -> None:
    text = b"first\n" + NATIVE + LINES[0][0]
    scan = Scanner("LOG", Role.ROCKSDB_LOG).read(StreamedBlocks(DamagedStream(io.BytesIO(text))))
    assert scan.tail == NATIVE + LINES[0][0]
    assert not scan.has_records
