"""The plan: what findings would change, merged into one change set, on real databases and made-up findings."""

from dataclasses import replace
from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.findings import Confidence, Evidence, Finding, OptionChange, Severity
from lsmlens.analyzer.plan import Plan, TakesEffect, plan_of

WAL, BASE = "max_total_wal_size", "max_bytes_for_level_base"


@pytest.fixture(scope="module")
def osd(fixtures: Path) -> RunAnalysis:
    return next(one for one in analyze([str(fixtures / "osd-stock")]).runs if not one.run.is_monitor)


@pytest.fixture(scope="module")
def native(fixtures: Path) -> RunAnalysis:
    return analyze([str(fixtures / "rocksdb-7.8")]).runs[0]


def asking(code: str, *changes: OptionChange) -> Finding:
    return Finding(
        code, "", Severity.WARNING, Confidence.HIGH, "", "", "", "", (Evidence("log", "line"),), changes=changes
    )


def commands(plan: Plan | None) -> list[str]:
    assert plan is not None
    return [command for step in plan.steps for command in step.commands]


def test_two_findings_make_one_annex(fixtures: Path) -> None:
    """Pasted one after the other, the second of two annexes would undo the first."""
    (run,) = analyze([str(fixtures / "osd-fragmented")]).runs
    plan = run.plan
    every = commands(plan)
    text = "max_bytes_for_level_base=67108864,max_total_wal_size=134217728"
    assert f'ceph config set osd.0 bluestore_rocksdb_options_annex "{text}"' in every
    assert f'ceph config set osd/class:$CLASS bluestore_rocksdb_options_annex "{text}"' in every
    assert not any(one.startswith("ceph config set osd ") for one in every)
    assert "ceph config rm osd.0 bluestore_rocksdb_options_annex" in every
    assert every.index("ceph osd ok-to-stop osd.0") < next(
        place for place, one in enumerate(every) if one.startswith("systemctl restart")
    )
    assert plan is not None
    assert {one.name: one.codes for one in plan.changes} == {BASE: ("R04",), WAL: ("R06",)}
    assert all(one.takes_effect is TakesEffect.RESTART for one in plan.changes)
    titles = [step.title for step in plan.steps]
    assert any("compare" in title for title in titles)
    assert titles[-1] == "the way back"
    assert any(one.startswith("lsmlens tune ") for one in every)


def test_an_annex_that_is_there_is_kept(osd: RunAnalysis) -> None:
    shown = {**osd.beside.config_show, "bluestore_rocksdb_options_annex": "stats_dump_period_sec=60"}
    run = replace(osd, beside=replace(osd.beside, config_show=shown))
    every = commands(plan_of(run, [asking("R06", OptionChange(WAL, "2147483648"))]))
    text = '"stats_dump_period_sec=60,max_total_wal_size=2147483648"'
    assert f"ceph config set osd.0 bluestore_rocksdb_options_annex {text}" in every


def test_what_is_set_already_is_left_out(osd: RunAnalysis) -> None:
    plan = plan_of(osd, [asking("R06", OptionChange(WAL, "1GB"))])
    assert plan is not None
    assert (plan.changes, plan.steps) == ((), ())
    assert plan.left_out[0].why == "it is set already"


def test_findings_that_contradict_each_other_are_refused(osd: RunAnalysis) -> None:
    """One wants more than there is, one wants less."""
    up, down = OptionChange(WAL, "2147483648"), OptionChange(WAL, "536870912")
    plan = plan_of(
        osd, [asking("R05", up), asking("R06", down), asking("R23", OptionChange("max_background_jobs", "4"))]
    )
    assert plan is not None
    assert [one.name for one in plan.changes] == ["max_background_jobs"]
    assert [one.why for one in plan.left_out] == [
        "the findings contradict each other: R05 2147483648, R06 536870912"
    ] * 2


def test_of_two_in_one_direction_the_smaller_step_is_taken(osd: RunAnalysis) -> None:
    plan = plan_of(
        osd, [asking("R05", OptionChange(WAL, "4294967296")), asking("R06", OptionChange(WAL, "2147483648"))]
    )
    assert plan is not None
    (change,) = plan.changes
    assert (change.before, change.after, set(change.codes)) == ("1073741824", "2147483648", {"R05", "R06"})


def test_a_merge_that_rocksdb_would_lower_is_left_out(osd: RunAnalysis) -> None:
    plan = plan_of(osd, [asking("R05", OptionChange("min_write_buffer_number_to_merge", "8"))])
    assert plan is not None
    assert plan.changes == ()
    assert plan.left_out[0].why == "RocksDB lowers it to 3, one less than max_write_buffer_number (4)"


def test_notes_of_low_confidence_change_nothing(osd: RunAnalysis) -> None:
    note = replace(
        asking("R13", OptionChange("rocksdb_cf_compact_on_deletion", "true", is_ceph=True)),
        severity=Severity.INFO,
        confidence=Confidence.LOW,
    )
    plan = plan_of(osd, [note])
    assert plan is not None
    assert plan.changes == ()


def test_a_column_of_an_osd_takes_one_reshard_with_all_changes(osd: RunAnalysis) -> None:
    merge = OptionChange("min_write_buffer_number_to_merge", "2", ("P",))
    buffer = OptionChange("write_buffer_size", "67108864", ("p-1",))
    plan = plan_of(osd, [asking("R05", merge), asking("R05", buffer)])
    every = commands(plan)
    text = (
        "m(3) p(3,0-12)=write_buffer_size=67108864 O(3,0-13)=block_cache={type=binned_lru} L"
        " P=min_write_buffer_number_to_merge=2"
    )
    first, _ = [one for one in every if one.endswith("reshard")]
    assert f'--sharding="{text}" reshard' in first
    assert plan is not None
    assert {one.takes_effect for one in plan.changes} == {TakesEffect.RESHARD}


def test_a_column_of_an_osd_whose_sharding_is_not_known_is_left_out(fixtures: Path) -> None:
    """Stopping the OSD to look at its sharding would change nothing."""
    (run,) = analyze([str(fixtures / "osd-crash")]).runs
    plan = plan_of(run, [asking("R05", OptionChange("min_write_buffer_number_to_merge", "2", ("P",)))])
    assert plan is not None
    assert (plan.changes, plan.steps) == ((), ())
    assert "show-sharding" in plan.left_out[0].why


def test_a_native_database_gets_calls_and_a_fragment(native: RunAnalysis) -> None:
    merge = OptionChange("min_write_buffer_number_to_merge", "2", ("default",))
    plan = plan_of(native, [asking("R02", OptionChange("max_background_jobs", "4")), asking("R05", merge)])
    assert plan is not None
    assert {one.name: one.takes_effect for one in plan.changes} == {
        "max_background_jobs": TakesEffect.AT_ONCE,
        "min_write_buffer_number_to_merge": TakesEffect.REOPEN,
    }
    assert 'db->SetDBOptions({{"max_background_jobs", "4"}});' in commands(plan)
    assert plan.options_fragment == (
        '[CFOptions "default"]\n  min_write_buffer_number_to_merge=2\n[DBOptions]\n  max_background_jobs=4\n'
    )
    assert not any("ceph" in command for command in commands(plan))


def test_findings_without_changes_make_no_plan(osd: RunAnalysis) -> None:
    assert plan_of(osd, [asking("R12")]) is None
