"""A database's history: flushes with their tables, compactions with what they read and wrote."""

from collections.abc import Callable
from typing import Any

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.runs.jobs import Table
from lsmlens.tuners.estimation.history import read_history

from tests import run_tables

Analysed = Callable[[str], RunAnalysis]


@pytest.mark.parametrize("name", ["osd-stock", "osd-reef", "osd-rotated", "osd-crash", "osd-container"])
def test_sums_are_those_of_the_analysis(name: str, analysed: Analysed) -> None:
    analysis = analysed(name)
    history = read_history(analysis.run)
    assert not history.unread
    for view in analysis.flushes:
        family = history.families[view.name]
        assert len(family.flushes) == view.flushes
        assert sum(one.entries for one in family.flushes) == view.input_entries
        flushed = [one.table for one in family.flushes if one.table is not None]
        assert sum(one.entries + one.range_tombstones for one in flushed) == view.output_entries
        assert all(one.table is None or one.table.family == view.name for one in family.flushes)
    for writes in analysis.families:
        compactions = history.families[writes.name].compactions if writes.name in history.families else []
        assert len(compactions) == writes.compactions
        if compactions:
            assert sum(one.output_records for one in compactions) == writes.output_records
            outputs = [table for one in compactions for table in one.outputs]
            assert sum(one.entries + one.range_tombstones for one in outputs) == writes.output_records


def test_restarts_leave_tables_without_a_flush(analysed: Analysed) -> None:
    history = read_history(analysed("osd-crash").run)
    recovered = [table for family in history.families.values() for table in family.recovered]
    assert recovered
    flushed = {one.table.number for family in history.families.values() for one in family.flushes if one.table}
    written = {t.number for family in history.families.values() for one in family.compactions for t in one.outputs}
    assert not {table.number for table in recovered} & (flushed | written)


def test_jobs_are_in_order_of_time(analysed: Analysed) -> None:
    history = read_history(analysed("osd-reef").run)
    family = history.families["p-1"]
    assert [job.seconds for job in family.jobs] == sorted(job.seconds for job in family.jobs)
    assert len(family.jobs) == len(family.flushes) + len(family.compactions) + len(family.moves)


@pytest.mark.parametrize("name", ["osd-crash", "osd-rotated", "osd-container"])
def test_moved_tables_are_read_in_the_level_they_went_to(name: str, analysed: Analysed) -> None:
    history = read_history(analysed(name).run)
    read_later = 0
    for family in history.families.values():
        for move in family.moves:
            assert set(move.tables) <= set(history.tables)
            later = [one for one in family.compactions if one.seconds >= move.seconds]
            levels = {level for one in later for level, tables in one.inputs.items() if set(tables) & set(move.tables)}
            assert all(level >= move.level for level in levels)
            read_later += bool(levels)
        assert sum(len(move.tables) for move in family.moves) == sum(move.files for move in family.moves)
    assert read_later


def test_sequence_numbers_where_the_version_has_them(analysed: Analysed) -> None:
    new = read_history(analysed("osd-reef").run).families["P"].flushes
    assert all(one.table.last_sequence for one in new if one.table is not None)
    old = read_history(analysed("osd-stock").run).families["P"].flushes
    assert all(one.table is None or one.table.last_sequence is None for one in old)


def table(**columns: Any) -> Table:
    known: dict[str, Any] = {"created_at": 1, **columns}
    return Table(number=9, session=0, job=3, column_family="default", bytes=500, **known)


def test_range_tombstones_are_counted_apart() -> None:
    row = table(created_at=1_800_000_000_000_000, entries=10, deletions=4, range_deletions=3, key_bytes=180)
    run = run_tables.run_of_jobs(tables=(row,))
    found = read_history(run).tables[9]
    assert (found.entries, found.tombstones, found.range_tombstones, found.puts) == (7, 1, 3, 6)


def test_a_table_that_does_not_say_what_is_in_it_is_left_out() -> None:
    run = run_tables.run_of_jobs(run_tables.compaction(2, 1, column_family=None), tables=(table(),))
    history = read_history(run)
    assert history.tables == {}
    assert history.unread == {"compaction_finished": 1}
