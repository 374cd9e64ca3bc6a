"""Rows of time: no operation is lost or made by scale or splitting, and moments never fall."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsmlens.tuners.workloads.components import Clustered, Growth, Overwrite, Queue, RateStep, Row, WorkingSet
from lsmlens.tuners.workloads.timetable import CHUNK_OPERATIONS, Timetable, moments, timetable

ONE_SET = (WorkingSet(5),)


def rows_of(counts: list[tuple[int, int]]) -> tuple[Row, ...]:
    return tuple(Row(float(i), i + 0.5, puts, deletes) for i, (puts, deletes) in enumerate(counts))


@given(
    st.lists(st.tuples(st.integers(0, 300_000), st.integers(0, 300_000)), max_size=30),
    st.sampled_from([1.0, 1.5, 4.0, 16.0, 100.0]),
)
def test_a_schedule_keeps_its_sums(counts: list[tuple[int, int]], scale: float) -> None:
    table = timetable(Queue(schedule=rows_of(counts)), 100.0, scale)
    for column, place in ((table.puts, 0), (table.deletes, 1)):
        assert column.sum() == np.rint(sum(row[place] for row in counts) / scale)
        assert (column >= 0).all()
        # up to the end of each row of the schedule, too
        for row in range(len(counts)):
            until = column[table.end <= row + 0.5].sum()
            assert abs(until - sum(each[place] for each in counts[: row + 1]) / scale) <= 0.5 + 1e-6
    assert (table.end >= table.start).all()
    assert (table.start[1:] >= table.end[:-1]).all()
    assert (table.operations <= CHUNK_OPERATIONS + 1).all()
    chunks = list(table.chunks())
    assert sum(int(one.operations.sum()) for one in chunks) == table.operations.sum()
    assert all(0 < one.operations.sum() <= CHUNK_OPERATIONS + 1 for one in chunks)


def test_a_rate_in_steps() -> None:
    rate = (RateStep(0, 10), RateStep(30, 0), RateStep(50, 100), RateStep(500, 1))
    table = timetable(Overwrite(working_sets=ONE_SET, rate=rate, deletes_per_put=0.5), 60.0, 2.0)
    assert table.puts.tolist() == [150, 0, 500]
    assert table.deletes.tolist() == [75, 0, 250]
    assert table.end.tolist() == [30, 50, 60]


def test_what_stands_beside_puts_follows_them() -> None:
    growth = Growth(rate=1000.0, deletes_per_put=0.25, range_deletes_per_put=0.01, range_width=2)
    assert timetable(growth, 10.0, 1.0).extra.sum() == 100
    assert timetable(growth, 10.0, 4.0).deletes.sum() == 625
    clustered = Clustered(objects=5, keys_per_object=5, rate=1000.0, removals_per_put=0.2, clears_per_put=0.003)
    table = timetable(clustered, 1000.0, 1.0)
    assert len(table) > 10
    assert (table.puts.sum(), table.deletes.sum(), table.extra.sum()) == (1_000_000, 200_000, 3000)


@pytest.mark.parametrize("seed", [None, 1])
def test_moments_lie_in_their_rows(seed: int | None) -> None:
    start, end, counts = np.array([0.0, 2.0, 2.0, 9.0]), np.array([2.0, 2.0, 8.0, 10.0]), np.array([5, 3, 0, 100])
    found = moments(start, end, counts, None if seed is None else np.random.default_rng(seed))
    assert len(found) == 108
    assert (np.diff(found) >= 0).all()
    assert [((found >= low) & (found <= high)).sum() for low, high in ((0, 1.99), (2, 2), (9, 10))] == [5, 3, 100]
    if seed is None:
        assert found[:5].tolist() == pytest.approx([0.2, 0.6, 1.0, 1.4, 1.8])


def test_no_rows_make_no_chunks() -> None:
    assert list(timetable(Queue(schedule=()), 10.0, 1.0).chunks()) == []
    assert list(timetable(Queue(schedule=(Row(0, 1, 0, 0),)), 10.0, 1.0).chunks()) == []
    assert len(moments(*(np.empty(0),) * 2, np.empty(0, np.int64))) == 0
    assert isinstance(timetable(Queue(schedule=()), 10.0, 1.0), Timetable)
