"""R09 on a real OSD whose block.db was too small, and on one without a device for the database."""

import shutil
from dataclasses import replace
from pathlib import Path

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.bundles.companions import Beside
from lsmlens.analyzer.counters.perf_dumps import PerfDump
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.findings import Finding, NotAssessed, Severity
from lsmlens.analyzer.rules.spillover import Spillover

RULE = Spillover()


def spilled(fixtures: Path) -> RunAnalysis:
    (run,) = analyze([str(fixtures / "osd-spillover")]).runs
    return run


def test_spilled(fixtures: Path) -> None:
    (found,) = RULE.check(spilled(fixtures), [])
    assert isinstance(found, Finding)
    assert found.severity is Severity.WARNING
    # max_bytes_slow 1033633792, slow_used_bytes 221577216
    assert found.value == "up to 985.8 MiB, 211.3 MiB at last"
    assert "alloc_slow_fallback 180" in found.evidence[0].text
    assert found.evidence[0].source.endswith("perf_dump.end.json")
    assert found.commands[0] == "ceph tell osd.0 compact"
    path = "/var/lib/ceph/osd/ceph-0"
    migrate = f"bluefs-bdev-migrate --path {path} --devs-source {path}/block --dev-target {path}/block.db"
    assert f"ceph-bluestore-tool {migrate}" in found.commands


def test_dump_between_counts_though_the_last_is_clean(fixtures: Path) -> None:
    run = spilled(fixtures)
    start, end = sorted(run.beside.perf_dumps, key=lambda one: one.source, reverse=True)
    assert end.number("bluefs.slow_used_bytes") == 221577216
    clean = analyze([str(fixtures / "osd-stock")]).runs[0].counters
    (found,) = RULE.check(replace(run, counters=clean, beside=Beside(perf_dumps=(end, start))), [])
    assert isinstance(found, Finding)
    assert found.meaning.endswith("all were back by the last perf dump")


def test_before_the_work_nothing(fixtures: Path, tmp_path: Path) -> None:
    for name in ("ceph-osd.0.log.gz", "perf_dump.start.json"):
        shutil.copy(fixtures / "osd-spillover" / name, tmp_path)
    assert [list(RULE.check(run, [])) for run in analyze([str(tmp_path)]).runs] == [[]]


def test_one_device_and_a_monitor(fixtures: Path) -> None:
    assert [list(RULE.check(run, [])) for run in analyze([str(fixtures / "osd-stock")]).runs] == [[], []]


def test_constructed_device_nearly_full(fixtures: Path) -> None:
    # No real dump has it: the most seen was 73 % (and that OSD had spilled).
    run = spilled(fixtures)
    start = next(one for one in run.beside.perf_dumps if one.source.endswith("start.json"))
    full = PerfDump({**start.counters, "bluefs.db_used_bytes": 1_900_000_000}, "perf_dump.json")
    (found,) = RULE.check(replace(run, beside=Beside(perf_dumps=(full,))), [])
    assert isinstance(found, Finding)
    assert (found.title, found.value) == ("Database device nearly full", "88.5 % used")  # 1900000000 / 2147475456


def test_not_assessed_without_dumps(fixtures: Path) -> None:
    (run,) = analyze([str(fixtures / "osd-reef")]).runs
    assert list(RULE.check(run, [])) == [NotAssessed("R09", RULE.title, "perf dump or bluefs stats")]
