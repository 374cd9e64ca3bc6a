"""Files that hold options, told by their content."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from lsmlens.analyzer.errors import InputError
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.options.reading import read_options

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
