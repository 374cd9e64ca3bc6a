"""Populations that are rewritten: their sizes by what flushes keep, and new keys that are removed later."""

import pytest
from lsmlens.tuners.estimation.evidence import gather
from lsmlens.tuners.estimation.intervals import Interval
from lsmlens.tuners.estimation.parts import Part
from lsmlens.tuners.estimation.rewritten import rewritten
from lsmlens.tuners.workloads.components import Growth, GrowthRow, Overwrite, OverwriteRow, WorkingSet

from .conftest import Logged

GROWING = tuple(WorkingSet(2000 + 400 * number) for number in range(10))


def learned(logged: Logged, *components: Growth | Overwrite, flush: int = 4000) -> tuple[list[Interval], list[Part]]:
    intervals = gather(logged(*components, flush=flush), "default").intervals
    return list(intervals), rewritten(intervals)


def rows_of(first: int, count: int, puts: int = 4000) -> tuple[OverwriteRow, ...]:
    """Rows of 50 seconds, one for each working set."""
    return tuple(OverwriteRow(50.0 * (first + one), 50.0 * (first + one + 1), puts, 0, one) for one in range(count))


def sizes_of(part: Part) -> list[int]:
    """The working set of each interval that the part writes in."""
    assert isinstance(part.component, Overwrite)
    sets = part.component.working_sets
    places = [0] * len(part.puts) if part.sets is None else part.sets.tolist()
    return [sets[place].keys for place, puts in zip(places, part.puts, strict=True) if puts]


def test_a_population_that_grows_is_one_of_nested_sets_and_comes_back_after_another(logged: Logged) -> None:
    large = Overwrite(working_sets=GROWING, nested=True, schedule=(*rows_of(0, 5), *rows_of(10, 5)))
    small = Overwrite(working_sets=(WorkingSet(20),) * 5, schedule=rows_of(5, 5))
    intervals, parts = learned(logged, large, small)
    assert sum(int(part.puts.sum()) for part in parts) == sum(one.puts for one in intervals)
    populations = [one for one in parts if isinstance(one.component, Overwrite)]
    grown = max(populations, key=lambda one: max(sizes_of(one)))
    assert isinstance(grown.component, Overwrite)
    assert grown.component.nested
    assert sizes_of(grown) == pytest.approx([GROWING[one].keys for one in (0, 1, 2, 3, 4, 0, 1, 2, 3, 4)], rel=0.2)
    assert sum(int(one.puts.sum()) for one in populations) > 40_000


def test_one_population_is_told_better_by_windows_of_many_lengths(logged: Logged) -> None:
    assert not learned(logged, Overwrite(working_sets=GROWING, nested=True, schedule=rows_of(0, 10)))[1]


def test_new_keys_are_growth_and_removed_later(logged: Logged) -> None:
    rows = (GrowthRow(0.0, 100.0, 20_000), GrowthRow(900.0, 1000.0, 0, 20_000))
    image = Overwrite(working_sets=(WorkingSet(500),), schedule=(OverwriteRow(100.0, 500.0, 40_000),))
    small = Overwrite(working_sets=(WorkingSet(10),), schedule=(OverwriteRow(500.0, 900.0, 40_000),))
    _, parts = learned(logged, Growth(schedule=rows), image, small)
    (growth,) = [one for one in parts if isinstance(one.component, Growth)]
    assert growth.puts.sum() == pytest.approx(20_000, rel=0.03)
    assert growth.deletes.sum() == growth.puts.sum()


def test_nested_sets_share_their_keys(logged: Logged) -> None:
    rows = tuple(OverwriteRow(float(place), place + 1.0, 5000, 0, place) for place in range(2))
    sets = (WorkingSet(100), WorkingSet(300))
    for nested, distinct in ((True, 300), (False, 400)):
        history = logged(Overwrite(working_sets=sets, nested=nested, schedule=rows), seconds=2.0, flush=10_000)
        assert sum(one.entries for one in history.tables.values()) == distinct
