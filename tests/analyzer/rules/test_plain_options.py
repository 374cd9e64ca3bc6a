"""R26 on options dumps as RocksDB prints them."""

from pathlib import Path

import pytest
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.findings import Confidence, Finding, OptionChange, Severity
from lsmlens.analyzer.rules.plain_options import PlainOptions

RULE = PlainOptions()
STAMP = "2024/01/01-00:00:00.000000 7f "


def log(path: Path, families: dict[str, dict[str, str]], database: str = "", more: str = "") -> list[Finding]:
    """The findings of a log that printed these options at its open."""
    lines = ["RocksDB version: 6.2.4", f"Options.max_background_jobs: 2{database}"]
    for name, options in families.items():
        lines.append(f"[db/column_family.cc:475] --------------- Options for column family [{name}]:")
        lines.append(
            "           table_factory options:   flush_block_policy_factory: FlushBlockBySizePolicyFactory (0x1)"
        )
        lines += [
            f"\n  {key.removeprefix('table.')}: {value}" for key, value in options.items() if key.startswith("table.")
        ]
        lines += [f"Options.{key}: {value}" for key, value in options.items() if not key.startswith("table.")]
    lines.append("[db/version_set.cc:1] Column family [default] (ID 0), log number is 4")
    text = "".join(f"{line[1:]}\n" if line.startswith("\n") else f"{STAMP}{line}\n" for line in lines)
    (path / "LOG").write_text(text + more)
    (run,) = analyze([str(path / "LOG")]).runs
    return [one for one in RULE.check(run, ()) if isinstance(one, Finding)]


USUAL = {
    "compaction_style": "kCompactionStyleLevel",
    "disable_auto_compactions": "0",
    "level0_file_num_compaction_trigger": "4",
    "level0_slowdown_writes_trigger": "20",
    "level0_stop_writes_trigger": "36",
    "write_buffer_size": "67108864",
    "max_write_buffer_number": "2",
}


def test_usual_options(tmp_path: Path) -> None:
    assert log(tmp_path, {"default": USUAL}) == []


@pytest.mark.parametrize("style", ["kCompactionStyleLevel", "kCompactionStyleUniversal"])
def test_automatic_compactions_off_beside_triggers(style: str, tmp_path: Path) -> None:
    off = {**USUAL, "compaction_style": style, "disable_auto_compactions": "1", "level0_slowdown_writes_trigger": "4"}
    (found,) = log(tmp_path, {"default": USUAL, "changes": off})
    assert (found.severity, found.column_family) == (Severity.CRITICAL, "changes")
    assert found.value == "disable_auto_compactions=1, level0_slowdown_writes_trigger=4"
    assert found.changes == (OptionChange("disable_auto_compactions", "false", ("changes",)),)


def test_a_bulk_load_has_its_triggers_out_of_reach(tmp_path: Path) -> None:
    bulk = {**USUAL, "disable_auto_compactions": "1", "level0_slowdown_writes_trigger": str(1 << 30)}
    assert log(tmp_path, {"default": bulk}) == []


def test_write_buffers_of_64_kib(tmp_path: Path) -> None:
    (found,) = log(tmp_path, {"default": {**USUAL, "write_buffer_size": "65536"}})
    assert found.value == "write_buffer_size 64 KiB"


@pytest.mark.parametrize(
    ("database", "fires"),
    [
        (f"\n{STAMP}Options.db_write_buffer_size: 0", True),
        (f"\n{STAMP}Options.db_write_buffer_size: 1073741824", False),
        (f"\n{STAMP}Options.max_total_wal_size: 4294967296", False),
    ],
)
def test_memtables_of_80_gib(database: str, fires: bool, tmp_path: Path) -> None:
    large = {**USUAL, "write_buffer_size": "536870912", "max_write_buffer_number": "32"}
    found = log(tmp_path, {f"f{number}": large for number in range(5)}, database)
    assert [one.value for one in found] == (["80 GiB of 5 column families"] if fires else [])


READS = """\
2024/01/01-00:10:00.000000 7f [db/db_impl.cc:1] ------- DUMPING STATS -------
2024/01/01-00:10:00.000001 7f [db/db_impl.cc:2]
** DB Stats **
Uptime(secs): 600.0 total, 600.0 interval
** File Read Latency Histogram By Level [default] **
** Level 2 read latency histogram (micros):
Count: 2000000 Average: 0.9345  StdDev: 0.90
Min: 0  Median: 0.5392  Max: 99
Percentiles: P50: 0.54 P75: 0.81 P99: 2.67 P99.9: 4.05 P99.99: 8.94
------------------------------------------------------
[       0,       1 ]   2000000 100.000 % 100.000 % ####################

2024/01/01-00:10:00.000002 7f [db/db_impl.cc:3] STATISTICS:
 rocksdb.number.keys.read COUNT : GETS
 rocksdb.number.keys.written COUNT : 1

"""


@pytest.mark.parametrize(
    ("gets", "titles", "confidence"),
    [("0", ["No block cache", "No filter"], Confidence.LOW), ("5000", ["No block cache"], Confidence.MEDIUM)],
)
def test_families_that_are_read(gets: str, titles: list[str], confidence: Confidence, tmp_path: Path) -> None:
    """Gets that are counted make it surer; of filters R24 then says whether they were missed."""
    bare = {**USUAL, "table.no_block_cache": "1", "table.filter_policy": "nullptr"}
    found = log(tmp_path, {"default": bare}, more=READS.replace("GETS", gets))
    assert [one.title for one in found] == titles
    assert {one.confidence for one in found} == {confidence}


@pytest.mark.parametrize("bundle", ["osd-stock", "osd-reef", "rocksdb-7.8", "rocksdb-current", "rocksdb-no-filter"])
def test_healthy(bundle: str, fixtures: Path) -> None:
    for run in analyze([str(fixtures / bundle)]).runs:
        assert [one for one in RULE.check(run, ()) if isinstance(one, Finding)] == []
