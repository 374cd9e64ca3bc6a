"""What people reported, rebuilt from what they pasted: what is found of each is in docs/measured/threads.md."""

import json
import re
from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.comparison.arms import parse_arm, read_arms
from lsmlens.analyzer.comparison.comparison import compare
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.findings import Severity

TABLE = Path(__file__).resolve().parents[2] / "docs" / "measured" / "threads.md"
HEALTH_SPILLOVER = """\
HEALTH_WARN 1 OSD(s) experiencing BlueFS spillover
BLUEFS_SPILLOVER 1 OSD(s) experiencing BlueFS spillover
     osd.0 spilled over 11 GiB metadata from 'db' device (1.9 GiB used of 20 GiB) to slow device
"""
HEALTH_SLOW = """\
HEALTH_WARN 4 OSD(s) experiencing slow operations in BlueStore
[WRN] BLUESTORE_SLOW_OP_ALERT: 4 OSD(s) experiencing slow operations in BlueStore
     osd.8 observed slow operation indications in BlueStore
     osd.9 observed slow operation indications in BlueStore
     osd.10 observed slow operation indications in BlueStore
     osd.11 observed slow operation indications in BlueStore
"""
TREE = """\
ID  CLASS  WEIGHT   TYPE NAME      STATUS  REWEIGHT  PRI-AFF
-1         8.00000  root default
-3         4.00000      host a
 4    ssd  1.00000          osd.4      up   1.00000  1.00000
-5         4.00000      host c
 8    ssd  1.00000          osd.8      up   1.00000  1.00000
 9    ssd  1.00000          osd.9      up   1.00000  1.00000
10    ssd  1.00000          osd.10     up   1.00000  1.00000
11    ssd  1.00000          osd.11     up   1.00000  1.00000
"""
HEALTH_MONITOR = """\
HEALTH_WARN mon a is using a lot of disk space
[WRN] MON_DISK_BIG: mon a is using a lot of disk space
    mon.a is 24 GiB >= mon_data_size_warn (15 GiB)
"""
OSD_DF = """\
ID  CLASS  WEIGHT   REWEIGHT  SIZE     RAW USE  DATA     OMAP     META     AVAIL    %USE   VAR   PGS  STATUS
 0    hdd  7.00000   1.00000  7.0 TiB  2.0 TiB  1.4 TiB  1.2 GiB  595 GiB  5.0 TiB  28.57  1.00  120      up
 1    hdd  7.00000   1.00000  7.0 TiB  1.4 TiB  1.4 TiB  1.1 GiB  3.1 GiB  5.6 TiB  20.00  0.70  118      up
"""


def runs(folder: Path, **files: str) -> list[RunAnalysis]:
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
    return list(analyze([str(folder)]).runs)


def found(folder: Path, code: str, **files: str) -> list[str]:
    return [one.meaning for run in runs(folder, **files) for one in run.findings if one.code == code]


def test_13_spilled_with_room_to_spare(tmp_path: Path) -> None:
    """Health text alone: 11 GiB on the slow device, and 1.9 of 20 GiB used."""
    (run,) = runs(tmp_path, health_detail__txt=HEALTH_SPILLOVER)
    assert run.notes == ("no log: only counters, configuration, operations or the cluster's own words were read",)
    (meaning,) = [one.meaning for one in run.findings if one.code == "R30"]
    assert "a level that does not fit as a whole (3, 30, 300 GB)" in meaning


def test_14_an_alert_of_slow_operations(tmp_path: Path) -> None:
    (meaning,) = found(tmp_path, "R30", health__txt=HEALTH_SLOW)
    assert "OSDs of several hosts" in meaning or "slow operations in BlueStore" in meaning


def test_16_all_osds_of_one_host(tmp_path: Path) -> None:
    (meaning,) = found(tmp_path, "R30", health__txt=HEALTH_SLOW, tree__txt=TREE)
    assert "all OSDs of host c and no other" in meaning


