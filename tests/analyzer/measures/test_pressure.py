"""How near column families came to stalls, on real logs."""

import gzip
import re
from itertools import pairwise
from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.measures.pressure import STEPS, Course, FamilyPressure
from lsmlens.analyzer.units import MICROS

from tests.run_tables import events_of


def pressure_of(one: RunAnalysis) -> dict[str, FamilyPressure]:
    return {pressure.family: pressure for pressure in one.pressure}


@pytest.fixture(scope="module")
def backlog(fixtures: Path) -> RunAnalysis:
    return analyze([str(fixtures / "rocksdb-backlog")]).runs[0]


def test_a_database_that_stalled(backlog: RunAnalysis) -> None:
    """Two of its families were created after the open, and print their options only then."""
    found = pressure_of(backlog)["column_family_name_000001"]
    assert found.level0_files == 12
    assert (found.compaction_trigger, found.slowdown_trigger, found.stop_trigger) == (4, 9, 24)
    assert (found.immutable_memtables, found.memtables) == (4, 4)  # at 4 writes are stopped
    assert all(one.is_notable for one in backlog.pressure)


def test_the_most_files_are_those_of_the_events(backlog: RunAnalysis) -> None:
    states: dict[str, list[int]] = {}
    for event in events_of(backlog.run):
        if event["event"] in ("flush_finished", "compaction_finished"):
            states.setdefault(event["column_family"], []).append(event["lsm_state"][0])
    assert {one.family: one.level0_files for one in backlog.pressure} == {
        family: max(files) for family, files in states.items()
    }


def test_means_by_time_and_of_the_dumps(fixtures: Path, backlog: RunAnalysis) -> None:
    for one in backlog.pressure:
        assert one.level0_files_mean is not None
        assert one.immutable_memtables_mean is not None
        assert 0 < one.level0_files_mean < (one.level0_files or 0)
        assert 0 < one.immutable_memtables_mean < (one.immutable_memtables or 0)
        assert one.pending_compaction_bytes_mean is None  # its dumps do not say it
    (native,) = analyze([str(fixtures / "rocksdb-current" / "LOG.old.1795246417137627.gz")]).runs
    assert native.series is not None
    for one in native.pressure:
        said = [point.pending_compaction_bytes.get(one.family) for point in native.series.points]
        known = [size for size in said if size is not None]
        assert known
        assert one.pending_compaction_bytes == max(known)
        assert one.pending_compaction_bytes_mean == pytest.approx(sum(known) / len(known))


def test_an_osd_at_ease(fixtures: Path) -> None:
    osd = next(one for one in analyze([str(fixtures / "osd-stock")]).runs if not one.run.is_monitor)
    assert osd.pressure
    assert not any(one.is_notable for one in osd.pressure)


@pytest.fixture(scope="module")
def text(fixtures: Path) -> str:
    return gzip.decompress((fixtures / "rocksdb-backlog/LOG.gz").read_bytes()).decode()


def test_every_switch_is_read(backlog: RunAnalysis, text: str) -> None:
    said = re.findall(r"\[(\w+)\] New memtable created with log file: #\d+\. Immutable memtables: (\d+)\.", text)
    assert [(family, count) for _, family, count in backlog.run.memtable_switches.frame().iter_rows()] == [
        (family, int(before) + 1) for family, before in said
    ]


def test_stops_are_at_the_peak(backlog: RunAnalysis, text: str) -> None:
    """RocksDB says how many there are when it stops writes, right after the switch to a new memtable."""
    assert backlog.pressure_series is not None
    stopped: dict[str, int] = {}
    for family, count in re.findall(r"\[(\w+)\] Stopping writes because we have (\d+) immutable memtables", text):
        stopped[family] = max(int(count), stopped.get(family, 0))
    peaks = {family: course.peak for family, course in backlog.pressure_series.immutable_memtables.items()}
    assert stopped == peaks == dict.fromkeys(stopped, 4)


def test_courses_by_step(backlog: RunAnalysis) -> None:
    series = backlog.pressure_series
    assert series is not None
    first, last = backlog.run.stamps.first, backlog.run.stamps.last
    assert first is not None
    assert last is not None
    assert series.start_micros == (first - 1000 * (backlog.run.utc_offset_seconds or 0)) * 1000
    assert series.step_micros * STEPS == pytest.approx((last - first + 1) * 1000, abs=STEPS)
    for course in (*series.level0_files.values(), *series.immutable_memtables.values()):
        assert max(one for one in course.most if one is not None) == course.peak
        assert sum(course.step_micros) == course.known_micros <= series.step_micros * STEPS
        assert all(
            most is not None and 0 <= mean <= most
            for mean, most in zip(course.means, course.most, strict=True)
            if mean is not None
        )


def test_mean_by_time(backlog: RunAnalysis) -> None:
    """Each count holds until the next one of its family: the same sum, done by hand over the finished jobs."""
    assert backlog.pressure_series is not None
    told = [
        (event["time_micros"], event["lsm_state"][0])
        for event in events_of(backlog.run)
        if event["event"] in ("flush_finished", "compaction_finished") and event["column_family"] == "default"
    ]
    held = sum(files * (later - micros) for (micros, files), (later, _) in pairwise(told))
    assert backlog.pressure_series.level0_files["default"].mean == pytest.approx(held / (told[-1][0] - told[0][0]))


def test_an_open_ends_what_was_known(fixtures: Path) -> None:
    """Nothing is said of the time from the last job before an open to the first after it."""
    run = next(one for one in analyze([str(fixtures / "osd-stock")]).runs if not one.run.is_monitor)
    assert run.pressure_series is not None
    assert len(run.run.sessions) == 7
    whole = ((run.run.stamps.last or 0) - (run.run.stamps.first or 0)) / 1000
    for course in run.pressure_series.immutable_memtables.values():
        assert course.known_micros < whole * MICROS
    many = run.pressure_series.immutable_memtables["O-0"]
    assert many.peak is not None
    assert many.mean is not None
    assert 0 < many.mean < many.peak


def test_merged_memtables_wait(fixtures: Path) -> None:
    """Options that merge many memtables in one flush show them waiting."""
    (run,) = analyze([str(fixtures / "osd-reef")]).runs
    assert run.pressure_series is not None
    merged = {
        view.name: max(view.memtables) for view in run.flushes if view.flushes and max(view.memtables, default=0) > 1
    }
    assert merged
    for family, most in merged.items():
        peak = run.pressure_series.immutable_memtables[family].peak
        assert peak is not None
        assert peak >= most


def test_a_course_of_nothing() -> None:
    course = Course(3)
    assert (course.peak, course.mean, course.means, course.most) == (None, None, [None] * 3, [None] * 3)
