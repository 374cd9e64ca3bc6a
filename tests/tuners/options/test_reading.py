"""Whatever is given for OPTIONS."""

import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsmlens.analyzer.errors import InputError
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.options.presets import preset
from lsmlens.tuners.options.reading import read_options

MERGE = "min_write_buffer_number_to_merge"
REEF_STRING = (
    "max_write_buffer_number=64,min_write_buffer_number_to_merge=6,write_buffer_size=16777216,max_background_jobs=4"
)


@pytest.fixture
def stock(options_in: Callable[[str], OptionSet]) -> OptionSet:
    return options_in("osd-stock")


def test_a_preset() -> None:
    assert read_options("ceph:reef") == preset("ceph:reef")
    assert read_options(" rocksdb:default ") == preset("rocksdb:default")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("mine=ceph:reef", "mine"),
        ("my set 2=ceph:reef", "my set 2"),
        ("16.2=ceph:reef", "16.2"),
        ("ceph:reef", "ceph:reef"),
        ("write_buffer_size=64M", "write_buffer_size=64M"),
        ("wide=write_buffer_size=64M", "wide"),
        ("wide=write_buffer_size=64M,ttl=5", "wide"),
        ("P=O(3) P=ttl=5", "P"),
        ("ttl=5,write_buffer_size=64M", "ttl=5,write_buffer_size=64M"),
        ("block_based_table_factory={block_size=8192}", "block_based_table_factory={block_size=8192}"),
        ("compaction_threads=4", "compaction_threads=4"),
        ("O(3,0-13)=ttl=5 P", "O(3,0-13)=ttl=5 P"),
        ("x=ceph:reef+ttl=5", "x"),
    ],
)
def test_names(text: str, name: str) -> None:
    """What stands before the first `=` is a name unless it is an option's."""
    assert read_options(text).name == name


def test_a_file_is_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a=b.conf").write_text("[osd]\nbluestore_rocksdb_options = ttl=5\n")
    assert read_options("a=b.conf").value_of("ttl") == "5"
    assert read_options("c=a=b.conf").name == "c"


def test_an_options_string_stands_alone() -> None:
    found = read_options("write_buffer_size=64MB;max_background_jobs=4,block_based_table_factory={block_size=8192}")
    assert {name: one.value for name, one in found.values.items()} == {
        "write_buffer_size": "67108864",
        "max_background_jobs": "4",
        "block_size": "8192",
    }
    assert found.resolve((), "7.9.2").tables["default"]["filter_policy"] == "nullptr"


def test_an_options_string_takes_the_place_of_the_log_s(stock: OptionSet) -> None:
    """As `bluestore_rocksdb_options` would: tables and columns are set elsewhere."""
    found = read_options(REEF_STRING, stock)
    assert found.value_of("write_buffer_size", "P") == "16777216"
    assert found.value_of("max_total_wal_size") == "0"
    assert found.value_of("compression", "P") == "kSnappyCompression"
    assert found.value_of("filter_policy", "P") == "bloomfilter:20:false"
    assert found.value_of("block_cache", "O-1") == "536870912"
    assert (found.rocksdb_version, found.families) == ("6.8.1", stock.families)
    assert found.to_ceph().options == REEF_STRING


def test_an_annex_stands_on_the_log_s(stock: OptionSet) -> None:
    found = read_options("+write_buffer_size=64M", stock)
    assert found.value_of("max_total_wal_size") == "1073741824"
    assert found.value_of("write_buffer_size", "P") == "67108864"
    assert found.to_ceph().annex == "write_buffer_size=67108864"
    with pytest.raises(InputError, match="no log whose options these could stand on"):
        read_options("+write_buffer_size=64M")


def test_an_annex_stands_on_anything(fixtures: Path, stock: OptionSet) -> None:
    assert read_options("ceph:reef+ttl=5,block_size=8192").value_of("block_size", "P") == "8192"
    assert read_options("ceph:reef+ttl=5", stock).value_of(MERGE, "P") == "32"
    on_log = read_options(f"x={fixtures / 'osd-reef'}+ttl=5")
    assert (on_log.value_of("ttl"), on_log.value_of("write_buffer_size")) == ("5", "1048576")


def test_families_of_a_database_that_is_not_ceph_s(options_in: Callable[[str], OptionSet]) -> None:
    """There no columns stand over an option string: it is for all families."""
    current = options_in("rocksdb-current")
    assert current.value_of("level0_file_num_compaction_trigger", "users") == "4"
    added = read_options("+level0_file_num_compaction_trigger=2", current)
    assert added.value_of("level0_file_num_compaction_trigger", "users") == "2"
    assert added.value_of("enable_blob_files", "blobs") == "true"
    alone = read_options("level0_file_num_compaction_trigger=2", current)
    assert alone.value_of("enable_blob_files", "blobs") == "false"


def test_columns_alone(stock: OptionSet) -> None:
    text = "m(3) p(3,0-12) O(3,0-13)=write_buffer_size=8M L P=min_write_buffer_number_to_merge=3"
    found = read_options(text, stock)
    assert [found.value_of("write_buffer_size", family) for family in ("O-1", "P")] == ["8388608", "268435456"]
    assert found.value_of(MERGE, "P") == "3"
    assert read_options(text).value_of("write_buffer_size", "P") == "67108864"


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("ceph:mimic", "ceph:mimic: no such preset", "there are ceph:luminous, ceph:nautilus"),
        ("reef", "options: reef: no preset, no file and no options", "presets are ceph:luminous"),
        ("", "options: nothing given: no preset, no file and no options", "presets are"),
        ("no/such/log", "no/such/log: no such file or folder", ""),
        ("write_bufer_size=64M", "options: 64M: no preset", "write_bufer_size is no option: did you mean write_buffer"),
        ("write_bufer_size=64M,ttl=1", "options: 64M: no option=value", "write_bufer_size is no option: did you mean"),
        ("ttl=1,write_bufer_size=2", "options: write_bufer_size is no option of RocksDB", "did you mean write_buffer"),
        ("ttl=ceph:reef", "options: ttl=ceph:reef: expected a whole number", ""),
        ("ttl=", "options: ttl=: expected a whole number", ""),
        ("=", "options: =: no option=value", "options are write_buffer_size=64M"),
        ("x=,", "options: ,: no preset, no file and no options", "presets are"),
        ("ceph:reef+", "options: nothing: sets no option", "options are write_buffer_size"),
        ("O(3,0-13)=bogus=1 P", "options: bogus is no option of RocksDB", ""),
        ("O(3,0-13) P(2,", "options: P(2,: no column", "columns are O(3,0-13)"),
        ("m(2) O(0)", "options: O: no key finds a place in 0 shards", "columns are O(3,0-13)"),
        ("O(3,13-13)", "options: O(3,13-13): no byte of a key is in 13-13", "columns are O(3,0-13)"),
        ("O(3) O(4,0-13)", "options: O is there 2 times", "columns are O(3,0-13)"),
    ],
)
def test_what_is_none(text: str, message: str, hint: str) -> None:
    with pytest.raises(InputError) as raised:
        read_options(text)
    assert str(raised.value).startswith(message)
    assert raised.value.hint.startswith(hint)


@given(st.text(max_size=60) | st.text("abcxyz=,;+{}()_0123456789 :", max_size=60))
def test_any_text(text: str) -> None:
    if any(Path(part).exists() for part in (text.strip(), *text.replace("+", "=").split("=")) if "\0" not in part):
        return
    with contextlib.suppress(InputError):
        read_options(text)
