"""What can be tuned: every value is really taken by a RocksDB, and none of them weakens durability."""

import dataclasses
from pathlib import Path

import pytest
from lsmlens.tuners.engines.choice import EngineChoice
from lsmlens.tuners.options.ceph_configuration import ceph_option_of, to_ceph
from lsmlens.tuners.options.option_catalogue import COMPACT_ON_DELETION, find_option
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.options.option_values import fields_of
from lsmlens.tuners.options.presets import preset, preset_names
from lsmlens.tuners.options.tunables import (
    CEPH_DURABILITY,
    DURABILITY,
    FIFO,
    TUNABLES,
    UNIVERSAL,
    Effect,
    Surroundings,
    Tunable,
    durability_changed,
    find_tunable,
)

ALL = frozenset(Effect)
WHERE = Surroundings(engine_version="9.8.4", record_bytes=4096.0, measured=ALL)
CEPH = dataclasses.replace(WHERE, ceph_version="18.2.7", engine_version="7.9.2")
DEFAULT = dataclasses.replace(preset("rocksdb:default"), rocksdb_version="9.8.4")
# What FIFO and universal compaction have for themselves.
OF_STYLES = {"compaction_options_universal": UNIVERSAL, "compaction_options_fifo": FIFO}


def left_out(options: OptionSet, where: Surroundings) -> dict[str, str]:
    return {one.name: why for one in TUNABLES if (why := one.left_out(options, where)) is not None}


def test_every_declaration_is_whole() -> None:
    assert len({one.name for one in TUNABLES}) == len(TUNABLES)
    for one in TUNABLES:
        assert find_option(one.option) is not None, one.name
        assert bool(one.values) != (one.doublings is not None), one.name
        assert one.source.startswith("include/rocksdb/"), one.name
        assert find_tunable(one.name) is one


def test_nothing_that_decides_what_survives_a_crash_is_tunable() -> None:
    changed = {one.option for one in TUNABLES}
    changed |= {option for one in TUNABLES for values in one.beside.values() for option in values}
    assert changed.isdisjoint((*DURABILITY, *CEPH_DURABILITY))
    for one in TUNABLES:
        for value in one.values:
            options = one.with_beside(one.set_in(DEFAULT, value), value)
            assert durability_changed(options, DEFAULT) is None, (one.name, value)
    for name in preset_names():
        assert durability_changed(preset(name), preset("ceph:reef")) is None


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("wal_recovery_mode", "kSkipAnyCorruptedRecords"),
        ("manual_wal_flush", "true"),
        ("unordered_write", "true"),
        ("paranoid_checks", "false"),
        ("force_consistency_checks", "false"),
        ("compaction_style", FIFO),
    ],
)
def test_a_set_that_would_lose_data_is_told(option: str, value: str) -> None:
    assert durability_changed(DEFAULT.changed(option, value), DEFAULT) is not None


def test_neither_a_wal_that_is_off_nor_a_sooner_end_of_data_is_let_through() -> None:
    off = dataclasses.replace(DEFAULT, ceph_options={"disableWAL": "true"})
    assert "disableWAL" in (durability_changed(off, DEFAULT) or "")
    fifo = DEFAULT.changed("compaction_style", FIFO)
    assert durability_changed(fifo, fifo) is None
    assert durability_changed(fifo.changed("ttl", "60"), fifo) is not None
    assert durability_changed(fifo.changed("compaction_options_fifo", "{max_table_files_size=1000}"), fifo) is not None
    assert "FIFO deletes" in left_out(fifo, WHERE)["ttl"]
    assert "deleting" in left_out(fifo, WHERE)["compaction_style"]


def test_what_ceph_can_set_differs_by_release() -> None:
    assert ceph_option_of(COMPACT_ON_DELETION, "15.2.17") is None
    assert ceph_option_of(COMPACT_ON_DELETION, "16.2.15") == "rocksdb_cf_compact_on_deletion"
    assert ceph_option_of("filter_policy", "12.2.13") == "rocksdb_bloom_bits_per_key"
    assert ceph_option_of("compaction_pri", "14.2.21") == "bluestore_rocksdb_options"
    assert ceph_option_of("compaction_pri", "18.2.7") == "bluestore_rocksdb_options_annex"
    assert ceph_option_of("format_version", "18.2.7") is None
    pacific = left_out(preset("ceph:pacific"), dataclasses.replace(CEPH, ceph_version="15.2.17"))
    assert pacific[COMPACT_ON_DELETION] == "Ceph 15.2.17 has no option for it"
    assert left_out(preset("ceph:reef"), CEPH)["enable_blob_files"] == "BlueStore is not made for it"


