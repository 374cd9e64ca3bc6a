"""Flush intervals: when operations were written, by times, sequence numbers, and rates that collapse."""

import itertools
from collections.abc import Callable
from dataclasses import replace

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.tuners.estimation.history import Flush, History, Table, read_history
from lsmlens.tuners.estimation.intervals import hides_single_deletes, intervals_of
from lsmlens.tuners.workloads.components import Overwrite, RateStep, WorkingSet

START = 1_800_000_000.0


def table(number: int, entries: int, tombstones: int = 0, **more: object) -> Table:
    said: dict[str, object] = {
        "number": number, "family": "default", "session": 0, "created_seconds": START, "file_bytes": 1,
        "entries": entries,
        "tombstones": tombstones, "range_tombstones": 0, "merges": 0, "key_bytes": 0, "value_bytes": 0, "data_bytes": 0,
        "oldest_seconds": None, "first_sequence": None, "last_sequence": None, "compression": None,
    }  # fmt: skip
    return Table(**{**said, **more})  # type: ignore[arg-type]


def flush(seconds: float, entries: int, made: Table | None, deletes: int = 0, session: int = 0) -> Flush:
    return Flush("default", session, START + seconds, entries, deletes, 0, 1, None, None, None, made)


def history(*flushes: Flush) -> History:
    found = History(first_seconds=flushes[0].seconds, session_starts={0: START})
    found.family("default").flushes.extend(flushes)
    return found


def test_intervals_follow_one_another() -> None:
    found = intervals_of(history(*(flush(10.0 * i, 1000, table(i, 900)) for i in range(1, 5))), "default")
    assert [(one.start - START, one.end - START) for one in found] == [(0, 10), (10, 20), (20, 30), (30, 40)]
    assert [(one.puts, one.kept_puts) for one in found] == [(1000, 900)] * 4


def test_a_memtable_begins_with_its_first_key() -> None:
    late = table(2, 900, oldest_seconds=START + 17)
    found = intervals_of(history(flush(10, 1000, table(1, 900)), flush(20, 1000, late)), "default")
    assert found[1].start == START + 17
    # but the clock is in whole seconds: less than one tells nothing
    near = table(2, 900, oldest_seconds=START + 10.5)
    found = intervals_of(history(flush(10, 1000, table(1, 900)), flush(20, 1000, near)), "default")
    assert found[1].start == START + 10


def test_a_rate_that_collapses_ends_early() -> None:
    steady = [flush(10.0 * i, 1000, table(i, 900)) for i in (1, 2)]
    found = intervals_of(history(*steady, flush(120, 500, table(3, 400))), "default")
    assert found[2].start == START + 20
    assert found[2].end == pytest.approx(START + 25)  # 500 operations at 100 a second, not over 100 seconds
    # a slow interval that begins later is slow
    slow = table(3, 400, oldest_seconds=START + 60)
    found = intervals_of(history(*steady, flush(120, 500, slow)), "default")
    assert (found[2].start, found[2].end) == (START + 60, START + 120)


def test_sequence_numbers_tell_the_end() -> None:
    flushes = [flush(10.0 * i, 1000, table(i, 900, first_sequence=1, last_sequence=1000 * i)) for i in (1, 2)]
    # the load stopped after 100 more operations, at once after the second flush began; flushed much later
    idle = flush(500, 100, table(3, 90, first_sequence=2001, last_sequence=2100))
    other = Flush("other", 0, START + 600, 5000, 0, 0, 1, None, None, None, table(4, 5000, last_sequence=7000))
    found = history(*flushes, idle)
    found.family("other").flushes.append(replace(other, family="other"))
    assert intervals_of(found, "default")[2].end == pytest.approx(START + 500)
    early = replace(idle, table=table(3, 90, first_sequence=2001, last_sequence=2010))
    found = history(*flushes, early)
    found.family("other").flushes.append(other)
    # the 2010th operation came soon after the 2000th; the 7000th at 600 s
    assert intervals_of(found, "default")[2].end < START + 30


def test_a_restart_writes_an_interval_without_a_flush() -> None:
    found = history(flush(10, 1000, table(1, 500)), flush(40, 1000, table(3, 500), session=1))
    found.session_starts[1] = START + 20
    found.family("default").recovered.append(table(2, 60, 10, created_seconds=START + 20, session=1))
    intervals = intervals_of(found, "default")
    assert [one.flush is None for one in intervals] == [False, True, False]
    lost = intervals[1]
    assert (lost.start, lost.end) == (START + 10, START + 20)
    assert (lost.puts, lost.deletes) == (110, 10)  # as much was dropped as flushes drop: half
    assert (lost.kept_puts, lost.kept_deletes) == (50, 10)
    assert intervals[2].start >= START + 20


def test_hidden_single_deletes() -> None:
    # RocksDB 6.8.1, column family L: entries 3812, num_deletes 0, a table of 90 puts and 90 tombstones
    found = history(flush(10, 3812, table(1, 180, 90)), flush(20, 1308, None))
    assert hides_single_deletes(found.families["default"])
    one, two = intervals_of(found, "default")
    assert (one.puts + one.deletes, one.kept_puts, one.kept_deletes) == (3812, 90, 90)
    assert abs(one.puts - one.deletes) <= 1
    assert (two.puts, two.deletes) == (654, 654)
    assert not hides_single_deletes(history(flush(10, 100, table(1, 80, 20), deletes=20)).families["default"])


def test_real_logs_make_intervals_in_order(analysed: Callable[[str], RunAnalysis]) -> None:
    for name in ("osd-reef", "osd-crash", "osd-rotated", "rocksdb-7.8"):
        found = read_history(analysed(name).run)
        for family in found.families:
            intervals = intervals_of(found, family)
            assert all(one.start < one.end for one in intervals)
            assert all(one.end <= two.start + 1e-9 for one, two in itertools.pairwise(intervals))
            assert all(0 <= one.kept_puts <= one.puts for one in intervals)
            assert all(0 <= one.kept_deletes <= one.deletes for one in intervals)


def test_bursts_are_where_they_were(logged: Callable[..., History]) -> None:
    rate = (RateStep(0.0, 100.0), RateStep(100.0, 0.0), RateStep(500.0, 100.0))
    load = Overwrite(working_sets=(WorkingSet(5000),), rate=rate)
    for more in ({"has_sequences": True}, {"has_sequences": False}):
        found = intervals_of(logged(load, seconds=600.0, flush=3000, **more), "default")
        # 10,000 operations by 100 s: the fourth flush holds 1,000 of before the pause and 2,000 of after it
        ends = [one.end - START for one in found]
        assert ends[2] == pytest.approx(90, abs=1)
        assert found[4].start - START == pytest.approx(520, abs=2)
