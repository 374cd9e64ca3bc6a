"""R22: a real PG log against smaller options, set after it had grown; dups of an old release were not at hand."""

from dataclasses import replace
from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.bundles.companions import Beside
from lsmlens.analyzer.counters.perf_dumps import PerfDump
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.findings import Finding, NotAssessed
from lsmlens.analyzer.rules.pg_log import PgLog

RULE = PgLog()


@pytest.fixture(scope="module")
def stock(fixtures: Path) -> RunAnalysis:
    return next(one for one in analyze([str(fixtures / "osd-stock")]).runs if not one.run.is_monitor)


def with_entries(run: RunAnalysis, entries: int) -> RunAnalysis:
    names = ("osd_max_pg_log_entries", "osd_pg_log_dups_tracked")
    options = tuple(replace(one, value=str(entries)) if one.name in names else one for one in run.ceph_options)
    return replace(run, ceph_options=options)


def test_constructed_options(stock: RunAnalysis) -> None:
    (found,) = RULE.check(with_entries(stock, 1000), [])
    assert isinstance(found, Finding)
    assert found.value == "577\u202f289 items, 174.7 MiB"  # osd_pglog_bytes 183189864
    assert found.threshold == "384\u202f000 items"  # 96 PGs * 2 items * 1000 entries * 2
    assert any("--op trim-pg-log-dups" in one for one in found.commands)
    assert not list(RULE.check(with_entries(stock, 1600), []))  # 614,400


def test_real_logs_are_within_their_options(fixtures: Path, stock: RunAnalysis) -> None:
    assert not list(RULE.check(stock, []))
    (run,) = analyze([str(fixtures / "osd-spillover")]).runs
    assert not list(RULE.check(run, []))


def test_not_assessed(fixtures: Path, stock: RunAnalysis) -> None:
    (run,) = analyze([str(fixtures / "osd-reef")]).runs
    assert list(RULE.check(run, [])) == [NotAssessed("R22", RULE.title, "perf dump")]
    (without_options,) = RULE.check(replace(stock, ceph_options=()), [])
    assert isinstance(without_options, NotAssessed)
    assert without_options.needs.startswith("config show")
    bare = Beside(perf_dumps=(PerfDump({"osd.numpg": 96}, "perf_dump.json"),))
    assert list(RULE.check(replace(stock, beside=bare), [])) == [NotAssessed("R22", RULE.title, "perf dump")]


def test_a_real_log_longer_than_its_options(fixtures: Path) -> None:
    """The options were lowered, and nothing was written since that would have trimmed it."""
    (run,) = analyze([str(fixtures / "osd-unsharded")]).runs
    (found,) = RULE.check(run, [])
    assert isinstance(found, Finding)
    assert (found.value, found.threshold) == ("43\u202f289 items, 11.9 MiB", "3200 items")
