"""Options in force, held against those asked for; and the OPTIONS file they are read from."""

from pathlib import Path

import pytest
from lsmlens.tuners.engines.errors import EngineError, OptionMismatch
from lsmlens.tuners.engines.option_readback import is_taken, latest_options_file, read_back
from lsmlens.tuners.options.options_file import options_file, read_options_file
from lsmlens.tuners.options.resolved_options import ResolvedOptions

FILE = r"""# This is a RocksDB option file.
#
[Version]
  rocksdb_version=7.9.2
  options_file_version=1.1

[DBOptions]
  max_background_jobs=2
  db_log_dir=

[CFOptions "default"]
  write_buffer_size=67108864
  compaction_options_universal={allow_trivial_move=false;size_ratio=1;}

[TableOptions/BlockBasedTable "default"]
  block_size=4096

[CFOptions "odd\#name"]
  merge_operator=a\\b\#c
  max_bytes_for_level_multiplier_additional=1\:1:1
"""


def options(family: dict[str, str], database: dict[str, str] | None = None, version: str = "6.8.1") -> ResolvedOptions:
    return ResolvedOptions("mine", version, database or {}, {"default": family}, {"default": {}})


def test_reads_a_file(tmp_path: Path) -> None:
    path = tmp_path / "OPTIONS-000007"
    path.write_text(FILE)
    found = read_options_file(path)
    assert (found.name, found.rocksdb_version) == ("", "7.9.2")
    assert found.database == {"max_background_jobs": "2", "db_log_dir": ""}
    assert list(found.families) == ["default", "odd#name"]
    assert found.families["odd#name"] == {
        "merge_operator": r"a\b#c",
        "max_bytes_for_level_multiplier_additional": "1:1:1",
    }
    assert found.tables == {"default": {"block_size": "4096"}}


def test_writes_what_it_reads(tmp_path: Path) -> None:
    path = tmp_path / "OPTIONS-000007"
    path.write_text(FILE)
    found = read_options_file(path)
    path.write_text(options_file(found))
    again = read_options_file(path)
    assert (again.database, again.families) == (found.database, found.families)


def test_the_newest_file_counts(tmp_path: Path) -> None:
    for name in ("OPTIONS-000009", "OPTIONS-000010", "OPTIONS-000011.dbtmp", "OPTIONS-x"):
        (tmp_path / name).touch()
    assert latest_options_file(tmp_path).name == "OPTIONS-000010"
    with pytest.raises(EngineError, match="no OPTIONS file"):
        latest_options_file(tmp_path / "none")


@pytest.mark.parametrize(
    ("option", "asked", "found"),
    [
        ("max_bytes_for_level_multiplier", "8", "8.000000"),
        ("blob_garbage_collection_age_cutoff", "0.25", "0.250000"),
        ("memtable_prefix_bloom_size_ratio", "0.1234567", "0.123457"),
        ("write_buffer_size", "16M", "16777216"),
        ("write_buffer_size", "16MB", "16777216"),
        ("disable_auto_compactions", "1", "true"),
        ("compression", "kLZ4Compression", "kLZ4Compression"),
        ("compression", "LZ4", "kLZ4Compression"),
        ("compression_per_level", "{kNoCompression:LZ4}", "kNoCompression:kLZ4Compression"),
        ("block_cache", "{capacity=8M;num_shard_bits=4}", "8388608"),
        ("no_option_that_is_known", "8", "8.000000"),
        (
            "compression_opts",
            "-14:32767:0:0",
            "{window_bits=-14;level=32767;strategy=0;max_dict_bytes=0;enabled=false;}",
        ),
        ("compression_opts", "{level=3}", "{window_bits=-14;level=3;}"),
        ("compaction_options_universal", "{size_ratio=1}", "{allow_trivial_move=false;size_ratio=1;}"),
        ("filter_policy", "bloomfilter:20:false", "rocksdb.BuiltinBloomFilter"),
        ("filter_policy", "bloomfilter:20:false", "bloomfilter:20:false"),
        ("filter_policy", "nullptr", ""),
        ("memtable_factory", "skip_list:16", "SkipListFactory"),
        ("memtable_factory", "SkipListFactory", "{id=SkipListFactory;lookahead=0;}"),
        ("comparator", "leveldb.BytewiseComparator", "{id=leveldb.BytewiseComparator;}"),
        ("table_factory", "BlockBasedTable", "BlockBasedTable"),
    ],
)
def test_the_same_value(option: str, asked: str, found: str) -> None:
    assert is_taken(option, asked, found)


