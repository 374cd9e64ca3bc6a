"""Option sets: what is changed, what is in force, what differs, and that they are read as they are written."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsmlens.analyzer.errors import InputError
from lsmlens.tuners.options.ceph_configuration import to_ceph
from lsmlens.tuners.options.option_set import Difference, OptionSet, Setting, column_of
from lsmlens.tuners.options.presets import preset, preset_names
from lsmlens.tuners.options.reading import read_options
from lsmlens.tuners.options.resolved_options import ResolvedOptions

MERGE = "min_write_buffer_number_to_merge"
FAMILIES = ("default", "O-0", "P")


def test_a_change_is_over_what_all_share_and_under_what_a_column_has() -> None:
    reef = preset("ceph:reef")
    changed = reef.changed(MERGE, "8").changed("write_buffer_size", "32M")
    assert changed.value_of(MERGE, "O-1") == "8"
    assert changed.value_of(MERGE, "P") == "32"
    assert changed.value_of("write_buffer_size", "P") == "33554432"
    assert reef.value_of("write_buffer_size", "P") == "16777216"
    assert changed.origin_of("write_buffer_size") == "changed"
    assert changed.origin_of("max_write_buffer_number") == "bluestore_rocksdb_options"
    assert changed.origin_of(MERGE, "P") == "bluestore_rocksdb_cfs"
    assert changed.origin_of("bloom_locality") is None


def test_a_change_of_a_column_and_of_one_of_its_families() -> None:
    changed = preset("ceph:reef").changed("ttl", "100", "O").changed("ttl", "7", "O-1")
    assert [changed.value_of("ttl", family) for family in ("O-0", "O-1", "O-2", "P")] == ["100", "7", "100", "2592000"]
    found = changed.resolve(changed.families, "7.9.2")
    assert [found.families[family]["ttl"] for family in ("O-0", "O-1", "O-2", "P")] == ["100", "7", "100", "2592000"]


@pytest.mark.parametrize(
    ("option", "value", "family", "reason"),
    [
        ("write_bufer_size", "1", None, "write_bufer_size is no option of RocksDB"),
        ("write_buffer_size", "big", None, "write_buffer_size=big: expected a whole number"),
        ("max_background_jobs", "4", "O", "max_background_jobs is of the whole database, not of family O"),
    ],
)
def test_what_cannot_be_changed(option: str, value: str, family: str | None, reason: str) -> None:
    with pytest.raises(InputError) as raised:
        preset("ceph:reef").changed(option, value, family)
    assert raised.value.reason.startswith(reason)


def test_values_in_force_include_defaults() -> None:
    reef = preset("ceph:reef")
    assert reef.value_of("target_file_size_base") == "67108864"
    assert reef.value_of("level_compaction_dynamic_level_bytes") == "false"
    assert reef.value_of("level_compaction_dynamic_level_bytes", rocksdb_version="9.8.4") == "true"
    assert reef.value_of("no_option") is None
    assert reef.value_of("filter_deletes") is None


def test_families_in_order() -> None:
    found = OptionSet("x").resolve(("P", "default", "O-0", "P"), "7.9.2")
    assert list(found.families) == ["default", "P", "O-0"]
    assert list(found.tables) == ["default", "P", "O-0"]


def test_differences() -> None:
    one = OptionSet("one", {"ttl": Setting("5", "x")}, {"P": {"ttl": Setting("6", "x")}}, rocksdb_version="7.9.2")
    other = OptionSet("other", {"write_buffer_size": Setting("1048576", "y")}, {"L": {"ttl": Setting("9", "y")}})
    assert one.differences(other) == (
        Difference(None, "ttl", "5", "2592000"),
        Difference(None, "write_buffer_size", "67108864", "1048576"),
        Difference("L", "ttl", "5", "9"),
        Difference("P", "ttl", "6", "2592000"),
    )
    assert one.differences(one.named("again")) == ()


def test_a_column_and_its_families_are_compared(options_in: Callable[[str], OptionSet]) -> None:
    """The preset says it of column O, the log of O-0, O-1 and O-2."""
    stock = options_in("osd-stock")
    differing = preset("ceph:pacific").changed("ttl", "1", "O").differences(stock)
    assert {one.family for one in differing if one.option == "ttl"} == {"O-0", "O-1", "O-2"}


def test_columns_by_name() -> None:
    assert [column_of(name) for name in ("O-1", "P", "a-b", "-1", "x-y-12")] == ["O", "P", "a-b", "-1", "x-y"]


@pytest.mark.parametrize("name", preset_names())
def test_an_options_file_is_read_as_it_is_written(name: str, tmp_path: Path) -> None:
    options = preset(name)
    version = options.rocksdb_version or "7.9.2"
    path = tmp_path / "OPTIONS-000005"
    path.write_text(options.to_options_file(rocksdb_version=version))
    read = read_options(str(path))
    assert read.rocksdb_version == version
    again, first = read.resolve(options.families, version), options.resolve(options.families, version)
    assert (again.database, again.families) == (first.database, first.families)
    assert again.tables == first.tables


@pytest.mark.parametrize("name", ["osd-stock", "osd-reef", "rocksdb-current", "rocksdb-backlog"])
def test_a_log_as_an_options_file(name: str, options_in: Callable[[str], OptionSet], tmp_path: Path) -> None:
    options = options_in(name)
    assert options.rocksdb_version is not None
    path = tmp_path / "OPTIONS-000005"
    path.write_text(options.to_options_file())
    read = read_options(str(path))
    assert read.families == options.families
    assert (
        read.resolve(read.families, options.rocksdb_version).families
        == options.resolve(options.families, options.rocksdb_version).families
    )


SIZES = st.integers(65536, 1 << 36).map(str)
CHANGES = st.dictionaries(
    st.sampled_from(["write_buffer_size", "max_total_wal_size", "max_bytes_for_level_base", "target_file_size_base"]),
    SIZES | st.sampled_from(["64M", "16MB", "1g"]),
)
OF_COLUMNS = st.dictionaries(
    st.sampled_from(["m", "O", "L", "P"]),
    st.dictionaries(st.sampled_from(["ttl", "write_buffer_size", "block_size"]), SIZES, min_size=1),
)


@given(st.sampled_from([name for name in preset_names() if name.startswith("ceph:")]), CHANGES, OF_COLUMNS)
def test_ceph_reads_what_is_written_for_it(
    name: str, changes: dict[str, str], of_columns: dict[str, dict[str, str]]
) -> None:
    options = preset(name)
    for option, value in changes.items():
        options = options.changed(option, value)
    if options.sharding.columns:
        for column, own in of_columns.items():
            for option, value in own.items():
                options = options.changed(option, value, column)
    ceph = to_ceph(options)
    assert ceph.unsettable == ()
    base = preset(name)
    again = read_options(ceph.options, base)
    if ceph.annex:
        again = read_options(f"+{ceph.annex}", again)
    if ceph.cfs:
        again = read_options(ceph.cfs, again)
    assert options.differences(again) == ()
    assert (to_ceph(again).options, to_ceph(again).cfs) == (ceph.options, ceph.cfs)


def resolved(version: str, **values: str) -> ResolvedOptions:
    options = OptionSet("asked")
    for option, value in values.items():
        options = options.changed(option, value)
    return options.resolve(("default",), version)


@pytest.mark.parametrize(
    ("version", "write_buffer_size", "arena_block_size"),
    [
        ("6.8.1", "256M", "33554432"),
        ("6.8.1", "20000000", "2502656"),  # to whole pages
        ("7.9.2", "256M", "1048576"),
        ("7.9.2", "1M", "131072"),
    ],
)
def test_memory_comes_in_blocks_of_an_eighth(version: str, write_buffer_size: str, arena_block_size: str) -> None:
    found = resolved(version, write_buffer_size=write_buffer_size)
    assert found.families["default"]["arena_block_size"] == arena_block_size


def test_a_compaction_is_limited_by_the_size_of_files() -> None:
    assert resolved("7.9.2", target_file_size_base="1M").families["default"]["max_compaction_bytes"] == "26214400"
    asked = resolved("7.9.2", target_file_size_base="1M", max_compaction_bytes="5M", arena_block_size="8192")
    assert asked.families["default"]["max_compaction_bytes"] == "5242880"
    assert asked.families["default"]["arena_block_size"] == "8192"
    assert "max_compaction_bytes" not in resolved("4.9.0").families["default"]


def test_an_option_the_version_does_not_have() -> None:
    """What was asked for is said; what is just a default of another version is not."""
    found = resolved("6.8.1", blob_file_size="1G", max_background_jobs="4", filter_deletes="true")
    assert set(found.warnings) == {
        "filter_deletes=true: RocksDB 6.8.1 has no such option, left out",
        "blob_file_size=1073741824: RocksDB 6.8.1 has no such option, left out",
    }
    assert found.database["max_background_jobs"] == "4"
    fields = {"compaction_options_universal": "{max_read_amp=5;size_ratio=3}"}
    found = resolved("7.9.2", **fields)
    assert found.warnings == (
        "compaction_options_universal.max_read_amp=5: RocksDB 7.9.2 has no such option, left out",
    )
    assert "size_ratio=3" in found.families["default"]["compaction_options_universal"]
    assert resolved("9.8.4", **fields).warnings == ()


def test_a_log_of_a_newer_version_on_an_older_one(options_in: Callable[[str], OptionSet]) -> None:
    current = options_in("rocksdb-current")
    found = current.resolve(current.families, "6.8.1")
    assert {warning.partition("=")[0] for warning in found.warnings} == {
        *("blob_garbage_collection_age_cutoff", "enable_blob_files", "enable_blob_garbage_collection"),
        "min_blob_size",
    }
    assert found.tables["users"]["format_version"] == "2"  # 9.8 has 6, which 6.8 cannot write
    asked = current.changed("level_compaction_dynamic_level_bytes", "true")
    assert current.value_of("level_compaction_dynamic_level_bytes") == "true"
    assert found.families["users"]["level_compaction_dynamic_level_bytes"] == "false"
    assert asked.resolve(current.families, "6.8.1").families["users"]["level_compaction_dynamic_level_bytes"] == "true"


def test_recycled_logs() -> None:
    """Ceph asks for four; RocksDB drops them, or the mode of recovery, without a word."""
    asked = {"recycle_log_file_num": "4"}
    found = {version: resolved(version, **asked) for version in ("6.1.2", "6.8.1", "7.9.2", "9.2.1")}
    modes = {version: one.database["wal_recovery_mode"] for version, one in found.items()}
    assert modes == {
        "6.1.2": "kTolerateCorruptedTailRecords",
        "6.8.1": "kPointInTimeRecovery",
        "7.9.2": "kPointInTimeRecovery",
        "9.2.1": "kPointInTimeRecovery",
    }
    assert [one.database["recycle_log_file_num"] for one in found.values()] == ["4", "0", "0", "4"]
    assert [one.warnings for one in found.values()] == [
        (),
        ("recycle_log_file_num=4: RocksDB 6.8.1 runs with 0",),
        ("recycle_log_file_num=4: RocksDB 7.9.2 runs with 0",),
        (),
    ]


def test_what_depends_on_the_style_of_compaction_is_left_to_rocksdb() -> None:
    fifo = resolved("7.9.2", compaction_style="kCompactionStyleFIFO", num_levels="1").families["default"]
    assert fifo["num_levels"] == "1"
    assert not {"ttl", "periodic_compaction_seconds", "level0_stop_writes_trigger"} & fifo.keys()


def test_spelled_as_the_version_does() -> None:
    level = {"max_bytes_for_level_multiplier": "8", "compression_opts": "{level=5}"}
    assert resolved("4.9.0", **level).families["default"]["max_bytes_for_level_multiplier"] == "8"
    assert resolved("6.8.1", **level).families["default"]["max_bytes_for_level_multiplier"] == "8.000000"
    assert resolved("6.8.1", **level).families["default"]["compression_opts"] == "-14:5:0:0"
    fields = resolved("6.15.5", **level).families["default"]["compression_opts"]
    assert fields.startswith("{enabled=false;level=5;max_dict_bytes=0;parallel_threads=1;")


def test_readahead_opens_files_anew_in_old_versions() -> None:
    assert resolved("6.8.1").database["new_table_reader_for_compaction_inputs"] == "false"
    assert (
        resolved("6.8.1", compaction_readahead_size="2M").database["new_table_reader_for_compaction_inputs"] == "true"
    )


def test_nothing_of_the_set_is_lost_or_shared_wrongly() -> None:
    """Columns stand over what all share, families over their columns; a name that only looks like a shard is none."""
    options = OptionSet(
        "x",
        {"ttl": Setting("1", "")},
        {"O": {"ttl": Setting("2", "")}, "O-1": {"ttl": Setting("3", "")}, "Ox": {"ttl": Setting("4", "")}},
    )
    found = options.resolve(("default", "O", "O-0", "O-1", "Ox", "Ox-y"), "7.9.2")
    assert [values["ttl"] for values in found.families.values()] == ["1", "2", "2", "3", "4", "1"]


@given(
    st.sampled_from(["ceph:luminous", "ceph:pacific", "ceph:reef", "rocksdb:default"]),
    st.sampled_from(["4.9.0", "5.18.4", "6.8.1", "6.15.5", "7.9.2", "8.4.4", "10.10.1", "11.8.1", "8.0.0"]),
    st.lists(st.sampled_from(["default", "O-0", "P", "users"]), unique=True),
)
def test_every_family_has_every_option(name: str, version: str, families: list[str]) -> None:
    found = preset(name).resolve(families, version)
    assert next(iter(found.families)) == "default"
    assert set(found.families) == set(found.tables) == {"default", *families}
    assert len({frozenset(values) for values in found.families.values()}) == 1


def test_sizes_are_divided_defaults_too_and_nothing_else() -> None:
    whole, part = (preset("ceph:reef").scaled(k).resolve(FAMILIES, "7.9.2") for k in (1, 16))
    changed = {name for name, value in part.database.items() if whole.database[name] != value}
    assert changed == {"max_total_wal_size", "delayed_write_rate"}
    for family in FAMILIES:
        changed = {name for name, value in part.families[family].items() if whole.families[family][name] != value}
        assert changed == {
            *("write_buffer_size", "arena_block_size", "target_file_size_base", "max_bytes_for_level_base"),
            *("max_compaction_bytes", "soft_pending_compaction_bytes_limit", "hard_pending_compaction_bytes_limit"),
            *("blob_file_size", "compaction_options_fifo", "compact_on_deletion"),
        }
        changed = {name for name, value in part.tables[family].items() if whole.tables[family][name] != value}
        assert changed == {"block_cache"}
    assert part.families["P"]["write_buffer_size"] == "1048576"
    assert part.families["P"]["target_file_size_base"] == "4194304"
    assert part.families["P"]["compact_on_deletion"] == "{sliding_window=2048;trigger=1024}"
    assert part.families["P"]["max_compaction_bytes"] == str(25 * 4194304)


def test_a_scale_of_a_scale() -> None:
    assert preset("ceph:reef").scaled(2).scaled(8).scale == 16


@pytest.mark.parametrize("k", [0, -1, float("nan")])
def test_no_scale(k: float) -> None:
    with pytest.raises(ValueError, match="positive"):
        preset("ceph:reef").scaled(k)


def test_unlimited_stays_and_nothing_comes_to_nothing() -> None:
    options = OptionSet("x").changed("max_total_wal_size", "18446744073709551615").changed("db_write_buffer_size", "0")
    found = options.changed("target_file_size_base", "3").scaled(16).resolve((), "7.9.2")
    assert found.database["max_total_wal_size"] == "18446744073709551615"
    assert found.database["db_write_buffer_size"] == "0"
    assert found.families["default"]["target_file_size_base"] == "1"


def test_a_buffer_too_small_to_keep_the_shape() -> None:
    found = preset("ceph:reef").scaled(1000).resolve((), "7.9.2")
    assert found.families["default"]["write_buffer_size"] == "65536"
    assert found.warnings == (
        "write_buffer_size is divided down to 16777 bytes, and RocksDB has none under 65536:"
        " the shape is not kept at this scale",
    )


@given(st.integers(1, 200))
def test_ratios_are_kept(k: int) -> None:
    found = preset("ceph:reef").scaled(k).resolve((), "7.9.2").families["default"]
    ratio = int(found["max_bytes_for_level_base"]) / int(found["write_buffer_size"])
    assert ratio == pytest.approx(64, rel=1e-4)
