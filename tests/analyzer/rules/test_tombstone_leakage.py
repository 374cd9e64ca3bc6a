"""R05 on flushes of real databases."""

from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.findings import Finding, NotAssessed, OptionChange
from lsmlens.analyzer.plan import plan_of
from lsmlens.analyzer.rules.tombstone_leakage import TombstoneLeakage, leak_of

RULE = TombstoneLeakage()


def test_omap_leaks_and_the_log_of_placement_groups_does_not(fixtures: Path) -> None:
    """P's deletes are 34 % of its entries too, but nearly all meet their put in memory."""
    run = _osd(fixtures / "osd-rotated")
    found = [one for one in RULE.check(run, ()) if isinstance(one, Finding)]
    assert [one.column_family for one in found] == ["p-0", "p-1", "p-2"]
    assert found[0].value == "leak 93.4 %, deletes 44.6 % of the entries"
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


def test_range_deletes_are_no_puts(tmp_path: Path) -> None:
    """A family of range deletes alone leaks nothing, and no put of it died."""
    stamp = "2025/05/06-13:23:14.493731 6175 EVENT_LOG_v1 "
    (tmp_path / "LOG").write_text(
        stamp + '{"time_micros": 1746517994493718, "job": 3, "event": "flush_started", "num_memtables": 1,'
        ' "num_entries": 4000, "num_deletes": 0, "num_range_deletes": 4000, "flush_reason": "Write Buffer Full"}\n'
        + stamp
        + '{"time_micros": 1746517994493818, "cf_name": "dead", "job": 3, "event": "table_file_creation",'
        ' "file_number": 9, "file_size": 99, "table_properties": {"num_entries": 4000, "num_deletions": 4000,'
        ' "num_range_deletions": 4000}}\n'
        + stamp
        + '{"time_micros": 1746517994493918, "job": 3, "event": "flush_finished", "lsm_state": [1]}\n'
    )
    (run,) = analyze([str(tmp_path)]).runs
    (view,) = run.flushes
    assert (view.input_puts, view.dropped_puts_share) == (0, None)


def test_deletes_of_4_9_are_properties_of_their_own(tmp_path: Path) -> None:
    """Its collector counts them as text: half of 4000 puts died in memory, and all 1000 deletes came out."""
    stamp = "2016-08-23 20:32:07.618488 7ff1905208c0  4 rocksdb: EVENT_LOG_v1 "
    (tmp_path / "ceph-osd.6.log").write_text(
        stamp + '{"time_micros": 1471984327618488, "job": 3, "event": "flush_started", "num_memtables": 1,'
        ' "num_entries": 5000, "num_deletes": 1000, "memory_usage": 99}\n'
        + stamp
        + '{"time_micros": 1471984327618588, "cf_name": "default", "job": 3, "event": "table_file_creation",'
        ' "file_number": 9, "file_size": 99, "table_properties": {"num_entries": 3000, "kDeletedKeys": "1000",'
        ' "kMergeOperands": "1"}}\n'
        + stamp
        + '{"time_micros": 1471984327618688, "job": 3, "event": "flush_finished", "lsm_state": [1]}\n'
    )
    (run,) = analyze([str(tmp_path)]).runs
    (view,) = run.flushes
    assert (view.output_deletes, view.dropped_puts_share) == (1000, 0.5)
    assert leak_of(view) == 0.0


def test_few_deletes(fixtures: Path) -> None:
    assert list(RULE.check(_osd(fixtures / "rocksdb-current"), ())) == []


def test_no_flushes(fixtures: Path) -> None:
    monitor = next(run for run in analyze([str(fixtures / "osd-stock")]).runs if run.run.is_monitor)
    (lacking,) = RULE.check(monitor, ())
    assert isinstance(lacking, NotAssessed)


def _osd(bundle: Path) -> RunAnalysis:
    return next(run for run in analyze([str(bundle)]).runs if not run.run.is_monitor)
