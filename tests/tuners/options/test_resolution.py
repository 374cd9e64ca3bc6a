"""Resolving: defaults, what is derived, what a version does not have, what it does not let stand."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsmlens.tuners.options.option_set import OptionSet, Setting
from lsmlens.tuners.options.presets import preset
from lsmlens.tuners.options.resolved_options import ResolvedOptions


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
