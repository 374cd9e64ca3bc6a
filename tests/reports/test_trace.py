"""The trace: what it holds, and that Perfetto reads it."""

import json
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from lsmlens.analyzer.analysis import Analysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.reports.analysis import AnalysisReport
from lsmlens.reports.outputs import ANALYSIS
from lsmlens.reports.trace import Slice, slotted, to_trace

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    return analyze([str(FIXTURES / "osd-slow"), str(FIXTURES / "osd-reef")])


@pytest.fixture(scope="module")
def events(analysis: Analysis) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(to_trace(analysis))["traceEvents"]
    return found


def test_every_job_is_a_slice(analysis: Analysis, events: list[dict[str, Any]]) -> None:
    assert len(analysis.runs) > 1
    for process, one in enumerate(analysis.runs, 1):
        mine = [event for event in events if event["pid"] == process]
        assert {"name": one.run.name} in [event["args"] for event in mine if event["name"] == "process_name"]
        for kind in ("flush", "compaction", "move"):
            jobs = one.run.jobs.filter(kind=kind)
            unfinished = one.run.unfinished.filter(kind=kind)
            slices = [event for event in mine if event["ph"] == "X" and event["cat"] == kind]
            assert len(slices) == jobs.height + unfinished.height
            assert sum(event["args"].get("output_bytes", 0) for event in slices) == jobs["output_bytes"].sum()
        slow = [event for event in mine if event["ph"] == "X" and event["cat"] == "slow in BlueStore"]
        assert len(slow) == sum(one.millis is not None for one in one.run.slow_operations)


def test_no_slices_of_a_track_overlap(events: list[dict[str, Any]]) -> None:
    tracks: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            assert event["dur"] >= 0
            tracks[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    assert len(tracks) > 4
    for spans in tracks.values():
        assert all(before[1] <= after[0] for before, after in pairwise(sorted(spans)))
    named = {(event["pid"], event["tid"]) for event in events if event["name"] == "thread_name"}
    assert named == tracks.keys()


def test_slots_are_taken_again_when_they_are_free() -> None:
    spans = [(0, 10), (2, 4), (4, 6), (10, 12), (5, 5), (11, 11)]
    found = {(one.start, one.end): slot for slot, one in slotted(Slice(*span, "", {}) for span in spans)}
    assert found == {(0, 10): 0, (2, 4): 1, (4, 6): 1, (5, 5): 2, (10, 12): 0, (11, 11): 1}


def test_counters_follow_what_levels_hold(analysis: Analysis, events: list[dict[str, Any]]) -> None:
    last = {(event["pid"], event["name"]): event["args"]["value"] for event in events if event["ph"] == "C"}
    for process, one in enumerate(analysis.runs, 1):
        tables = one.run.tables
        alive = tables.filter(tables["deleted_at"].is_null() & tables["level"].is_not_null())
        held = sum(value for (pid, name), value in last.items() if pid == process and name.startswith("bytes "))
        assert held == alive["bytes"].sum()
        for family, rows in one.run.jobs.drop_nulls("level_files").sort("finished_at").group_by("column_family"):
            for level, count in enumerate(rows["level_files"][-1]):
                assert last.get((process, f"files {family[0]} L{level}"), 0) == count


def test_it_is_written_under_its_name(analysis: Analysis, tmp_path: Path) -> None:
    for name in ("trace.json", "osd.trace.json"):
        (output,) = ANALYSIS.outputs([str(tmp_path / name)])
        ANALYSIS.write(output, AnalysisReport(analysis))
        assert "traceEvents" in json.loads((tmp_path / name).read_text())


def test_perfetto_reads_it(analysis: Analysis, events: list[dict[str, Any]], tmp_path: Path) -> None:
    processor = pytest.importorskip("perfetto.trace_processor", reason="the package perfetto is not installed")
    path = tmp_path / "trace.json"
    path.write_text(to_trace(analysis))
    try:
        opened = processor.TraceProcessor(trace=str(path))
    except Exception as error:  # it fetches its program when it is first used, and raises anything
        pytest.skip(f"perfetto's trace processor is not here and cannot be fetched: {error}")
    with opened as trace:
        (slices,) = trace.query("select count(*) as n, sum(dur) as ns from slice")
        assert slices.n == sum(event["ph"] == "X" for event in events)
        assert slices.ns == 1000 * sum(event["dur"] for event in events if event["ph"] == "X")
        (processes,) = trace.query("select count(*) as n from process where name in ('osd.0')")
        assert processes.n >= 1
        (lost,) = trace.query("select sum(value) as n from stats where severity = 'error'")
        assert not lost.n
        (counters,) = trace.query("select count(*) as n from counter")
        assert counters.n == sum(event["ph"] == "C" for event in events)
