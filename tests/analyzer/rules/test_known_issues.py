"""R28: each entry of the rule book with a case that fires and one that does not."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.counters.perf_dumps import read_perf_dump
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.findings import Finding
from lsmlens.analyzer.options.option_evidence import Source
from lsmlens.analyzer.options.options_in_force import OptionInForce
from lsmlens.analyzer.rules.known_issues import KnownIssues, rule_book

RULE = KnownIssues()
STAMP = "2026-11-20T22:56:20.761+0000 7f9fa51141c0"


def osd(path: Path, version: str, *lines: str) -> RunAnalysis:
    text = "".join(f"{STAMP}  {line}\n" for line in (f"0 ceph version {version} (abc), process ceph-osd", *lines))
    (path / "ceph-osd.3.log").write_text(text)
    (run,) = analyze([str(path / "ceph-osd.3.log")]).runs
    return run


def slow(what: str) -> str:
    return f"0 bluestore(/var/lib/ceph/osd/ceph-3) log_latency slow operation observed for {what}, latency = 6.5s"


def event(**fields: object) -> str:
    return f"4 rocksdb: EVENT_LOG_v1 {json.dumps(fields)}"


def table(level0: bool, **properties: int) -> list[str]:
    micros = 1795216580761000
    lines = []
    if not level0:
        lines.append(
            event(
                time_micros=micros,
                job=9,
                event="compaction_started",
                files_L0=[1],
                score=1.0,
                compaction_reason="ManualCompaction",
                input_data_size=9,
            )
        )
    else:
        lines.append(
            event(time_micros=micros, job=9, event="flush_started", num_memtables=1, num_entries=1, num_deletes=0)
        )
    lines.append(
        event(
            time_micros=micros + 1,
            cf_name="p-0",
            job=9,
            event="table_file_creation",
            file_number=7,
            file_size=99,
            table_properties=properties,
        )
    )
    if not level0:
        lines.append(
            event(
                time_micros=micros + 2,
                job=9,
                event="compaction_finished",
                compaction_time_micros=5,
                output_level=2,
                num_output_files=1,
                total_output_size=99,
                num_input_records=9,
                num_output_records=9,
                lsm_state=[0, 0, 1],
            )
        )
    else:
        lines.append(event(time_micros=micros + 2, job=9, event="flush_finished", lsm_state=[1]))
    return lines


def slow_compactions(mib_per_second: float) -> list[str]:
    lines = []
    for job in range(1, 13):
        micros, size = 1795216580761000 + job * 10_000_000, 64 << 20
        lines.append(
            event(
                time_micros=micros,
                job=job,
                event="compaction_started",
                files_L0=[job],
                score=1.0,
                compaction_reason="LevelL0FilesNum",
                input_data_size=size,
            )
        )
        lines.append(
            event(
                time_micros=micros + 9,
                job=job,
                event="compaction_finished",
                output_level=1,
                num_output_files=1,
                compaction_time_micros=round(64 / mib_per_second * 1e6),
                total_output_size=size,
                num_input_records=9,
                num_output_records=9,
                lsm_state=[0, 1],
            )
        )
    return lines


PILE = {"num_entries": 40000, "num_deletions": 30000, "num_range_deletions": 0}


def with_config(run: RunAnalysis, **options: str) -> RunAnalysis:
    return replace(run, beside=replace(run.beside, config_show={**run.beside.config_show, **options}))


def with_options(run: RunAnalysis, families: int, **options: str) -> RunAnalysis:
    found = [OptionInForce(None, name, value, Source.LOG) for name, value in options.items()]
    names = ["default", *(f"m-{number}" for number in range(families - 1))]
    found += [OptionInForce(name, "write_buffer_size", "268435456", Source.LOG) for name in names]
    return replace(run, options=tuple(found))


def with_log_bytes(run: RunAnalysis, size: int) -> RunAnalysis:
    return replace(
        run, beside=replace(run.beside, perf_dumps=(read_perf_dump({"bluefs": {"log_bytes": size}}, "perf"),))
    )


def with_counter(run: RunAnalysis, size: int) -> RunAnalysis:
    dump = read_perf_dump({"bluefs": {"slow_used_bytes": size}}, "perf")
    return replace(run, beside=replace(run.beside, perf_dumps=(dump,)))


def on_hard_disk(path: Path, version: str, *, rotational: str) -> RunAnalysis:
    metadata = {"id": 3, "osd_objectstore": "bluestore", "bluestore_bdev_rotational": rotational}
    (path / "osd_metadata.json").write_text(json.dumps(metadata))
    text = f"{STAMP}  0 ceph version {version} (abc), process ceph-osd\n"
    (path / "ceph-osd.3.log").write_text(text)
    (run,) = analyze([str(path)]).runs
    return with_config(run, **MCLOCK, osd_op_num_shards_hdd="5")


def cluster(path: Path, *checks: str) -> RunAnalysis:
    lines = (f"[WRN] {one}: so it is\n    mon.a is 24 GiB >= mon_data_size_warn (15 GiB)\n" for one in checks)
    (path / "health.txt").write_text("HEALTH_WARN several\n" + "".join(lines))
    (run,) = analyze([str(path)]).runs
    return run


MCLOCK = {"osd_op_queue": "mclock_scheduler"}
Case = Callable[[Path], RunAnalysis]
ON, OFF = {"rocksdb_cf_compact_on_deletion": "true"}, {"rocksdb_cf_compact_on_deletion": "false"}
DOWN = "0 log_channel(cluster) log [WRN] : map e4712 wrongly marked me down at e4711"
CASES: dict[str, tuple[Case, Case]] = {
    "omap-iterators-without-bounds": (
        lambda path: osd(path, "16.2.5", slow("lower_bound")),
        lambda path: osd(path, "16.2.15", slow("lower_bound")),
    ),
    "collection-list-without-bounds": (
        lambda path: osd(path, "15.2.17", slow("_collection_list")),
        lambda path: osd(path, "15.2.17", slow("kv_commit")),
    ),
    "compact-on-deletion-skips-default": (
        lambda path: with_options(with_config(osd(path, "17.2.9"), **ON), 1),
        lambda path: with_options(with_config(osd(path, "17.2.9"), **ON), 12),
    ),
    "compact-on-deletion-window": (
        lambda path: with_config(osd(path, "18.2.7", *table(False, **PILE)), **ON),
        lambda path: with_config(osd(path, "18.2.7", *table(True, **PILE)), **ON),
    ),
    "wal-without-limit": (
        lambda path: with_options(osd(path, "16.2.0"), 12, max_total_wal_size="0"),
        lambda path: with_options(osd(path, "16.2.0"), 12, max_total_wal_size="1073741824"),
    ),
    "unbuffered-bluefs": (
        lambda path: with_config(osd(path, "15.2.4"), bluefs_buffered_io="false"),
        lambda path: with_config(osd(path, "15.2.4"), bluefs_buffered_io="true"),
    ),
    "range-deletes": (
        lambda path: with_config(
            osd(path, "15.2.4", *table(True, num_entries=2000, num_deletions=2000, num_range_deletions=2000)),
            rocksdb_delete_range_threshold="0",
        ),
        lambda path: with_config(osd(path, "15.2.4", *table(True, **PILE)), rocksdb_delete_range_threshold="0"),
    ),
    "bluefs-log-grows": (
        lambda path: with_log_bytes(osd(path, "15.2.4"), 639_122_546_688),
        lambda path: with_log_bytes(osd(path, "15.2.4"), 8_749_056),
    ),
    "marked-down-while-compacting": (
        lambda path: osd(path, "14.2.22", *table(False, **PILE), DOWN),
        lambda path: osd(path, "14.2.22", *table(True, **PILE), DOWN),
    ),
    "packages-without-optimisation": (
        lambda path: osd(path, "17.2.6", *slow_compactions(10.0)),
        lambda path: osd(path, "17.2.6", *slow_compactions(200.0)),
    ),
    "mclock-recovery-costs": (
        lambda path: with_config(osd(path, "17.2.6"), **MCLOCK),
        lambda path: with_config(osd(path, "17.2.7"), **MCLOCK),
    ),
    "mclock-several-shards-on-hard-disks": (
        lambda path: on_hard_disk(path, "18.2.4", rotational="1"),
        lambda path: on_hard_disk(path, "18.2.4", rotational="0"),
    ),
    "monitor-store-of-a-clean-cluster": (
        lambda path: cluster(path, "MON_DISK_BIG"),
        lambda path: cluster(path, "MON_DISK_BIG", "PG_DEGRADED"),
    ),
    "spillover-cleaner-off": (
        lambda path: with_counter(with_config(osd(path, "20.2.4"), bluefs_spillover_cleaner="false"), 1 << 30),
        lambda path: with_counter(with_config(osd(path, "20.2.4"), bluefs_spillover_cleaner="false"), 0),
    ),
}


def codes(run: RunAnalysis) -> list[str]:
    return [one.value.partition(":")[0] for one in RULE.check(run, ()) if isinstance(one, Finding)]


def test_every_entry_has_its_cases() -> None:
    assert [one.code for one in rule_book()] == list(CASES)


@pytest.mark.parametrize("issue", rule_book(), ids=lambda one: one.code)
def test_an_entry_cites_its_source(issue: object) -> None:
    assert issue.sources  # type: ignore[attr-defined]
    assert any("PR" in one or "hotsos" in one for one in issue.sources)  # type: ignore[attr-defined]


@pytest.mark.parametrize("code", CASES)
def test_an_entry_fires(code: str, tmp_path: Path) -> None:
    assert code in codes(CASES[code][0](tmp_path))


@pytest.mark.parametrize("code", CASES)
def test_an_entry_does_not_fire(code: str, tmp_path: Path) -> None:
    assert code not in codes(CASES[code][1](tmp_path))


def test_releases_with_one_shard_are_told_nothing(tmp_path: Path) -> None:
    assert "mclock-several-shards-on-hard-disks" not in codes(on_hard_disk(tmp_path, "19.2.1", rotational="1"))


def test_an_issue_of_the_cluster_is_told_once(tmp_path: Path) -> None:
    for number in (3, 4):
        (tmp_path / f"ceph-osd.{number}.log").write_text(f"{STAMP}  0 ceph version 18.2.7 (abc), process ceph-osd\n")
    (tmp_path / "health.txt").write_text("HEALTH_WARN big\n[WRN] MON_DISK_BIG: mon a is using a lot of disk space\n")
    told = [(run.name, finding.code) for run in analyze([str(tmp_path)]).runs for finding in run.findings]
    assert sorted(told) == [("osd.3", "R28"), ("osd.3", "R30")]


def test_no_issue_of_a_native_database(fixtures: Path) -> None:
    assert list(RULE.check(analyze([str(fixtures / "rocksdb-7.8")]).runs[0], ())) == []
