"""What people reported, rebuilt from what they pasted: what is found of each is in docs/measured/threads.md."""

import json
from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.findings import Severity

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
    assert finding.value == "osd.0 META 595.0 GiB, OMAP 1.2 GiB"
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
