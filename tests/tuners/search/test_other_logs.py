"""Settings for several logs: searched on some, tried on one that is held out."""

import dataclasses
import json
from pathlib import Path

import pytest
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.tuners.api import separate_logs
from lsmlens.tuners.engines.choice import EngineChoice
from lsmlens.tuners.estimation.fit import FittedWorkload, fit
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.options.reading import read_options
from lsmlens.tuners.options.run_options import options_of_run
from lsmlens.tuners.options.tunables import TUNABLES
from lsmlens.tuners.replays.ledger import Ledger
from lsmlens.tuners.replays.outcome import ReplayPlan, replay
from lsmlens.tuners.replays.replayer import Replayer
from lsmlens.tuners.search.doubts import DoubtKind, doubts
from lsmlens.tuners.search.evaluation import Evaluator
from lsmlens.tuners.search.other_logs import OtherLog, together
from lsmlens.tuners.search.recommendation import Recommendation
from lsmlens.tuners.search.request import TuningRequest
from lsmlens.tuners.search.scores import Objective, cost
from lsmlens.tuners.search.tuning import Tuning
from lsmlens.tuners.workloads.generator import DeclaredStream
from lsmlens.tuners.workloads.yaml_form import parse_workload

# Keys are rewritten so seldom that little dies in memory, and the write buffer is another one.
COLD = """
schema: lsmlens.workload/1
name: cold
seconds: 20
column_families:
- name: default
  keys: {length: 24}
  values: 100
  components:
  - kind: overwrite
    rate: 1500
    working_sets: [{keys: 26000}]
"""
OPTIONS = "cold=write_buffer_size=262144;max_bytes_for_level_base=524288;target_file_size_base=262144"
SEARCHED = ("max_bytes_for_level_base", "level0_file_num_compaction_trigger")


@pytest.fixture(scope="module")
def cold(engine: EngineChoice, tmp_path_factory: pytest.TempPathFactory) -> FittedWorkload:
    folder = tmp_path_factory.mktemp("cold")
    plan = ReplayPlan(DeclaredStream(parse_workload(COLD, "cold")), (read_options(OPTIONS),), keep_log=folder / "logs")
    (outcome,) = replay(plan, Replayer(engine, jobs=1, work_dir=folder))
    assert not outcome.failures
    (run,) = analyze([str(folder / "logs")]).runs
    return fit(run)


def other(name: str, fitted: FittedWorkload, engine: EngineChoice, path: Path, **said: object) -> OtherLog:
    evaluator = Evaluator(fitted, options_of_run(fitted.evidence.run), Replayer(engine, jobs=1, work_dir=path.parent))
    return OtherLog(name, evaluator, Objective.WEAR, **said)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def found(
    fitted: FittedWorkload,
    cold: FittedWorkload,
    present: OptionSet,
    engine: EngineChoice,
    tmp_path_factory: pytest.TempPathFactory,
) -> Recommendation:
    path = tmp_path_factory.mktemp("robust") / "s.db"
    ledger = Ledger(path)
    evaluator = Evaluator(fitted, present, Replayer(engine, work_dir=path.parent, ledger=ledger))
    logs = [
        other("cold", cold, engine, path, weight=3.0),
        other("again", fitted, engine, path, is_held_out=True),
    ]
    frozen = tuple(one.name for one in TUNABLES if one.name not in SEARCHED)
    request = TuningRequest(Objective.WEAR, trials=2, finalists=2, draws=2, frozen=frozen, log="warm")
    try:
        return Tuning(evaluator, request, path, lambda _: None, logs).recommend()
    finally:
        ledger.close()


def test_what_is_picked_is_good_on_every_log(found: Recommendation) -> None:
    picked = found.picked
    assert picked is not None
    warm, cold, _ = picked.logs
    assert [one.log for one in picked.logs] == ["warm", "cold", "again"]
    assert [one.is_held_out for one in picked.logs] == [False, False, True]
    assert warm.cost is not None
    assert cold.cost is not None
    assert picked.cost == pytest.approx(together([(warm.cost, 1.0), (cold.cost, 3.0)]))
    assert max(warm.cost, cold.cost) < 0.98
    assert picked.worst.cost >= max(warm.cost, cold.cost)
    assert {case.name for case in picked.cases} >= {"log cold", "best fit"}
    assert "log again" not in {case.name for case in picked.cases}


