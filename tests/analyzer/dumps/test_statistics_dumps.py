"""Statistics dumps: every release's form, torn ones, and the figures of real ones."""

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsmlens.analyzer.dumps.dump_text import MARKER, dump_end
from lsmlens.analyzer.dumps.family_statistics import FamilyStatistics, LevelRow
from lsmlens.analyzer.dumps.printed_numbers import parse_bytes, parse_count, parse_gb, parse_real
from lsmlens.analyzer.dumps.statistics_dumps import StatisticsDump, parse_dump

MIB, GIB = 1 << 20, 1 << 30

# RocksDB 4.9.0 in Ceph: the families first, sizes in MB, batches, no priorities.
DUMP_4_9 = """\
2016-08-24 01:42:37.213913 7fd5fb7ff700  3 rocksdb: ------- DUMPING STATS -------
2016-08-24 01:42:37.213952 7fd5fb7ff700  3 rocksdb:\x20
** Compaction Stats [default] **
Level    Files   Size(MB) Score Read(GB)  Rn(GB) Rnp1(GB) Write(GB) Wnew(GB) Moved(GB) W-Amp Rd(MB/s) Wr(MB/s) \
Comp(sec) Comp(cnt) Avg(sec) KeyIn KeyDrop
---------------------------------------------------------------------------------------------------------------
  L0      4/0      31.64   1.0      0.0     0.0      0.0       0.2      0.2       0.0   0.0      0.0     13.3   \
     14        25    0.570       0      0
  L1      2/0      83.75   0.0      0.4     0.2      0.2       0.3      0.1       0.0   1.9      1.8      1.5   \
    205         6   34.114   6776K  3529K
 Sum      6/0     115.39   0.0      0.4     0.2      0.2       0.5      0.3       0.0   2.6      1.7      2.2   \
    219        31    7.063   6776K  3529K
 Int      0/0       0.00   0.0      0.1     0.0      0.1       0.1      0.0       0.0   3.6      1.8      2.0   \
     57         5   11.480   1676K   862K
Uptime(secs): 7833.6 total, 7833.6 interval
AddFile(GB): cumulative 0.000, interval 0.000
Cumulative compaction: 0.48 GB write, 0.06 MB/s write, 0.37 GB read, 0.05 MB/s read, 218.9 seconds
Interval compaction: 0.11 GB write, 0.01 MB/s write, 0.10 GB read, 0.01 MB/s read, 57.4 seconds
Stalls(count): 0 level0_slowdown, 0 level0_slowdown_with_compaction, 0 level0_numfiles, \
0 level0_numfiles_with_compaction, 0 stop for pending_compaction_bytes, 0 slowdown for pending_compaction_bytes, \
0 memtable_compaction, 0 memtable_slowdown, interval 0 total count

** DB Stats **
Uptime(secs): 7833.6 total, 1262.5 interval
Cumulative writes: 2276K writes, 11M keys, 2276K batches, 1.0 writes per batch, ingest: 2.94 GB, 0.38 MB/s
Cumulative WAL: 2276K writes, 511K syncs, 4.45 writes per sync, written: 2.94 GB, 0.38 MB/s
Cumulative stall: 00:00:0.000 H:M:S, 0.0 percent
Interval writes: 378K writes, 2027K keys, 378K batches, 1.0 writes per batch, ingest: 501.35 MB, 0.40 MB/s
Interval WAL: 378K writes, 87K syncs, 4.35 writes per sync, written: 0.49 MB, 0.40 MB/s
Interval stall: 00:00:0.000 H:M:S, 0.0 percent

"""
# RocksDB 5.18.0: Size is two words; each family twice, the second time over an interval of no length.
TABLE_5_18 = """\

** Compaction Stats [default] **
Level    Files   Size     Score Read(GB)  Rn(GB) Rnp1(GB) Write(GB) Wnew(GB) Moved(GB) W-Amp Rd(MB/s) Wr(MB/s) \
Comp(sec) Comp(cnt) Avg(sec) KeyIn KeyDrop
---------------------------------------------------------------------------------------------------------------
  L1      1/0   21.53 MB   0.1      0.0     0.0      0.0       0.0      0.0       0.0   1.3    137.5    137.4   \
      0         2    0.099     24K      2
 Sum      1/0   21.53 MB   0.0      0.0     0.0      0.0       0.0      0.0       0.0   2.3     81.3    145.6   \
      0         9    0.037     24K      2
 Int      0/0    0.00 KB   0.0      0.0     0.0      0.0       0.0      0.0       0.0   0.0      0.0      0.0   \
      0         0    0.000       0      0
Uptime(secs): 4800.0 total, 600.0 interval
Flush(GB): cumulative 0.021, interval 0.000
AddFile(GB): cumulative 0.000, interval 0.000
Cumulative compaction: 0.05 GB write, 0.01 MB/s write, 0.03 GB read, 0.01 MB/s read, 0.3 seconds
Interval compaction: 0.00 GB write, 0.00 MB/s write, 0.00 GB read, 0.00 MB/s read, 0.0 seconds
Stalls(count): 0 level0_slowdown, 0 level0_slowdown_with_compaction, 0 level0_numfiles, \
0 level0_numfiles_with_compaction, 0 stop for pending_compaction_bytes, 0 slowdown for pending_compaction_bytes, \
0 memtable_compaction, 0 memtable_slowdown, interval 0 total count

** File Read Latency Histogram By Level [default] **
"""
# RocksDB 8.1.1: two lines lack their ends, and the next ones follow at once.
DATABASE_8_1 = """\
2023/09/16-03:44:37.177268 6198996992 [db/db_impl/db_impl.cc:1085] ------- DUMPING STATS -------
2023/09/16-03:44:37.177628 6198996992 [db/db_impl/db_impl.cc:1086]\x20
** DB Stats **
Uptime(secs): 3603.1 total, 600.0 interval
Cumulative writes: 218K writes, 1548K keys, 214K commit groups, 1.0 writes per commit group, ingest: 1.50 GB, 0.43 MB/s
Interval writes: 36K writes, 259K keys, 36K commit groups, 1.0 writes per commit group, ingest: 256.48 MB, 0.43 MB/s
Interval WAL: 36K writes, 0 syncs, 36786.00 writes per sync, written: 0.25 GB, 0.43 MB/s
Interval stall: 00:00:0.000 H:M:S, 0.0 percent
Write Stall (count): write-buffer-manager-limit-stops: 0,\x20"""
FAMILY_8_1 = """\
** Compaction Stats [code_shred] **
Level    Files   Size     Score Read(GB)  Rn(GB) Rnp1(GB) Write(GB) Wnew(GB) Moved(GB) W-Amp Rd(MB/s) Wr(MB/s) \
Comp(sec) CompMergeCPU(sec) Comp(cnt) Avg(sec) KeyIn KeyDrop Rblob(GB) Wblob(GB)
---------------------------------------------------------------------------------------------------------------
  L2      4/0   1016.49 MB   0.1      0.0     0.0      0.0       0.0      0.0       1.0   0.0      0.0      0.0 \
     0.00              0.00         0    0.000       0      0       0.0       0.0
 Sum      5/0    1.24 GB   0.0      0.0     0.0      0.0       1.2      1.2       2.2   1.0      0.0    648.7   \
   1.96              0.95         5    0.392       0      0       0.0       0.0
 Int      0/0    0.00 KB   0.0      0.0     0.0      0.0       0.2      0.2       2.0   1.0      0.0    545.9   \
   0.47              0.20         1    0.466       0      0       0.0       0.0
Uptime(secs): 3603.1 total, 600.0 interval
Write Stall (count): cf-l0-file-count-limit-delays-with-ongoing-compaction: 0, \
cf-l0-file-count-limit-stops-with-ongoing-compaction: 0, l0-file-count-limit-delays: 0, l0-file-count-limit-stops: 0, \
memtable-limit-delays: 0, memtable-limit-stops: 0, pending-compaction-bytes-delays: 0, \
pending-compaction-bytes-stops: 0, total-delays: 0, total-stops: 0, \
Block cache LRUCache@0x6000025b8198#64220 capacity: 8.00 MB usage: 0.30 KB table_size: 256 occupancy: 87
Block cache entry stats(count,size,portion): Misc(1,0.00 KB,0%)

** File Read Latency Histogram By Level [code_shred] **
"""
DATABASE = DATABASE_8_1.partition("Write Stall")[0]