def test_19_the_log_of_bluefs_by_osd_df(tmp_path: Path) -> None:
    (run,) = runs(tmp_path, osd_df__txt=OSD_DF)
    (finding,) = [one for one in run.findings if one.code == "R30"]
    assert finding.severity is Severity.CRITICAL
    assert finding.value == "osd.0 META 595 GiB, OMAP 1.2 GiB"
    assert "do not restart" in finding.advice


def test_23_a_monitors_store(tmp_path: Path) -> None:
    (run,) = runs(tmp_path, health__txt=HEALTH_MONITOR)
    (finding,) = [one for one in run.findings if one.code == "R30"]
    assert finding.commands == ("ceph tell mon.a compact",)


def test_health_as_json(tmp_path: Path) -> None:
    checks = {
        "MON_DISK_BIG": {
            "severity": "HEALTH_WARN",
            "summary": {"message": "mon a is using a lot of disk space"},
            "detail": [{"message": "mon.a is 24 GiB >= mon_data_size_warn (15 GiB)"}],
        }
    }
    text = json.dumps({"status": "HEALTH_WARN", "checks": checks})
    assert len(found(tmp_path, "R30", health__json=text)) == 1


@pytest.mark.parametrize("text", ["HEALTH_OK\n", "HEALTH_WARN 1 pool(s) have no replicas configured\n"])
def test_a_healthy_cluster_is_told_nothing(text: str, tmp_path: Path) -> None:
    assert found(tmp_path, "R30", health__txt=text) == []


def operation(seconds: float, late: int) -> dict[str, object]:
    """A write that waits for osd.6 and osd.11, of which one answers late."""
    answers = {late: seconds - 0.01, ({6, 11} - {late}).pop(): 0.002}
    events = [
        {"time": "2026-11-20T22:57:01.000000+0000", "event": "initiated"},
        {"time": "2026-11-20T22:57:01.001000+0000", "event": "waiting for subops from 6,11"},
    ]
    events += [
        {"time": f"2026-11-20T22:57:{1 + at:09.6f}+0000", "event": f"sub_op_commit_rec from {osd}"}
        for osd, at in sorted(answers.items(), key=lambda one: one[1])
    ]
    events.append({"time": f"2026-11-20T22:57:{1 + seconds:09.6f}+0000", "event": "done"})
    return {
        "description": f"osd_op(client.4126.0:{seconds} 2.1a 2:59446de1:::x:head [write 0~4096] snapc 0=[]"
        " ondisk+write+known_if_redirected e12)",
        "initiated_at": "2026-11-20T22:57:01.000000+0000",
        "age": 9.0,
        "duration": seconds,
        "type_data": {"flag_point": "commit sent; apply or cleanup", "events": events},
    }


def test_15_operations_that_wait_for_one_replica(tmp_path: Path) -> None:
    """dump_historic_ops alone, without a log: osd.6 was late."""
    ops = json.dumps({"size": 20, "duration": 600, "ops": [operation(seconds, 6) for seconds in (1.5, 2.5, 3.5, 4.5)]})
    (run,) = runs(tmp_path, **{"historic_ops__osd__3__json": ops})
    assert run.run.name == "osd.3"
    (finding,) = [one for one in run.findings if one.code == "R31"]
    assert finding.value == "4 of 4 slow operations waited for osd.6"
    assert "not the OSD that was asked" in finding.meaning


def test_operations_that_wait_for_different_peers(tmp_path: Path) -> None:
    ops = [operation(1.5, 6), operation(2.5, 11), operation(3.5, 6), operation(4.5, 11)]
    (run,) = runs(tmp_path, **{"historic_ops__osd__3__json": json.dumps({"ops": ops})})
    assert [one for one in run.findings if one.code == "R31"] == []


