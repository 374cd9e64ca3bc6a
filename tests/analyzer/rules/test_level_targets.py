"""R10 on real OSDs: a block.db of 2 GiB under Pacific's options, one of 192 MiB under a sixteenth of their sizes."""

from dataclasses import replace
from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.findings import Finding, NotAssessed, Severity
from lsmlens.analyzer.rules.level_targets import LevelTargets, level_shape, selection_of

RULE = LevelTargets()
GIB = 1 << 30


@pytest.fixture(scope="module")
def small(fixtures: Path) -> RunAnalysis:
    (run,) = analyze([str(fixtures / "osd-spillover")]).runs
    return run


def with_device(run: RunAnalysis, size: int) -> RunAnalysis:
    """The same OSD with its database on a device of another size."""
    assert run.counters is not None
    return replace(run, counters=replace(run.counters, db_total_bytes=size))


def test_level_2_will_not_fit(small: RunAnalysis) -> None:
    (found,) = RULE.check(small, [])
    assert isinstance(found, Finding)
    assert found.severity is Severity.INFO  # compactions wrote to level 1 only
    assert found.value == "levels up to 1 ask for 512 MiB, level 2 for 2.5 GiB more; extra 0 B"
    assert found.threshold == "1.9 GiB, 95 % of the device"  # 2147475456 * 0.95 / 2^20
    assert "ceph-bluestore-tool bluefs-bdev-expand --path /var/lib/ceph/osd/ceph-0" in found.commands[3]


def test_a_level_in_use_that_does_not_fit(fixtures: Path) -> None:
    """Files of level 2 are there, and its perf dump says that 80.9 MiB are on the slow device."""
    (run,) = analyze([str(fixtures / "osd-small-db")]).runs
    (found,) = RULE.check(run, [])
    assert isinstance(found, Finding)
    assert found.severity is Severity.WARNING
    assert found.meaning == "level 2 is in use and belongs to the slow device, all of it"
    assert found.value == "levels up to 1 ask for 32 MiB, level 2 for 160 MiB more; extra 0 B"
    assert found.threshold == "182.4 MiB, 95 % of the device"  # 201318400 * 0.95 / 2^20
    assert run.counters is not None
    assert run.counters.slow_used_bytes == 84_869_120


def test_same_osd_on_a_smaller_device(small: RunAnalysis) -> None:
    # 0.25 GiB for level 0 and as much for level 1 do not fit 0.95 * 0.5 GiB.
    (found,) = RULE.check(with_device(small, GIB // 2), [])
    assert isinstance(found, Finding)
    assert found.severity is Severity.WARNING
    assert found.meaning == "level 1 is in use and belongs to the slow device, all of it"


def test_same_osd_on_a_larger_device(small: RunAnalysis) -> None:
    assert not list(RULE.check(with_device(small, 40 * GIB), []))


def test_release_decides_how_the_factor_counts(small: RunAnalysis) -> None:
    shape = level_shape(small)
    assert shape is not None
    assert (shape.level0_bytes, shape.base_bytes, shape.multiplier) == (GIB, GIB // 4, 10)
    assert selection_of(small, 40 * GIB, shape).extra_bytes == pytest.approx(31.75 * GIB, abs=1)
    later = replace(small, run=replace(small.run, ceph_version="19.2.4"))
    assert selection_of(later, 40 * GIB, shape).extra_bytes == 0
    (found,) = RULE.check(with_device(later, 40 * GIB), [])
    assert isinstance(found, Finding)
    assert found.value.startswith("levels up to 3 ask for 28 GiB, level 4 for 250 GiB more")


def test_one_device_and_a_monitor(fixtures: Path) -> None:
    assert [list(RULE.check(run, [])) for run in analyze([str(fixtures / "osd-stock")]).runs] == [[], []]


def test_not_assessed(fixtures: Path, small: RunAnalysis) -> None:
    (run,) = analyze([str(fixtures / "osd-reef")]).runs
    assert list(RULE.check(run, [])) == [NotAssessed("R10", RULE.title, "perf dump or bluefs stats")]
    (lacking,) = RULE.check(replace(small, options=()), [])
    assert isinstance(lacking, NotAssessed)
