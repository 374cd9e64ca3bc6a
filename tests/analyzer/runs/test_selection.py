"""Selections: what --since, --until, --cf and --level mean."""

from typing import Any

import pytest
from lsmlens.analyzer.analysis import RunAnalysis, measure
from lsmlens.analyzer.runs.jobs import Job
from lsmlens.analyzer.runs.run import Run
from lsmlens.analyzer.runs.selection import Selection

from tests import jobs
from tests.jobs import compaction, flush, move

START = 1795215360  # 2026-11-20T22:56:00Z
MICROS = 1_000_000 * START


def at(seconds: float, row: Job) -> Job:
    row.finished_at = MICROS + round(seconds * 1e6)
    return row


def run_with(*rows: Job, offset: int | None = 0) -> Run:
    run = jobs.run_of(*rows)
    run.utc_offset_seconds = offset
    shift = 1000 * (offset or 0)
    run.stamps.first, run.stamps.last = 1000 * START + shift, 1000 * (START + 100) + shift
    return run


RUN = run_with(
    at(10, flush(1)),
    at(20, compaction(10)),
    at(30, compaction(10, 2, column_family="b")),
    at(40, move(100, column_family="b")),
    at(50, flush(1, column_family=None)),
    at(60, compaction(10, 0, column_family="")),
)


def seconds_taken(selection: Selection, run: Run = RUN) -> list[int]:
    finished = selection.of(run).of(run.jobs)["finished_at"].dt.epoch("us")
    return [round((micros - MICROS) / 1e6) for micros in finished]


def counts(measured: RunAnalysis) -> tuple[int, int, int]:
    total = measured.total
    return total.flushes, total.compactions, total.trivial_moves


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (Selection(), [10, 20, 30, 40, 50, 60]),
        (Selection(since=str(START + 20)), [20, 30, 40, 50, 60]),
        (Selection(since=str(START + 20.000001)), [30, 40, 50, 60]),
        (Selection(until=str(START + 30)), [10, 20]),
        (Selection(until=str(START + 30.000001)), [10, 20, 30]),
        (Selection(since=str(START + 20), until=str(START + 40)), [20, 30]),
        (Selection(since=str(START + 40), until=str(START + 20)), []),
        (Selection(since="2026-11-20T22:56:50"), [50, 60]),
        (Selection(column_families=frozenset({"a"})), [10, 20]),
        (Selection(column_families=frozenset({"a", "b"})), [10, 20, 30, 40]),
        (Selection(column_families=frozenset({""})), [60]),
        (Selection(column_families=frozenset({"A"})), []),
        (Selection(level=0), [10, 50, 60]),
        (Selection(level=1), [20]),
        (Selection(level=2), [30, 40]),
        (Selection(level=9), []),
        (Selection(since=str(START + 25), column_families=frozenset({"b"}), level=2), [30, 40]),
    ],
)
def test_which_jobs_are_taken(selection: Selection, expected: list[int]) -> None:
    assert seconds_taken(selection) == expected


@pytest.mark.parametrize("offset", [0, 7200, -12600])
def test_a_time_without_a_zone_is_the_logs_own(offset: int) -> None:
    run = run_with(at(10, flush(1)), at(40, flush(1)), offset=offset)
    from datetime import UTC, datetime, timedelta

    local = datetime.fromtimestamp(START + 20, UTC).replace(tzinfo=None) + timedelta(seconds=offset)
    assert seconds_taken(Selection(since=local.isoformat()), run) == [40]
    assert seconds_taken(Selection(until=local.isoformat()), run) == [10]
    assert seconds_taken(Selection(since="2026-11-20T22:56:20Z"), run) == [40]


def test_a_log_without_a_zone_is_taken_for_utc() -> None:
    run = run_with(at(10, flush(1)), at(40, flush(1)), offset=None)
    assert seconds_taken(Selection(since="2026-11-20T22:56:20"), run) == [40]


@pytest.mark.parametrize("offset", [0, 7200])
@pytest.mark.parametrize(
    ("since", "until", "seconds"),
    [
        (None, None, 100),
        (20, None, 80),
        (None, 30.5, 30.5),
        (20, 50, 30),
        (-50, 500, 100),
        (50, 20, 0),
        (200, None, 0),
        (None, -5, 0),
    ],
)
def test_the_duration_is_that_of_the_log_inside_the_wanted_time(
    since: float | None, until: float | None, seconds: float, offset: int
) -> None:
    selection = Selection(None if since is None else str(START + since), None if until is None else str(START + until))
    measured = measure(run_with(offset=offset), selection)
    assert measured.statistics.log_duration_seconds == pytest.approx(seconds)


def test_level_and_family_leave_the_duration_alone() -> None:
    measured = measure(RUN, Selection(column_families=frozenset({"a"}), level=1))
    assert measured.statistics.log_duration_seconds == 100


def test_a_log_without_stamps_has_no_duration() -> None:
    run = Run("x", is_monitor=False, members=[])
    assert measure(run, Selection(since="5")).statistics.log_duration_seconds is None


def test_everything_measured_is_of_the_selection() -> None:
    measured = measure(RUN, Selection(level=2))
    assert counts(measured) == (0, 1, 1)
    assert [family.name for family in measured.families] == ["b"]
    assert [level.level for level in measured.levels] == [2]
    assert measured.statistics.compaction_events == measured.sums["compactions"] == 1
    assert counts(measure(RUN, Selection())) == (2, 3, 1)


@pytest.mark.parametrize("text", ["soon", "", "2026-99-01"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        Selection(since=text).of(RUN)
    with pytest.raises(ValueError):
        Selection(until=text).of(RUN)


def test_an_event_of_another_age_does_not_spoil_the_clock(run_of: Any) -> None:
    event = b'EVENT_LOG_v1 {"time_micros": %d, "job": 3, "event": "trivial_move", "destination_level": 1, "files": 1,'
    event += b' "total_files_size": 7}'
    stamp = b"2026-11-20T22:56:20.761+0000 7f9fa51141c0  4 rocksdb: "
    native = b"2026/11/20-22:56:20.761456 7f9fa51141c0 "
    for prefix in (stamp, native):
        run = run_of([b"first", prefix + event % 5, prefix + event % (MICROS + 21_000_000)])
        assert Selection(since="2026-11-20T22:00").of(run).since_micros == MICROS - 56 * 60 * 1_000_000
