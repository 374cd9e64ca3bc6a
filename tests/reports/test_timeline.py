"""A run over time: bins hold exactly what the run's sums hold, selections and stalls included."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsmlens.analyzer.analysis import Analysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.numbers import duration
from lsmlens.analyzer.runs.jobs import COMPACTION, FLUSH
from lsmlens.analyzer.runs.selection import Selection
from lsmlens.analyzer.units import MICROS
from lsmlens.reports.run_tables import NOTHING, TimeTables
from lsmlens.reports.timeline import (
    BINS_PER_WINDOW,
    LANES,
    LENGTHS_SECONDS,
    OTHER_FAMILIES,
    TimeBins,
    Timeline,
    measure_timeline,
)

from tests.run_tables import events_of

LogText = Callable[[str], bytes]
MOMENT = st.integers(0, 4_000_000_000 * MICROS)
SPAN = st.integers(0, 500 * 86400 * MICROS)


def timeline_of(analysis: Analysis) -> Timeline:
    timeline = measure_timeline(analysis.runs[0], analysis.selection)
    assert timeline is not None
    return timeline


@pytest.fixture(scope="module", params=["osd-reef", "rocksdb-current", "osd-crash"])
def analysis(request: pytest.FixtureRequest, fixtures: Path) -> Analysis:
    return analyze([str(fixtures / request.param)])


def test_bytes_by_level_add_up_to_the_run(analysis: Analysis) -> None:
    timeline, one = timeline_of(analysis), analysis.runs[0]
    for level in one.levels:
        drawn = sum(count for (_, number), count in timeline.level_bytes.items() if number == level.level)
        assert drawn == pytest.approx(level.flush_bytes + level.compaction_output_bytes)


def test_jobs_and_their_bytes_add_up_to_the_families(analysis: Analysis) -> None:
    timeline, one = timeline_of(analysis), analysis.runs[0]
    for family in one.families:
        for kind, jobs, written in (
            (FLUSH, family.flushes, family.flush_bytes),
            (COMPACTION, family.compactions, family.compaction_output_bytes),
        ):
            found = [
                activity
                for (_, lane, of_kind), activity in timeline.activity.items()
                if (lane, of_kind) == (family.name, kind)
            ]
            assert sum(activity.jobs for activity in found) == jobs
            assert sum(activity.bytes for activity in found) == pytest.approx(written)


def test_compactions_are_as_long_as_from_their_start_to_their_finish(analysis: Analysis) -> None:
    timeline, one = timeline_of(analysis), analysis.runs[0]
    took = sum(
        event["time_micros"] - event["started_micros"]
        for event in events_of(one.run)
        if event["event"] == "compaction_finished" and "started_micros" in event
    )
    assert sum(timeline.busy_seconds(COMPACTION).values()) == pytest.approx(took / 1e6)


def test_windows_are_those_that_window_sums_up(analysis: Analysis, fixtures: Path) -> None:
    timeline = timeline_of(analysis)
    paths = [str(Path(member)) for member in analysis.runs[0].run.members]
    again = analyze(paths, window_seconds=timeline.window_seconds).runs[0]
    assert timeline.windows == list(again.windows)


def test_level_0_is_as_lsm_state_says(fixtures: Path) -> None:
    analysis = analyze([str(fixtures / "rocksdb-backlog")])
    timeline = timeline_of(analysis)
    states = [
        event["lsm_state"][0]
        for event in events_of(analysis.runs[0].run)
        if event["event"] in ("flush_finished", "compaction_finished") and event.get("lsm_state")
    ]
    assert max(span.files for span in timeline.level0) == max(states) > 10
    for span in timeline.level0:
        assert 0 <= span.since < span.until <= timeline.bins.count


def test_stall_lines_stand_where_the_log_has_them(fixtures: Path) -> None:
    (one,) = analyze([str(fixtures / "rocksdb-backlog")]).runs
    timeline = measure_timeline(one, Selection())
    assert timeline is not None
    assert sum(one.run.stall_lines.values()) == len(one.run.stall_moments) > 0
    assert sum(timeline.stall_lines.values()) == len(one.run.stall_moments)
    assert {kind for _, kind in timeline.stall_lines} == {kind for _, kind, _ in one.run.stall_lines}


def test_a_selection_narrows_time_and_jobs(fixtures: Path) -> None:
    selection = Selection("2026-11-20T22:58:00Z", "2026-11-20T22:59:00Z", frozenset({"p-0"}))
    analysis = analyze([str(fixtures / "osd-stock" / "ceph-osd.0.log.gz")], selection)
    timeline = timeline_of(analysis)
    assert timeline.last_micros - timeline.first_micros == 60_000_000
    assert timeline.families == ("p-0",)
    total = analysis.runs[0].total
    assert sum(timeline.level_bytes.values()) == pytest.approx(total.flush_bytes + total.compaction_output_bytes)


def test_many_families_share_a_lane(run_of: Callable[..., object], tmp_path: Path) -> None:
    lines = []
    for number in range(LANES + 5):
        micros = 1_700_000_000_000_000 + number * 1_000_000
        stamp = f"2023/11/14-22:13:{20 + number:02d}.000000 7f00 "
        job = f'"job": {number + 1}'
        lines += [
            f"{stamp}[db/flush_job.cc:322] [cf{number:02d}] [JOB {number + 1}] Flushing memtable with next log file: 9",
            f'{stamp}EVENT_LOG_v1 {{"time_micros": {micros}, {job}, "event": "flush_started", "num_memtables": 1,'
            ' "num_entries": 10, "num_deletes": 0, "memory_usage": 1048576, "flush_reason": "Write Buffer Full"}',
            f'{stamp}EVENT_LOG_v1 {{"time_micros": {micros + 1000}, "cf_name": "cf{number:02d}", {job},'
            f' "event": "table_file_creation", "file_number": {100 + number}, "file_size": {1000 * (number + 1)}}}',
            f'{stamp}EVENT_LOG_v1 {{"time_micros": {micros + 2000}, {job}, "event": "flush_finished",'
            ' "lsm_state": [1, 0], "immutable_memtables": 2}',
        ]
    (tmp_path / "LOG").write_text("\n".join(lines) + "\n")
    analysis = analyze([str(tmp_path / "LOG")])
    assert len(analysis.runs[0].families) == LANES + 5
    timeline = timeline_of(analysis)
    assert len(timeline.families) == LANES
    assert OTHER_FAMILIES in timeline.families
    assert "cf28" in timeline.families  # it wrote most
    assert max(timeline.waiting_memtables.values()) == 2
    assert sum(one.memory_bytes for one in timeline.flushed.values()) == (LANES + 5) << 20


def test_client_results_stand_where_they_were_measured(fixtures: Path) -> None:
    (one,) = (one for one in analyze([str(fixtures / "osd-stock")]).runs if not one.run.is_monitor)
    timeline = measure_timeline(one, Selection())
    assert timeline is not None
    fio = [span for span in timeline.client_spans if span.name == "fio_B.json randw write"]
    # B_fio start=2026-11-20T22:56:59.017Z end=2026-11-20T22:58:00.219Z
    assert len(fio) == 1
    assert fio[0].until_micros == 1_795_215_480_212_000
    assert fio[0].until_micros - fio[0].since_micros == 60_634_000
    bench = [span for span in timeline.client_spans if span.name == "A_radosbench.out write"]
    assert len(bench) == 21
    weighed = sum(span.mean_seconds for span in bench) / len(bench)
    assert weighed == pytest.approx(0.0057, rel=0.2)  # "Average Latency(s): 0.00571014"
    assert all(a.until_micros == b.since_micros for a, b in pairwise(bench))


def test_tables_hold_the_same_sums(analysis: Analysis) -> None:
    timeline = timeline_of(analysis)
    table = TimeTables(timeline).levels()
    for column, name in enumerate(table.header[1:], 1):
        level = int(name.removeprefix("L").removesuffix(" MiB"))
        shown = sum(float(row[column]) for row in table.rows if row[column] != NOTHING)
        mib = sum(count for (_, number), count in timeline.level_bytes.items() if number == level) / (1 << 20)
        assert shown == pytest.approx(mib, abs=0.06 * len(table.rows))
    assert len(table.rows) <= timeline.bins.count // BINS_PER_WINDOW


def test_a_log_without_time_has_no_timeline(fixtures: Path) -> None:
    (one,) = (one for one in analyze([str(fixtures / "osd-reef")]).runs if not one.run.is_monitor)
    assert measure_timeline(one, Selection(until="2001-01-01")) is None


@given(MOMENT, SPAN, st.integers(2, 300))
def test_bins_hold_what_they_are_over(first: int, span: int, most: int) -> None:
    bins = TimeBins.over(first, first + span, most)
    assert 1 <= bins.count <= most
    assert bins.start_micros <= first
    assert first + span < bins.end_micros or (bins.count == most and first + span <= bins.end_micros)
    assert bins.seconds in LENGTHS_SECONDS
    assert bins.start_micros % bins.width_micros == 0


def test_bins_are_the_shortest_that_are_few_enough() -> None:
    start = 1_795_216_216 * MICROS
    assert TimeBins.over(start, start + 313 * MICROS, 60).seconds == 10
    assert TimeBins.over(start, start + 59 * MICROS, 60).seconds == 1
    assert TimeBins.over(start, start + 3 * 86400 * MICROS, 60).seconds == 7200


def test_a_span_beyond_all_lengths_still_has_bins() -> None:
    bins = TimeBins.over(0, 10**18, 5)
    assert bins.count == 5
    assert bins.end_micros >= 10**18


@given(st.integers(0, 10**9), st.integers(0, 10**8), st.integers(0, 10**8))
def test_an_interval_is_parted_without_loss(first: int, begin: int, length: int) -> None:
    bins = TimeBins.over(first, first + 2 * 10**8, 60)
    since = first + begin
    parts = list(bins.shares(since, since + length))
    assert sum(micros for _, micros in parts) == length
    assert [index for index, _ in parts] == sorted({index for index, _ in parts})
    assert parts


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.25, "250 ms"), (2, "2 s"), (60, "1 min"), (313.05, "5 min 13 s"), (3600, "1 h"), (5400, "1 h 30 min"),
     (90061, "1 d 1 h")],
)  # fmt: skip
def test_durations_in_words(seconds: float, said: str) -> None:
    assert duration(seconds) == said