@pytest.mark.parametrize(
    ("option", "asked", "found"),
    [
        ("min_write_buffer_number_to_merge", "32", "3"),
        ("write_buffer_size", "65536,ttl=3", "65536"),
        ("max_bytes_for_level_multiplier", "8", "8.100000"),
        ("compression", "kLZ4Compression", "kNoCompression"),
        ("compression_opts", "-14:3:0:0", "{window_bits=-14;level=32767;strategy=0;max_dict_bytes=0;}"),
        ("compaction_options_universal", "{size_ratio=2}", "{allow_trivial_move=false;size_ratio=1;}"),
        ("compaction_options_universal", "{no_such=2}", "{allow_trivial_move=false;size_ratio=1;}"),
        ("filter_policy", "bloomfilter:20:false", "nullptr"),
        ("filter_policy", "nullptr", "rocksdb.BuiltinBloomFilter"),
        ("compression_per_level", "kNoCompression:kLZ4Compression", ""),
        ("compression_per_level", "kNoCompression", "kNoCompression:kLZ4Compression"),
        ("block_cache", "{num_shard_bits=4}", "8388608"),
        ("memtable_factory", "vector", "SkipListFactory"),
    ],
)
def test_another_value(option: str, asked: str, found: str) -> None:
    assert not is_taken(option, asked, found)


def test_every_change_is_told() -> None:
    asked = options({"num_levels": "7", "write_buffer_size": "1"}, {"max_background_jobs": "2"})
    effective = options({"num_levels": "6", "write_buffer_size": "65536"}, {"max_background_jobs": "2"})
    with pytest.raises(OptionMismatch) as caught:
        read_back(asked, effective, frozenset())
    first, second = caught.value.differences
    assert first == "num_levels=7 of family default: it runs with 6"
    assert str(caught.value) == f"RocksDB 6.8.1 does not take the options mine: {first}; {second}"
    assert caught.value.hint


def test_a_change_in_many_families_is_told_once() -> None:
    names = ("default", "m-0", "m-1", "m-2", "L")
    asked = ResolvedOptions("mine", "6.8.1", {}, {name: {"num_levels": "1"} for name in names}, {})
    effective = ResolvedOptions("", "6.8.1", {}, {name: {"num_levels": "2"} for name in names}, {})
    with pytest.raises(OptionMismatch) as caught:
        read_back(asked, effective, frozenset())
    (difference,) = caught.value.differences
    assert difference == "num_levels=1 of family default, family m-0, family m-1 and 2 more: it runs with 2"


def test_where_rocksdb_chooses_any_choice_is_right() -> None:
    asked = options({"arena_block_size": "0", "max_compaction_bytes": "0"}, {"delayed_write_rate": "0"})
    effective = options({"arena_block_size": "8192", "max_compaction_bytes": "1677721600"}, {"delayed_write_rate": "9"})
    assert read_back(asked, effective, frozenset()).warnings == ()
    with pytest.raises(OptionMismatch):
        read_back(options({"arena_block_size": "4096"}), effective, frozenset())


def test_what_is_not_written_down_is_told_apart_from_what_is_not_there() -> None:
    asked = options({"compression_opts": "-14:3:0:0", "foo": "1"})
    first, second = read_back(asked, options({}), frozenset({"compression_opts"})).warnings
    assert first == "RocksDB 6.8.1 has no options of these names, left out: foo"
    assert second == "RocksDB 6.8.1 writes no such options down, set unchecked: compression_opts"


def test_the_result_has_the_name_and_the_order_that_were_asked_for() -> None:
    asked = ResolvedOptions("mine", "6.8.1", {}, {"default": {}, "p": {}, "L": {}}, {})
    effective = ResolvedOptions("", "6.8.1", {}, {"L": {"a": "1"}, "default": {}, "p": {}}, {})
    found = read_back(asked, effective, frozenset())
    assert (found.name, list(found.families)) == ("mine", ["default", "p", "L"])
    assert found.families["L"] == {"a": "1"}
