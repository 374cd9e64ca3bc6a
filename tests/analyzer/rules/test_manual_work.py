"""R27 on jobs that a program asks for, and on others."""

import json
from pathlib import Path

import pytest
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.findings import Finding
from lsmlens.analyzer.rules.manual_work import ManualWork

RULE = ManualWork()
JOBS = 12


def written(path: Path, last_reason: str) -> list[Finding]:
    """Flushes and compactions by turns, all asked for but the last compaction."""
    lines = []
    for number in range(1, 2 * JOBS + 1):
        micros, stamp = 1_700_000_000_000_000 + number * 1000, "2023/11/14-22:13:20.000000 7f "
        common = {"time_micros": micros, "job": number}
        if number % 2:
            events: list[dict[str, object]] = [
                {
                    **common,
                    "event": "flush_started",
                    "num_memtables": 1,
                    "num_entries": 9,
                    "num_deletes": 0,
                    "flush_reason": "Manual Compaction",
                },
                {**common, "event": "flush_finished", "lsm_state": [1]},
            ]
        else:
            reason = last_reason if number == 2 * JOBS else "ManualCompaction"
            events = [
                {
                    **common,
                    "event": "compaction_started",
                    "compaction_reason": reason,
                    "files_L0": [1],
                    "score": -1,
                    "input_data_size": 10,
                },
                {
                    **common,
                    "event": "compaction_finished",
                    "compaction_time_micros": 5,
                    "output_level": 1,
                    "num_output_files": 1,
                    "total_output_size": 10,
                    "num_input_records": 9,
                    "num_output_records": 9,
                    "lsm_state": [0, 1],
                },
            ]
        lines += [f"{stamp}EVENT_LOG_v1 {json.dumps(event)}" for event in events]
    (path / "LOG").write_text("\n".join(lines) + "\n")
    (run,) = analyze([str(path / "LOG")]).runs
    return [one for one in RULE.check(run, ()) if isinstance(one, Finding)]


def test_everything_is_asked_for(tmp_path: Path) -> None:
    (found,) = written(tmp_path, "ManualCompaction")
    assert found.value == "24 of 24 jobs"
    assert "12 compactions for ManualCompaction" in found.evidence[0].text


def test_one_compaction_was_due(tmp_path: Path) -> None:
    assert written(tmp_path, "LevelL0FilesNum") == []


@pytest.mark.parametrize("bundle", ["osd-stock", "rocksdb-7.8", "rocksdb-current"])
def test_healthy(bundle: str, fixtures: Path) -> None:
    for run in analyze([str(fixtures / bundle)]).runs:
        assert list(RULE.check(run, ())) == []
