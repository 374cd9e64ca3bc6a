"""Shardings of real OSDs; what Ceph 16.2.15 takes and refuses was tried with its ceph-osd --mkfs."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsmlens.analyzer.options.sharding import ShardedColumn, parse_sharding, parse_show_sharding

PACIFIC = "m(3) p(3,0-12) O(3,0-13)=block_cache={type=binned_lru} L P"
REEF = PACIFIC.replace("L P", "L=min_write_buffer_number_to_merge=32 P=min_write_buffer_number_to_merge=32")


def test_the_stored_sharding_of_an_osd(fixtures: Path) -> None:
    output = (fixtures / "osd-stock" / "show_sharding.txt").read_text()
    sharding = parse_show_sharding(output)
    assert sharding is not None
    assert sharding == parse_sharding(PACIFIC)
    assert sharding.columns == (
        ShardedColumn("m", 3),
        ShardedColumn("p", 3, 0, 12),
        ShardedColumn("O", 3, 0, 13, {"block_cache": "{type=binned_lru}"}),
        ShardedColumn("L"),
        ShardedColumn("P"),
    )
    assert " ".join(sharding.families) == "default m-0 m-1 m-2 p-0 p-1 p-2 O-0 O-1 O-2 L P"


def test_the_sharding_of_a_later_release() -> None:
    sharding = parse_sharding(REEF)
    assert str(sharding) == REEF
    column = sharding.column_of("P")
    assert column is not None
    assert column.options == {"min_write_buffer_number_to_merge": "32"}
    assert sharding.column_of("p-1") == ShardedColumn("p", 3, 0, 12)
    assert sharding.column_of("p-3") is None
    assert sharding.column_of("default") is None


def test_a_cache_of_its_own() -> None:
    (column,) = parse_sharding(
        "O(2)=block_cache={type=lru;size=2MB;high_ratio=0.5;block_size=8192};write_buffer_size=1MB"
    ).columns
    assert column.rocksdb_options == {"write_buffer_size": "1MB"}
    assert column.block_cache is not None
    assert column.block_cache.options == {"type": "lru", "size": "2MB", "high_ratio": "0.5", "block_size": "8192"}
    assert column.has_own_cache
    (sharing,) = parse_sharding("O=block_cache={block_size=8192}").columns
    assert sharing.block_cache is not None
    assert not sharing.has_own_cache
    assert not ShardedColumn("P").has_own_cache


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("I=write_buffer_size=1048576", ShardedColumn("I", options={"write_buffer_size": "1048576"})),
        ("O(6)", ShardedColumn("O", 6)),
        ("m(7,10-)", ShardedColumn("m", 7, 10)),
        ("prefix(4,0-10)=ttl=7;b=2", ShardedColumn("prefix", 4, 0, 10, {"ttl": "7", "b": "2"})),
        ("M=", ShardedColumn("M")),
        ("m(2,3-)junk", ShardedColumn("m", 2, 3)),
        ("P(0)", ShardedColumn("P", 0)),
        ("L(1)", ShardedColumn("L")),
    ],
)
def test_the_grammar(text: str, column: ShardedColumn) -> None:
    assert parse_sharding(text).columns == (column,)


def test_one_shard_has_no_number() -> None:
    assert [ShardedColumn("L", shards).families for shards in (0, 1, 2)] == [(), ("L",), ("L-0", "L-1")]


@pytest.mark.parametrize("piece", ["L(2x)", "L(", "L()", "L(x)", "L(3,)", "L(3,4)", "(3)", "=a=1", "L=a", "L(999999)"])
def test_pieces_that_are_no_column(piece: str) -> None:
    sharding = parse_sharding(f"m(3) {piece} P")
    assert sharding.rejected == (piece,)
    assert [column.prefix for column in sharding.columns] == ["m", "P"]


def test_a_tool_that_crashed_printed_no_sharding() -> None:
    output = (
        "./src/os/bluestore/BlueFS.cc: In function 'int BlueFS::_replay(bool, bool)' thread 7fdfa94d2500 time 2026\n"
        " ceph version 16.2.15 (618f440892089921c3e944a991122ddc44e60516) pacific (stable)\n"
        " 10: main()\n"
        "*** Caught signal (Aborted) **\n"
        "error preparing db environment: (22) Invalid argument\n"
    )
    assert parse_show_sharding(output) is None
    assert parse_show_sharding("") is None
    assert parse_show_sharding(output + PACIFIC + "\n") == parse_sharding(PACIFIC)


@given(st.text() | st.text(alphabet="mL(3,0-12)={}; \n"))
def test_any_text(text: str) -> None:
    sharding = parse_sharding(text)
    assert parse_sharding(str(sharding)).families == sharding.families
    assert sharding.column_of(text) is None or text in sharding.families
    for column in sharding.columns:
        assert column.has_own_cache in (True, False)
    parse_show_sharding(text)
