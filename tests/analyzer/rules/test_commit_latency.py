"""R16 on real perf dumps; the data device was never the slower part in any of them."""

import shutil
from dataclasses import replace
from pathlib import Path

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.findings import Finding, NotAssessed, Severity
from lsmlens.analyzer.rules.commit_latency import CommitLatency

RULE = CommitLatency()


def stock(fixtures: Path) -> RunAnalysis:
    return next(one for one in analyze([str(fixtures / "osd-stock")]).runs if not one.run.is_monitor)


def test_rocksdb_takes_most(fixtures: Path) -> None:
    (found,) = RULE.check(stock(fixtures), [])
    assert isinstance(found, Finding)
    assert (found.title, found.severity) == ("Commits wait for RocksDB", Severity.INFO)
    assert found.value == "commit 4.62 ms, flush 237 µs"  # 0.004616213 s, 0.000236736 s
    assert found.evidence[0].text.endswith("in the mean of 50039 rounds")


def test_constructed_means(fixtures: Path) -> None:
    run = stock(fixtures)
    assert run.counters is not None

    def found(commit: float, flush: float) -> list[str]:
        assert run.counters is not None
        counters = replace(run.counters, kv_commit_seconds=commit, kv_flush_seconds=flush)
        return [one.title for one in RULE.check(replace(run, counters=counters), [])]

    assert found(0.002, 0.007) == ["Commits wait for the data device"]
    assert found(0.003, 0.001) == []  # three times, not more
    assert found(0.0009, 0.0) == []
    assert found(0.002, 0.0) == ["Commits wait for RocksDB"]


def test_not_assessed_without_dumps_and_nothing_for_others(fixtures: Path) -> None:
    (run,) = analyze([str(fixtures / "osd-reef")]).runs
    assert list(RULE.check(run, [])) == [NotAssessed("R16", RULE.title, "perf dump")]
    for name in ("osd-stock", "rocksdb-7.8"):
        others = [one for one in analyze([str(fixtures / name)]).runs if one.run.name in ("mon.a", "LOG")]
        assert [list(RULE.check(one, [])) for one in others] == [[]]


def test_start_of_a_real_osd(fixtures: Path, tmp_path: Path) -> None:
    for name in ("ceph-osd.0.log.gz", "perf_dump.start.json"):
        shutil.copy(fixtures / "osd-spillover" / name, tmp_path)
    (run,) = analyze([str(tmp_path)]).runs
    (found,) = RULE.check(run, [])
    assert isinstance(found, Finding)
    assert found.value == "commit 1.44 ms, flush 126 µs"  # 0.001436929 s, 0.000126479 s
