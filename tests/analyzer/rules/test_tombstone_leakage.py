"""R05 on flushes of real databases."""

from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import RunAnalysis, analyze
from lsmlens.analyzer.findings import Finding, NotAssessed, OptionChange
from lsmlens.analyzer.plan import plan_of
from lsmlens.analyzer.rules.tombstone_leakage import TombstoneLeakage, leak_of

RULE = TombstoneLeakage()


def test_omap_leaks_and_the_log_of_placement_groups_does_not(fixtures: Path) -> None:
    """P's deletes are 34 % of its entries too, but nearly all meet their put in memory."""
    run = _osd(fixtures / "osd-rotated")
    found = [one for one in RULE.check(run, ()) if isinstance(one, Finding)]
    assert [one.column_family for one in found] == ["p-0", "p-1", "p-2"]
    assert found[0].value == "leak 0.93, deletes 0.45 of the entries"
    leaks = {view.name: leak_of(view) for view in run.flushes}
    assert leaks["P"] == 0.0
    assert leaks["p-0"] == pytest.approx(1 - (889456 - 396875 - 859114 + 392860) / 396875)
    assert leaks["L"] is None


def test_the_command_keeps_the_other_columns(fixtures: Path) -> None:
    run = _osd(fixtures / "osd-stock")
    found = [one for one in RULE.check(run, ()) if isinstance(one, Finding)]
    assert found[0].changes == (OptionChange("min_write_buffer_number_to_merge", "2", (found[0].column_family or "",)),)
    plan = plan_of(run, found[:1])
    assert plan is not None
    (reshard, back) = [command for step in plan.steps for command in step.commands if command.endswith("reshard")]
    assert back == (
        'ceph-bluestore-tool --path /var/lib/ceph/osd/ceph-0 --sharding="m(3) p(3,0-12)'
        ' O(3,0-13)=block_cache={type=binned_lru} L P" reshard'
    )
    assert reshard == (
        'ceph-bluestore-tool --path /var/lib/ceph/osd/ceph-0 --sharding="m(3) p(3,0-12)='
        'min_write_buffer_number_to_merge=2 O(3,0-13)=block_cache={type=binned_lru} L P" reshard'
    )


def test_deletes_long_after_their_puts(fixtures: Path) -> None:
    found = [one for one in RULE.check(_osd(fixtures / "rocksdb-7.8"), ()) if isinstance(one, Finding)]
    assert [(one.column_family, one.changes) for one in found] == [
        ("default", (OptionChange("min_write_buffer_number_to_merge", "2", ("default",)),)),
    ]


def test_few_deletes(fixtures: Path) -> None:
    assert list(RULE.check(_osd(fixtures / "rocksdb-current"), ())) == []


def test_no_flushes(fixtures: Path) -> None:
    monitor = next(run for run in analyze([str(fixtures / "osd-stock")]).runs if run.run.is_monitor)
    (lacking,) = RULE.check(monitor, ())
    assert isinstance(lacking, NotAssessed)


def _osd(bundle: Path) -> RunAnalysis:
    return next(run for run in analyze([str(bundle)]).runs if not run.run.is_monitor)
