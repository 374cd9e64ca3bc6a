"""Logs of placement groups, and the phases in which those of each pool are written."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import msgspec
import numpy as np
import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.tuners.estimation.calibration import errors_of
from lsmlens.tuners.estimation.evidence import FamilyEvidence, gather, gather_all
from lsmlens.tuners.estimation.family_fit import fit_family
from lsmlens.tuners.estimation.intervals import Interval
from lsmlens.tuners.estimation.model_choice import best_explained, by_counts
from lsmlens.tuners.estimation.phases import lasting, phases_of
from lsmlens.tuners.estimation.placement_logs import placement_logs
from lsmlens.tuners.estimation.simulated_moments import Simulation
from lsmlens.tuners.workloads.components import Growth, Overwrite, Queue, WorkingSet

from .conftest import Logged

LIVE = 6000
TRUTH = (
    Queue(rate=40.0, lifetime_puts=LIVE, trim=100),
    Queue(rate=40.0, lifetime_puts=40_000, trim=100),
    Overwrite(working_sets=(WorkingSet(32),), rate=40.0),
)


def counted(*rows: tuple[float, int, int]) -> FamilyEvidence:
    """A family of intervals of one second each: (start, puts, deletes)."""
    intervals = tuple(Interval(at, at + 1, puts, gone, puts, gone, None, None) for at, puts, gone in rows)
    return FamilyEvidence(None, intervals, (), 0.0)  # type: ignore[arg-type]


def test_entries_dups_and_infos_come_apart(logged: Logged) -> None:
    found = gather(logged(*TRUTH, seconds=4000.0, flush=50_000), "default")
    parts = placement_logs(found.intervals, np.zeros(len(found.intervals), np.int64))
    entries = max(
        (part for part in parts if isinstance(part.component, Queue)),
        key=lambda one: one.puts.sum() - one.kept_puts.sum(),
    )
    assert entries.puts.sum() == pytest.approx(160_000, rel=0.03)
    assert entries.puts.sum() - entries.deletes.sum() == pytest.approx(LIVE, rel=0.3)
    for place, one in enumerate(found.intervals):
        assert sum(int(part.puts[place]) for part in parts) == pytest.approx(one.puts, abs=3)
        assert sum(int(part.deletes[place]) for part in parts) == pytest.approx(one.deletes, abs=3)


def test_logs_are_what_explains_a_real_osd_s_best(analysed: Callable[[str], RunAnalysis]) -> None:
    evidence = gather_all(analysed("osd-two-options/stock"))
    since, families = evidence.since, evidence.families
    fit = best_explained(fit_family(families["P"], since), families, since)
    assert fit.is_settled
    assert fit.seen[0].startswith("logs of placement groups, in ")
    assert fit.misfit < 0.03
    groups = {one.keys.first_group for one in fit.column_family.components if one.keys is not None}
    assert len(groups) > 1


def test_groups_that_are_written_all_along_are_one_phase_whatever_else_is_written(logged: Logged) -> None:
    logs = gather(logged(*TRUTH, seconds=2000.0, flush=10_000), "default")
    since, until = logs.intervals[0].start, logs.intervals[-1].end
    steps = np.linspace(since, until, 7)
    others = tuple(
        Interval(start, end, 200_000 * (number % 2), 0, 0, 0, None, None)
        for number, (start, end) in enumerate(pairwise(steps))
    )
    families = {"P": logs, "p": FamilyEvidence(None, others, (), 0.0)}  # type: ignore[arg-type]
    assert phases_of(families, "P").max() > 0
    first = fit_family(logs, since)
    first = replace(first, column_family=msgspec.structs.replace(first.column_family, name="P"))
    tried = by_counts(first, families, since)
    simulation = Simulation.of(logs, since)
    nearest = min(tried, key=lambda one: errors_of(simulation, one.column_family, 2).size)
    assert nearest.seen == ("logs of placement groups, in 1 phase",)


def test_keys_that_are_never_deleted_are_no_logs(logged: Logged) -> None:
    found = gather(logged(Growth(rate=100.0), seconds=500.0), "default")
    assert placement_logs(found.intervals, np.zeros(len(found.intervals), np.int64)) == []


def test_a_phase_comes_again_where_the_mix_of_families_does() -> None:
    logs = counted(*((float(at), 1000, 500) for at in range(12)))
    objects = counted(*((float(at), 100 if at % 6 < 3 else 700, 0) for at in range(12)))
    keys = counted(*((float(at), 9000, 100) for at in (3, 4, 5, 9, 10, 11)))
    families = {"P": logs, "O-0": objects, "p": keys}
    assert phases_of(families, "P").tolist() == [0, 0, 0, 1, 1, 1] * 2
    # of one family alone there is one phase
    assert phases_of({"P": logs}, "P").tolist() == [0] * 12


def test_no_more_entries_are_deleted_in_a_flush_than_dups_can_be_put() -> None:
    rows = [(float(at), 900, 300) if at % 7 else (float(at), 100, 2000) for at in range(60)]
    parts = placement_logs(counted(*rows).intervals, np.zeros(60, np.int64))
    assert parts
    for part in parts:
        assert part.puts.min() >= 0
        assert part.deletes.min() >= 0


def test_a_flush_alone_joins_the_phase_that_follows() -> None:
    assert lasting(np.array([0, 1, 1, 1, 0, 0, 2, 0, 0, 1])).tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 1, 1]
    assert lasting(np.array([0])).tolist() == [0]
