"""What tickers and an OSD's counters tell of reads."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.measures.sorted_runs import mean_sorted_runs
from lsmlens.analyzer.measures.statistics_series import StatisticsSeries
from lsmlens.tuners.estimation.client_reads import NOTHING, client_reads, read_totals
from lsmlens.tuners.estimation.evidence import gather_all
from lsmlens.tuners.estimation.fit import fit
from lsmlens.tuners.estimation.history import read_history
from lsmlens.tuners.workloads.reads import FamilyReads

FIXTURES = Path(__file__).parents[3] / "fixtures"
TICKERS = {
    **{"rocksdb.number.keys.read": 10_000, "rocksdb.number.db.seek": 400, "rocksdb.number.db.next": 20_000},
    **{"rocksdb.memtable.hit": 1000, "rocksdb.l0.hit": 2000, "rocksdb.l1.hit": 1500, "rocksdb.l2andup.hit": 2500},
    **{"rocksdb.block.cache.filter.hit": 24_000, "rocksdb.block.cache.filter.miss": 1000},
    **{"rocksdb.block.cache.index.hit": 9000, "rocksdb.bloom.filter.full.positive": 7500},
}


@pytest.fixture(scope="module")
def run() -> RunAnalysis:
    return analyze([str(FIXTURES / "rocksdb-7.8")]).runs[0]


def with_tickers(run: RunAnalysis, **changed: int) -> RunAnalysis:
    return replace(run, series=StatisticsSeries(tickers=TICKERS | changed))


def reads_per_put(run: RunAnalysis) -> dict[str, FamilyReads]:
    return dict(client_reads(run, read_history(run.run)).families)


def test_tickers_tell_of_gets_and_iterators(run: RunAnalysis) -> None:
    totals = read_totals(with_tickers(run))
    assert totals is not None
    assert (totals.gets, totals.seeks, totals.nexts) == (10_000, 400, 20_000)
    assert totals.absent == pytest.approx(0.3)
    # a filter for each table asked, and of those that pass an index and a block of data
    assert totals.blocks_per_get == pytest.approx((25_000 + 2 * 7500) / 10_000)
    assert totals.source == "tickers of statistics dumps"


def test_an_index_outside_the_cache_is_no_block(run: RunAnalysis) -> None:
    totals = read_totals(with_tickers(run, **{"rocksdb.block.cache.index.hit": 0}))
    assert totals is not None
    assert totals.blocks_per_get == pytest.approx((25_000 + 7500) / 10_000)


def test_reads_are_spread_as_puts_are(run: RunAnalysis) -> None:
    reads = reads_per_put(with_tickers(run))
    history = read_history(run.run)
    last = max(history.session_starts)
    gets = seeks = 0.0
    for name, one in reads.items():
        assert one.gets is not None
        assert one.iterators is not None
        assert one.iterators.nexts == 50
        assert one.gets.absent == pytest.approx(0.3)
        puts = sum(flush.entries - flush.deletes for flush in history.families[name].flushes if flush.session == last)
        gets += (one.gets.per_put or 0) * puts
        seeks += (one.iterators.per_put or 0) * puts
    assert gets == pytest.approx(10_000)
    assert seeks == pytest.approx(400)


def test_a_fitted_workload_reads_and_says_what_was_assumed(run: RunAnalysis) -> None:
    fitted = fit(with_tickers(run))
    assert all(one.reads is not None for one in fitted.workload.column_families)
    assert "counted by tickers of statistics dumps" in fitted.workload.origin.defaults["reads"]
    assert fitted.evidence.reads.blocks_per_get == pytest.approx(4.0)


def test_without_counts_nothing_is_read(run: RunAnalysis) -> None:
    assert read_totals(run) is None
    assert client_reads(run, read_history(run.run)) == NOTHING
    few = with_tickers(run, **{"rocksdb.number.keys.read": 500, "rocksdb.number.db.seek": 10})
    assert read_totals(few) is None
    workload = fit(run).workload
    assert all(one.reads is None for one in workload.column_families)
    assert workload.origin.defaults["reads"].startswith("none")


class Dump:
    """A perf dump of an OSD."""

    source = "perf_dump.json"

    def __init__(self, **counts: int) -> None:
        self._counts = counts

    def number(self, name: str) -> int | None:
        return {"rocksdb.get": 9000, "bluestore.onode_misses": 6000}.get(name)

    def average(self, name: str) -> Any:
        count = self._counts.get(name.partition(".")[2])
        return None if count is None else SimpleNamespace(count=count)


def test_an_osd_s_counters_tell_of_onodes_and_omap(monkeypatch: pytest.MonkeyPatch) -> None:
    from lsmlens.tuners.estimation import client_reads as module

    osd = next(one for one in analyze([str(FIXTURES / "osd-stock")]).runs if not one.is_monitor)
    dump = Dump(omap_upper_bound_lat=300, omap_seek_to_first_lat=100, omap_next_lat=8000)
    monkeypatch.setattr(module, "in_series", lambda _: [[dump]])
    whole: Any = SimpleNamespace(difference=0.001)
    seen = replace(osd, cross_check=whole, series=None)
    history = read_history(seen.run)
    reads = client_reads(seen, history).families
    last = max(history.session_starts)
    puts = {
        name: sum(one.entries - one.deletes for one in family.flushes if one.session == last)
        for name, family in history.families.items()
    }
    gets = {name[0]: 0.0 for name in reads}
    for name, one in reads.items():
        gets[name[0]] += (one.gets.per_put or 0) * puts[name] if one.gets else 0
        assert (one.iterators is None) == (name[0] == "O")
        assert one.iterators is None or one.iterators.nexts == 20
    assert gets == pytest.approx({"O": 6000, **{name: 3000 for name in gets if name != "O"}})
    # where the log does not hold the daemon's whole life, its counters are of another time
    other: Any = SimpleNamespace(difference=0.4)
    assert read_totals(replace(seen, cross_check=other)) is None


@pytest.fixture(scope="module")
def reading() -> RunAnalysis:
    (one,) = analyze([str(FIXTURES / "osd-reading")]).runs
    return one


def test_a_real_osd_s_reads(reading: RunAnalysis) -> None:
    """Of these, 226,740 Gets and 11,190 listings of up to 100 keys are the load's; the rest came before and beside."""
    totals = read_totals(reading)
    assert totals is not None
    assert totals.gets == 250_908
    assert totals.absent == pytest.approx(0.4257, abs=1e-3)
    assert totals.blocks_per_get == pytest.approx(3.855, abs=1e-3)
    assert totals.nexts / totals.seeks == pytest.approx(49.5, abs=0.1)
    reads = reads_per_put(reading)
    assert {name.partition("-")[0] for name in reads} == {"O", "p"}
    assert all((one.iterators is not None) == name.startswith("p") for name, one in reads.items())
    # without the tickers the OSD's own counters tell nearly as many
    counted = read_totals(replace(reading, series=None))
    assert counted is not None
    assert counted.source == "OSD counters"
    assert counted.gets == pytest.approx(totals.gets, rel=0.05)
    assert counted.absent is counted.blocks_per_get is None


def test_a_real_osd_s_sorted_runs(reading: RunAnalysis) -> None:
    evidence = gather_all(reading)
    assert mean_sorted_runs(evidence.sorted_runs, evidence.operations) == pytest.approx(4.351, abs=1e-3)