def compactions(reason: str, count: int = 12, at: int = 1_700_000_000) -> str:
    lines = []
    for number in range(count):
        stamp = "2023/11/14-22:13:20.000000 7f EVENT_LOG_v1 "
        micros, job = (at + number) * 1_000_000, number + 1
        started = {
            "time_micros": micros,
            "job": job,
            "event": "compaction_started",
            "compaction_reason": reason,
            "files_L1": [number],
            "score": 1,
            "input_data_size": 10,
        }
        done = {
            "time_micros": micros + 9,
            "job": job,
            "event": "compaction_finished",
            "compaction_time_micros": 9,
            "output_level": 2,
            "num_output_files": 1,
            "total_output_size": 10,
            "num_input_records": 9,
            "num_output_records": 9,
            "lsm_state": [0, 1],
        }
        lines += [stamp + json.dumps(started), stamp + json.dumps(done)]
    return "\n".join(lines) + "\n"


def test_27_bursts_of_ttl_compactions(tmp_path: Path) -> None:
    (meaning,) = found(tmp_path, "R29", LOG=compactions("Ttl"))
    assert "for the age of tables" in meaning


def test_compactions_that_were_due(tmp_path: Path) -> None:
    assert found(tmp_path, "R29", LOG=compactions("LevelL0FilesNum")) == []


def test_26_periodic_compactions_that_do_not_run(tmp_path: Path) -> None:
    """periodic_compaction_seconds of 3 hours, a table of 10 hours, and no such compaction."""
    head = (
        "2023/12/19-00:00:00.000000 7f RocksDB version: 8.8.1\n"
        "2023/12/19-00:00:00.000000 7f Options.max_background_jobs: 2\n"
        "2023/12/19-00:00:00.000000 7f [db/column_family.cc:1] --------------- Options for column family [default]:\n"
        "2023/12/19-00:00:00.000000 7f Options.periodic_compaction_seconds: 10800\n"
        "2023/12/19-00:00:00.000000 7f [db/version_set.cc:1] Column family [default] (ID 0), log number is 4\n"
    )
    first, last = 1_702_944_000_000_000, 1_702_980_000_000_000

    def table(micros: int, number: int) -> str:
        created = {
            "time_micros": micros,
            "cf_name": "default",
            "job": number,
            "event": "table_file_creation",
            "file_number": number,
            "file_size": 99,
            "table_properties": {"num_entries": 9, "num_deletions": 5},
        }
        return f"EVENT_LOG_v1 {json.dumps(created)}\n"

    text = head + "2023/12/19-00:00:01.000000 7f " + table(first, 7) + "2023/12/19-10:00:00.000000 7f " + table(last, 9)
    (meaning,) = found(tmp_path, "R29", LOG=text + "2023/12/19-10:00:01.000000 7f end\n")
    assert "older than periodic_compaction_seconds" in meaning


def test_35_small_tables_pile_up(tmp_path: Path) -> None:
    head = (
        "2023/12/19-00:00:00.000000 7f RocksDB version: 6.20.3\n"
        "2023/12/19-00:00:00.000000 7f Options.max_background_jobs: 2\n"
        "2023/12/19-00:00:00.000000 7f [db/column_family.cc:1] --------------- Options for column family [state]:\n"
        "2023/12/19-00:00:00.000000 7f Options.target_file_size_base: 67108864\n"
        "2023/12/19-00:00:00.000000 7f [db/version_set.cc:1] Column family [default] (ID 0), log number is 4\n"
    )
    lines = []
    for number in range(1, 251):
        micros, stamp = 1_702_944_000_000_000 + number, "2023/12/19-00:00:01.000000 7f EVENT_LOG_v1 "
        created = {
            "time_micros": micros,
            "cf_name": "state",
            "job": number,
            "event": "table_file_creation",
            "file_number": number,
            "file_size": 20_000,
            "table_properties": {"num_entries": 9, "num_deletions": 0},
        }
        started = {
            "time_micros": micros,
            "job": number,
            "event": "compaction_started",
            "files_L0": [9000 + number],
            "score": 1,
            "compaction_reason": "LevelL0FilesNum",
            "input_data_size": 10,
        }
        done = {
            "time_micros": micros,
            "job": number,
            "event": "compaction_finished",
            "compaction_time_micros": 9,
            "output_level": 3,
            "num_output_files": 1,
            "total_output_size": 20_000,
            "num_input_records": 9,
            "num_output_records": 9,
            "lsm_state": [0, 0, 0, number],
        }
        lines += [stamp + json.dumps(one) for one in (started, created, done)]
    (meaning,) = found(tmp_path, "R32", LOG=head + "\n".join(lines) + "\n")
    assert meaning.startswith("state: ")


