"""Families taken apart: each primitive, declared, comes back from the log of it."""

from collections.abc import Callable
from typing import TypeVar

import numpy as np
import pytest
from lsmlens.tuners.estimation.clusters import objects_by_tables
from lsmlens.tuners.estimation.family_parts import Dissection, Variation, dissect
from lsmlens.tuners.estimation.history import Flush, History, Table
from lsmlens.tuners.estimation.intervals import Interval, intervals_of
from lsmlens.tuners.estimation.windows import windows_of
from lsmlens.tuners.workloads.components import (
    Clustered,
    Growth,
    GrowthRow,
    Overwrite,
    OverwriteRow,
    Queue,
    WorkingSet,
)

Logged = Callable[..., History]
Kind = TypeVar("Kind", Clustered, Growth, Overwrite, Queue)


def dissected(history: History, **more: object) -> tuple[Dissection, list[Interval]]:
    intervals = intervals_of(history, "default")
    windows = windows_of(history.families["default"], intervals)
    return dissect(intervals, windows, **more), intervals  # type: ignore[arg-type]


def of_kind(found: Dissection, kind: type[Kind]) -> list[Kind]:
    return [part.component for part in found.parts if isinstance(part.component, kind)]


def check_sums(found: Dissection, intervals: list[Interval]) -> None:
    """Every operation is in one part, interval by interval."""
    assert np.sum([part.puts for part in found.parts], axis=0).tolist() == [one.puts for one in intervals]
    assert np.sum([part.deletes for part in found.parts], axis=0).tolist() == [one.deletes for one in intervals]
    assert all((part.puts >= 0).all() and (part.deletes >= 0).all() for part in found.parts)


def kept(found: Dissection) -> float:
    return float(sum(part.kept_puts.sum() for part in found.parts))


def test_overwrites_of_one_population(logged: Logged) -> None:
    found, intervals = dissected(logged(Overwrite(working_sets=(WorkingSet(7000),), rate=100.0)))
    check_sums(found, intervals)
    keys = sum(one.working_sets[0].keys for one in of_kind(found, Overwrite))
    assert keys == pytest.approx(7000, rel=0.08)
    assert kept(found) == pytest.approx(sum(one.kept_puts for one in intervals), rel=0.02)


def test_deletes_that_choose_as_puts_do(logged: Logged) -> None:
    history = logged(Overwrite(working_sets=(WorkingSet(4000),), rate=100.0, deletes_per_put=0.2), flush=2400)
    found, intervals = dissected(history)
    check_sums(found, intervals)
    assert found.seen == ["deletes choose keys as puts do"]
    deletes = sum(int(part.deletes.sum()) for part in found.parts if isinstance(part.component, Overwrite))
    assert deletes > 0.9 * sum(one.deletes for one in intervals)
    tombstones = float(sum(part.kept_deletes.sum() for part in found.parts))
    assert tombstones == pytest.approx(sum(one.kept_deletes for one in intervals), rel=0.1)


def test_growth_that_is_deleted_later(logged: Logged) -> None:
    # 20,000 objects are made, then others are overwritten, then the first are removed
    rows = (
        OverwriteRow(100.0, 800.0, 60_000, 0, 0),
        OverwriteRow(900.0, 1000.0, 20_000, 0, 0),
    )
    history = logged(
        Growth(schedule=(GrowthRow(0.0, 100.0, 20_000, 0), GrowthRow(800.0, 900.0, 0, 20_000))),
        Overwrite(working_sets=(WorkingSet(900),), schedule=rows),
    )
    found, intervals = dissected(history)
    check_sums(found, intervals)
    growth = [part for part in found.parts if isinstance(part.component, Growth)]
    assert len(growth) == 1
    assert growth[0].puts.sum() == pytest.approx(20_000, rel=0.08)
    assert growth[0].deletes.sum() == pytest.approx(20_000, rel=0.05)
    early = np.array([one.end for one in intervals]) < intervals[0].start + 110
    assert growth[0].puts[early].sum() > 0.9 * growth[0].puts.sum()