Dumps = Callable[[str], list[str]]


@pytest.fixture(scope="module")
def dumps_of(log_text: Callable[[str], bytes]) -> Dumps:
    """The text of every dump in a fixture's log."""

    def read(name: str) -> list[str]:
        log = log_text(name)
        starts = [place + len(MARKER) for place in range(len(log)) if log.startswith(MARKER, place)]
        return [log[start : dump_end(memoryview(log), start, len(log))].decode() for start in starts]

    return read


NATIVE, CURRENT = "rocksdb-7.8/LOG", "rocksdb-current/LOG.old.1795246417137627.gz"
PACIFIC, REEF = "osd-spillover/ceph-osd.0.log.gz", "osd-reef/ceph-osd.0.log.gz"


def rows(family: FamilyStatistics) -> list[LevelRow]:
    return [row for row in (*family.levels, family.sum, family.interval, *family.priorities) if row is not None]


def test_rocksdb_4_9_in_ceph() -> None:
    dump = parse_dump(DUMP_4_9)
    assert not dump.is_cut
    default = dump.families["default"]
    level0, level1 = default.levels
    assert (level0.name, level0.level, level0.files, level0.files_being_compacted) == ("L0", 0, 4, 0)
    assert level0.size_bytes == round(31.64 * MIB)
    assert (level0.comp_count, level0.avg_seconds, level0.comp_seconds) == (25, 0.570, 14)
    assert (level1.read_gb, level1.rn_gb, level1.rnp1_gb, level1.write_gb, level1.w_new_gb) == (0.4, 0.2, 0.2, 0.3, 0.1)
    assert (level1.w_amp, level1.key_in, level1.key_drop) == (1.9, 6_776_000, 3_529_000)
    assert level1.comp_merge_cpu_seconds is level1.rblob_gb is level1.w_pre_comp_gb is None
    assert default.sum
    assert default.interval
    assert (default.sum.w_amp, default.sum.level, default.interval.w_amp) == (2.6, None, 3.6)
    assert (default.uptime_seconds, default.interval_seconds, default.flushed_bytes) == (7833.6, 7833.6, None)
    assert default.compaction
    assert default.compaction.write_bytes == round(0.48 * GIB)
    assert default.interval_compaction
    assert default.interval_compaction.seconds == 57.4
    assert default.interval_stalls == 0
    assert (default.priorities, default.blob_files, default.block_cache) == ((), None, None)
    database = dump.database
    assert database
    assert database.writes
    assert database.interval_writes
    assert (database.uptime_seconds, database.interval_seconds) == (7833.6, 1262.5)
    assert (database.writes.writes, database.writes.keys, database.writes.commit_groups) == (
        2276_000,
        11_000_000,
        2276_000,
    )
    assert (database.writes.ingest_bytes, database.interval_writes.ingest_bytes) == (
        round(2.94 * GIB),
        round(501.35 * MIB),
    )


