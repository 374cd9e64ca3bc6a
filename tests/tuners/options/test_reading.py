"""Whatever is given for OPTIONS."""

import contextlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsmlens.analyzer.errors import InputError
from lsmlens.tuners.options.ceph_configuration import to_ceph
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.options.presets import preset
from lsmlens.tuners.options.reading import read_candidates, read_option_sets, read_options

MERGE = "min_write_buffer_number_to_merge"
REEF_STRING = (
    "max_write_buffer_number=64,min_write_buffer_number_to_merge=6,write_buffer_size=16777216,max_background_jobs=4"
)
MERGE = "min_write_buffer_number_to_merge"
OPTIONS = """
# This is a RocksDB option file.
[Version]
  rocksdb_version=6.8.1
  options_file_version=1.1
[DBOptions]
  max_background_jobs=6
  wal_dir=/somewhere/else
  new_thing=7
[CFOptions "default"]
  comparator=leveldb.BytewiseComparator
  merge_operator=PutOperator
  write_buffer_size=1048576
  arena_block_size=131072
  max_compaction_bytes=1677721600
  target_file_size_base=67108864
  table_factory=BlockBasedTable
[TableOptions/BlockBasedTable "default"]
  block_size=8192
[CFOptions "users"]
  write_buffer_size=2097152
  target_file_size_base=67108864
[TableOptions/BlockBasedTable "users"]
  block_size=4096
"""


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
    assert to_ceph(found).options == REEF_STRING


def test_an_annex_stands_on_the_log_s(stock: OptionSet) -> None:
    found = read_options("+write_buffer_size=64M", stock)
    assert found.value_of("max_total_wal_size") == "1073741824"
    assert found.value_of("write_buffer_size", "P") == "67108864"
    assert to_ceph(found).annex == "write_buffer_size=67108864"
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
        ("no/such/log", "no/such/log: no such file or folder", "check the path"),
        ("write_bufer_size=64M", "options: 64M: no preset", "write_bufer_size is no option: did you mean write_buffer"),
        ("write_bufer_size=64M,ttl=1", "options: 64M: no option=value", "write_bufer_size is no option: did you mean"),
        ("ttl=1,write_bufer_size=2", "options: write_bufer_size is no option of RocksDB", "did you mean write_buffer"),
        ("ttl=ceph:reef", "options: ttl=ceph:reef: expected a whole number", "values are written as"),
        ("ttl=", "options: ttl=: expected a whole number", "values are written as"),
        ("=", "options: =: no option=value", "options are write_buffer_size=64M"),
        ("x=,", "options: ,: no preset, no file and no options", "presets are"),
        ("ceph:reef+", "options: nothing: sets no option", "options are write_buffer_size"),
        ("O(3,0-13)=bogus=1 P", "options: bogus is no option of RocksDB", "names are those of"),
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


def test_an_options_file(tmp_path: Path) -> None:
    path = tmp_path / "OPTIONS-000012"
    path.write_text(OPTIONS)
    found = read_options(f"db={path}")
    assert (found.name, found.rocksdb_version, found.families) == ("db", "6.8.1", ("default", "users"))
    assert found.value_of("max_background_jobs") == "6"
    assert [found.value_of("write_buffer_size", family) for family in found.families] == ["1048576", "2097152"]
    assert [found.value_of("block_size", family) for family in found.families] == ["8192", "4096"]
    assert found.notes == ("new_thing=7: not known, left out",)
    assert found.origin_of("block_size") == "OPTIONS-000012"
    wider = found.changed("write_buffer_size", "8M").resolve(found.families, "7.9.2")
    assert wider.families["default"]["arena_block_size"] == "1048576"  # what was derived is derived anew


def test_an_options_file_with_a_value_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "OPTIONS-000012"
    path.write_text(OPTIONS.replace("=2097152", "=two"))
    with pytest.raises(InputError, match=f"{path}: write_buffer_size=two: expected"):
        read_options(str(path))


def test_config_show(fixtures: Path, options_in: Callable[[str], OptionSet]) -> None:
    path = str(fixtures / "osd-stock" / "config_show.json")
    found = read_options(path)
    (difference,) = found.differences(options_in("osd-stock"), "6.8.1")
    assert difference.option == "recycle_log_file_num"
    assert found.rocksdb_version is None
    assert (
        read_options(str(fixtures / "osd-stock" / "config_show.json"), options_in("osd-stock")).rocksdb_version
        == "6.8.1"
    )


def test_config_show_of_a_monitor(tmp_path: Path) -> None:
    path = tmp_path / "mon.json"
    options = {"name": "mon.a", "mon_rocksdb_options": "write_buffer_size=33554432", "rocksdb_cache_size": "536870912"}
    path.write_text(json.dumps({**options, "bluestore_rocksdb_cfs": "O P", "bluestore_rocksdb_cf": "true"}))
    found = read_options(str(path))
    assert (found.families, found.value_of("write_buffer_size")) == (("default",), "33554432")


def test_a_ceph_conf_of_a_release_not_named(fixtures: Path) -> None:
    found = read_options(str(fixtures / "osd-stock" / "ceph.conf"))
    assert found.notes == ("ceph.conf names no release: what it does not set is as in tentacle 20.2.4",)
    assert found.value_of(MERGE, "P") == "32"


