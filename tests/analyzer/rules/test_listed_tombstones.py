"""R33: slow iterators over tombstones of real logs, and the same logs without either."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.counters.perf_dumps import read_perf_dump
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.findings import Finding, NotAssessed, OptionChange, Severity
from lsmlens.analyzer.measures.statistics_series import StatisticsSeries
from lsmlens.analyzer.measures.tombstones import Collector, LevelTombstones, measure_iterations
from lsmlens.analyzer.rules.listed_tombstones import ListedTombstones

RULE = ListedTombstones()
DAY = 86_400.0


def osd(fixtures: Path) -> RunAnalysis:
    return next(one for one in analyze([str(fixtures / "osd-stock")]).runs if not one.run.is_monitor)


def with_counter(run: RunAnalysis, name: str, count: int, seconds: float) -> RunAnalysis:
    dump = read_perf_dump({"bluestore": {name: {"avgcount": count, "sum": count * seconds}}}, "perf.json")
    beside = replace(run.beside, perf_dumps=(dump,))
    return replace(run, beside=beside, iterations=measure_iterations(run.run, beside))


def found(said: Iterable[Finding | NotAssessed]) -> list[Finding]:
    return [one for one in said if isinstance(one, Finding)]


def test_slow_iterators_of_omap(fixtures: Path) -> None:
    (finding,) = found(RULE.check(with_counter(osd(fixtures), "omap_next_lat", 500, 0.25), ()))
    assert finding.severity is Severity.WARNING
    assert finding.meaning.startswith("listings of omap step over 783\u202f654 tombstones")
    assert [one.text for one in finding.evidence] == [
        "bluestore.omap_next_lat: 500 times, 250 ms in the mean",
        "p-2, level 0: 419\u202f122 tombstones in 612\u202f283 entries, half of them older than 15.6 s; no compaction"
        " is due: 1 of 4 files; for its age in 29 d 23 h",
    ]
    assert finding.changes == (OptionChange("rocksdb_cf_compact_on_deletion", "true", is_ceph=True),)


def test_slow_listings_are_of_the_onodes(fixtures: Path) -> None:
    """Of 32402 onodes 24271 are tombstones; those of omap are not what a listing of a collection reads."""
    (finding,) = found(RULE.check(with_counter(osd(fixtures), "clist_lat", 96, 1.5), ()))
    assert finding.value == "74.9 % of 32\u202f402 entries are tombstones"


@pytest.mark.parametrize(
    ("name", "count", "seconds"), [("omap_next_lat", 500, 1e-5), ("omap_next_lat", 2, 0.25), ("clist_lat", 96, 4e-4)]
)
def test_iterators_that_are_not_slow(name: str, count: int, seconds: float, fixtures: Path) -> None:
    assert list(RULE.check(with_counter(osd(fixtures), name, count, seconds), ())) == []


def test_slow_iterators_over_few_tombstones(fixtures: Path) -> None:
    run = with_counter(analyze([str(fixtures / "osd-spillover")]).runs[0], "omap_next_lat", 500, 0.25)
    few = tuple(one._replace(tombstones=one.tombstones // 20) for one in run.tombstones)
    assert list(RULE.check(replace(run, tombstones=few), ())) == []


def test_where_it_is_on_a_lower_trigger(fixtures: Path) -> None:
    run = with_counter(osd(fixtures), "omap_next_lat", 500, 0.25)
    unmarked = tuple(one._replace(marked=0) for one in run.tombstones)
    (finding,) = found(RULE.check(replace(run, collector=Collector(True), tombstones=unmarked), ()))
    assert finding.changes == (OptionChange("rocksdb_cf_compact_on_deletion_trigger", "8192", is_ceph=True),)


STALE = LevelTombstones("a", 2, 3, 99, 100_000, 60_000, 0, 3 * DAY, 2 * DAY, False, "1 MiB of 9 MiB", 0, 0)


@pytest.mark.parametrize(
    ("level", "fires"),
    [
        (STALE, True),
        (STALE._replace(median_seconds=DAY / 2), False),
        (STALE._replace(is_due=True), False),
        (STALE._replace(entries=200_000), False),
    ],
)
def test_tombstones_that_stay_for_days(level: LevelTombstones, fixtures: Path, *, fires: bool) -> None:
    run = replace(analyze([str(fixtures / "rocksdb-7.8")]).runs[0], tombstones=(level,))
    assert [one.severity for one in found(RULE.check(run, ()))] == [Severity.INFO] * fires


@pytest.mark.parametrize(("skipped", "fires"), [(5_000_000, True), (1_000, False)])
def test_a_database_that_counts_what_is_skipped(skipped: int, fixtures: Path, *, fires: bool) -> None:
    run = analyze([str(fixtures / "rocksdb-no-filter")]).runs[0]
    tickers = {"rocksdb.number.iter.skip": skipped, "rocksdb.number.db.next.found": 100_000}
    said = found(RULE.check(replace(run, series=StatisticsSeries(tickers=tickers)), ()))
    assert [one.severity for one in said] == [Severity.WARNING] * fires


def test_without_counters_it_is_not_assessed(fixtures: Path) -> None:
    run = osd(fixtures)
    bare = replace(run, beside=replace(run.beside, perf_dumps=()), iterations=())
    assert [type(one) for one in RULE.check(bare, ())] == [NotAssessed]