def test_an_intervals_wal_is_in_gb_whatever_its_text_says() -> None:
    database = parse_dump(DUMP_4_9).database
    assert database
    assert database.interval_wal
    assert database.interval_seconds
    assert (database.interval_wal.written_bytes, database.interval_wal.syncs) == (round(0.49 * GIB), 87_000)
    assert database.interval_wal.written_mb_per_second == pytest.approx(
        0.49 * 1024 / database.interval_seconds, abs=0.01
    )


def test_a_family_written_twice_counts_once() -> None:
    again = TABLE_5_18.replace("600.0 interval", "0.0 interval").replace("21.53 MB", "99.99 MB")
    dump = parse_dump(DATABASE + TABLE_5_18 + again)
    assert not dump.is_cut
    default = dump.families["default"]
    assert [row.name for row in rows(default)] == ["L1", "Sum", "Int"]
    assert (default.interval_seconds, default.levels[0].size_bytes) == (600.0, round(21.53 * MIB))
    assert default.flushed_bytes == round(0.021 * GIB)


def test_a_torn_table_gives_way_to_a_whole_one() -> None:
    torn = TABLE_5_18.replace("   2.3     81.3    145.6", "   2.3  2020/11/28-00")
    dump = parse_dump(DATABASE + torn + TABLE_5_18)
    assert dump.is_cut
    assert dump.families["default"].is_whole
    assert dump.families["default"].sum
    left = parse_dump(DATABASE + torn).families["default"]
    assert (left.is_whole, left.sum, [row.name for row in rows(left)]) == (False, None, ["L1", "Int"])


