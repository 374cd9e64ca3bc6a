"""How near column families came to stalls, on real logs."""

from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.measures.pressure import FamilyPressure

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
