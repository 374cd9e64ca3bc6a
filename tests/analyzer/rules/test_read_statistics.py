"""R24: real STATISTICS dumps of good filters, weak ones and none."""

from pathlib import Path

from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.findings import Finding, NotAssessed
from lsmlens.analyzer.rules.read_statistics import ReadStatistics

RULE = ReadStatistics()


def said_of(folder: Path) -> list[Finding | NotAssessed]:
    (run,) = (one for one in analyze([str(folder)]).runs if not one.run.is_monitor)
    return list(RULE.check(run, ()))


def values(said: list[Finding | NotAssessed]) -> list[str]:
    return [one.value for one in said if isinstance(one, Finding)]


def test_no_filter_zlib_and_skew(fixtures: Path) -> None:
    said = said_of(fixtures / "rocksdb-no-filter")
    assert values(said) == ["0 checks in 150\u202f000 gets", "P99 / P50 = 26.6", "85.5 % of the time blocks take"]


def test_a_weak_filter(fixtures: Path) -> None:
    """335,332 of 552,789 checks let no key pass, as there was none."""
    assert values(said_of(fixtures / "rocksdb-weak-filter")) == ["60.7 % of checks were right", "P99 / P50 = 5.1"]


def test_a_good_filter(fixtures: Path) -> None:
    assert said_of(fixtures / "rocksdb-filter") == []


def test_no_gets(fixtures: Path) -> None:
    (lacking,) = said_of(fixtures / "rocksdb-7.8")
    assert isinstance(lacking, NotAssessed)
    assert "1000 gets" in lacking.needs


def test_no_statistics(fixtures: Path) -> None:
    for bundle, how in (("osd-stock", "rocksdb_perf"), ("rocksdb-current", "Options.statistics")):
        (lacking,) = said_of(fixtures / bundle)
        assert isinstance(lacking, NotAssessed)
        assert "STATISTICS in the dumps" in lacking.needs
        assert how in lacking.needs
