"""R03 on level 0 of real databases."""

from dataclasses import replace
from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.findings import Finding, NotAssessed, OptionChange, Severity
from lsmlens.analyzer.rules.level0_backlog import Level0Backlog

RULE = Level0Backlog()


def test_one_slow_compaction_thread(fixtures: Path) -> None:
    (run,) = analyze([str(fixtures / "rocksdb-backlog")]).runs
    found = {one.column_family: one for one in RULE.check(run, ()) if isinstance(one, Finding)}
    assert found["default"].severity is Severity.CRITICAL
    assert found["default"].value == "1 min 18 s at 4 files or more, 13 at most"
    assert found["default"].meaning.endswith("writes are slowed down at 9 and stopped at 24")
    assert found["default"].changes == (OptionChange("max_background_jobs", "4"),)


@pytest.mark.parametrize("bundle", ["osd-stock", "osd-reef", "osd-rotated", "rocksdb-7.8"])
def test_compacted_within_seconds(bundle: str, fixtures: Path) -> None:
    assert list(RULE.check(_osd(fixtures / bundle), ())) == []


def test_no_options(fixtures: Path) -> None:
    (lacking,) = RULE.check(_osd(fixtures / "osd-noisy"), ())
    assert isinstance(lacking, NotAssessed)
    assert lacking.needs.startswith("options")


def test_no_events(fixtures: Path) -> None:
    monitor = next(run for run in analyze([str(fixtures / "osd-stock")]).runs if run.run.is_monitor)
    assert list(RULE.check(monitor, ())) == []  # its statistics dumps tell that level 0 was never full
    (lacking,) = RULE.check(replace(monitor, series=None), ())
    assert isinstance(lacking, NotAssessed)
    assert lacking.needs.startswith("flushes")


def _osd(bundle: Path) -> RunAnalysis:
    return next(run for run in analyze([str(bundle)]).runs if not run.run.is_monitor)


DUMP = """\
2023/07/28-{minute:02d}:14:18.000000 7f [db/db_impl/db_impl.cc:1] ------- DUMPING STATS -------
2023/07/28-{minute:02d}:14:18.000001 7f [db/db_impl/db_impl.cc:1]
** DB Stats **
Uptime(secs): {uptime}.0 total, 600.0 interval
Cumulative stall: 00:00:0.000 H:M:S, 0.0 percent
** Compaction Stats [default] **
Level    Files   Size     Score Read(GB)  Rn(GB) Rnp1(GB) Write(GB) Wnew(GB) Moved(GB) W-Amp Rd(MB/s) Wr(MB/s)\
 Comp(sec) CompMergeCPU(sec) Comp(cnt) Avg(sec) KeyIn KeyDrop
----------------------------------------------------------------------------------------------------------------------
  L0   {files}/0  1.00 GB  {score}  0.0 0.0 0.0 5.0 5.0 0.0 1.0 0.0 100.0\
 50.00 40.00 20 2.500 0 0
 Sum   {files}/0  1.00 GB 0.0  0.0 0.0 0.0 5.0 5.0 0.0 1.0 0.0 100.0\
 50.00 40.00 20 2.500 0 0
"""


def dumped(folder: Path, *files: int) -> RunAnalysis:
    """A log of statistics dumps, ten minutes apart, with so many files in level 0; its trigger is 4."""
    dumps = (DUMP.format(minute=at, uptime=600 * (at + 1), files=many, score=many / 4) for at, many in enumerate(files))
    (folder / "LOG").write_text("".join(dumps) + "2023/07/28-23:14:18.000000 7f end\n")
    (run,) = analyze([str(folder)]).runs
    return run


def test_by_dumps_alone(tmp_path: Path) -> None:
    run = dumped(tmp_path, 2, 9, 14, 8, 1)
    (finding,) = [one for one in RULE.check(run, ()) if isinstance(one, Finding)]
    assert finding.value == "3 dumps in a row over 20 min, 14 files at most"
    assert finding.column_family == "default"


def test_dumps_of_a_level_0_that_empties_in_between(tmp_path: Path) -> None:
    assert list(RULE.check(dumped(tmp_path, 9, 1, 9, 1), ())) == []