def test_rocksdb_8_1_leaves_out_two_line_ends() -> None:
    for between in ("", "\n"):
        dump = parse_dump(DATABASE_8_1 + between + FAMILY_8_1)
        assert not dump.is_cut
        assert dump.database
        assert dump.database.write_buffer_manager_limit_stops == 0
        family = dump.families["code_shred"]
        assert (family.levels[0].size_bytes, family.levels[0].moved_gb) == (round(1016.49 * MIB), 1.0)
        assert (set(family.stalls.values()), family.interval_stalls) == ({0}, 0)
        assert family.block_cache
        assert family.block_cache.capacity_bytes == 8 * MIB
        assert (family.block_cache.usage_bytes, family.block_cache.entries["Misc"].count) == (round(0.3 * 1024), 1)


def test_rocksdb_8_1_counts_stalls_of_an_interval_on_the_same_line() -> None:
    text = FAMILY_8_1.replace("memtable-limit-stops: 0", "memtable-limit-stops: 3")
    family = parse_dump(text.replace("Block cache LRU", "interval: 2 total count\nBlock cache LRU")).families[
        "code_shred"
    ]
    assert (family.stalls["immutable_memtables_stops"], family.interval_stalls) == (3, 2)


def test_a_dump_of_an_idle_database_has_no_families() -> None:
    dump = parse_dump(DATABASE_8_1 + "\n")
    assert (dump.families, dump.is_cut) == ({}, False)


def test_rocksdb_6_8_in_ceph(dumps_of: Dumps) -> None:
    dump = parse_dump(dumps_of(PACIFIC)[-1])
    assert list(dump.families) == ["default", "m-0", "m-1", "m-2", "p-0", "p-1", "p-2", "O-0", "O-1", "O-2", "L", "P"]
    family = dump.families["p-1"]
    assert family.sum
    assert family.interval
    assert (family.levels[0].write_gb, family.sum.write_gb, family.sum.w_amp, family.sum.key_in) == (
        0.5,
        0.7,
        1.4,
        2710_000,
    )
    assert (family.uptime_seconds, family.interval_seconds, family.interval.comp_count) == (120.0, 60.0, 4)
    assert family.flushed_bytes == round(0.530 * GIB)
    assert {row.name for row in family.priorities} <= {"Low", "High", "User"}
    assert dump.database
    assert dump.database.interval_wal
    assert dump.database.interval_wal.written_bytes == round(1.62 * GIB)


def test_rocksdb_7_9_in_ceph(dumps_of: Dumps) -> None:
    cache = parse_dump(dumps_of(REEF)[-1]).families["default"].block_cache
    assert cache
    assert cache.name
    assert cache.name.startswith("BinnedLRUCache@")
    assert cache.capacity_bytes == round(1.35 * GIB)


