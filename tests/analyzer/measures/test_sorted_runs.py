"""What a read has to look into, over time, by the jobs of a log."""

import pytest
from lsmlens.analyzer.measures.sorted_runs import SortedRuns, measure_sorted_runs
from lsmlens.analyzer.runs.jobs import Job

from tests import jobs


def flush(start: float, end: float, memtables: int, files: list[int], session: int = 0) -> Job:
    moments = {"started_at": int(start * 1e6), "finished_at": int(end * 1e6)}
    return jobs.flush(1, **moments, memtables=memtables, level_files=files, session=session)


def compaction(second: float, files: list[int]) -> Job:
    return jobs.compaction(1, finished_at=int(second * 1e6), level_files=files)


def measured(*rows: Job) -> SortedRuns:
    (found,) = measure_sorted_runs(jobs.jobs(*rows)).values()
    return found


def test_memtables_fill_one_after_another_until_the_flush() -> None:
    # 1, 2, 3 and 4 of them in turn, in the mean 2.5
    assert measured(flush(0, 0, 4, [1]), flush(100, 100, 4, [1])).memtables == pytest.approx(2.5)
    assert measured(flush(0, 0, 1, [1]), flush(100, 100, 1, [1])).memtables == pytest.approx(1.0)


def test_memtables_stay_until_their_flush_is_done() -> None:
    found = measured(flush(0, 0, 1, [1]), flush(100, 150, 1, [1]), flush(200, 200, 1, [1]))
    assert found.memtables == pytest.approx(1 + 50 / 200)


def test_tables_count_as_long_as_they_are_there() -> None:
    rows = [flush(0, 0, 1, [1]), flush(40, 40, 1, [2]), compaction(60, [0, 3, 0, 5]), flush(100, 100, 1, [1, 3, 0, 5])]
    found = measured(*rows)
    assert found.level0_files == pytest.approx((40 * 1 + 20 * 2 + 40 * 0) / 100)
    assert found.levels == pytest.approx(40 * 2 / 100)
    assert found.total == pytest.approx(1.0 + 0.8 + 0.8)


def test_the_time_between_two_opens_counts_for_nothing() -> None:
    rows = [flush(0, 0, 1, [1]), flush(10, 10, 1, [3]), flush(990, 990, 3, [5], 1), flush(1000, 1000, 3, [1], 1)]
    found = measured(*rows)
    assert found.memtables == pytest.approx((1 + 2) / 2)
    assert found.level0_files == pytest.approx((1 + 5) / 2)


def test_a_family_with_one_flush_tells_nothing() -> None:
    assert measure_sorted_runs(jobs.jobs(flush(5, 5, 1, [1]))) == {}
    assert measure_sorted_runs(jobs.jobs()) == {}
