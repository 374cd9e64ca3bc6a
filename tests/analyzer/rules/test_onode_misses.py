"""R21 on a real OSD with a cache too small, and at the thresholds by a real dump that is counted on."""

from dataclasses import replace
from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.bundles.companions import Beside
from lsmlens.analyzer.counters.perf_dumps import LongRunAverage, PerfDump
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.findings import Confidence, Finding, NotAssessed, OptionChange
from lsmlens.analyzer.rules.onode_misses import OnodeMisses

RULE = OnodeMisses()


@pytest.fixture(scope="module")
def stock(fixtures: Path) -> RunAnalysis:
    return next(one for one in analyze([str(fixtures / "osd-stock")]).runs if not one.run.is_monitor)


def counted_on(dump: PerfDump, hits: int, misses: int, gets: int, seconds: float) -> PerfDump:
    """The dump with so much more counted, as a later one of the same life would have it."""
    get = dump.average("rocksdb.get_latency")
    assert get is not None
    return PerfDump(
        {
            **dump.counters,
            "bluestore.onode_hits": (dump.number("bluestore.onode_hits") or 0) + hits,
            "bluestore.onode_misses": (dump.number("bluestore.onode_misses") or 0) + misses,
            "rocksdb.get_latency": LongRunAverage(get.count + gets, get.sum_seconds + seconds),
        },
        "later",
    )


def checked(run: RunAnalysis, hits: int, misses: int, gets: int, seconds: float) -> list[Finding | NotAssessed]:
    end = next(one for one in run.beside.perf_dumps if one.source.endswith("end.json"))
    later = counted_on(end, hits, misses, gets, seconds)
    return list(RULE.check(replace(run, beside=Beside(perf_dumps=(end, later))), []))


def test_constructed_later_dump(stock: RunAnalysis) -> None:
    # A get took 13.2 us before (0.828 s / 62928), 20 us since.
    (found,) = checked(stock, 80_000, 20_000, 20_000, 0.4)
    assert isinstance(found, Finding)
    assert found.confidence is Confidence.LOW
    assert found.value == "20.0 % missed, a get 20 µs after 13.2 µs"
    assert "4294967296 now" in found.advice
    assert found.changes == (OptionChange("osd_memory_target", str(8 << 30), is_ceph=True),)


def test_constructed_later_dumps_below_a_threshold(stock: RunAnalysis) -> None:
    assert checked(stock, 90_000, 10_000, 20_000, 0.4) == []
    assert checked(stock, 80_000, 20_000, 20_000, 0.3) == []  # 15 us is not 1.2 times 13.2


def test_new_objects_of_a_real_osd_are_no_finding(stock: RunAnalysis) -> None:
    # Between the first two dumps 80 % missed, for 60,000 new objects; the first has 139 gets, no mean to compare with.
    assert not list(RULE.check(stock, []))


def test_not_assessed_with_one_dump_or_too_few_gets(fixtures: Path, stock: RunAnalysis) -> None:
    (found,) = checked(stock, 80_000, 20_000, 999, 0.1)
    assert isinstance(found, NotAssessed)
    for name in ("osd-reef", "osd-spillover"):  # the latter's first dump has 137 gets
        (run,) = analyze([str(fixtures / name)]).runs
        (lacking,) = RULE.check(run, [])
        assert isinstance(lacking, NotAssessed)
        assert lacking.needs.startswith("two perf dumps")


def test_a_real_osd_with_a_small_cache(fixtures: Path) -> None:
    """Its objects were removed, which takes their onodes; the cache held a fraction of them."""
    (run,) = analyze([str(fixtures / "osd-unsharded")]).runs
    (found,) = RULE.check(run, [])
    assert isinstance(found, Finding)
    assert found.value.startswith("40.0 % missed, a get 41.1 µs after 14 µs")
    assert found.evidence[0].source.endswith("perf_dump.removed.json.gz")
