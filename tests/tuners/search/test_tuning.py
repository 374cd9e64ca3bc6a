"""Whole searches on a small log, with replays in a real embedded RocksDB."""

import csv
import dataclasses
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.errors import InputError
from lsmlens.reports.json_form import json_schema
from lsmlens.reports.outputs import RECOMMENDATION
from lsmlens.tuners.engines.choice import EngineChoice
from lsmlens.tuners.estimation.fit import FittedWorkload
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.options.tunables import TUNABLES, durability_changed
from lsmlens.tuners.predictions.stalls import ClosedForm, Headroom, StallForecast, StallsAtLoad
from lsmlens.tuners.replays.ledger import Ledger
from lsmlens.tuners.replays.measurement import Measurement
from lsmlens.tuners.replays.replayer import Replayer
from lsmlens.tuners.search.application import application_of
from lsmlens.tuners.search.evaluation import Evaluator, not_taken
from lsmlens.tuners.search.finals import at_load
from lsmlens.tuners.search.recommendation import Recommendation
from lsmlens.tuners.search.request import TuningRequest
from lsmlens.tuners.search.scores import Objective
from lsmlens.tuners.search.tuning import Tuning

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = json_schema("lsmlens.recommendation/1")
Search = Callable[..., Recommendation]
FROZEN = ("compression", "max_background_jobs", "ttl", "target_file_size_base", "max_total_wal_size")


@pytest.fixture(scope="module")
def search(
    fitted: FittedWorkload, present: OptionSet, engine: EngineChoice, tmp_path_factory: pytest.TempPathFactory
) -> Search:
    folder = tmp_path_factory.mktemp("studies")

    def run(name: str, candidates: tuple[OptionSet, ...] = (), **asked: object) -> Recommendation:
        said = {"objective": Objective.WEAR, "trials": 2, "finalists": 1, "draws": 2, "frozen": FROZEN, **asked}
        path = folder / name
        ledger = Ledger(path)
        evaluator = Evaluator(fitted, present, Replayer(engine, work_dir=folder, ledger=ledger))
        try:
            request = TuningRequest(candidates=candidates, **said)  # type: ignore[arg-type]
            return Tuning(evaluator, request, path, lambda _: None).recommend()
        finally:
            ledger.close()

    return run


@pytest.fixture(scope="module")
def large(present: OptionSet) -> OptionSet:
    return present.changed("write_buffer_size", "16777216").named("large")


@pytest.fixture(scope="module")
def found(search: Search, present: OptionSet, large: OptionSet) -> Recommendation:
    return search("whole.db", given(present, large))


def given(present: OptionSet, large: OptionSet) -> tuple[OptionSet, ...]:
    """Candidates: one that takes too much memory, one that could lose writes, and a good one."""
    unsafe = present.changed("manual_wal_flush", "true").named("unsafe")
    return large, unsafe, present.changed("max_bytes_for_level_base", "8388608").named("good")


def test_it_finds_what_writes_less_and_says_what_that_is_and_costs(found: Recommendation) -> None:
    picked = found.picked
    assert picked is not None
    assert picked.scores.written_bytes < 0.9 * found.present_scores.written_bytes
    assert picked.cost_high < 1
    assert picked.differences
    assert {case.name for case in picked.cases} == {"best fit", "draw 1"}
    assert found.memory_source == "as much as now"
    assert picked.scores.memory_bytes <= found.memory_limit_bytes
    assert sum(one.cost is not None and one.origin != "simpler" for one in found.tried) >= 2
    assert any("latency and stalls were not measured" in note for note in found.notes)
    assert found.pacing.replays == {}