def test_the_log_that_is_held_out_is_told_as_any_other(found: Recommendation) -> None:
    """It is the first log once more, so it must come to much the same."""
    assert found.picked is not None
    warm, _, again = found.picked.logs
    assert again.cost == pytest.approx(warm.cost, rel=0.1)
    assert again.present_bytes == pytest.approx(warm.present_bytes)


def test_candidates_cost_what_they_cost_on_all_logs_together(found: Recommendation) -> None:
    """The first log alone gives them other costs: its scores are kept beside."""
    current = found.tried[0]
    assert current.scores is not None
    changed = [one for one in found.tried if one.scores is not None and one.cost is not None and one.cost < 0.98]
    assert changed
    for one in changed:
        assert one.scores is not None
        assert one.cost != pytest.approx(cost(one.scores, current.scores, Objective.WEAR), rel=0.001)


def test_it_says_what_would_make_it_wrong(found: Recommendation) -> None:
    said = {one.kind: one.text for one in doubts(found)}
    assert {DoubtKind.INTERVAL, DoubtKind.CASES, DoubtKind.HELD_OUT, DoubtKind.STALLS, DoubtKind.OTHER_TIMES} <= {*said}
    assert "again" in said[DoubtKind.HELD_OUT]
    assert "2 logs" in said[DoubtKind.OTHER_TIMES]
    assert DoubtKind.MEMORY not in said
    assert DoubtKind.COMPRESSION not in said
    kept = dataclasses.replace(found, picked=None)
    assert {DoubtKind.SEARCH, DoubtKind.OTHER_TIMES} <= {one.kind for one in doubts(kept)}


def test_the_reports_show_every_log_and_every_doubt(found: Recommendation) -> None:
    from jsonschema import Draft202012Validator
    from lsmlens.reports.json_form import json_schema
    from lsmlens.reports.outputs import RECOMMENDATION
    from lsmlens.reports.recommendation_json import to_json
    from lsmlens.reports.recommendation_tables import RecommendationReport

    report = RecommendationReport("warm cold", found, None)
    document = json.loads(to_json(report))
    Draft202012Validator(json_schema("lsmlens.recommendation/1")).validate(document)
    picked = next(one for one in document["finalists"] if one["name"] == document["pick"])
    assert [(one["log"], one["is_held_out"], one["weight"]) for one in picked["logs"]] == [
        ("warm", False, 1.0),
        ("cold", False, 3.0),
        ("again", True, 1.0),
    ]
    text, screen = RECOMMENDATION.printed(report, "text"), RECOMMENDATION.screen(report, width=120)
    for one in doubts(found):
        assert " ".join(one.text.split()) in " ".join(text.split())
    assert "held out" in screen
    assert "It is wrong if " in screen
    assert len(screen.splitlines()) <= 48


def test_changes_are_made_to_the_log_s_own_options(cold: FittedWorkload, engine: EngineChoice, tmp_path: Path) -> None:
    log = other("cold", cold, engine, tmp_path / "s.db")
    base = OptionSet("base", rocksdb_version=log.evaluator.present.rocksdb_version)
    base = base.changed("write_buffer_size", "1048576")
    wanted = base.changed("level0_file_num_compaction_trigger", "8")
    changed = log.with_changes(wanted, base)
    assert changed.value_of("level0_file_num_compaction_trigger") == "8"
    assert changed.value_of("write_buffer_size") == "262144"
    assert log.problem(wanted, base) is None
    large = base.changed("write_buffer_size", str(1 << 30))
    assert "cold: memtables of up to" in (log.problem(large, base) or "")


def test_folders_and_archives_are_logs_and_pieces_of_one_log_are_one(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        folder.mkdir()
        for name in ("ceph-osd.0.log", "ceph-osd.0.log.1.gz", "ceph-osd.1.log", "perf.json", "logs.tar.gz"):
            (folder / name).touch()
    pieces = [str(one / name) for name in ("ceph-osd.0.log", "ceph-osd.0.log.1.gz", "perf.json")]
    assert separate_logs(pieces) == {"ceph-osd.0.log": pieces}
    assert separate_logs([str(one), str(two)]) == {"one": [str(one)], "two": [str(two)]}
    same = [str(one / "ceph-osd.0.log"), str(two / "ceph-osd.0.log"), str(one / "logs.tar.gz")]
    assert separate_logs(same) == {same[0]: [same[0]], same[1]: [same[1]], "logs.tar.gz": [same[2]]}
    osds = [str(one / "ceph-osd.0.log"), str(one / "ceph-osd.1.log")]
    assert [*separate_logs(osds)] == ["ceph-osd.0.log", "ceph-osd.1.log"]