def test_foreign_lines_are_passed_over(dumps_of: Dumps) -> None:
    text = dumps_of(PACIFIC)[-1]
    line = "debug 2026-11-20T23:44:47.305+0000 7f4f456181c0  1 bdev ** Sum 9/9 99 MB Uptime(secs): 1 total, 1 interval"
    woven = "".join(f"{own}\n{line}\n\n" for own in text.splitlines())
    assert parse_dump(woven) == parse_dump(text)
    assert parse_dump(text.replace("\n", "\r\n")) == parse_dump(text)
    carried = "".join(f"ceph-osd[123]: {own}\n" for own in text.splitlines())
    assert parse_dump(carried) == parse_dump(text)


def test_rocksdb_7_8_with_statistics(dumps_of: Dumps) -> None:
    dump = parse_dump(dumps_of(NATIVE)[-1])
    assert list(dump.families) == ["default", "column_family_name_000001", "column_family_name_000002"]
    default = dump.families["default"]
    assert [row.name for row in default.priorities] == ["Low", "High", "User"]
    assert default.levels[1].w_amp == 29.7
    assert default.interval
    assert default.interval.moved_gb == 0  # printed as 17179869184.0
    latency = default.read_latency["L0"]
    assert (latency.count, latency.average_micros, latency.standard_deviation_micros) == (49, 2.9592, 1.58)
    assert (latency.min_micros, latency.median_micros, latency.max_micros) == (0, 2.0312, 8)
    assert latency.percentiles_micros == {"P50": 2.03, "P75": 2.8, "P99": 8.0, "P99.9": 8.0, "P99.99": 8.0}
    assert dump.tickers["rocksdb.block.cache.miss"] == 2840
    assert (len(dump.tickers), len(dump.histograms)) == (193, 58)
    opened = dump.histograms["rocksdb.table.open.io.micros"]
    assert opened.count
    assert opened.sum
    assert set(opened.percentiles) == {"P50", "P95", "P99", "P100"}
    assert dump.database
    assert dump.database.stall
    assert dump.database.interval_stall
    assert (dump.database.stall.seconds, dump.database.stall.percent) == (0.928, 90.1)


def test_rocksdb_9_8(dumps_of: Dumps) -> None:
    dump = parse_dump(dumps_of(CURRENT)[-1])
    users, blobs = dump.families["users"], dump.families["blobs"]
    assert (users.levels[1].level, users.levels[1].size_bytes) == (6, round(169.11 * 1024))
    assert (users.levels[1].key_in, users.levels[1].comp_merge_cpu_seconds) == (22_000, 0.01)
    assert blobs.blob_files
    assert (blobs.blob_files.count, blobs.blob_files.space_amp) == (4, 1.4)
    assert (users.pending_compaction_bytes, users.interval_stalls) == (0, 9)
    assert dump.database
    assert dump.database.write_buffer_manager_limit_stops == 0


def test_stalls_have_one_set_of_names(dumps_of: Dumps) -> None:
    old = parse_dump(dumps_of(NATIVE)[-1]).families["column_family_name_000001"]
    new = parse_dump(dumps_of(CURRENT)[-1]).families["users"]
    assert set(old.stalls) == set(new.stalls)
    assert len(old.stalls) == 8
    assert {name: count for name, count in old.stalls.items() if count} == {
        "pending_compaction_bytes_slowdowns": 5,
        "immutable_memtables_stops": 2,
    }
    assert old.interval_stalls == 6
    assert {name: count for name, count in new.stalls.items() if count} == {"immutable_memtables_stops": 9}


def test_stalls_of_intervals_add_up(dumps_of: Dumps) -> None:
    name = "column_family_name_000001"
    families = [parse_dump(text).families[name] for text in dumps_of("rocksdb-7.8/LOG.old.1795246382011859.gz")]
    totals = [
        sum(count for cause, count in family.stalls.items() if not cause.endswith("_while_compacting"))
        for family in families
    ]
    assert [later - earlier for earlier, later in pairwise([0, *totals])] == [
        family.interval_stalls for family in families
    ]


