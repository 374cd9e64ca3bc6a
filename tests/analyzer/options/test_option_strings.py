"""Option strings of real releases, and what a text may be cut to."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsmlens.analyzer.options.option_strings import (
    canonical,
    parse_option_string,
    parse_rocksdb_string,
    parse_size,
    rocksdb_string,
    same_value,
)

REEF = (
    "compression=kLZ4Compression,max_write_buffer_number=64,min_write_buffer_number_to_merge=6,"
    "compaction_style=kCompactionStyleLevel,write_buffer_size=16777216,max_background_jobs=4,"
    "level0_file_num_compaction_trigger=8,max_bytes_for_level_base=1073741824,max_bytes_for_level_multiplier=8,"
    "compaction_readahead_size=2MB,max_total_wal_size=1073741824,writable_file_max_buffer_size=0"
)


def test_the_string_of_a_release() -> None:
    parsed = parse_option_string(REEF)
    assert len(parsed.options) == 12
    assert parsed.options["min_write_buffer_number_to_merge"] == "6"
    assert parsed.options["compaction_readahead_size"] == "2MB"
    assert (parsed.ceph_options, parsed.rejected) == ({}, ())


def test_the_string_of_a_running_osd(fixtures: Path) -> None:
    show = json.loads((fixtures / "osd-stock" / "config_show.json").read_text())
    parsed = parse_option_string(show["bluestore_rocksdb_options"])
    assert show["bluestore_rocksdb_options_annex"] == ""
    assert parsed.options == {
        "compression": "kNoCompression",
        "max_write_buffer_number": "4",
        "min_write_buffer_number_to_merge": "1",
        "recycle_log_file_num": "4",
        "write_buffer_size": "268435456",
        "writable_file_max_buffer_size": "0",
        "compaction_readahead_size": "2097152",
        "max_background_compactions": "2",
        "max_total_wal_size": "1073741824",
    }


def test_separators_braces_and_blanks() -> None:
    parsed = parse_option_string(
        "write_buffer_size=64M; ttl=100 ,compaction_threads=4,flusher_threads=2;compact_on_mount=false,"
        "disableWAL=false,block_based_table_factory={block_size=8192;filter={a=1,b=2}},ttl2=\n"
    )
    assert parsed.options == {
        "write_buffer_size": "64M",
        "ttl": "100",
        "block_based_table_factory": "{block_size=8192;filter={a=1,b=2}}",
        "ttl2": "",
    }
    assert list(parsed.ceph_options.items()) == [
        ("compaction_threads", "4"),
        ("flusher_threads", "2"),
        ("compact_on_mount", "false"),
        ("disableWAL", "false"),
    ]
    table = parse_rocksdb_string(parsed.options["block_based_table_factory"])
    assert table.options == {"block_size": "8192", "filter": "{a=1,b=2}"}


def test_the_later_value_counts() -> None:
    options = parse_option_string("write_buffer_size=33554432,ttl=1,ttl=2").options
    assert options == {"write_buffer_size": "33554432", "ttl": "2"}


@pytest.mark.parametrize(
    ("text", "options", "rejected"),
    [
        ("", {}, ()),
        (",;, ", {}, ()),
        ("ttl", {}, ("ttl",)),
        ("ttl,a=1", {"a": "1"}, ("ttl",)),
        ("=3,a=1", {"a": "1"}, ("=3",)),
        ("a={b=1,c=2", {}, ("a={b=1,c=2",)),
        ("a={b=1}x,c=2", {"c": "2"}, ("a={b=1}x",)),
        ("a=x{,b=2", {"a": "x{", "b": "2"}, ()),
        ("a=b=c", {"a": "b=c"}, ()),
    ],
)
def test_pieces_that_set_nothing(text: str, options: dict[str, str], rejected: tuple[str, ...]) -> None:
    parsed = parse_option_string(text)
    assert (parsed.options, parsed.rejected) == (options, rejected)


def test_a_comma_is_no_separator_to_rocksdb() -> None:
    assert parse_rocksdb_string("a=1,b=2;c=3").options == {"a": "1,b=2", "c": "3"}


def test_written_for_rocksdb() -> None:
    text = rocksdb_string(parse_option_string("a=1,b={c=2;d=3},e=2MB").options)
    assert text == "a=1;b={c=2;d=3};e=2MB"
    assert parse_rocksdb_string(text).options == parse_option_string("a=1,b={c=2;d=3},e=2MB").options


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("2MB", 2097152),
        ("64K", 65536),
        ("64k", 65536),
        ("1G", 1 << 30),
        ("3T", 3 << 40),
        ("-1", -1),
        ("18446744073709551615", 2**64 - 1),
        ("8.0", None),
        ("4/5", None),
        ("", None),
        ("K", None),
        ("1" * 5000, None),
    ],
)
def test_sizes(text: str, number: int | None) -> None:
    assert parse_size(text) == number


@pytest.mark.parametrize(
    ("configured", "printed"),
    [
        ("2MB", "2097152"),
        ("8", "8.000000"),
        ("0.45", "0.450000"),
        ("true", "1"),
        ("false", "0"),
        ("kLZ4Compression", "LZ4"),
        ("kNoCompression", "NoCompression"),
        ("kDisableCompressionOption", "Disabled"),
        ("kCompactionStyleLevel", "kCompactionStyleLevel"),
    ],
)
def test_two_spellings_of_one_value(configured: str, printed: str) -> None:
    assert same_value(configured, printed)


def test_two_values() -> None:
    assert not same_value("64M", "64K")
    assert not same_value("8.500000", "8")
    assert not same_value("kLZ4Compression", "LZ4HC")


@given(st.text() | st.text(alphabet="ab={},; \n1K"))
def test_any_text(text: str) -> None:
    for parse in (parse_option_string, parse_rocksdb_string):
        parsed = parse(text)
        assert all(name.strip() for name in parsed.options)
    parse_size(text)
    assert canonical(canonical(text)) == canonical(text)


NAMES = st.text(alphabet="abc_", min_size=1)


@given(st.dictionaries(NAMES, st.text(alphabet="ab19.")))
def test_what_is_written_is_read_again(options: dict[str, str]) -> None:
    assert parse_option_string(rocksdb_string(options)).options == options
    assert parse_rocksdb_string(rocksdb_string(options)).options == options