def test_what_an_osd_is_given_sets_all_that_was_tuned() -> None:
    base = preset("ceph:reef")
    for one in TUNABLES:
        if one.left_out(base, CEPH) is None and one.doublings is None:
            for value in one.values:
                options = one.with_beside(one.set_in(base, value), value)
                assert to_ceph(options).unsettable == to_ceph(base).unsettable, (one.name, value)


def test_an_option_that_the_database_the_engine_or_the_workload_cannot_have_is_left_out() -> None:
    old = dataclasses.replace(DEFAULT, rocksdb_version="6.8.1")
    assert left_out(old, WHERE)["enable_blob_files"] == "RocksDB 6.8.1 has no such option"
    of_engine = dataclasses.replace(WHERE, engine_version="6.8.1")
    assert "6.8.1 of the replays" in left_out(DEFAULT, of_engine)["enable_blob_files"]
    without = dataclasses.replace(WHERE, has_collectors=False)
    assert COMPACT_ON_DELETION in left_out(DEFAULT, without)
    small = dataclasses.replace(WHERE, record_bytes=100.0, seconds=600.0, has_deletes=False, has_own_device=True)
    assert {"enable_blob_files", "ttl", "periodic_compaction_seconds", COMPACT_ON_DELETION, "compaction_style"} <= {
        *left_out(DEFAULT, small)
    }
    writes = dataclasses.replace(WHERE, measured=frozenset({Effect.WRITES}))
    assert {"block_size", "filter_policy", "index_type", "optimize_filters_for_hits"} <= {*left_out(DEFAULT, writes)}
    assert {*left_out(DEFAULT, WHERE)} == {
        "compaction_options_universal.max_size_amplification_percent",
        "compaction_options_universal.size_ratio",
        "compaction_options_fifo.allow_compaction",
    }


def test_a_collector_is_for_all_column_families() -> None:
    base = preset("ceph:pacific").changed(COMPACT_ON_DELETION, "{sliding_window=9;trigger=8}", "P")
    tunable = find_tunable(COMPACT_ON_DELETION)
    assert tunable is not None
    assert tunable.value_in(base) == "{sliding_window=9;trigger=8}"
    changed = tunable.set_in(base, "{sliding_window=7;trigger=6}")
    assert {changed.value_of(COMPACT_ON_DELETION, family) for family in (None, "P", "O-0")} == {
        "{sliding_window=7;trigger=6}"
    }


@pytest.mark.parametrize("tunable", [one for one in TUNABLES if one.values], ids=lambda one: one.name)
def test_every_value_is_taken_by_an_engine(tunable: Tunable, engine: EngineChoice, tmp_path: Path) -> None:
    base = DEFAULT
    if tunable.option in OF_STYLES:
        style = {"compaction_style": OF_STYLES[tunable.option], "level_compaction_dynamic_level_bytes": "false"}
        style |= {"num_levels": "1"} if style["compaction_style"] == FIFO else {}
        for option, value in style.items():
            base = base.changed(option, value)
    base = base.changed("max_write_buffer_number", "99").changed("ttl", "2592000", origin="log")
    if OF_STYLES.get(tunable.option) == FIFO:
        base = base.changed("ttl", "0")
    made = engine()
    for number, value in enumerate(tunable.values):
        options = tunable.with_beside(tunable.set_in(base, value), value)
        options.validate()
        database = made.open(tmp_path / str(number), options.resolve(("default",), engine.version))
        taken = database.options
        database.close()
        found = {**taken.database, **taken.families["default"], **taken.tables["default"]}
        if tunable.option == "compression_per_level":  # it is written nowhere
            assert not [one for one in taken.warnings if "left out" in one]
        elif tunable.option == COMPACT_ON_DELETION and fields_of(value)["trigger"] == "0":
            assert COMPACT_ON_DELETION not in found
        elif tunable.option == "filter_policy":
            assert ("nullptr" in found["filter_policy"]) == (value == "nullptr")
        else:
            said = found[tunable.option]
            said = said if tunable.part is None else fields_of(said)[tunable.part]
            assert said.removesuffix(".000000") == value


def test_the_manual_names_all_of_them(fixtures: Path) -> None:
    said = (fixtures.parent / "docs" / "tuning.md").read_text(encoding="utf-8")
    for one in TUNABLES:
        assert f"`{one.part or one.option}`" in said, one.name
