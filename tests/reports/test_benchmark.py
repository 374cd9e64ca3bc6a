"""Figures for github-action-benchmark."""

import json
from pathlib import Path

from lsmlens.analyzer.diagnosis import analyze
from lsmlens.reports.benchmark import BenchmarkPoint, of_analysis, to_benchmark


def test_the_form_is_that_of_custom_smaller_is_better(fixtures: Path) -> None:
    analysis = analyze([str(fixtures / "osd-stock")])
    rows = json.loads(of_analysis(analysis))
    assert all({"name", "unit", "value"} <= row.keys() <= {"name", "unit", "value", "range", "extra"} for row in rows)
    assert all(isinstance(row["value"], int | float) for row in rows)
    assert len({row["name"] for row in rows}) == len(rows)
    by_name = {row["name"]: row for row in rows}
    one = analysis.runs[0]
    assert by_name["osd.0/LSM write amplification"]["value"] == one.total.write_amplification
    assert by_name["osd.0/Total output size"]["unit"] == "MiB"
    assert by_name["osd.0/fio_B.json randw write p99 latency"]["value"] == 56.885248
    assert not any(name.startswith("mon.a/") for name in by_name)


def test_what_is_not_known_is_left_out() -> None:
    assert json.loads(to_benchmark([BenchmarkPoint("a", "s", 1.5)])) == [{"name": "a", "unit": "s", "value": 1.5}]
    assert json.loads(to_benchmark([])) == []
