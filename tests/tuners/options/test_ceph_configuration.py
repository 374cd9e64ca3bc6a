"""Ceph's configuration: strings, what is set by code, columns; and an option set written back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsmlens.analyzer.errors import InputError
from lsmlens.analyzer.options.sharding import ShardedColumn, Sharding, parse_sharding
from lsmlens.tuners.options.ceph_configuration import ceph_options, to_ceph
from lsmlens.tuners.options.option_set import OptionSet, Setting
from lsmlens.tuners.options.presets import preset

FAMILIES = ("default", "O-0", "O-1", "P")


def configured(**options: str) -> OptionSet:
    return ceph_options("osd.3", {"bluestore_rocksdb_cf": "true", "rocksdb_cache_size": "536870912", **options}, "conf")


def test_the_annex_stands_over_the_string() -> None:
    found = configured(
        bluestore_rocksdb_options="write_buffer_size=1MB,ttl=7;max_background_jobs=4",
        bluestore_rocksdb_options_annex="ttl=8",
    )
    assert found.values["ttl"] == Setting("8", "bluestore_rocksdb_options_annex")
    assert found.values["write_buffer_size"] == Setting("1048576", "bluestore_rocksdb_options")
    assert found.values["max_background_jobs"].value == "4"
    assert (to_ceph(found).options, to_ceph(found).annex) == (
        "write_buffer_size=1048576,max_background_jobs=4",
        "ttl=8",
    )


def test_options_of_tables_in_the_string_are_lost() -> None:
    """RocksDBStore makes the tables' options itself, whatever the string said."""
    found = configured(bluestore_rocksdb_options="block_based_table_factory={block_size=8192},ttl=7")
    assert "block_size" not in found.values
    assert found.notes == ("block_size in bluestore_rocksdb_options: Ceph sets the options of tables by itself",)


def test_what_ceph_sets_by_code() -> None:
    found = configured(
        rocksdb_block_size="16K",
        rocksdb_index_type="two_level",
        rocksdb_partition_filters="true",
        rocksdb_bloom_bits_per_key="0",
        rocksdb_cf_compact_on_deletion="true",
        rocksdb_cf_compact_on_deletion_sliding_window="100",
        rocksdb_cf_compact_on_deletion_trigger="50",
    )
    resolved = found.resolve(FAMILIES, "7.9.2")
    wanted = {
        "block_size": "16384",
        "index_type": "kTwoLevelIndexSearch",
        "partition_filters": "true",
        "filter_policy": "nullptr",
        "block_cache": "536870912",
    }
    for family in FAMILIES:
        assert {name: resolved.tables[family][name] for name in wanted} == wanted
        assert resolved.families[family]["compact_on_deletion"] == "{sliding_window=100;trigger=50}"
    assert found.values["block_size"].origin == "rocksdb_block_size"
    others = to_ceph(found).others
    assert (others["rocksdb_block_size"], others["rocksdb_index_type"]) == ("16384", "two_level")
    assert others["rocksdb_cf_compact_on_deletion_trigger"] == "50"


def test_options_ceph_keeps_to_itself() -> None:
    found = configured(bluestore_rocksdb_options="compaction_threads=32,flusher_threads=8,disableWAL=false,ttl=1")
    assert found.ceph_options == {"compaction_threads": "32", "flusher_threads": "8", "disableWAL": "false"}
    assert found.notes[0] == "compaction_threads=32: Ceph's own, not part of a replay"
    assert found.resolve(FAMILIES, "7.9.2").warnings[0] == found.notes[0]


def test_columns() -> None:
    text = "O(3,0-13)=block_cache={type=lru;size=64M;block_size=8192};ttl=5 P=write_buffer_size=8MB L"
    found = configured(bluestore_rocksdb_cfs=text)
    resolved = found.resolve(found.families, "7.9.2")
    assert found.families == ("default", "O-0", "O-1", "O-2", "P", "L")
    assert [resolved.tables[family]["block_cache"] for family in ("O-2", "P")] == ["67108864", "536870912"]
    assert [resolved.tables[family]["block_size"] for family in ("O-2", "P")] == ["8192", "4096"]
    assert [resolved.families[family]["ttl"] for family in ("O-2", "P")] == ["5", "2592000"]
    assert resolved.families["P"]["write_buffer_size"] == "8388608"
    assert to_ceph(found).cfs == (
        "O(3,0-13)=ttl=5;block_cache={type=binned_lru;size=67108864;block_size=8192} P=write_buffer_size=8388608 L"
    )
    shared = configured(bluestore_rocksdb_cfs="O=block_cache={block_size=8192}")
    assert to_ceph(shared).cfs == "O=block_cache={block_size=8192}"
    tables = configured(bluestore_rocksdb_cfs="O=block_based_table_factory={block_size=8192}")
    assert tables.value_of("block_size", "O") == "8192"