@pytest.mark.parametrize("bundle", ["osd-stock", "osd-reef", "rocksdb-7.8", "rocksdb-current"])
def test_healthy_databases_are_told_none_of_it(bundle: str, fixtures: Path) -> None:
    for run in analyze([str(fixtures / bundle)]).runs:
        assert {"R29", "R30", "R31", "R32"}.isdisjoint(one.code for one in run.findings)


BEGIN = 1_702_944_000_000_000  # 2023-12-19 00:00:00 UTC
OSD_STAMP = "2023-12-19T00:00:00.000+0000 7f9fa51141c0  4 rocksdb: "
NATIVE_STAMP = "2023/12/19-00:00:00.000000 7f "


def event(stamp: str, at: float, **fields: object) -> str:
    said = {"time_micros": BEGIN + round(at * 1_000_000), **fields}
    return f"{stamp}EVENT_LOG_v1 {json.dumps(said)}\n"


def flushed(stamp: str, job: int, family: str, entries: int, deletes: int, kept: int, tombstones: int) -> str:
    """A flush that took in so many entries, with deletes among them, and kept so many, with tombstones among these."""
    table = {"num_entries": kept, "num_deletions": tombstones, "num_range_deletions": 0}
    return (
        event(stamp, job, job=job, event="flush_started", num_memtables=1, num_entries=entries, num_deletes=deletes)
        + created(stamp, job, job, family, 1 << 20, table)
        + event(stamp, job + 0.1, job=job, event="flush_finished", lsm_state=[1, 0])
    )


def created(stamp: str, at: float, job: int, family: str, size: int, properties: dict[str, int]) -> str:
    of = {"event": "table_file_creation", "file_number": 100 + job, "file_size": size, "table_properties": properties}
    return event(stamp, at, cf_name=family, job=job, **of)


def compacted(stamp: str, job: int, size: int, at: float, seconds: float = 1.0, **started: object) -> str:
    """A compaction of level 0 into level 1 that wrote so many bytes."""
    said = {"files_L0": [9000 + job], "score": 1.0, "compaction_reason": "LevelL0FilesNum", "input_data_size": size}
    done = {"output_level": 1, "num_output_files": 1, "total_output_size": size, "lsm_state": [0, 1]}
    return event(stamp, at, job=job, event="compaction_started", **{**said, **started}) + event(
        stamp, at + seconds, job=job, event="compaction_finished", compaction_time_micros=round(seconds * 1e6),
        num_input_records=9, num_output_records=9, **done,
    )  # fmt: skip


def osd_log(version: str, *lines: str) -> str:
    return f"2023-12-19T00:00:00.000+0000 7f9fa51141c0  0 ceph version {version} (abc), process ceph-osd\n" + "".join(
        lines
    )


def slow(what: str, seconds: float) -> str:
    return (
        "2023-12-19T00:00:09.000+0000 7f9fa51141c0  0 bluestore(/var/lib/ceph/osd/ceph-3) log_latency_fn slow operation"
        f" observed for {what}, latency = {seconds}s\n"
    )


def metadata(version: str) -> str:
    return json.dumps({"id": 3, "osd_objectstore": "bluestore", "ceph_version_short": version})


def issues(run: RunAnalysis) -> set[str]:
    return {one.value.partition(":")[0] for one in run.findings if one.code == "R28"}


def codes(run: RunAnalysis) -> set[str]:
    return {one.code for one in run.findings}


STOCK = "max_write_buffer_number=4,write_buffer_size=268435456,max_background_compactions=2"
SHARDED = {
    "name": "osd.3",
    "bluestore_rocksdb_cf": "true",
    "bluestore_rocksdb_cfs": "m(3) p(3,0-12) O(3,0-13)=block_cache={type=binned_lru} L P",
    "bluestore_rocksdb_options": STOCK,
}


