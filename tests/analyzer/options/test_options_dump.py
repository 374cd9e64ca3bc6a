"""Options dumps of real databases of five versions."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsmlens.analyzer.options.options_dump import OptionsDump, parse_options

BLUESTORE = ["default", "m-0", "m-1", "m-2", "p-0", "p-1", "p-2", "O-0", "O-1", "O-2"]


def test_an_osd(log_text: Callable[[str], bytes]) -> None:
    dump = parse_options(log_text("osd-stock/ceph-osd.0.log.gz"))
    assert dump.rocksdb_version == "6.8.1"
    assert dump.db["max_total_wal_size"] == "1073741824"
    assert dump.db["delayed_write_rate"] == "16777216"
    assert dump.db["recycle_log_file_num"] == "0"
    assert dump.db["db_log_dir"] == ""
    assert dump.db["fs"] == "Legacy File System"
    assert (list(dump.families), dump.skipped) == (BLUESTORE, {"L", "P"})
    assert {len(options) for options in dump.families.values()} == {108}
    p_0 = dump.families["p-0"]
    assert p_0["write_buffer_size"] == "268435456"
    assert p_0["compression"] == "NoCompression"
    assert p_0["max_bytes_for_level_multiplier"] == "10.000000"
    assert p_0["max_bytes_for_level_multiplier_addtl[6]"] == "1"
    assert p_0["compaction_options_universal.size_ratio"] == "1"
    assert dump.opened_with is not None
    assert dump.opened_with.startswith("compression=kNoCompression,max_write_buffer_number=4,")
    assert (dump.changed, dump.ceph_set) == ({}, {})


def test_table_options_in_several_lines(log_text: Callable[[str], bytes]) -> None:
    dump = parse_options(log_text("osd-stock/ceph-osd.0.log.gz"))
    table = {name: value for name, value in dump.families["O-0"].items() if name.startswith("table_factory.")}
    assert table["table_factory.flush_block_policy_factory"].startswith("FlushBlockBySizePolicyFactory (0x")
    assert table["table_factory.cache_index_and_filter_blocks"] == "1"
    assert table["table_factory.block_cache_name"] == "BinnedLRUCache"
    assert table["table_factory.block_cache_options.capacity"] == "536870912"
    assert table["table_factory.block_cache_options.high_pri_pool_ratio"] == "0.000"
    assert table["table_factory.block_cache_compressed"] == "(nil)"
    assert table["table_factory.block_align"] == "0"
    shared = dump.families["m-0"]["table_factory.block_cache"]
    assert shared == dump.families["default"]["table_factory.block_cache"] != table["table_factory.block_cache"]


def test_a_later_release(log_text: Callable[[str], bytes]) -> None:
    dump = parse_options(log_text("osd-reef/ceph-osd.0.log.gz"))
    assert (dump.rocksdb_version, list(dump.families), dump.skipped) == ("7.9.2", BLUESTORE, {"L", "P"})
    assert dump.families["m-2"]["min_write_buffer_number_to_merge"] == "6"
    assert dump.families["m-2"]["compression"] == "LZ4"
    assert dump.db["max_background_jobs"] == "4"


@pytest.mark.parametrize("name", ["osd.0.stderr.log.gz", "ceph-osd.0.log.gz"])
def test_a_container(log_text: Callable[[str], bytes], name: str) -> None:
    dump = parse_options(log_text(f"osd-container/{name}"))
    assert (list(dump.families), dump.skipped) == (BLUESTORE, {"L", "P"})
    assert dump.families["O-2"]["table_factory.block_cache_options.num_shard_bits"] == "4"


def test_a_native_log(log_text: Callable[[str], bytes]) -> None:
    dump = parse_options(log_text("rocksdb-7.8/LOG"))
    assert dump.rocksdb_version == "7.8.3"
    assert list(dump.families) == ["default", "column_family_name_000001", "column_family_name_000002"]
    assert dump.families["default"]["num_levels"] == "5"
    assert dump.db["max_subcompactions"] == "2"
    assert (dump.skipped, dump.opened_with) == (set(), None)


def test_options_set_while_it_ran(log_text: Callable[[str], bytes]) -> None:
    dump = parse_options(log_text("rocksdb-current/LOG"))
    assert dump.changed == {"users": {"level0_file_num_compaction_trigger": "4"}}
    assert [dump.families[name]["level0_file_num_compaction_trigger"] for name in ("default", "users")] == ["3", "4"]
    assert dump.families["users"]["compression"] == "LZ4"  # printed anew as 4
    assert dump.families["users"]["blob_file_size"] == "268435456"
    assert dump.families["blobs"]["enable_blob_files"] == "true"


OSD = "2026-11-20T22:56:25.837+0000 7f5e8ae4c1c0  4 rocksdb: "
HEAD = f"{OSD}RocksDB version: 6.8.1\n\n{OSD}   Options.max_background_jobs: 2\n"


def test_what_is_not_printed_is_named_later() -> None:
    skipped = f"{OSD}[column_family.cc:555] \t(skipping printing options)\n"
    named = f"{OSD}[version_set.cc:4574] Column family [L] (ID 10), log number is 4\n"
    created = f"{OSD}[db_impl/db_impl.cc:2322] Created column family [a [b]] (ID 11)\n"
    assert parse_options(HEAD + skipped + named + created).skipped == {"L", "a [b]"}
    assert parse_options(HEAD + named).skipped == set()


def test_the_last_open_counts() -> None:
    family = f"{OSD}[column_family.cc:550] --------------- Options for column family [default]:\n"
    dump = parse_options(
        HEAD + family + f"{OSD} Options.ttl: 1\n" + HEAD.replace("6.8.1", "7.9.2").replace(": 2", ": 4")
    )
    assert dump == OptionsDump("7.9.2", {"max_background_jobs": "4"})


SET = "2016-08-23 23:32:03.576408 7fd60f4198c0  0  set rocksdb option "


def test_lines_of_ceph_belong_to_the_open_behind_them() -> None:
    text = f"{SET}compaction_threads = 32\n{SET}write_buffer_size = 83886080\n"
    expected = {"compaction_threads": "32", "write_buffer_size": "83886080"}
    assert parse_options(text + HEAD).ceph_set == expected
    assert parse_options(text + HEAD + f"{SET}write_buffer_size = 1\n").ceph_set == expected
    assert parse_options(text).ceph_set == expected


def test_database_options_set_while_it_ran() -> None:
    at = "2026/11/21-07:33:37.187921 139664126008192 [db/db_impl/db_impl.cc:1308] "
    family = f"{at}--------------- Options for column family [default]:\n{at} Options.ttl: 1\n"
    inputs = f"{at}SetDBOptions(), inputs:\n{at}max_background_jobs: 8\n"
    dump = parse_options(f"{HEAD}{family}{inputs}{at}SetDBOptions() succeeded\n{at} Options.max_open_files: 7\n")
    assert dump.db == {"max_background_jobs": "8", "max_open_files": "7"}
    assert dump.changed == {None: {"max_background_jobs": "8"}}
    assert dump.families == {"default": {"ttl": "1"}}


def test_options_that_were_refused() -> None:
    at = "2026/11/21-07:33:37.187921 139664126008192 [db/db_impl/db_impl.cc:1308] "
    start = f"{at}SetOptions() on column family [users], inputs:\n"
    failed = f"{start}{at}ttl: 1\n{at}[users] SetOptions() failed\n"
    cut = f"{start}{at}ttl: 2\n"
    assert parse_options(HEAD + failed + cut).changed == {}
    taken = f"{start}{at}compaction_options_universal: {{size_ratio=2;}}\n{at}[users] SetOptions() succeeded\n"
    assert parse_options(failed + taken).changed == {
        "users": {"compaction_options_universal": "{size_ratio=2;}"},
    }


LINES = st.sampled_from(
    [
        HEAD,
        "Options.a: 1",
        "-- Options for column family [x]:",
        "  table_factory options:   a: 1",
        "  b_options:",
        "    c : 1",
        "(skipping printing options)",
        "Column family [L] (ID 10)",
        "SetOptions() on column family [x], inputs:",
        "a.cc:1] b: 2",
        "[x] SetOptions() succeeded",
        "[options/cf_options.cc:1] compression: 9",
        " set rocksdb option a = b",
        "SetDBOptions(), inputs:",
        "SetDBOptions() succeeded",
    ]
)


@given(st.text() | st.binary() | st.lists(LINES | st.text()).map("\n".join))
def test_any_text(text: str | bytes) -> None:
    dump = parse_options(text)
    assert not dump.skipped & dump.families.keys() or dump.changed


def test_spellings_of_4_9() -> None:
    """2016: sizes with a letter too many, and the style's number."""
    stamp = "2016-08-23 20:32:07.618488 7ff1905208c0  4 rocksdb: "
    dump = parse_options(
        f"{stamp}RocksDB version: 4.9.0\n"
        f"{stamp}                     Options.db_write_buffer_size: 0d\n"
        f"{stamp}           Options.writable_file_max_buffer_size: 1048576d\n"
        f"{stamp}--------------- Options for column family [default]:\n"
        f"{stamp}                         Options.compaction_style: 0\n"
    )
    assert dump.db == {"db_write_buffer_size": "0", "writable_file_max_buffer_size": "1048576"}
    assert dump.families == {"default": {"compaction_style": "kCompactionStyleLevel"}}
