"""Jobs as CSV: one row a job, no more, no less."""

import csv
import io
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import Analysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.runs.selection import Selection
from lsmlens.reports.jobs_csv import COLUMNS, to_csv

Row = dict[str, str]


@pytest.fixture
def rows_of() -> Callable[[Analysis], list[Row]]:
    def read(analysis: Analysis) -> list[Row]:
        text = to_csv(analysis)
        assert "\r" not in text
        return list(csv.DictReader(io.StringIO(text)))

    return read


RowsOf = Callable[[Analysis], list[Row]]


@pytest.mark.parametrize("name", ["osd-stock", "osd-crash", "rocksdb-7.8", "rocksdb-current"])
def test_every_finished_job_is_a_row(name: str, fixtures: Path, rows_of: RowsOf) -> None:
    analysis = analyze([str(fixtures / name)])
    rows = rows_of(analysis)
    counts = Counter(row["kind"] for row in rows)
    events = sum((one.run.event_counts for one in analysis.runs), Counter[str]())
    assert counts["flush"] == events["flush_finished"]
    assert counts["compaction"] == events["compaction_finished"]
    assert counts["move"] == events["trivial_move"]
    assert {tuple(row) for row in rows} == {("run", *COLUMNS)}
    assert not any(None in row.values() for row in rows)


@pytest.mark.parametrize("name", ["osd-stock", "osd-crash", "rocksdb-current"])
def test_rows_come_to_the_sums_of_the_analysis(name: str, fixtures: Path, rows_of: RowsOf) -> None:
    analysis = analyze([str(fixtures / name)])
    rows = rows_of(analysis)
    totals = [one.total for one in analysis.runs]
    for kind, field in (("flush", "flush_bytes"), ("compaction", "compaction_output_bytes")):
        added = sum(int(row["output_bytes"]) for row in rows if row["kind"] == kind)
        assert added == sum(getattr(total, field) for total in totals)
    seconds = sum(float(row["seconds"]) for row in rows if row["kind"] == "compaction")
    assert seconds == pytest.approx(sum(total.compaction_seconds for total in totals))
    records = sum(int(row["input_records"]) for row in rows if row["kind"] == "compaction")
    assert records == sum(total.input_records for total in totals)


def test_a_flush_a_compaction_and_a_move_of_a_real_log(fixtures: Path, rows_of: RowsOf) -> None:
    rows = rows_of(analyze([str(fixtures / "osd-stock" / "ceph-osd.0.log.gz")]))
    compaction = next(row for row in rows if row["kind"] == "compaction" and row["job"] == "47")
    assert compaction == {
        "run": "osd.0",
        "session": "6",
        "job": "47",
        "kind": "compaction",
        "column_family": "p-1",
        "finished_at": "2026-11-20T23:00:53.450Z",
        "seconds": "0.971028",
        "reason": "LevelL0FilesNum",
        "output_level": "1",
        "input_files": "3",
        "input_bytes": "205563531",
        "input_records": "874082",
        "output_files": "2",
        "output_bytes": "104941890",
        "output_records": "238653",
        "output_input_ratio": compaction["output_input_ratio"],
    }
    assert float(compaction["output_input_ratio"]) == pytest.approx(0.2730327360590883)
    flush = next(row for row in rows if row["kind"] == "flush" and row["output_bytes"] == "28406")
    assert (flush["column_family"], flush["job"], flush["output_level"]) == ("O-0", "44", "0")
    assert (flush["input_files"], flush["input_records"], flush["output_records"]) == ("1", "9471", "69")
    assert (flush["input_bytes"], flush["output_files"]) == ("3808987", "1")
    assert float(flush["seconds"]) == pytest.approx(0.005755)
    moves = [row for row in rows_of(analyze([str(fixtures / "osd-crash")])) if row["kind"] == "move"]
    assert (moves[0]["column_family"], moves[0]["input_bytes"], moves[0]["output_level"]) == ("p-0", "4277740", "2")
    assert (moves[0]["output_bytes"], moves[0]["seconds"], moves[0]["output_input_ratio"]) == ("", "", "")


def test_the_selection_holds(fixtures: Path, rows_of: RowsOf) -> None:
    path = str(fixtures / "osd-stock" / "ceph-osd.0.log.gz")
    families = frozenset({"p-1", "P"})
    rows = rows_of(analyze([path], Selection(column_families=families, level=1)))
    assert Counter(row["column_family"] for row in rows) == {"p-1": 5, "P": 1}
    late = rows_of(analyze([path], Selection(since="2026-11-20T23:00:00Z")))
    assert late
    assert all(row["finished_at"] >= "2026-11-20T23:00:00" for row in late)


@pytest.mark.parametrize(
    ("family", "cell"),
    [
        *((name, name) for name in ('a,"b"', "line\x0bbreak", "Größe", "")),
        *((name, f"'{name}") for name in ("=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\tx")),
    ],
)
def test_families_of_any_name(family: str, cell: str, rows_of: RowsOf, tmp_path: Path) -> None:
    event = '2026/11/21-07:33:02.040964 10094 EVENT_LOG_v1 {"time_micros": 1795246382040918, "job": 3, '
    event += '"event": "trivial_move", "destination_level": 1, "files": 1, "total_files_size": 37800}\n'
    moved = f"2026/11/21-07:33:02.040964 10094 [db.cc:1] [{family}] Moved #1 files to level-1 37800 bytes OK\n"
    (tmp_path / "LOG").write_text(f"2026/11/21-07:33:02.040964 10094 RocksDB version: 7.8.3\n{event}{moved}")
    (row,) = rows_of(analyze([str(tmp_path / "LOG")]))
    assert row["column_family"] == cell  # no spreadsheet computes it