def test_a_population_that_grows(logged: Logged) -> None:
    sizes = (1000, 1500, 2200, 3200, 4500)
    rows = tuple(OverwriteRow(i * 200.0, (i + 1) * 200.0, 20_000, 0, 0) for i in range(len(sizes)))
    # each stage overwrites the keys of the stages before it, and more: sets nested in one another
    parts = [
        Overwrite(
            working_sets=(WorkingSet(sizes[0] if not place else sizes[place] - sizes[place - 1]),),
            schedule=tuple(
                OverwriteRow(
                    row.start,
                    row.end,
                    row.puts * (sizes[0] if not place else sizes[place] - sizes[place - 1]) // sizes[stage],
                )
                for stage, row in enumerate(rows)
                if stage >= place
            ),
        )
        for place in range(len(sizes))
    ]
    history = logged(*parts)
    found, intervals = dissected(history)
    check_sums(found, intervals)
    expected = np.sum([part.kept_puts for part in found.parts], axis=0)
    observed = np.array([one.kept_puts for one in intervals])
    assert np.abs(expected / observed - 1).max() < 0.12
    assert sum(part.live for part in found.parts) == pytest.approx(sizes[-1], rel=0.15)


def test_a_load_and_the_updates_of_what_it_loaded(logged: Logged) -> None:
    history = logged(Overwrite(working_sets=(WorkingSet(30_000, filled_first=True),), rate=100.0), flush=1500)
    found, intervals = dissected(history)
    check_sums(found, intervals)
    assert "what is overwritten was loaded first" in found.seen
    sets = [one.working_sets[0] for one in of_kind(found, Overwrite)]
    assert all(one.filled_first for one in sets)
    assert sum(one.keys for one in sets) == pytest.approx(30_000, rel=0.15)


def test_a_queue(logged: Logged) -> None:
    # 15,000 live at any time; flushes hold 5,000 puts
    queue = Queue(rate=100.0, lifetime_puts=15_000)
    hot = Overwrite(working_sets=(WorkingSet(40),), rate=50.0)
    found, intervals = dissected(logged(queue, hot, flush=7000))
    check_sums(found, intervals)
    assert found.seen == ["deletes first in, first out: tombstones are never replaced"]
    puts = sum(int(part.puts.sum()) for part in found.parts if isinstance(part.component, Queue))
    assert puts == pytest.approx(100_000 * sum(one.operations for one in intervals) / 235_000, rel=0.04)


def test_a_short_queue_vanishes_in_memory(logged: Logged) -> None:
    # of 4,000 fresh puts in a flush all but the last 600 are deleted within it
    found, intervals = dissected(logged(Queue(rate=100.0, lifetime_puts=600), flush=8000))
    check_sums(found, intervals)
    queues = [part for part in found.parts if isinstance(part.component, Queue)]
    assert kept(found) == pytest.approx(sum(one.kept_puts for one in intervals), rel=0.05)
    live = sum(part.live for part in queues)
    assert live == pytest.approx(600, abs=400)


def test_objects_cleared_whole(logged: Logged) -> None:
    truth = Clustered(
        objects=50, keys_per_object=2000, batch=20, rate=100.0, removals_per_put=0.15, clears_per_put=0.0018
    )
    found, intervals = dissected(logged(truth, seconds=4000.0, flush=9000))
    check_sums(found, intervals)
    assert found.seen == ["deletes take live records"]
    (clustered,) = of_kind(found, Clustered)
    assert clustered.objects * clustered.keys_per_object == pytest.approx(100_000, rel=0.25)
    assert clustered.removals_per_put == pytest.approx(0.15, abs=0.06)
    assert 20 <= clustered.objects <= 150
    assert found.parts[0].kept_deletes.sum() == pytest.approx(sum(one.kept_deletes for one in intervals), rel=0.01)
    half, _ = dissected(logged(truth, seconds=4000.0, flush=9000), variation=Variation(clear_factor=2.0))
    assert of_kind(half, Clustered)[0].objects == pytest.approx(clustered.objects / 2, rel=0.1)


def test_objects_by_tables_needs_tables(logged: Logged) -> None:
    assert objects_by_tables(logged(Growth(rate=100.0)).families["default"]) is None