def test_01_commits_that_take_seconds(tmp_path: Path) -> None:
    """The OSD's log: lines of 4.4 s, and tables that are mostly tombstones below level 0."""
    pile = created(OSD_STAMP, 1, 7, "p-0", 1 << 26, {"num_entries": 400_000, "num_deletions": 300_000})
    lines = (slow("_txc_committed_kv", 4.423512), slow("_txc_committed_kv", 5.6), pile)
    (run,) = runs(tmp_path, **{"ceph-osd__3__log": osd_log("16.2.11", *lines, compacted(OSD_STAMP, 7, 1 << 26, 0))})
    assert {"R11", "R13"} <= codes(run)
    (finding,) = [one for one in run.findings if one.code == "R11"]
    assert "waited for the commit to RocksDB and the device under it" in finding.meaning


def test_02_the_pg_log_leaks_through_flushes(tmp_path: Path) -> None:
    """P under buffers of 8 MiB, 16 to a flush: nearly all of its deletes come after their put was flushed."""
    leaks = [flushed(OSD_STAMP, job, "P", 20_000, 9_800, 19_000, 9_700) for job in range(1, 9)]
    holds = [flushed(OSD_STAMP, job, "p-0", 20_000, 9_800, 10_400, 9_700) for job in range(11, 19)]
    (run,) = runs(tmp_path, **{"ceph-osd__3__log": osd_log("18.0.0", *leaks, *holds)})
    assert [one.column_family for one in run.findings if one.code == "R05"] == ["P"]


PUBLISHED = """\
Compaction Statistics\t{name}
Total OSD Log Duration (seconds)\t3600.0
Number of Compaction Events\t{events}
Avg Compaction Time (seconds)\t{mean}
Total Compaction Time (seconds)\t{seconds}
Avg Output Size: (MB)\t{size}
Total Output Size: (MB)\t{total}
Total Input Records\t{records}
Total Output Records\t{kept}
Avg Output Throughput (MB/s)\t120.0
Avg Input Records/second\t1000000.0
Avg Output Records/second\t400000.0
Avg Output/Input Ratio\t0.45
"""


def test_03_buffer_sizes_by_published_tables(tmp_path: Path) -> None:
    """Two tables of the parser, of buffers of 256 and of 128 MiB: more compactions, and 5 % more bytes."""
    for name, events, total in (("large", 2044, 400_000), ("half", 2718, 420_000)):
        values = {
            "mean": 1.0,
            "seconds": float(events),
            "size": total / events,
            "records": 9 * 10**8,
            "kept": 4 * 10**8,
        }
        text = PUBLISHED.format(name=name, events=events, total=float(total), **values)
        (tmp_path / f"{name}.txt").write_text(text)
    comparison = compare(read_arms([parse_arm(f"{name}={tmp_path}/{name}.txt") for name in ("large", "half")]))
    rows = [comparison.row(name) for name in ("total_output_size_mib", "compaction_events")]
    assert [row.values if row else () for row in rows] == [(400_000, 420_000), (2044, 2718)]
    judged = rows[0].judgements[1] if rows[0] else None
    assert judged is not None
    assert judged.ratio == pytest.approx(1.05)


def test_04_options_that_set_no_limit_on_the_wal(tmp_path: Path) -> None:
    options = {**SHARDED, "bluestore_rocksdb_options": STOCK}
    (run,) = runs(tmp_path, config_show__json=json.dumps(options), osd_metadata__json=metadata("16.1.0"))
    assert "wal-without-limit" in issues(run)


def test_04_the_limit_that_helped(tmp_path: Path) -> None:
    options = {**SHARDED, "bluestore_rocksdb_options": f"{STOCK},max_total_wal_size=1073741824"}
    (run,) = runs(tmp_path, config_show__json=json.dumps(options), osd_metadata__json=metadata("16.2.0"))
    assert issues(run) == set()


