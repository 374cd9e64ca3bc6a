"""Option sets: what is changed, what is in force, what differs, and that they are read as they are written."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsmlens.analyzer.errors import InputError
from lsmlens.tuners.options.option_set import Difference, OptionSet, Setting, column_of
from lsmlens.tuners.options.presets import preset, preset_names
from lsmlens.tuners.options.reading import read_options

MERGE = "min_write_buffer_number_to_merge"


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
    ceph = options.to_ceph()
    assert ceph.unsettable == ()
    base = preset(name)
    again = read_options(ceph.options, base)
    if ceph.annex:
        again = read_options(f"+{ceph.annex}", again)
    if ceph.cfs:
        again = read_options(ceph.cfs, again)
    assert options.differences(again) == ()
    assert (again.to_ceph().options, again.to_ceph().cfs) == (ceph.options, ceph.cfs)
