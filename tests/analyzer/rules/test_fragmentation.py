"""R20: real OSDs here are hardly fragmented (0.000002), so higher values are put into a real one's counters."""

from dataclasses import replace
from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import RunAnalysis, analyze
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
    assert found.evidence[0].text == f"bluestore.fragmentation_micros {share * 1e6:.0f}"


def test_bands() -> None:
    assert [band_of(share) for share in (0.0, 0.39, 0.4, 0.69)] == ["tiny", "tiny"] + ["small, acceptable"] * 2


def test_nothing_on_a_real_osd(stock: RunAnalysis) -> None:
    assert stock.counters is not None
    assert stock.counters.fragmentation_share == pytest.approx(2e-6)
    assert not list(RULE.check(stock, []))


def test_not_assessed_without_dumps(fixtures: Path) -> None:
    (run,) = analyze([str(fixtures / "osd-reef")]).runs
    assert list(RULE.check(run, [])) == [NotAssessed("R20", RULE.title, "perf dump")]
