"""Survivor windows: flushes, merges and bottoms, and the nested windows that a level's tables are."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.tuners.estimation.evidence import FamilyEvidence
from lsmlens.tuners.estimation.family_fit import fit_family
from lsmlens.tuners.estimation.family_parts import Variation, dissect
from lsmlens.tuners.estimation.history import History, read_history
from lsmlens.tuners.estimation.intervals import intervals_of
from lsmlens.tuners.estimation.windows import (
    Layer,
    Window,
    WindowKind,
    before_fall,
    telling_bottoms,
    windows_of,
)
from lsmlens.tuners.workloads.components import Growth, Overwrite, WorkingSet

Logged = Callable[..., History]


def windows(history: History) -> tuple[list[Window], list[int]]:
    intervals = intervals_of(history, "default")
    return windows_of(history.families["default"], intervals), [one.puts for one in intervals]


def test_each_flush_is_a_window(logged: Logged) -> None:
    history = logged(Overwrite(working_sets=(WorkingSet(3000),), rate=40.0))
    found, _ = windows(history)
    flushes = [one for one in found if one.kind == WindowKind.FLUSH]
    assert [one.layers for one in flushes] == [(Layer(1.0, place, place),) for place in range(20)]
    expected = 3000 * (1 - (1 - 1 / 3000) ** 2000)
    assert np.mean([one.kept_puts for one in flushes]) == pytest.approx(expected, rel=0.02)


def test_a_merge_of_everything_is_one_window(logged: Logged) -> None:
    found, puts = windows(logged(Overwrite(working_sets=(WorkingSet(3000),), rate=40.0)))
    merges = [one for one in found if one.kind == WindowKind.MERGE]
    assert [(one.layers[-1].first, one.last) for one in merges] == [(0, last) for last in (3, 7, 11, 15, 19)]
    assert all(one.mass(20)[: one.last + 1] == pytest.approx(1) for one in merges)
    assert merges[0].longest_puts(intervals_of(logged(Growth(rate=40.0)), "default")) == sum(puts[:4])


def test_the_bottom_holds_what_lives(logged: Logged) -> None:
    found, _ = windows(logged(Growth(rate=40.0, deletes_per_put=0.25, delete_order="random"), flush=2500))
    bottoms = [one for one in found if one.kind == WindowKind.BOTTOM]
    assert bottoms
    last = bottoms[-1]
    # 2000 puts and 500 deletes a flush, each delete of a live key
    assert last.kept_puts == pytest.approx(1500 * (last.last + 1), rel=0.01)
    assert last.kept_deletes is None


def test_a_fall_ends_what_bottoms_tell() -> None:
    def window(kind: WindowKind, first: int, last: int, kept: int) -> Window:
        return Window(kind, float(last), (Layer(1.0, first, last),), kept, None)

    bottoms = [window(WindowKind.BOTTOM, 0, last, kept) for last, kept in ((3, 900), (7, 1000), (11, 300), (15, 400))]
    merges = [window(WindowKind.MERGE, 0, 11, 300), window(WindowKind.MERGE, 12, 15, 100)]
    flushes = [window(WindowKind.FLUSH, place, place, 50) for place in range(16)]
    kept = before_fall([*flushes, *bottoms, *merges])
    assert [one for one in kept if one.kind == WindowKind.BOTTOM] == bottoms[:2]
    assert [one for one in kept if one.kind == WindowKind.MERGE] == merges[1:]
    assert len([one for one in kept if one.kind == WindowKind.FLUSH]) == 16
    assert before_fall([*flushes, *bottoms[:2]]) == [*flushes, *bottoms[:2]]


def late(history: History, flushes: int) -> History:
    """The log as it is after so many flushes: tables of before are not seen created."""
    family = history.families["default"]
    begins = family.flushes[flushes].seconds
    family.flushes = family.flushes[flushes:]
    family.compactions = [one for one in family.compactions if one.seconds >= begins]
    own = [one.table for one in family.flushes] + [table for job in family.compactions for table in job.outputs]
    history.tables = {table.number: table for table in own if table is not None}
    return history


@pytest.mark.parametrize(("keys", "within"), [(3000, 0.03), (30_000, 0.1)])
def test_a_log_that_begins_late_tells_of_its_own_puts(logged: Logged, keys: int, within: float) -> None:
    found, puts = windows(late(logged(Overwrite(working_sets=(WorkingSet(keys),), rate=40.0)), 8))
    merges = [one for one in found if one.kind == WindowKind.MERGE]
    assert [(one.first, one.last) for one in merges] == [(0, 3), (0, 7), (0, 11)]
    for one in merges:
        own = sum(puts[: one.last + 1])
        assert one.kept_puts == pytest.approx(keys * (1 - (1 - 1 / keys) ** own), rel=within)


def test_a_log_that_begins_late_tells_how_many_keys_are_overwritten(logged: Logged) -> None:
    history = late(logged(Overwrite(working_sets=(WorkingSet(30_000),), rate=40.0)), 8)
    intervals = intervals_of(history, "default")
    found = dissect(intervals, windows_of(history.families["default"], intervals), preexisting=1.0)
    sets = [part.component.working_sets[0].keys for part in found.parts if isinstance(part.component, Overwrite)]
    assert sum(sets) == pytest.approx(30_000, rel=0.25)


def test_a_compaction_whose_start_was_lost_tells_nothing(logged: Logged) -> None:
    history = logged(Overwrite(working_sets=(WorkingSet(3000),), rate=40.0))
    family = history.families["default"]
    family.compactions[0] = replace(family.compactions[0], inputs={})
    found, puts = windows(history)
    for one in found:
        assert one.kept_puts <= one.mass(len(puts)) @ np.array(puts)
    assert next(one.first for one in found if one.kind == WindowKind.MERGE) > 0


def test_how_much_was_there_before_is_part_of_the_ridge(logged: Logged) -> None:
    history = late(logged(Overwrite(working_sets=(WorkingSet(30_000),), rate=40.0)), 8)
    family, intervals = history.families["default"], intervals_of(history, "default")
    evidence = FamilyEvidence(family, tuple(intervals), tuple(windows_of(family, intervals)), 8000.0)
    for before in (0.5, 1.0, 2.0):
        fitted = fit_family(evidence, intervals[0].start, Variation(before=before))
        assert sum(one.preload for one in fitted.column_family.components) == pytest.approx(8000 * before, abs=1)


def test_records_of_before_the_log_that_are_deleted_are_lost(logged: Logged) -> None:
    whole, _ = windows(logged(Growth(rate=40.0, deletes_per_put=0.25, delete_order="random"), flush=2500))
    history = logged(Growth(rate=40.0, deletes_per_put=0.25, delete_order="random"), flush=2500)
    found, puts = windows(late(history, 8))
    last = [one for one in found if one.kind == WindowKind.BOTTOM][-1]
    every = [one for one in whole if one.kind == WindowKind.BOTTOM][-1]
    assert last.kept_puts + last.before == pytest.approx(every.kept_puts)
    assert last.before + last.lost == pytest.approx(1500 * 8, rel=0.01)
    deletes = 500 * len(puts)
    assert sum(puts) - last.kept_puts + last.lost == pytest.approx(deletes, rel=0.02)
    assert last.lost == pytest.approx(0.6 * deletes, rel=0.3)


@pytest.mark.parametrize("name", ["osd-reef", "osd-rotated", "osd-crash", "osd-stock"])
def test_windows_of_real_logs_keep_no_more_than_was_put(name: str, analysed: Callable[[str], RunAnalysis]) -> None:
    history = read_history(analysed(name).run)
    seen = 0
    for family in history.families.values():
        intervals = intervals_of(history, family.name)
        puts = np.array([one.puts for one in intervals])
        for window in windows_of(family, intervals):
            assert window.layers
            assert all(0 < layer.share <= 1 and layer.first <= layer.last for layer in window.layers)
            if window.kind == WindowKind.FLUSH:
                assert window.kept_puts <= window.mass(len(puts)) @ puts
            seen += window.kind != WindowKind.FLUSH
    assert seen


def test_bottoms_that_tell_are_those_before_a_fall_and_the_last() -> None:
    kept = [100, 140, 130, 60, 80, 90, 30, 31]
    bottoms = [
        Window(WindowKind.BOTTOM, float(n), (Layer(1.0, 0, n),), records, None) for n, records in enumerate(kept)
    ]
    assert [one.kept_puts for one in telling_bottoms(bottoms)] == [130, 90, 31]
    assert telling_bottoms(bottoms[:3]) == bottoms[2:3]
    assert telling_bottoms([]) == []