def test_without_columns() -> None:
    for cf in ("false", "0"):
        assert configured(bluestore_rocksdb_cf=cf, bluestore_rocksdb_cfs="O P").families == ("default",)


@pytest.mark.parametrize(
    ("option", "text", "reason"),
    [
        ("bluestore_rocksdb_options", "write_buffer_size", "write_buffer_size: no option=value"),
        ("bluestore_rocksdb_options", "wbs=1", "wbs is no option of RocksDB"),
        ("bluestore_rocksdb_options", "ttl=soon", "ttl=soon: expected a whole number"),
        ("bluestore_rocksdb_options", "plain_table_factory={}", "a replay has block-based tables only"),
        ("bluestore_rocksdb_options", "table_factory=PlainTable", "table_factory=PlainTable: a replay has block-based"),
        ("bluestore_rocksdb_options_annex", "compression=kFast", "compression=kFast: expected one of kNoCompression"),
        ("bluestore_rocksdb_cfs", "O(3", "O(3: no column"),
        (
            "bluestore_rocksdb_cfs",
            "O=max_background_jobs=3",
            "max_background_jobs is of the whole database, not",
        ),
        ("bluestore_rocksdb_cfs", "O=block_cache={size=big}", "block_cache of O = big"),
        ("bluestore_rocksdb_cfs", "O=block_cache={ttl=3}", "ttl is of the whole database, not of one column"),
        ("rocksdb_block_size", "big", "rocksdb_block_size = big: block_size=big"),
        ("rocksdb_cache_size", "big", "rocksdb_cache_size = big: expected a whole number"),
    ],
)
def test_what_ceph_would_refuse(option: str, text: str, reason: str) -> None:
    with pytest.raises(InputError) as raised:
        configured(**{option: text})
    assert raised.value.path == "conf"
    assert raised.value.reason.startswith(reason) or reason in raised.value.reason


def test_a_monitor_has_a_string_of_its_own() -> None:
    configuration = {"mon_rocksdb_options": "write_buffer_size=33554432", "rocksdb_cache_size": "1G"}
    found = ceph_options("mon.a", configuration, "conf", is_monitor=True)
    assert found.families == ("default",)
    assert found.value_of("write_buffer_size") == "33554432"
    assert found.value_of("block_cache") == str(1 << 30)


def test_what_no_column_can_have() -> None:
    """Shards of one column cannot differ, and a collector is set for all."""
    options = preset("ceph:reef").changed("ttl", "1", "O-1")
    options = options.changed("compact_on_deletion", "{sliding_window=9;trigger=8}", "P")
    options = options.changed("format_version", "4")
    assert to_ceph(options).unsettable == ("format_version", "ttl", "compact_on_deletion")
    assert to_ceph(options).cfs == to_ceph(preset("ceph:reef")).cfs


def test_the_strings_of_a_log_are_those_that_are_not_defaults() -> None:
    found = to_ceph(preset("rocksdb:default").changed("ttl", "3"))
    assert (found.options, found.annex, found.cfs, dict(found.others)) == ("", "ttl=3", "", {})


PREFIXES = st.sampled_from(["m", "p", "O", "L", "P"])
OPTIONS = st.dictionaries(
    st.sampled_from(["ttl", "write_buffer_size", "min_write_buffer_number_to_merge"]), st.integers(1, 99).map(str)
)


@st.composite
def columns(draw: st.DrawFn) -> Sharding:
    found = []
    for prefix in draw(st.lists(PREFIXES, unique=True, min_size=1)):
        shards = draw(st.integers(1, 5))
        begin = draw(st.integers(0, 20))
        end = draw(st.none() | st.integers(begin + 1, 40))
        options = dict(draw(OPTIONS))
        cache = draw(
            st.dictionaries(st.sampled_from(["block_size", "metadata_block_size"]), st.integers(1, 1 << 20).map(str))
        )
        is_own = draw(st.booleans())
        if cache or is_own:
            inside = {"type": "binned_lru", **cache}
            options["block_cache"] = "{" + ";".join(f"{name}={value}" for name, value in inside.items()) + "}"
        found.append(ShardedColumn(prefix, shards, begin, end, options))
    return Sharding(tuple(found))


@given(columns())
def test_columns_are_read_as_they_are_written(sharding: Sharding) -> None:
    assert parse_sharding(str(sharding)) == sharding
    options = configured(bluestore_rocksdb_cfs=str(sharding))
    again = parse_sharding(to_ceph(options).cfs)
    assert [one.families for one in again.columns] == [one.families for one in sharding.columns]
    assert [(one.hash_begin, one.hash_end) for one in again.columns] == [
        (one.hash_begin, one.hash_end) for one in sharding.columns
    ]
    written = configured(bluestore_rocksdb_cfs=to_ceph(options).cfs)
    assert written.overrides.keys() <= options.overrides.keys()
    for family in options.families:
        assert {name: one.value for name, one in written.settings_of(family).items()} == {
            name: one.value for name, one in options.settings_of(family).items()
        }