def test_a_ceph_conf_beside_a_log(fixtures: Path, options_in: Callable[[str], OptionSet]) -> None:
    stock = options_in("osd-stock")
    found = read_options(str(fixtures / "osd-stock" / "ceph.conf"), stock)
    assert found.notes == ()
    assert (found.rocksdb_version, found.ceph_version) == ("6.8.1", stock.ceph_version)
    assert [one.option for one in found.differences(stock)] == ["recycle_log_file_num"]


CONF = """[global]
osd pool default size = 1
[osd]
bluestore rocksdb options = max_write_buffer_number=8,write_buffer_size=8MB   # a comment
[osd.7]
bluestore_rocksdb_options_annex = ttl=5
"""


def test_a_ceph_conf_of_one_osd_that_says_nothing_of_columns(
    tmp_path: Path, options_in: Callable[[str], OptionSet]
) -> None:
    """With the options of today a merge of 32 buffers could not stand: the columns are the log's, or have nothing."""
    path = tmp_path / "my.conf"
    path.write_text(CONF)
    found = read_options(str(path))
    assert (found.value_of("ttl", "P"), found.value_of("write_buffer_size", "P")) == ("5", "8388608")
    assert found.value_of(MERGE, "P") == "1"
    assert found.value_of("block_cache", "O-1") == "536870912"
    assert found.notes[-1] == "my.conf has no bluestore_rocksdb_cfs: no column has options of its own but its cache"
    found.validate()
    beside = read_options(str(path), options_in("osd-reef"))
    assert beside.value_of(MERGE, "P") == "32"
    with pytest.raises(InputError, match="families L, P: min_write_buffer_number_to_merge=32"):
        beside.validate()


def test_a_ceph_conf_with_columns(tmp_path: Path) -> None:
    path = tmp_path / "ceph.conf"
    path.write_text(CONF + "bluestore_rocksdb_cfs = O(2)=ttl=9 P\n")
    found = read_options(str(path))
    assert found.families == ("default", "O-0", "O-1", "P")
    assert found.value_of("ttl", "O-1") == "9"


@pytest.mark.parametrize("name", ["osd-stock", "osd-reef/ceph-osd.0.log.gz", "rocksdb-7.8", "rocksdb-7.8/LOG"])
def test_a_log(fixtures: Path, name: str, options_in: Callable[[str], OptionSet]) -> None:
    found = read_options(str(fixtures / name))
    assert found.values == options_in(name.split("/")[0]).values
    assert found.name == str(fixtures / name)


def test_several_logs(fixtures: Path, tmp_path: Path) -> None:
    for name in ("rocksdb-filter", "rocksdb-no-filter"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "LOG.gz").write_bytes((fixtures / name / "LOG.gz").read_bytes())
    with pytest.raises(InputError, match="holds 2 databases with other options each") as raised:
        read_options(str(tmp_path))
    assert raised.value.hint == "give one's log"
    (tmp_path / "rocksdb-no-filter" / "LOG.gz").write_bytes((fixtures / "rocksdb-filter" / "LOG.gz").read_bytes())
    assert read_options(str(tmp_path)).value_of("filter_policy") == "bloomfilter:10:false"


def test_a_log_without_options(fixtures: Path) -> None:
    with pytest.raises(InputError, match="tells no options") as raised:
        read_options(str(fixtures / "osd-noisy"))
    assert raised.value.hint == "give a log that holds an open, or a preset such as ceph:reef"


@pytest.mark.parametrize("content", [b"", b"{", b"{}", b'{"a": 1}', b"[1]", b"\xff\xfe", b"nothing of the kind"])
def test_a_file_that_is_none(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(InputError):
        read_options(str(path))


@pytest.fixture
def own() -> OptionSet:
    return preset("ceph:reef")


def test_each_set_has_a_name_of_its_own(own: OptionSet) -> None:
    texts = ["a=+write_buffer_size=8M", "b=ceph:reef", "a=+write_buffer_size=16M", "a=+write_buffer_size=32M"]
    assert [one.name for one in read_option_sets(texts, own)] == ["a", "b", "a#2", "a#3"]
    assert [one.name for one in read_option_sets(["ceph:reef", "ceph:reef"])] == ["ceph:reef", "ceph:reef#2"]


def test_candidates(tmp_path: Path, own: OptionSet) -> None:
    file = tmp_path / "candidates"
    file.write_text("# tried by hand\na=+write_buffer_size=8M\n\na=+write_buffer_size=16M\n  current=ceph:reef\n")
    names = [one.name for one in read_candidates(str(file), own)]
    assert names == ["a", "a (line 4)", "current (line 5)"]


@pytest.mark.parametrize(
    ("text", "said"),
    [(b"ceph:reef\n\nnonsense\n", r"candidates:3: "), (b"\xff\xfe", "cannot be read"), (None, "cannot be read")],
)
def test_candidates_that_are_none(text: bytes | None, said: str, tmp_path: Path, own: OptionSet) -> None:
    file = tmp_path / "candidates"
    if text is not None:
        file.write_bytes(text)
    with pytest.raises(InputError, match=said) as raised:
        read_candidates(str(file), own)
    assert raised.value.hint == "one set of options a line, as for predict"