def test_05_compaction_on_deletion_without_the_default_family(tmp_path: Path) -> None:
    options = {**SHARDED, "bluestore_rocksdb_cf": "false", "rocksdb_cf_compact_on_deletion": "true"}
    (run,) = runs(tmp_path, config_show__json=json.dumps(options), osd_metadata__json=metadata("17.2.6"))
    assert "compact-on-deletion-skips-default" in issues(run)


def test_06_a_window_that_sees_nothing(tmp_path: Path) -> None:
    """Compaction on deletion is on, and tables below level 0 are more than half tombstones all the same."""
    pile = created(OSD_STAMP, 1, 7, "p-0", 1 << 26, {"num_entries": 400_000, "num_deletions": 240_000})
    log = osd_log("17.2.6", pile, compacted(OSD_STAMP, 7, 1 << 26, 0))
    on = {**SHARDED, "rocksdb_cf_compact_on_deletion": "true"}
    (run,) = runs(tmp_path, **{"ceph-osd__3__log": log, "config_show__json": json.dumps(on)})
    assert "compact-on-deletion-window" in issues(run)


@pytest.mark.parametrize(
    ("what", "affected", "issue"),
    [
        ("_collection_list", "16.2.9", "collection-list-without-bounds"),
        ("upper_bound", "16.2.7", "omap-iterators-without-bounds"),
    ],
    ids=["07", "08"],
)
def test_07_08_iterators_that_step_over_tombstones(what: str, affected: str, issue: str, tmp_path: Path) -> None:
    for version, expected in ((affected, {issue}), ("18.2.4", set())):
        folder = tmp_path / version
        folder.mkdir()
        (run,) = runs(folder, **{"ceph-osd__3__log": osd_log(version, slow(what, 12.5))})
        assert issues(run) == expected
        assert "R11" in codes(run)


def test_10_many_range_deletions(tmp_path: Path) -> None:
    properties = {"num_entries": 12_000, "num_deletions": 12_000, "num_range_deletions": 12_000}
    log = osd_log("14.2.5", created(OSD_STAMP, 1, 7, "default", 1 << 20, properties))
    shown = json.dumps({"name": "osd.3", "osd_memory_target": "4294967296", "rocksdb_delete_range_threshold": "1024"})
    (run,) = runs(tmp_path, **{"ceph-osd__3__log": log, "config_show__json": shown})
    assert "range-deletes" in issues(run)


def test_11_marked_down_while_it_compacted(tmp_path: Path) -> None:
    down = (
        "2023-12-19T00:00:40.000+0000 7f9fa51141c0  0 log_channel(cluster) log [WRN] : Monitor daemon marked osd.3"
        " down, but it is still running\n"
        "2023-12-19T00:00:40.000+0000 7f9fa51141c0  0 log_channel(cluster) log [DBG] : map e4712 wrongly marked me down"
        " at e4711\n"
    )
    manual = compacted(OSD_STAMP, 7, 1 << 30, 0, 60.0, compaction_reason="ManualCompaction")
    (run,) = runs(tmp_path, **{"ceph-osd__3__log": osd_log("14.2.22", manual, down)})
    assert "marked-down-while-compacting" in issues(run)


def test_12_unbuffered_bluefs(tmp_path: Path) -> None:
    shown = {**SHARDED, "bluefs_buffered_io": "false"}
    (run,) = runs(tmp_path, config_show__json=json.dumps(shown), osd_metadata__json=metadata("15.2.4"))
    assert "unbuffered-bluefs" in issues(run)


def test_19_the_log_of_bluefs_by_its_counter(tmp_path: Path) -> None:
    counters = {"bluefs": {"log_bytes": 638_000_000_000, "db_total_bytes": 7 << 40, "db_used_bytes": 600 << 30}}
    (run,) = runs(tmp_path, **{"perf_dump__osd__3__json": json.dumps(counters)})
    assert "bluefs-log-grows" in issues(run)


def test_20_compactions_of_a_slow_build(tmp_path: Path) -> None:
    """Compactions of 64 MiB that take 4 s each, on a release whose own packages were built without optimisation."""
    log = osd_log("17.2.6", *(compacted(OSD_STAMP, job, 64 << 20, 10 * job, 4.0) for job in range(1, 14)))
    (run,) = runs(tmp_path, **{"ceph-osd__3__log": log})
    assert "packages-without-optimisation" in issues(run)