def test_columns_are_found_by_name() -> None:
    text = TABLE_5_18.replace("Write(GB) Wnew", "Write(GB) WPreComp(GB) Other Wnew")
    text = text.replace("0.0       0.0      0.0       0.0   1.3", "0.0       0.0   7.5  x     0.0       0.0   1.3")
    row = parse_dump(text).families["default"].levels[0]
    assert (row.w_pre_comp_gb, row.w_new_gb, row.w_amp, row.key_in) == (7.5, 0.0, 1.3, 24_000)
    typo = parse_dump(DUMP_4_9.replace("Size(MB)", "Size(MB}")).families["default"]
    assert typo == parse_dump(DUMP_4_9).families["default"]


@pytest.mark.parametrize("name", ["a]b", "a b", "[x] **", "O-0", "ключ", ".*"])
def test_names_of_families(name: str) -> None:
    assert list(parse_dump(DUMP_4_9.replace("[default]", f"[{name}]")).families) == [name]


def test_values_that_are_no_numbers_are_none() -> None:
    text = DUMP_4_9.replace("   2.6      1.7", "   inf     -nan").replace("7833.6 total", "nan total")
    family = parse_dump(text).families["default"]
    assert family.sum
    assert (family.sum.w_amp, family.sum.read_mb_per_second, family.sum.write_mb_per_second) == (None, None, 2.2)
    assert (family.uptime_seconds, family.interval_seconds) == (None, 7833.6)


def test_stalls_of_days() -> None:
    text = DATABASE.replace("Interval writes", "Cumulative stall: 123:45:6.789 H:M:S, 61.2 percent\nInterval writes")
    database = parse_dump(text).database
    assert database
    assert database.stall
    assert database.stall.seconds == pytest.approx(123 * 3600 + 45 * 60 + 6.789)
    assert database.stall.percent == 61.2


def test_histograms_of_rocksdb_5() -> None:
    line = "rocksdb.db.write.micros statistics Percentiles :=> 50 : 208.333333 95 : 40261.363636 99 : 45787.500000"
    histogram = parse_dump(f"2016/08/24-01:42:37.213913 7fd5fb7ff700 [WARN] STATISTICS:\n {line}\n").histograms
    assert histogram["rocksdb.db.write.micros"].percentiles == {"P50": 208.333333, "P95": 40261.363636, "P99": 45787.5}
    assert histogram["rocksdb.db.write.micros"].count is None


def test_histograms_of_blob_files() -> None:
    title = "** File Read Latency Histogram By Level [b] **\n** Blob file read latency histogram (micros):\n"
    lines = "Count: 4 Average: 1.5000  StdDev: 1.12\nMin: 0  Median: 1.0000  Max: 3\nPercentiles: P50: 1.00 P75: 2.00\n"
    dump = parse_dump(title + lines + "-" * 54 + "\n")
    assert dump.families["b"].read_latency["blob"].percentiles_micros == {"P50": 1.0, "P75": 2.0}
    assert dump.families["b"].levels == ()
    assert parse_dump(title + lines.replace("Min", "Mi")).families == {}


def test_another_dumps_marker_ends_a_dump() -> None:
    assert parse_dump(DUMP_4_9 + DUMP_4_9.replace("31.64", "99.99")) == parse_dump(DUMP_4_9)
    assert parse_dump("junk\n" * 9 + DUMP_4_9) == parse_dump(DUMP_4_9)


def test_nothing_is_a_cut_dump() -> None:
    assert parse_dump("") == StatisticsDump()
    assert parse_dump("Uptime(secs): 1.0 total, 1.0 interval\n").is_cut


