"""Whole searches on a small log, with replays in a real embedded RocksDB."""

from collections.abc import Callable
from pathlib import Path

import pytest
from lsmlens.analyzer.errors import InputError
from lsmlens.tuners.engines.choice import EngineChoice
from lsmlens.tuners.estimation.fit import FittedWorkload
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.search.evaluation import Evaluator
from lsmlens.tuners.search.ledger import Ledger
from lsmlens.tuners.search.loads import at_load
from lsmlens.tuners.search.recommendation import Recommendation
from lsmlens.tuners.search.request import Request
from lsmlens.tuners.search.scores import Objective
from lsmlens.tuners.search.tuning import Tuning

Search = Callable[..., Recommendation]
FROZEN = ("compression", "max_background_jobs", "ttl", "target_file_size_base", "max_total_wal_size")


@pytest.fixture
def search(fitted: FittedWorkload, present: OptionSet, engine: EngineChoice, tmp_path: Path) -> Search:
    def run(candidates: tuple[OptionSet, ...] = (), name: str = "s.db", **asked: object) -> Recommendation:
        said = {"objective": Objective.WEAR, "trials": 3, "finalists": 1, "draws": 2, "frozen": FROZEN, **asked}
        path = tmp_path / name
        ledger = Ledger(path)
        evaluator = Evaluator(fitted, present, engine, ledger, work_dir=tmp_path)
        try:
            request = Request(candidates=candidates, **said)  # type: ignore[arg-type]
            return Tuning(evaluator, request, path, lambda _: None).recommend()
        finally:
            ledger.close()

    return run


def test_it_finds_what_writes_less_and_says_what_that_is_and_costs(search: Search) -> None:
    found = search()
    picked = found.picked
    assert picked is not None
    assert picked.scores.written_bytes < 0.9 * found.present_scores.written_bytes
    assert picked.cost_high < 1
    assert picked.differences
    assert {case.name for case in picked.cases} == {"best fit", "draw 1"}
    assert found.memory_source == "as much as now"
    assert picked.scores.memory_bytes <= found.memory_limit_bytes
    assert sum(one.cost is not None and one.origin != "simpler" for one in found.tried) >= 3
    assert any("latency and stalls were not measured" in note for note in found.notes)
    assert found.pacing.replays == {}


def test_the_same_again_costs_no_replay_and_says_the_same(search: Search, monkeypatch: pytest.MonkeyPatch) -> None:
    first = search()

    def none(trials: list[object], *_: object) -> list[object]:
        assert trials == []
        return []

    monkeypatch.setattr("lsmlens.tuners.search.evaluation.run_trials", none)
    again = search()
    assert again.picked is not None
    assert first.picked is not None
    assert (again.picked.name, again.picked.cost, again.picked.cases) == (
        first.picked.name,
        first.picked.cost,
        first.picked.cases,
    )
    assert again.tried == first.tried


def test_where_all_is_frozen_nothing_beats_the_current_settings(search: Search, present: OptionSet) -> None:
    options = (
        *(*FROZEN, "write_buffer_size", "max_bytes_for_level_base", "max_write_buffer_number"),
        *("min_write_buffer_number_to_merge", "level0_file_num_compaction_trigger", "max_bytes_for_level_multiplier"),
    )
    worse = present.changed("max_bytes_for_level_base", "131072").named("worse")
    found = search((worse,), frozen=options, trials=1)
    assert found.picked is None
    assert "nothing beats the current settings beyond noise" in found.reason
    assert [one.name for one in found.finalists] == ["worse"]
    assert found.finalists[0].cost > 1


def test_a_candidate_beyond_the_bounds_is_named_with_its_reason(search: Search, present: OptionSet) -> None:
    large = present.changed("write_buffer_size", "16777216").named("large")
    found = search((large,), trials=1)
    ((name, cost, problem),) = found.fixed
    assert (name, cost) == ("large", None)
    assert problem is not None
    assert "memtables of up to" in problem


def test_a_study_of_another_objective_is_refused(search: Search) -> None:
    search(trials=1)
    with pytest.raises(InputError, match="holds a study of another objective"):
        search(trials=1, objective=Objective.CPU)


@pytest.mark.slow
def test_paced_replays_tell_latency_where_the_budget_allows(search: Search) -> None:
    found = search(trials=None, budget_seconds=420.0, objective=Objective.LATENCY, finalists=1)
    assert found.pacing.replays
    assert found.present_scores.p99_micros is not None
    assert found.finalists[0].scores.p99_micros is not None
    assert any(case.name.startswith("latency at load x1") for case in found.finalists[0].cases)


def test_a_load_is_the_same_work_in_less_time(fitted: FittedWorkload) -> None:
    twice = at_load(fitted.workload, 2.0)
    assert twice.seconds == pytest.approx(fitted.workload.seconds / 2)
    (one,), (other,) = fitted.workload.column_families[0].components, twice.column_families[0].components
    assert one.schedule is not None
    assert other.schedule is not None
    assert sum(row.puts for row in one.schedule) == sum(row.puts for row in other.schedule)
    assert other.schedule[-1].end == pytest.approx(one.schedule[-1].end / 2)
    with pytest.raises(ValueError, match="positive"):
        at_load(fitted.workload, 0)