def test_21_recovery_that_mclock_takes_for_dear(tmp_path: Path) -> None:
    """The configuration that was pasted: Quincy before 17.2.7, with the charge by units of a hard disk."""
    shown = {**SHARDED, "osd_op_queue": "mclock_scheduler", "osd_mclock_cost_per_byte_usec_hdd": "5.200000"}
    (run,) = runs(tmp_path, config_show__json=json.dumps(shown), osd_metadata__json=metadata("17.2.5"))
    assert "mclock-recovery-costs" in issues(run)


HEAD = (
    "2023/12/19-00:00:00.000000 7f RocksDB version: 6.10.2\n"
    "2023/12/19-00:00:00.000000 7f Options.max_background_jobs: {jobs}\n"
    "2023/12/19-00:00:00.000000 7f Options.max_subcompactions: 1\n"
    "2023/12/19-00:00:00.000000 7f [db/column_family.cc:1] --------------- Options for column family [default]:\n"
    "2023/12/19-00:00:00.000000 7f Options.write_buffer_size: 67108864\n"
    "2023/12/19-00:00:00.000000 7f Options.max_write_buffer_number: 2\n"
    "2023/12/19-00:00:00.000000 7f Options.compaction_style: kCompactionStyleLevel\n"
    "2023/12/19-00:00:00.000000 7f Options.level0_file_num_compaction_trigger: 4\n"
    "2023/12/19-00:00:00.000000 7f Options.level0_slowdown_writes_trigger: 20\n"
    "2023/12/19-00:00:00.000000 7f Options.level0_stop_writes_trigger: 36\n"
    "2023/12/19-00:00:00.000000 7f Options.max_bytes_for_level_base: 268435456\n"
    "2023/12/19-00:00:00.000000 7f Options.max_bytes_for_level_multiplier: 10.000000\n"
    "2023/12/19-00:00:00.000000 7f Options.num_levels: 7\n"
    "2023/12/19-00:00:00.000000 7f [db/version_set.cc:1] Column family [default] (ID 0), log number is 4\n"
)


def warned(cause: str, count: int = 3) -> str:
    return "".join(
        f"2023/12/19-00:00:{second:02d}.000000 7f [WARN] [db/column_family.cc:780] [default] {cause}\n"
        for second in range(1, 1 + count)
    )


def test_24_stalls_by_pasted_warnings(tmp_path: Path) -> None:
    (run,) = runs(
        tmp_path, LOG=HEAD.format(jobs=2) + warned("Stalling writes because we have 20 level-0 files rate 99")
    )
    (finding,) = [one for one in run.findings if one.code == "R02"]
    assert finding.value == "3 lines, stalled time not known"
    assert {change.name: change.value for change in finding.changes} == {
        "max_background_jobs": "4",
        "max_subcompactions": "4",
    }


def test_25_write_amplification_of_80_given_the_log(tmp_path: Path) -> None:
    """Flushes of 1 MiB, and compactions that write 79 MiB for each."""
    flushes = [flushed(NATIVE_STAMP, job, "default", 1_000, 0, 1_000, 0) for job in range(1, 12)]
    others = [compacted(NATIVE_STAMP, 100 + job, 79 << 20, job + 0.2, 0.5) for job in range(1, 12)]
    (run,) = runs(tmp_path, LOG=HEAD.format(jobs=2) + "".join(flushes + others))
    assert run.total.write_amplification == 80.0