def test_a_pick_that_stalls_where_the_present_does_not_says_so_first(found: Recommendation) -> None:
    from lsmlens.reports.recommendation_json import to_json
    from lsmlens.reports.recommendation_tables import RecommendationReport

    picked = found.picked
    assert picked is not None
    closed = ClosedForm(0.3, 0.5, {"default": 6.0}, 2.0)
    loads = {seconds: (StallsAtLoad(1.0, seconds, seconds / 2, 2 * seconds, 1, 0),) for seconds in (0.0, 20.0)}
    none, some = (StallForecast(closed, at, Headroom(0.9, 0.7, 1.1)) for at in loads.values())

    def said(present: StallForecast, other: StallForecast) -> tuple[list[str], str]:
        changed = dataclasses.replace(found, present_stalls=present, picked=picked.with_stalls(other))
        report = RecommendationReport("LOG", changed, None)
        return json.loads(to_json(report))["warnings"], " ".join(RECOMMENDATION.screen(report, width=160).split())

    warnings, text = said(none, some)
    (warning,) = [one for one in warnings if "stall" in one]
    assert warning == ("writers would stall for 20 s (90 % interval 10 s to 40 s); under the present options for 0 s")
    assert text.index(warning) < text.index("Why:")
    assert "Writers stall from 0.9 (0.7 to 1.1) times the load, now from 0.9 (0.7 to 1.1)." in text
    for present, other in ((none, none), (some, none), (some, some)):
        assert not [one for one in said(present, other)[0] if "stall" in one]


def test_a_candidate_beyond_the_bounds_is_named_with_its_reason(found: Recommendation) -> None:
    problems = {name: problem or "" for name, cost, problem in found.fixed if cost is None}
    assert {*problems} == {"large", "unsafe"}
    assert "memtables of up to" in problems["large"]
    assert "manual_wal_flush" in problems["unsafe"]
    assert "survives" in problems["unsafe"]


def test_it_goes_on_from_a_given_candidate_that_is_better(found: Recommendation) -> None:
    costs = {name: cost for name, cost, _ in found.fixed}
    (start,) = [one for one in found.tried if one.name == "as good"]
    assert start.cost == pytest.approx(costs["good"])
    assert start.cost is not None
    assert start.cost < 1
    assert start.choices["max_bytes_for_level_base"] == "8388608"


def test_no_candidate_weakens_durability(found: Recommendation) -> None:
    for one in found.finalists:
        assert durability_changed(one.options, found.present) is None
    assert found.left_out["ttl"] == "the log is shorter than the least age tried"


def test_a_replay_of_other_options_than_asked_for_does_not_count(found: Recommendation) -> None:
    replayed = found.finalists[0].evaluated.results[0]
    assert isinstance(replayed, Measurement)
    asked = found.finalists[0].options
    assert not_taken(asked, found.present, replayed) is None
    gone = dataclasses.replace(replayed, options=dataclasses.replace(replayed.options, families={}, tables={}))
    assert "does not take" in (not_taken(asked, found.present, gone) or "")


def test_the_reports_say_it(found: Recommendation, small_run: RunAnalysis) -> None:
    from jsonschema import Draft202012Validator
    from lsmlens.reports.recommendation_json import to_json
    from lsmlens.reports.recommendation_tables import RecommendationReport

    assert found.picked is not None
    application = application_of(small_run, found.present, found.picked.options, "LOG")
    for report in (
        RecommendationReport("LOG", found, application),
        RecommendationReport("LOG", dataclasses.replace(found, picked=None, reason="nothing beats it"), None),
    ):
        Draft202012Validator(SCHEMA).validate(json.loads(to_json(report)))
        said = json.loads(to_json(report))
        text, markdown = (RECOMMENDATION.printed(report, form) for form in ("text", "markdown"))
        assert said["headline"].rstrip(".") in " ".join(text.split())
        assert {one["option"]: one["reason"] for one in said["left_out"]} == found.left_out
        for width in (80, 120):
            first = RECOMMENDATION.screen(report, width=width)
            assert said["headline"].rstrip(".") in " ".join(first.split())
            assert all(len(line) <= width for line in first.splitlines())
            assert len(first.splitlines()) <= 48
        rows = list(csv.DictReader(RECOMMENDATION.printed(report, "csv").splitlines()))
        assert [row["role"] for row in rows[: 1 + len(found.finalists)]].count("pick") == (said["pick"] is not None)
        assert len(rows) == 1 + len(found.finalists) + len(found.tried)
        for one in found.finalists:
            assert one.name in text
            assert one.name in markdown
        assert max(map(len, text.splitlines())) < 200
        assert "recommended  " not in text
    assert said["pick"] is None
    assert "Keep the current settings" in text


