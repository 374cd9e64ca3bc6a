"""Events as Parquet: every event a row, every known field a typed column."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from lsmlens.analyzer.analysis import Analysis, analyze
from lsmlens.analyzer.events import SCHEMAS
from lsmlens.analyzer.selection import Selection
from lsmlens.analyzer.table_properties import TABLE_PROPERTIES
from lsmlens.reports.events_parquet import COLUMNS, write_events

TableOf = Callable[[Analysis], Any]
RowsOf = Callable[..., list[dict[str, Any]]]
UINT64_MAX = (1 << 64) - 1


@pytest.fixture
def table_of(tmp_path: Path) -> TableOf:
    def read(analysis: Analysis) -> Any:
        write_events(analysis, tmp_path / "events.parquet")
        return pq.read_table(tmp_path / "events.parquet")

    return read


@pytest.fixture
def rows_of(table_of: TableOf, tmp_path: Path) -> RowsOf:
    """The rows of a native log of these events."""

    def read(*events: dict[str, Any]) -> list[dict[str, Any]]:
        lines = ["2026/11/21-07:33:02.040964 10094 RocksDB version: 9.8.4"]
        for at, event in enumerate(events):
            said = json.dumps({"time_micros": 1795246382040918 + at, **event})
            lines.append(f"2026/11/21-07:33:02.040964 10094 EVENT_LOG_v1 {said}")
        (tmp_path / "LOG").write_text("\n".join(lines) + "\n")
        rows: list[dict[str, Any]] = table_of(analyze([str(tmp_path / "LOG")])).to_pylist()
        return rows

    return read


def creation(properties: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    event = {"cf_name": "a", "job": 3, "event": "table_file_creation", "file_number": 10, "file_size": 1234}
    return {**event, **fields, "table_properties": properties or {}}


@pytest.mark.parametrize("name", ["osd-stock", "osd-crash", "osd-reef", "rocksdb-7.8", "rocksdb-current"])
def test_every_event_is_a_row(name: str, fixtures: Path, table_of: TableOf) -> None:
    analysis = analyze([str(fixtures / name)])
    table = table_of(analysis)
    counts = Counter((one.run.name, kind) for one in analysis.runs for kind in one.run.event_counts.elements())
    assert Counter(zip(table["run"].to_pylist(), table["event"].to_pylist(), strict=True)) == counts
    assert table.num_rows == counts.total() > 100
    others = {
        (kind, name)
        for kind, other in zip(table["event"].to_pylist(), table["other_fields"].to_pylist(), strict=True)
        for name in json.loads(other or "{}")
    }
    numbers = {"compaction_started": "files_L", "trivial_move": "moved_files"}
    assert all(name.startswith(numbers.get(kind, "none")) for kind, name in others)


def test_the_selection_does_not_matter(fixtures: Path, table_of: TableOf) -> None:
    path = str(fixtures / "osd-stock" / "ceph-osd.0.log.gz")
    assert table_of(analyze([path], Selection(level=7))).num_rows == 309


def test_the_types_of_the_columns(fixtures: Path, table_of: TableOf) -> None:
    schema = table_of(analyze([str(fixtures / "rocksdb-current")])).schema
    assert schema.names == list(COLUMNS)
    assert schema.field("time").type == pa.timestamp("us", "UTC")
    assert schema.field("time_micros").type == pa.int64()
    assert schema.field("score").type == pa.float64()
    assert schema.field("cf_name").type == pa.string()
    assert schema.field("lsm_state").type.value_type == pa.int64()
    properties = schema.field("table_properties").type
    assert {properties.field(at).name for at in range(properties.num_fields)} == set(TABLE_PROPERTIES)


def test_every_known_field_has_a_column() -> None:
    known = {name for schema in SCHEMAS.values() for name, kind in schema.items()}
    assert known - set(COLUMNS) == {"files_ingested"}  # a list of structs, kept with the other fields


def test_the_values_of_a_real_compaction(fixtures: Path, table_of: TableOf) -> None:
    rows = table_of(analyze([str(fixtures / "osd-stock" / "ceph-osd.0.log.gz")])).to_pylist()
    (row,) = (row for row in rows if row["event"] == "compaction_finished" and row["job"] == 47)
    expected = {
        "run": "osd.0",
        "session": 6,
        "column_family": "p-1",
        "attributed_by": "job line",
        "compaction_time_micros": 971028,
        "total_output_size": 104941890,
        "created_bytes": 104941890,
        "created_files": 2,
        "input_files": 3,
        "input_levels": [0, 1],
        "score": 1.02956,
        "compaction_reason": "LevelL0FilesNum",
        "lsm_state": [0, 2, 0, 0, 0, 0, 0],
        "output_compression": "NoCompression",
        "table_properties": None,
        "num_memtables": None,
    }
    assert {name: row[name] for name in expected} == expected
    assert row["time"].isoformat() == "2026-11-20T23:00:53.450216+00:00"
    assert row["time_micros"] - row["started_micros"] == 1795215653450216 - 1795215652473062


def test_table_properties_of_a_real_table(fixtures: Path, table_of: TableOf) -> None:
    rows = table_of(analyze([str(fixtures / "osd-stock" / "ceph-osd.0.log.gz")])).to_pylist()
    (row,) = (row for row in rows if row["event"] == "table_file_creation" and row["file_number"] == 139)
    properties = row["table_properties"]
    assert (row["cf_name"], row["file_size"]) == ("O-0", 28406)
    assert (properties["data_size"], properties["num_entries"], properties["num_deletions"]) == (27116, 69, 1)
    assert properties["filter_policy"] == "rocksdb.BuiltinBloomFilter"
    assert properties["key_smallest_seqno"] is None


def test_the_former_name_of_a_property(rows_of: RowsOf) -> None:
    (row,) = rows_of(creation({"filter_policy_name": "bloom"}))
    assert row["table_properties"]["filter_policy"] == "bloom"
    assert row["other_fields"] is None


def test_unknown_fields_are_kept_as_json(rows_of: RowsOf) -> None:
    (row,) = rows_of(creation({"kDeletedKeys": "1", "data_size": 5}, brand_new=[1, {"x": None}]))
    assert json.loads(row["other_fields"]) == {"brand_new": [1, {"x": None}], "table_properties": {"kDeletedKeys": "1"}}
    assert row["table_properties"]["data_size"] == 5


def test_unknown_kinds_are_rows_too(rows_of: RowsOf) -> None:
    mutant = {"job": 9, "event": "mutant_table", "alpha": 1.5, "cf_name": 7}
    (row,) = rows_of(mutant)
    assert (row["event"], row["job"], row["cf_name"]) == ("mutant_table", 9, None)
    assert {"alpha": 1.5, "cf_name": 7}.items() <= json.loads(row["other_fields"]).items()


def test_input_files_are_kept_with_the_other_fields(rows_of: RowsOf) -> None:
    started = {"job": 9, "event": "compaction_started", "files_L0": [3, 4], "files_L2": [1], "score": -1}
    (row,) = rows_of({**started, "input_data_size": 5})
    assert row["score"] == -1.0
    assert json.loads(row["other_fields"]) == {"files_L0": [3, 4], "files_L2": [1]}


def test_ingested_files_are_kept_with_the_other_fields(rows_of: RowsOf) -> None:
    (row,) = rows_of({"event": "ingest_finished", "files_ingested": [{"file": 3, "level": 6}], "lsm_state": [0, 1]})
    assert json.loads(row["other_fields"]) == {"files_ingested": [{"file": 3, "level": 6}]}
    assert (row["lsm_state"], row["job"]) == ([0, 1], None)


def test_the_largest_number_of_all_stands_for_none(rows_of: RowsOf) -> None:
    (row,) = rows_of(creation({"key_smallest_seqno": UINT64_MAX}, smallest_seqno=UINT64_MAX, largest_seqno=7))
    assert row["smallest_seqno"] is None
    assert row["largest_seqno"] == 7
    assert row["table_properties"]["key_smallest_seqno"] is None
    assert row["other_fields"] is None


def test_numbers_that_do_not_fit_are_not_lost(rows_of: RowsOf) -> None:
    (row,) = rows_of(
        creation({"data_size": 1 << 63}, largest_seqno=(1 << 63) + 5, oldest_blob_file_number=(1 << 63) - 1)
    )
    assert row["table_properties"]["data_size"] is None
    assert row["largest_seqno"] is None
    assert row["oldest_blob_file_number"] == (1 << 63) - 1
    assert json.loads(row["other_fields"]) == {
        "largest_seqno": (1 << 63) + 5,
        "table_properties": {"data_size": 1 << 63},
    }


def test_a_time_past_the_calendar_is_null(rows_of: RowsOf) -> None:
    (row,) = rows_of({**creation(), "time_micros": (1 << 63) - 1})
    assert row["time"] is None
    assert row["time_micros"] == (1 << 63) - 1


def test_a_log_without_events_is_a_table_without_rows(table_of: TableOf, tmp_path: Path) -> None:
    (tmp_path / "LOG").write_text("2026/11/21-07:33:02.040964 10094 RocksDB version: 9.8.4\n")
    table = table_of(analyze([str(tmp_path / "LOG")]))
    assert (table.num_rows, table.schema.names) == (0, list(COLUMNS))


def test_more_rows_than_a_batch(
    table_of: TableOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fixtures: Path
) -> None:
    monkeypatch.setattr("lsmlens.reports.events_parquet.BATCH_ROWS", 100)
    table = table_of(analyze([str(fixtures / "osd-stock" / "ceph-osd.0.log.gz")]))
    assert table.num_rows == 309
    assert len(set(table["time_micros"].to_pylist())) > 300