def test_28_tombstones_that_stay_for_days(tmp_path: Path) -> None:
    """A table of level 1 that is mostly tombstones, three days old; the level holds a quarter of its target."""
    table = {"num_entries": 400_000, "num_deletions": 240_000}
    made = (
        event(NATIVE_STAMP, 0, job=7, event="compaction_started", files_L0=[1], score=1.0, input_data_size=9,
              compaction_reason="LevelL0FilesNum")
        + created(NATIVE_STAMP, 0.5, 7, "default", 1 << 26, table)
        + event(NATIVE_STAMP, 1, job=7, event="compaction_finished", compaction_time_micros=1, output_level=1,
                num_output_files=1, total_output_size=1 << 26, num_input_records=9, num_output_records=9,
                lsm_state=[0, 1])
    )  # fmt: skip
    later = event("2023/12/22-00:00:00.000000 7f ", 3 * 86_400, job=8, event="flush_started", num_memtables=1,
                  num_entries=1, num_deletes=0)  # fmt: skip
    (run,) = runs(tmp_path, LOG=HEAD.format(jobs=2) + made + later)
    (finding,) = [one for one in run.findings if one.code == "R33"]
    assert finding.meaning.startswith(
        "iterators step over 240\u202f000 tombstones; for 240\u202f000 of them no compaction"
    )
    assert "no compaction is due: 64 MiB of 256 MiB" in finding.evidence[-1].text


def test_30_the_cause_of_stalls_moves(tmp_path: Path) -> None:
    """First memtables, then level 0, then pending bytes: each is told by itself, with its own remedy."""
    text = (
        warned(
            "Stopping writes because we have 2 immutable memtables (waiting for flush), max_write_buffer_number is 2"
        )
        + warned("Stalling writes because we have 20 level-0 files rate 16777216")
        + warned("Stalling writes because of estimated pending compaction bytes 68719476736 rate 16777216")
    )
    (run,) = runs(tmp_path, LOG=HEAD.format(jobs=4) + text)
    told = {
        (one.code, tuple(change.name for change in one.changes)) for one in run.findings if one.code in ("R01", "R02")
    }
    assert told == {
        ("R01", ("max_write_buffer_number",)),
        ("R02", ("max_background_jobs", "max_subcompactions")),
        ("R02", ("max_background_jobs",)),
    }


def test_31_one_compaction_thread_of_five_jobs(tmp_path: Path) -> None:
    """max_background_jobs 5 and max_background_compactions 1, as the program sets it: two families wait."""
    head = HEAD.format(jobs=5).replace(
        "Options.max_subcompactions: 1\n",
        "Options.max_subcompactions: 1\n2023/12/19-00:00:00.000000 7f Options.max_background_compactions: 1\n",
    )
    jobs = []
    for job in range(1, 16):
        at, family = 10.0 * job, "default" if job % 2 else "write"
        jobs.append(
            f"{NATIVE_STAMP}[compaction_job.cc:1] [{family}] [JOB {job}] Compacting 4@0 files to L1, score 3.00\n"
        )
        jobs.append(compacted(NATIVE_STAMP, job, 1 << 26, at, 9.99, score=3.0))
    (run,) = runs(tmp_path, LOG=head + "".join(jobs))
    (finding,) = [one for one in run.findings if one.code == "R23"]
    assert finding.value == "2 min 30 s with 1 thread busy, all there are, and 2 families waiting"


def test_32_writes_stopped_by_level_0(tmp_path: Path) -> None:
    (run,) = runs(tmp_path, LOG=HEAD.format(jobs=2) + warned("Stopping writes because we have 36 level-0 files", 2))
    (finding,) = [one for one in run.findings if one.code == "R01"]
    assert finding.severity is Severity.CRITICAL
    assert "level0_stop_writes_trigger" in finding.meaning
    assert "max_subcompactions" in {change.name for change in finding.changes}


def test_the_table_claims_no_more_than_is_shown() -> None:
    """Each thread that docs/measured/threads.md calls found has a test of its number here; 22 has one of its own."""
    rows = re.findall(r"^\| (\d+) \|.*\| (.*) \|$", TABLE.read_text(), re.MULTILINE)
    claimed = {int(number) for number, said in rows if not said.startswith(("no:", "partly"))}
    names = (re.match(r"test_(\d\d)_(?:(\d\d)_)?", name) for name in globals())
    shown = {int(number) for name in names if name for number in name.groups() if number}
    assert claimed - {22} == shown
    assert f"{len(claimed)} of {len(rows)}" in TABLE.read_text()