def test_single_deletes_take_their_put_along() -> None:
    flush = Flush("default", 0, 10.0, 5000, 2500, 0, 1, None, None, None, None)
    kept_table = Table(1, "default", 0, 10.0, 1, 60, 30, 0, 0, 0, 0, 0, None, None, None, None)
    intervals = [
        Interval(0.0, 10.0, 2500, 2500, 0, 0, flush, None),
        Interval(10.0, 20.0, 2500, 2500, 30, 30, flush, kept_table),
    ]
    found = dissect(intervals, [])
    (queue,) = of_kind(found, Queue)
    assert queue.single_delete


def test_updated_records_are_not_taken_for_fresh(logged: Logged) -> None:
    # a table of sessions: 300 fresh ones, 500 updates and 290 deletes a second
    fresh = Growth(rate=30.0, deletes_per_put=0.97, delete_order="random")
    updates = Overwrite(working_sets=(WorkingSet(6000),), rate=50.0)
    found, intervals = dissected(logged(fresh, updates, flush=3000))
    check_sums(found, intervals)
    growth = [part for part in found.parts if isinstance(part.component, Growth)]
    operations = sum(one.operations for one in intervals)
    assert sum(int(part.puts.sum()) for part in growth) == pytest.approx(operations * 30 / 109.1, rel=0.25)
    assert kept(found) == pytest.approx(sum(one.kept_puts for one in intervals), rel=0.08)


def test_hot_keys_beside_fresh_ones(logged: Logged) -> None:
    # keys are deleted twice, or never were: tombstones that found nothing
    fresh = Growth(rate=60.0, deletes_per_put=0.5)
    void = Overwrite(working_sets=(WorkingSet(30),), rate=50.0, deletes_per_put=0.2)
    found, intervals = dissected(logged(fresh, void, flush=3000))
    check_sums(found, intervals)
    growth = [part for part in found.parts if isinstance(part.component, Growth)]
    operations = sum(one.operations for one in intervals)
    assert sum(int(part.puts.sum()) for part in growth) == pytest.approx(operations * 60 / 150, rel=0.1)


def test_deletes_that_find_nothing_are_repeats(logged: Logged) -> None:
    fresh, hot = Growth(rate=60.0, deletes_per_put=0.2), Overwrite(working_sets=(WorkingSet(30),), rate=50.0)
    nothing = Overwrite(working_sets=(WorkingSet(20_000),), schedule=(OverwriteRow(0.0, 1000.0, 0, 30_000, 0),))
    history = logged(fresh, hot, nothing, flush=3000)
    found, intervals = dissected(history)
    check_sums(found, intervals)
    (growth,) = [part for part in found.parts if isinstance(part.component, Growth)]
    assert isinstance(growth.component, Growth)
    # of 42 000 deletes 30 000 found nothing
    assert growth.component.repeated_deletes == pytest.approx(5 / 7, abs=0.1)
    # and what lives is what the last bottom shows, not the little that victims chosen among the living would leave
    assert growth.live == pytest.approx(history.families["default"].compactions[-1].output_records, rel=0.1)


def test_hot_keys_beside_a_queue_are_counted_by_merges(logged: Logged) -> None:
    # retention: the oldest are deleted, long after the merges that their puts are in; 130 keys are put all the time
    old, hot = Queue(rate=60.0, lifetime_puts=20_000), Overwrite(working_sets=(WorkingSet(130),), rate=30.0)
    found, intervals = dissected(logged(old, hot, flush=3000))
    check_sums(found, intervals)
    assert of_kind(found, Overwrite)[0].working_sets[0].keys == pytest.approx(130, rel=0.05)
    operations = sum(one.operations for one in intervals)
    fresh = sum(int(part.puts.sum()) for part in found.parts if isinstance(part.component, Queue))
    assert fresh == pytest.approx(operations * 60_000 / 130_000, rel=0.03)


def test_few_operations_still_make_parts(logged: Logged) -> None:
    found, intervals = dissected(logged(Growth(rate=1.0), seconds=30.0, flush=10))
    check_sums(found, intervals)
    assert found.parts
