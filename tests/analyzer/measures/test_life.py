"""What stands around a run's jobs: bytes by log and counters, and total write amplification by either."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from lsmlens.analyzer.analysis import Analysis, RunAnalysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.runs.selection import Selection
from lsmlens.reports.analysis_json import to_json

from tests.run_tables import events_of


def document(analysis: Analysis) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(to_json(analysis))
    return said


def osd(path: Path, selection: Selection | None = None) -> RunAnalysis:
    return next(one for one in analyze([str(path)], selection).runs if not one.run.is_monitor)


@pytest.mark.parametrize("name", ["osd-stock", "osd-spillover", "osd-small-db"])
def test_log_and_counters_agree(name: str, fixtures: Path) -> None:
    check = osd(fixtures / name).cross_check
    assert check is not None
    assert check.difference is not None
    assert abs(check.difference) < 0.02


def test_total_by_dumps_where_they_tell(fixtures: Path) -> None:
    total = osd(fixtures / "osd-spillover").total_amplification
    assert total is not None
    assert not total.is_by_counters


def test_total_by_counters(fixtures: Path) -> None:
    """All dumps of this OSD are right after its opens, so BlueFS's counters stand in."""
    one = osd(fixtures / "osd-stock")
    total, counters, check = one.total_amplification, one.counters, one.cross_check
    assert total is not None
    assert counters is not None
    assert check is not None
    assert total.is_by_counters
    assert total.wal_bytes == total.user_bytes == counters.bluefs_wal_bytes_written
    assert total.table_bytes == check.log_bytes
    assert total.ratio == pytest.approx(1 + check.log_bytes / total.wal_bytes)
    # The memtables that were flushed hold what users wrote; what was in memory at the end is not among it.
    flushed = sum(
        event["total_data_size"]
        for event in events_of(one.run)
        if event["event"] == "flush_finished" and event["session"] == one.run.sessions[-1].number
    )
    assert 0.9 < flushed / total.user_bytes < 1


def test_the_document_says_by_what(fixtures: Path) -> None:
    said = {
        name: next(run for run in document(analyze([str(fixtures / name)]))["runs"] if not run["monitor"])
        for name in ("osd-stock", "osd-spillover", "osd-reef")
    }
    assert [run["write_amplification"]["total_by"] for run in said.values()] == ["counters", "statistics dumps", None]
    assert said["osd-reef"]["write_amplification"]["total"] is None


def test_none_of_a_part_and_without_counters(fixtures: Path, tmp_path: Path) -> None:
    assert osd(fixtures / "osd-stock", Selection(level=1)).total_amplification is None
    shutil.copy(fixtures / "osd-stock" / "ceph-osd.0.log.gz", tmp_path)
    assert osd(tmp_path).total_amplification is None
