"""Jobs, tables and the rest of the events as Parquet: typed, whole, and readable by others."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from lsmlens.analyzer.analysis import Analysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.runs.columns import columns_of
from lsmlens.analyzer.runs.jobs import BlobFile, Job, OtherEvent, Table
from lsmlens.analyzer.runs.selection import Selection
from lsmlens.reports.jobs_parquet import write_blob_files, write_jobs, write_other_events, write_tables
from msgspec import Struct

Write = Callable[[Analysis, Path], None]
UINT64_MAX = (1 << 64) - 1
WRITERS: list[tuple[Write, type[Struct]]] = [
    (write_jobs, Job), (write_tables, Table), (write_blob_files, BlobFile), (write_other_events, OtherEvent)
]  # fmt: skip
BUNDLES = ["osd-stock", "osd-crash", "osd-reef", "rocksdb-7.8", "rocksdb-current"]


@pytest.fixture
def written(tmp_path: Path) -> Callable[[Write, Analysis], pl.DataFrame]:
    def read(write: Write, analysis: Analysis) -> pl.DataFrame:
        write(analysis, tmp_path / "some.parquet")
        return pl.read_parquet(tmp_path / "some.parquet")

    return read


@pytest.fixture
def analysis_of(tmp_path: Path) -> Callable[..., Analysis]:
    """A native log of these events, analysed."""

    def read(*events: dict[str, Any]) -> Analysis:
        lines = ["2026/11/21-07:33:02.040964 10094 RocksDB version: 9.8.4"]
        for at, event in enumerate(events):
            said = json.dumps({"time_micros": 1795246382040918 + at, **event})
            lines.append(f"2026/11/21-07:33:02.040964 10094 EVENT_LOG_v1 {said}")
        (tmp_path / "LOG").write_text("\n".join(lines) + "\n")
        return analyze([str(tmp_path / "LOG")])

    return read


@pytest.mark.parametrize("name", BUNDLES)
def test_every_event_is_told_of_once(name: str, fixtures: Path, written: Callable[..., pl.DataFrame]) -> None:
    analysis = analyze([str(fixtures / name)])
    jobs, tables = written(write_jobs, analysis), written(write_tables, analysis)
    blobs, others = written(write_blob_files, analysis), written(write_other_events, analysis)
    counted: dict[str, int] = dict(others["kind"].value_counts().iter_rows())
    for kind in ("flush", "compaction"):
        own = jobs.filter(pl.col("kind") == kind)
        counted[f"{kind}_started"] = own["started_at"].count()
        counted[f"{kind}_finished"] = own["finished_at"].count()
    counted["trivial_move"] = jobs.filter(pl.col("kind") == "move").height
    counted["table_file_creation"] = tables.height
    counted["table_file_deletion"] = counted.get("table_file_deletion", 0) + tables["deleted_at"].count()
    counted["blob_file_creation"] = blobs.height
    expected: dict[str, int] = {}
    for one in analysis.runs:
        for kind, count in one.run.event_counts.items():
            expected[kind] = expected.get(kind, 0) + count
    assert {kind: count for kind, count in counted.items() if count} == expected


@pytest.mark.parametrize(("write", "row"), WRITERS)
def test_the_columns_are_those_declared(
    write: Write, row: type[Struct], fixtures: Path, written: Callable[..., pl.DataFrame]
) -> None:
    found = written(write, analyze([str(fixtures / "rocksdb-current")]))
    assert found.columns == ["run", *columns_of(row)]
    for name, column in columns_of(row).items():
        if not column.values:
            assert found.schema[name] == column.dtype


def test_the_selection_does_not_matter(fixtures: Path, written: Callable[..., pl.DataFrame]) -> None:
    path = str(fixtures / "osd-stock" / "ceph-osd.0.log.gz")
    assert written(write_jobs, analyze([path], Selection(level=7))).height == 55 + 18


def test_column_families_are_always_filled(fixtures: Path, written: Callable[..., pl.DataFrame]) -> None:
    jobs = written(write_jobs, analyze([str(fixtures / "osd-reef")]))
    assert jobs["column_family"].null_count() == 0
    assert set(jobs["kind"].unique()) == {"flush", "compaction", "move"}


def test_the_values_of_a_real_compaction(fixtures: Path, written: Callable[..., pl.DataFrame]) -> None:
    jobs = written(write_jobs, analyze([str(fixtures / "osd-stock" / "ceph-osd.0.log.gz")]))
    (row,) = jobs.filter(pl.col("kind") == "compaction", pl.col("job") == 47).to_dicts()
    expected = {
        "run": "osd.0",
        "session": 6,
        "column_family": "p-1",
        "attributed_by": "job line",
        "started_at": datetime(2026, 11, 20, 23, 0, 52, 473062, UTC),
        "finished_at": datetime(2026, 11, 20, 23, 0, 53, 450216, UTC),
        "micros": 971028,
        "output_bytes": 104941890,
        "table_bytes": 104941890,
        "output_files": 2,
        "input_files": 3,
        "input_levels": [0, 1],
        "score": 1.02956,
        "reason": "LevelL0FilesNum",
        "level_files": [0, 2, 0, 0, 0, 0, 0],
        "compression": "NoCompression",
        "memtables": None,
    }
    assert {name: row[name] for name in expected} == expected
    assert len(row["input_tables"]) == sum(row["input_level_files"]) == 3


def test_a_real_table(fixtures: Path, written: Callable[..., pl.DataFrame]) -> None:
    tables = written(write_tables, analyze([str(fixtures / "osd-stock" / "ceph-osd.0.log.gz")]))
    (row,) = tables.filter(pl.col("number") == 139).to_dicts()
    assert (row["column_family"], row["bytes"], row["created_by"], row["level"]) == ("O-0", 28406, "flush", 0)
    assert (row["data_bytes"], row["entries"], row["deletions"]) == (27116, 69, 1)


def test_another_reader_adds_up_the_same(fixtures: Path, tmp_path: Path) -> None:
    analysis = analyze([str(fixtures / "osd-reef")])
    write_jobs(analysis, tmp_path / "jobs.parquet")
    query = f"select sum(output_bytes) from '{tmp_path}/jobs.parquet' where kind = 'compaction'"
    told = duckdb.sql(query)
    assert told is not None
    assert told.fetchall() == [(analysis.runs[0].total.compaction_output_bytes,)]


def test_seldom_fields_are_details(analysis_of: Callable[..., Analysis]) -> None:
    started = {"job": 9, "event": "compaction_started", "files_L0": [3, 4], "files_L9": [1], "oldest_snapshot_seqno": 7}
    finished = {
        "job": 9, "event": "compaction_finished", "compaction_time_micros": 5, "output_level": 1, "num_output_files": 1,
        "total_output_size": 1, "num_input_records": 9, "num_output_records": 7, "file_fsync_nanos": 8,
        "num_single_delete_mismatches": 0,
    }  # fmt: skip
    (row,) = analysis_of(started, finished).runs[0].run.jobs.to_dicts()
    assert json.loads(row["details"]) == {"oldest_snapshot_seqno": 7, "file_fsync_nanos": 8}
    assert (row["input_levels"], row["input_tables"]) == ([0, 9], [3, 4, 1])


def test_what_is_not_known_is_kept_as_json(analysis_of: Callable[..., Analysis]) -> None:
    mutant = {"job": 9, "event": "mutant_table", "alpha": 1.5, "cf_name": 7}
    move = {"job": 3, "event": "trivial_move", "destination_level": 1, "files": 1, "total_files_size": 4, "new": [1]}
    run = analysis_of(mutant, move).runs[0].run
    rows = {row["kind"]: json.loads(row["fields"]) for row in run.other_events.to_dicts()}
    assert rows == {"mutant_table": {"alpha": 1.5, "cf_name": 7}, "trivial_move (unknown fields)": {"new": [1]}}
    assert run.jobs.height == 1


def test_ingested_files_are_kept(analysis_of: Callable[..., Analysis]) -> None:
    ingested = {"event": "ingest_finished", "files_ingested": [{"file": 3, "level": 6}], "lsm_state": [0, 1]}
    (row,) = analysis_of(ingested).runs[0].run.other_events.to_dicts()
    assert json.loads(row["fields"]) == {"files_ingested": [{"file": 3, "level": 6}], "lsm_state": [0, 1]}


def test_the_largest_number_of_all_stands_for_none(analysis_of: Callable[..., Analysis]) -> None:
    table = {"cf_name": "a", "job": 3, "event": "table_file_creation", "file_number": 10, "file_size": 1234}
    one = analysis_of({**table, "smallest_seqno": UINT64_MAX, "largest_seqno": 7}).runs[0]
    (row,) = one.run.tables.to_dicts()
    assert (row["first_sequence"], row["last_sequence"]) == (None, 7)
    assert not one.run.quality.impossible_values


def test_a_log_without_events_is_tables_without_rows(
    analysis_of: Callable[..., Analysis], written: Callable[..., pl.DataFrame]
) -> None:
    for write, row in WRITERS:
        found = written(write, analysis_of())
        assert (found.height, found.columns) == (0, ["run", *columns_of(row)])
