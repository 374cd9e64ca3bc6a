"""Window sums: nothing gained or lost in cutting a log into windows."""

from pathlib import Path

import pytest
from lsmlens.analyzer.comparison.window_sums import COLUMNS, MOST_WINDOWS, WindowSums, window_sums
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.runs.selection import Selection


def of_bundle(path: Path, selection: Selection | None = None) -> WindowSums:
    found = window_sums([one.run for one in analyze([str(path)], selection).counted], selection)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "name", ["osd-stock", "osd-reef", "osd-rotated", "osd-crash", "rocksdb-7.8", "rocksdb-backlog"]
)
def test_windows_add_up_to_the_analysis(name: str, fixtures: Path) -> None:
    analysis = analyze([str(fixtures / name)])
    found = of_bundle(fixtures / name)
    sums = {column: sum(values) for column, values in found.columns.items()}
    (one,) = analysis.counted
    statistics, total = one.statistics, one.total
    assert sums["compactions"] == statistics.compaction_events
    assert sums["compaction_seconds"] == pytest.approx(statistics.total_compaction_seconds)
    assert sums["output_bytes"] / 2**20 == pytest.approx(statistics.total_output_size_mib)
    for column in ("flushes", "flush_bytes", "flush_input_records", "flush_output_records", "compaction_input_bytes"):
        assert sums[column] == getattr(total, column), column
    assert sums["compaction_output_bytes"] == total.compaction_output_bytes
    if statistics.compaction_events:
        assert sums["ratios"] / sums["weighed_compactions"] == pytest.approx(statistics.avg_output_input_ratio)
        rate = sums["input_rates"] / sums["timed_compactions"]
        assert rate == pytest.approx(statistics.avg_input_records_per_second)
        throughput = sums["throughputs"] / sums["timed_compactions"]
        assert throughput == pytest.approx(statistics.avg_output_throughput_mib_per_second)


def test_families_add_up_to_the_whole(fixtures: Path) -> None:
    columns = of_bundle(fixtures / "osd-stock").columns
    for column in ("flush_bytes", "flush_input_records", "compaction_output_bytes"):
        parts = [values for name, values in columns.items() if name.startswith(f"{column}/")]
        assert len(parts) > 1
        assert [sum(window) for window in zip(*parts, strict=True)] == list(columns[column])


@pytest.mark.parametrize("name", ["osd-stock", "osd-reef", "rocksdb-7.8"])
def test_windows_cover_the_log_and_are_not_many(name: str, fixtures: Path) -> None:
    found = of_bundle(fixtures / name)
    (one,) = analyze([str(fixtures / name)]).counted
    seconds = one.statistics.log_duration_seconds or 0.0
    assert MOST_WINDOWS / 3 < found.count <= MOST_WINDOWS
    assert seconds <= found.count * found.seconds < seconds + found.seconds
    assert {len(values) for values in found.columns.values()} == {found.count}
    assert set(COLUMNS) <= set(found.columns)


def test_windows_hold_what_was_selected(fixtures: Path) -> None:
    selection = Selection("2026-11-20T22:58", "2026-11-20T23:00:30Z", frozenset({"p-0", "P"}))
    found = of_bundle(fixtures / "osd-stock", selection)
    (one,) = analyze([str(fixtures / "osd-stock")], selection).counted
    assert sum(found.columns["flush_bytes"]) == one.total.flush_bytes > 0
    assert found.seconds * found.count < 160


def test_a_log_without_a_duration_has_no_windows(tmp_path: Path) -> None:
    (tmp_path / "LOG").write_text("2026/11/21-07:33:02.040964 10094 RocksDB version: 9.8.4\n")
    assert window_sums([one.run for one in analyze([str(tmp_path)]).runs]) is None
