"""Reads through each engine: what is found, and what RocksDB counts of it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from lsmlens.tuners.engines.engine import Database
from lsmlens.tuners.engines.read_counts import ReadCounts
from lsmlens.tuners.workloads.reads import GET, Reads

Open = Callable[..., Database]
KEYS = 4000
BLOOM = {"filter_policy": "bloomfilter:10:false", "whole_key_filtering": "true"}


def reads(*each: tuple[bytes, int]) -> Reads:
    """Reads of the first column family: a key, and GET or the steps after a seek."""
    return Reads(
        np.arange(len(each), dtype=float),
        np.zeros(len(each), np.uint16),
        np.array([nexts for _, nexts in each], np.int32),
        np.frombuffer(b"".join(key for key, _ in each), np.uint8).copy(),
        np.cumsum([0, *(len(key) for key, _ in each)]),
    )


def key(number: int) -> bytes:
    return b"key%08d" % number


@pytest.fixture
def two_runs(open_database: Open, wire: Any) -> Database:
    """The same keys in two tables of level 0, with filters."""
    database = open_database(tables=BLOOM, level0_file_num_compaction_trigger="100")
    for _ in range(2):
        wire.write_puts(database, KEYS)
        database.flush("default")
    return database


def test_gets_find_what_is_there(two_runs: Database) -> None:
    asked = reads(*((key(number), GET) for number in range(0, 2 * KEYS, 4)))
    counts = two_runs.read(asked, 0, len(asked))
    assert (counts.gets, counts.gets_found, counts.seeks) == (KEYS // 2, KEYS // 4, 0)
    assert counts.filter_checks > 0
    part = two_runs.read(asked, 10, 20)
    assert (part.gets, part.gets_found) == (10, 10)


def test_a_get_looks_into_the_newest_table_alone(two_runs: Database) -> None:
    present = reads(*((key(number), GET) for number in range(0, KEYS, 10)))
    two_runs.read(present, 0, len(present))
    counts = two_runs.read(present, 0, len(present))
    assert counts.blocks_per_get == pytest.approx(1.0, abs=0.05)
    assert counts.cache_hit_ratio == pytest.approx(1.0, abs=0.02)


def test_filters_spare_tables_for_absent_keys(two_runs: Database) -> None:
    # within the range of the tables' keys: beside one that is there
    absent = reads(*((key(number) + b"\0", GET) for number in range(KEYS - 1)))
    counts = two_runs.read(absent, 0, len(absent))
    assert counts.gets_found == 0
    assert counts.filters_useful_share is not None
    assert counts.filters_useful_share > 0.97
    assert counts.filter_checks >= 0.99 * counts.filters_useful
    assert counts.blocks_per_get is not None
    assert counts.blocks_per_get < 0.1


def test_iterators_step_as_far_as_there_are_keys(two_runs: Database) -> None:
    counts = two_runs.read(reads((key(0), 100), (key(KEYS - 11), 100)), 0, 2)
    assert (counts.gets, counts.seeks, counts.nexts) == (0, 2, 111)
    assert counts.blocks_per_seek is not None
    assert counts.blocks_per_seek >= 2  # of either table


def test_tombstones_on_the_way_are_counted(open_database: Open, wire: Any) -> None:
    database = open_database()
    wire.write_puts(database, 200)
    wire.write(database, wire.batch(*(wire.delete(key(number)) for number in range(20, 120))))
    counts = database.read(reads((key(0), 50)), 0, 1)
    assert counts.nexts == 50
    if type(database).__name__ == "CapiDatabase":
        assert counts.tombstones == 100
        assert counts.tombstones_per_next == 2.0
    else:
        assert counts.tombstones_per_next is None


def test_counts_add_up() -> None:
    one = ReadCounts(10, 8, 20, 2, 40, 6, 13, 30, 15, 4)
    assert (one + one).times(0.5) == one
    assert (one.blocks_per_get, one.blocks_per_seek, one.cache_hit_ratio) == (2.0, 3.0, 0.5)
    assert (one.filters_useful_share, one.tombstones_per_next) == (0.5, 0.1)
    nothing = ReadCounts()
    assert nothing.blocks_per_get is nothing.blocks_per_seek is nothing.cache_hit_ratio is None
