"""Tombstones by level: counted by hand over tables made for it, and over those of real logs by their own events."""

from pathlib import Path
from typing import Any

import pytest
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.measures.tombstones import (
    Collector,
    LevelTombstones,
    live_tables,
    measure_tombstones,
    share_of,
)
from lsmlens.analyzer.options.option_evidence import Source
from lsmlens.analyzer.options.options_in_force import OptionInForce
from lsmlens.analyzer.runs.jobs import Job, Table
from lsmlens.analyzer.runs.run import Run

from tests.run_tables import compaction, flush, run_of_jobs

SECOND = 1_000_000
HOUR = 3600 * SECOND
NOW = 1_700_000_000 * SECOND
STYLE = {"compaction_style": "kCompactionStyleLevel", "num_levels": "7"}
SHAPE = STYLE | {
    "level0_file_num_compaction_trigger": "4",
    "max_bytes_for_level_base": "1000",
    "max_bytes_for_level_multiplier": "10.000000",
}


def table(number: int, level: int | None, entries: int, deletions: int, **columns: Any) -> Table:
    said: dict[str, Any] = {
        "session": 0,
        "job": 1,
        "created_by": "flush",
        "column_family": "a",
        "bytes": 100,
        "created_at": NOW - HOUR,
    }
    return Table(number=number, level=level, entries=entries, deletions=deletions, **{**said, **columns})


def move(number: int, level: int) -> Job:
    return Job(session=0, job=9, kind="move", column_family="a", output_level=level, input_tables=[number])


def options(**values: str) -> list[OptionInForce]:
    return [OptionInForce("a", name, value, Source.LOG) for name, value in values.items()]


def measured(run: Run, said: list[OptionInForce], collector: Collector | None = None) -> list[LevelTombstones]:
    run.last_event_micros = NOW
    return list(measure_tombstones(run, said, collector or Collector(None)))


def test_levels_are_those_after_all_moves() -> None:
    tables = (table(1, 0, 10, 4), table(2, 0, 20, 8), table(3, 1, 5, 0))
    run = run_of_jobs(flush(NOW, 1), move(2, 1), move(2, 2), tables=tables)
    found = measured(run, options(**SHAPE))
    assert [(one.level, one.tables, one.entries, one.tombstones) for one in found] == [(0, 1, 10, 4), (2, 1, 20, 8)]
    assert share_of(found) == 12 / 30


def test_what_was_deleted_or_compacted_is_gone() -> None:
    gone = table(1, 0, 10, 10, deleted_at=NOW)
    eaten = table(2, 0, 10, 10)
    job = compaction(NOW, 1, input_tables=[2])
    assert live_tables(run_of_jobs(job, tables=(gone, eaten, table(3, 1, 9, 1)))).collect()["number"].to_list() == [3]


def test_tables_of_unfinished_jobs_and_of_recovered_wals() -> None:
    tables = (table(1, None, 10, 4), table(2, None, 10, 4, created_by=None))
    assert live_tables(run_of_jobs(flush(NOW, 1), tables=tables)).select("number", "level").collect().rows() == [(2, 0)]


def test_ages_are_of_the_oldest_memtable_in_a_table() -> None:
    begun = NOW // SECOND - 7200
    tables = (table(1, 1, 100, 10, oldest_key_at=begun), table(2, 1, 100, 30, oldest_key_at=3))
    (level,) = measured(run_of_jobs(flush(NOW, 1), tables=tables), options(**SHAPE))
    assert (level.oldest_seconds, level.median_seconds) == (7200, 3600)  # 3 is no time: by when it was created


