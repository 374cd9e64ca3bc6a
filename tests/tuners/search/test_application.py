from dataclasses import replace
from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.tuners.options.ceph_configuration import to_ceph
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.options.run_options import options_of_run
from lsmlens.tuners.search.application import Application, application_of

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def osd() -> RunAnalysis:
    runs = analyze([str(ROOT / "fixtures" / "osd-stock")]).runs
    return next(one for one in runs if not one.run.is_monitor)


@pytest.fixture(scope="module")
def own(osd: RunAnalysis) -> OptionSet:
    return options_of_run(osd)


def commands(application: Application) -> list[str]:
    return [command for step in application.steps for command in step.commands]


def test_what_all_families_share_goes_into_the_annex(osd: RunAnalysis, own: OptionSet) -> None:
    wanted = own.changed("max_bytes_for_level_base", "4294967296").changed("level0_file_num_compaction_trigger", "8")
    application = application_of(osd, own, wanted, "before.tar")
    every = commands(application)
    text = "level0_file_num_compaction_trigger=8,max_bytes_for_level_base=4294967296"
    assert f'ceph config set osd.0 bluestore_rocksdb_options_annex "{text}"' in every
    assert f'ceph config set osd/class:$CLASS bluestore_rocksdb_options_annex "{text}"' in every
    assert "ceph config rm osd.0 bluestore_rocksdb_options_annex" in every
    assert not any("reshard" in one for one in every)
    assert any("max_bytes_for_level_base" in one and one.startswith("grep") for one in every)
    assert "lsmlens compare before=before.tar after=/var/log/ceph/ceph-osd.0.log" in every
    assert application.options_text is None


def test_an_annex_that_is_there_is_kept(osd: RunAnalysis, own: OptionSet) -> None:
    shown = {**osd.beside.config_show, "bluestore_rocksdb_options_annex": "ttl=0,max_bytes_for_level_base=1"}
    run = replace(osd, beside=replace(osd.beside, config_show=shown))
    every = commands(application_of(run, own, own.changed("max_bytes_for_level_base", "2"), "x"))
    assert 'ceph config set osd.0 bluestore_rocksdb_options_annex "ttl=0,max_bytes_for_level_base=2"' in every
    assert 'ceph config set osd bluestore_rocksdb_options_annex "ttl=0,max_bytes_for_level_base=1"' in every


def test_an_annex_that_is_not_known_is_asked_for(osd: RunAnalysis, own: OptionSet) -> None:
    run = replace(osd, beside=replace(osd.beside, config_show={}))
    first = application_of(run, own, own.changed("max_bytes_for_level_base", "2"), "x").steps[0]
    assert first.commands[0] == "ceph config get osd.0 bluestore_rocksdb_options_annex"
    assert "put it first" in first.notes[0]


def test_options_of_a_column_take_a_reshard_with_the_whole_text(osd: RunAnalysis, own: OptionSet) -> None:
    assert own.sharding.columns
    wanted = own.changed("min_write_buffer_number_to_merge", "2", "P")
    application = application_of(osd, own, wanted, "x")
    every = commands(application)
    resharding = [one for one in every if one.endswith("reshard")]
    text = str(to_ceph(wanted).cfs)
    assert "P=min_write_buffer_number_to_merge=2" in text
    assert f'ceph-bluestore-tool --path /var/lib/ceph/osd/ceph-0 --sharding="{text}" reshard' in resharding
    assert f'ceph-bluestore-tool --path /var/lib/ceph/osd/ceph-0 --sharding="{to_ceph(own).cfs}" reshard' in resharding
    assert any("must not be interrupted" in note for step in application.steps for note in step.notes)
    assert not any("config set" in one for one in every)


def test_a_release_without_annex_gets_the_whole_option_string(osd: RunAnalysis, own: OptionSet) -> None:
    run = replace(osd, run=replace(osd.run, sessions=osd.run.sessions))
    object.__setattr__(run.run, "ceph_version", "14.2.21")
    wanted = own.changed("max_bytes_for_level_base", "4294967296")
    every = commands(application_of(run, own, wanted, "x"))
    (first,) = [one for one in every if one.startswith("ceph config set osd.0 ")]
    assert 'bluestore_rocksdb_options "' in first
    assert "max_bytes_for_level_base=4294967296" in first
    assert "write_buffer_size=" in first


def test_any_other_program_gets_an_options_file(small_run: RunAnalysis, present: OptionSet) -> None:
    wanted = present.changed("max_bytes_for_level_base", "2097152")
    application = application_of(small_run, present, wanted, "LOG")
    assert application.options_text is not None
    assert "max_bytes_for_level_base=2097152" in application.options_text
    assert application.steps[0].commands == ("max_bytes_for_level_base=2097152",)