def test_reads_that_get_slower_are_told_below_the_headline(found: Recommendation) -> None:
    from lsmlens.reports.recommendation_json import to_json
    from lsmlens.reports.recommendation_tables import RecommendationReport

    picked = found.picked
    assert picked is not None
    runs, present = picked.scores.sorted_runs, found.present_scores.sorted_runs
    assert runs is not None
    assert present is not None
    for before, is_told in ((runs, False), (runs / 1.5, True)):
        shown = dataclasses.replace(found, present_scores=found.present_scores._replace(sorted_runs=before))
        report = RecommendationReport("LOG", shown, None)
        first = " ".join(RECOMMENDATION.screen(report, width=120).split("Why:")[0].split())
        warning = f"reads look into {runs:.1f} sorted runs instead of {before:.1f}: they get slower"
        assert (warning in first) is is_told
        assert [one[: len(warning)] for one in json.loads(to_json(report))["warnings"]] == [warning] * is_told


def test_the_same_again_costs_no_replay_and_says_the_same(
    found: Recommendation, search: Search, present: OptionSet, large: OptionSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(_: Replayer, trials: list[object], *__: object) -> list[object]:
        assert trials == []
        return []

    monkeypatch.setattr(Replayer, "make", none)
    again = search("whole.db", given(present, large))
    assert again.picked is not None
    assert found.picked is not None
    assert (again.picked.name, again.picked.cost, again.picked.cases) == (
        found.picked.name,
        found.picked.cost,
        found.picked.cases,
    )
    assert again.tried == found.tried


def test_a_study_of_another_objective_is_refused(found: Recommendation, search: Search) -> None:
    with pytest.raises(InputError, match="holds a study of another objective"):
        search("whole.db", objective=Objective.CPU)


@pytest.mark.slow
def test_where_all_is_frozen_nothing_beats_the_current_settings(search: Search, present: OptionSet) -> None:
    options = tuple(one.name for one in TUNABLES)
    worse = present.changed("max_bytes_for_level_base", "131072").named("worse")
    kept = search("frozen.db", (worse,), frozen=options, trials=1)
    assert kept.picked is None
    assert "nothing beats the current settings beyond noise" in kept.reason
    assert [one.name for one in kept.finalists] == ["worse"]
    assert kept.finalists[0].cost > 1


@pytest.mark.slow
def test_paced_replays_tell_latency_where_the_budget_allows(search: Search) -> None:
    found = search("paced.db", trials=None, budget_seconds=420.0, objective=Objective.LATENCY, finalists=1)
    assert found.pacing.replays
    assert found.present_scores.p99_micros is not None
    assert found.finalists[0].scores.p99_micros is not None
    assert any(case.name.startswith("latency at load x1") for case in found.finalists[0].cases)


def test_a_load_is_the_same_work_in_less_time(fitted: FittedWorkload) -> None:
    twice = at_load(fitted.workload, 2.0)
    assert twice.seconds == pytest.approx(fitted.workload.seconds / 2)
    one, other = fitted.workload.column_families[0].components[0], twice.column_families[0].components[0]
    assert one.schedule is not None
    assert other.schedule is not None
    assert sum(row.puts for row in one.schedule) == sum(row.puts for row in other.schedule)
    assert other.schedule[-1].end == pytest.approx(one.schedule[-1].end / 2)
    with pytest.raises(ValueError, match="positive"):
        at_load(fitted.workload, 0)