@pytest.mark.parametrize(
    ("said", "level", "is_due", "reason"),
    [
        (SHAPE, 0, False, "1 of 4 files"),
        (SHAPE | {"level0_file_num_compaction_trigger": "1"}, 0, True, "1 of 1 files"),
        (SHAPE, 1, False, "100 B of 1000 B"),
        (SHAPE | {"max_bytes_for_level_base": "100"}, 1, True, "100 B of 100 B"),
        (SHAPE | {"max_bytes_for_level_base": "10"}, 2, True, "100 B of 100 B"),
        (SHAPE, 6, False, "nothing lies below the last level"),
        (SHAPE | {"ttl": "86400"}, 1, False, "100 B of 1000 B; for its age in 23 h"),
        (SHAPE | {"ttl": "60"}, 1, False, "100 B of 1000 B; for its age now"),
        (SHAPE | {"ttl": str((1 << 64) - 2)}, 1, False, "100 B of 1000 B; for its age in 29 d 23 h"),
        (SHAPE | {"disable_auto_compactions": "1"}, 1, False, "automatic compactions are off"),
        (SHAPE | {"compaction_style": "kCompactionStyleFIFO"}, 1, None, "kCompactionStyleFIFO: by sorted runs"),
        (STYLE, 1, None, "the level's target is not known"),
        (STYLE, 0, None, "the trigger of level 0 is not known"),
        ({}, 1, None, "the options are not known"),
    ],
)
def test_whether_a_compaction_is_due(said: dict[str, str], level: int, is_due: bool | None, reason: str) -> None:
    run = run_of_jobs(flush(NOW, 1, level_files=[]), tables=(table(1, level, 100, 60),))
    (found,) = measured(run, options(**said))
    assert found.is_due is is_due
    assert found.reason.startswith(reason)


def test_levels_sized_from_the_last_one_up() -> None:
    """Of 100000 bytes in level 6, level 5 may hold 10000 and level 4 the base of 1000."""
    said = options(**SHAPE, level_compaction_dynamic_level_bytes="1")
    tables = (table(1, 6, 9, 1, bytes=100_000), table(2, 5, 9, 1, bytes=9_000), table(3, 4, 9, 1, bytes=2_000))
    found = measured(run_of_jobs(flush(NOW, 1, level_files=[]), tables=tables), said)
    assert [(one.level, one.is_due) for one in found] == [(4, True), (5, False), (6, False)]


def test_a_level_with_tables_from_before_the_log() -> None:
    """The last job left three tables in level 1, the log made one of them."""
    run = run_of_jobs(flush(NOW, 1, level_files=[0, 3]), tables=(table(1, 1, 100, 60),))
    (found,) = measured(run, options(**SHAPE))
    assert (found.is_due, found.reason) == (None, "at least 100 B of 1000 B")


@pytest.mark.parametrize(
    ("entries", "tombstones", "marked"),
    [
        (100_000, 16_383, False),
        (16_384, 16_384, True),
        (100_000, 16_384, None),
        # Three windows of 32768 and 1696 entries more hold 3 * 16383 + 1696 without any reaching 16384.
        (100_000, 3 * 16_383 + 1_696, None),
        (100_000, 3 * 16_383 + 1_697, True),
    ],
)
def test_what_compaction_on_deletion_marks(entries: int, tombstones: int, marked: bool | None) -> None:
    assert Collector(True).marks(entries, tombstones) is marked


def test_tombstones_by_what_would_be_marked() -> None:
    tables = (
        table(1, 1, 20, 10),
        table(2, 1, 40, 8),
        table(3, 1, 40, 3),
        table(4, 1, 40, 30, range_deletions=30),  # range deletions are none that the collector counts
    )
    (found,) = measured(run_of_jobs(flush(NOW, 1), tables=tables), options(**SHAPE), Collector(True, 5, 10))
    assert (found.tombstones, found.marked, found.markable) == (51, 10, 8)


@pytest.mark.parametrize("bundle", ["osd-stock", "osd-reef", "rocksdb-no-filter"])
def test_sums_of_real_logs(bundle: str, fixtures: Path) -> None:
    """Each level's tombstones together are those of all tables of finished jobs that nothing deleted or compacted."""
    one = analyze([str(fixtures / bundle)]).runs[0]
    done = set(one.jobs.select("session", "job").rows())
    rows = [
        (number, deletions, deleted)
        for session, job, number, deletions, deleted in one.tables.select(
            "session", "job", "number", "deletions", "deleted_at"
        ).rows()
        if (session, job) in done
    ]
    eaten = {number for job in one.jobs.filter(kind="compaction")["input_tables"].to_list() for number in job}
    assert sum(level.tombstones for level in one.tombstones) == sum(
        deletions or 0 for number, deletions, deleted in rows if deleted is None and number not in eaten
    )
