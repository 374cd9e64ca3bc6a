"""R20: a real OSD of which every second block was given back; the other bands are put into a real one's counters.

A severe rating (0.9 and more) was not made: the free space that BlueFS and the monitor leave is in one piece.
"""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.counters.counter_summary import summarise
from lsmlens.analyzer.counters.perf_dumps import PerfDump
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.findings import Finding, NotAssessed, Severity
from lsmlens.analyzer.rules.fragmentation import Fragmentation, band_of

RULE = Fragmentation()


@pytest.fixture(scope="module")
def stock(fixtures: Path) -> RunAnalysis:
    return next(one for one in analyze([str(fixtures / "osd-stock")]).runs if not one.run.is_monitor)


@pytest.mark.parametrize(
    ("share", "severity", "band"),
    [
        (0.7, Severity.INFO, "considerable, but safe"),
        (0.8, Severity.WARNING, "considerable, but safe"),
        (0.9, Severity.CRITICAL, "severe"),
        (1.0, Severity.CRITICAL, "severe"),
    ],
)
def test_constructed_shares(stock: RunAnalysis, share: float, severity: Severity, band: str) -> None:
    assert stock.counters is not None
    (found,) = RULE.check(replace(stock, counters=replace(stock.counters, fragmentation_share=share)), [])
    assert isinstance(found, Finding)
    assert found.severity is severity
    assert found.meaning.startswith(f"fragmentation is {band};")
    assert found.evidence[0].text == f"bluestore.fragmentation_micros is a share of {share:.3f}"


def test_a_real_osd_with_holes(fixtures: Path, tmp_path: Path) -> None:
    """The allocator itself rates it 0.87177; before, when the device was filled, there was nothing to find."""
    (run,) = analyze([str(fixtures / "osd-fragmented")]).runs
    (found,) = RULE.check(run, [])
    assert isinstance(found, Finding)
    assert (found.severity, found.value) == (Severity.WARNING, "0.87")
    assert found.evidence[0].text == "bluestore.fragmentation_micros is a share of 0.871"
    for name in ("ceph-osd.0.log.gz", "perf_dump.filled.json.gz"):
        shutil.copy(fixtures / "osd-fragmented" / name, tmp_path)
    (before,) = analyze([str(tmp_path)]).runs
    assert not list(RULE.check(before, []))


@pytest.mark.parametrize(
    ("counter", "release", "share"),
    [
        (871, (16, 2, 15), 0.871),
        (871, None, 0.871),
        (871, (19, 2, 3), 0.000871),
        (805_089, (20, 1, 0), 0.805089),
        (805_089, None, 0.805089),
    ],
)
def test_unit_of_the_counter(counter: int, release: tuple[int, int, int] | None, share: float) -> None:
    summary = summarise(PerfDump({"bluestore.fragmentation_micros": counter}), release)
    assert summary.fragmentation_share == pytest.approx(share)


def test_bands() -> None:
    assert [band_of(share) for share in (0.0, 0.39, 0.4, 0.69)] == ["tiny", "tiny"] + ["small, acceptable"] * 2


def test_nothing_on_a_real_osd(stock: RunAnalysis) -> None:
    assert stock.counters is not None
    assert stock.counters.fragmentation_share == pytest.approx(
        0.002
    )  # the allocator says 0.00276, and the counter cuts that
    assert not list(RULE.check(stock, []))


def test_not_assessed_without_dumps(fixtures: Path) -> None:
    (run,) = analyze([str(fixtures / "osd-reef")]).runs
    assert list(RULE.check(run, [])) == [NotAssessed("R20", RULE.title, "perf dump or bluestore allocator score")]