def test_a_message_cut_at_64_kib(dumps_of: Dumps) -> None:
    """A database of 40 families: the logger cuts the message and ends the line."""
    opening, _, families = dumps_of(PACIFIC)[-1].partition("** Compaction Stats [default] **")
    _, first, rest = families.partition("** Compaction Stats [m-0] **")
    block = (first + rest).partition("** Compaction Stats [m-1] **")[0].rstrip()
    blocks = "\n\n".join(block.replace("[m-0]", f"[{number}]") for number in range(40))
    whole = parse_dump(opening + blocks + "\n")
    assert not whole.is_cut
    assert len(whole.families) == 40
    prefix = opening.index("** DB Stats")
    for size in (65_536, 65_535, 65_400):
        cut = parse_dump((opening + blocks)[: prefix + size] + "\n")
        assert cut.is_cut
        assert 25 < len(cut.families) < 40, size
        *intact, _ = cut.families.items()
        assert all(whole.families[name] == family for name, family in intact)


@pytest.mark.parametrize(("name", "place"), [(CURRENT, 1), (NATIVE, 1), (PACIFIC, 1)])
def test_a_dump_cut_anywhere_tells_no_other_figures(name: str, place: int, dumps_of: Dumps) -> None:
    text = dumps_of(name)[place]
    whole = parse_dump(text + "\n")
    figures = {family: set(rows(found)) for family, found in whole.families.items()}
    step = max(1, len(text) // 400)
    for size in range(0, len(text), step):
        for ending in ("", "\n"):
            cut = parse_dump(text[:size] + ending)
            for family, found in cut.families.items():
                assert set(rows(found)) <= figures[family], text[:size][-200:]
                assert not found.is_whole or found.compaction == whole.families[family].compaction
            for ticker, count in cut.tickers.items():
                assert count == whole.tickers[ticker] or ending
            if cut.database and whole.database:
                assert cut.database.writes in (None, whole.database.writes)
                assert cut.database.interval_wal in (None, whole.database.interval_wal)


def test_every_beginning_and_every_end_of_a_dump_can_be_read() -> None:
    text = DATABASE_8_1 + "\n" + FAMILY_8_1
    for size in range(len(text)):
        assert parse_dump(text[:size]).families.keys() <= {"code_shred"}
        parse_dump(text[size:])


@pytest.mark.slow
@pytest.mark.parametrize(("name", "place"), [(CURRENT, 1), (PACIFIC, 0)])
def test_every_byte_prefix_of_a_real_dump_can_be_read(name: str, place: int, dumps_of: Dumps) -> None:
    text = dumps_of(name)[place].encode()
    for size in range(len(text)):
        parse_dump(text[:size].decode("utf-8", "replace"))


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    parse_dump(text)
    for parse in (parse_count, parse_real, parse_gb):
        parse(text)
    parse_bytes(text, "GB")


WORDS = [line for line in (DUMP_4_9 + DATABASE_8_1 + FAMILY_8_1 + TABLE_5_18).splitlines(keepends=True) if line.strip()]


@given(st.lists(st.sampled_from(WORDS) | st.text(max_size=20)), st.integers(0, 200), st.text(max_size=5))
def test_any_order_of_lines_can_be_read(lines: list[str], place: int, text: str) -> None:
    parse_dump("".join(line[:place] + text + line[place:] for line in lines))
    parse_dump("".join(lines))


@pytest.mark.parametrize(
    ("text", "count"),
    [
        *(("0", 0), ("9999", 9999), ("37K", 37_000), ("11M", 11 * 10**6), ("18G", 18 * 10**9), ("-3", -3)),
        *(("K", None), ("1.5K", None), ("", None), ("1" * 30, None), ("٣", None), ("18446744073709551615", 2**64 - 1)),
    ],
)
def test_counts(text: str, count: int | None) -> None:
    assert parse_count(text) == count


def test_sizes() -> None:
    assert parse_bytes("62.43", "MB") == round(62.43 * MIB)
    assert parse_bytes("0.08", "KB") == 82
    assert parse_bytes("1.50", "TB") == 3 << 39
    assert parse_bytes("1.50", "XB") is parse_bytes("x", "GB") is None
    assert parse_gb("17179869184.0") == 0
    assert parse_gb("-0.1") == -0.1
    assert parse_real("5.07743e-05") == 5.07743e-05
    assert parse_real("1e999") is parse_real("inf") is parse_real("1_0") is None
