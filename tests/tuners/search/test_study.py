"""A study goes on to the same candidates wherever it was cut off."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from lsmlens.analyzer.errors import InputError
from lsmlens.tuners.options.presets import preset
from lsmlens.tuners.options.tunables import TUNABLES
from lsmlens.tuners.search.scores import Scores
from lsmlens.tuners.search.space import Space, space_of
from lsmlens.tuners.search.study import Planned, Prospect, Study, Tried

BATCHES, SIZE = 4, 2


class Cut(BaseException):
    """The end of a process, at any moment."""


def scores_of(space: Space, choices: dict[str, str]) -> Scores:
    """Something that depends on every choice."""
    places = [one.values.index(choices[one.name]) for one in space.dimensions]
    written = 1000.0 + sum((place - 2) ** 2 * (number + 1) for number, place in enumerate(places))
    return Scores(written, 100.0, 10, written, 1, 64, 10)


def judged(one: Tried) -> Prospect:
    if one.choices["max_background_jobs"] == "8":
        return Prospect("too large")
    if one.choices["level0_file_num_compaction_trigger"] in ("2", "6", "8"):
        return Prospect("far worse", 3.0, is_pruned=True)
    return Prospect(None, 1.0)


def search(path: Path, space: Space, step: Callable[[], None]) -> list[tuple[object, ...]]:
    """A whole search, as the program does it; `step` is told before each thing it keeps."""
    study = Study(path, space, {"log": "x"}, estimate=lambda choices: float(choices["max_bytes_for_level_base"]))
    planned = [Planned(f"planned {jobs}", "a plan", {**space.present, "max_background_jobs": jobs}) for jobs in "628"]
    add = study._add

    def added(*args: object) -> Tried:
        step()
        return add(*args)  # type: ignore[arg-type]

    study._add = added  # type: ignore[method-assign,assignment]
    proposed = study.propose("current", "the log", space.present, judged)
    waiting = [proposed] if proposed.is_waiting else []
    while True:
        for one in waiting:
            step()
            scores = scores_of(space, dict(one.choices))
            study.record(one, scores, scores.written_bytes / 1000, 1.0)
        done = {one.batch for one in study.tried if one.scores is not None and one.batch is not None}
        finished = [batch for batch in done if sum(one.batch == batch and one.is_waiting for one in study.tried) == 0]
        if len(finished) >= BATCHES:
            return [(one.number, one.name, one.origin, dict(one.choices), one.problem, one.cost) for one in study.tried]
        waiting = study.next_batch(SIZE, judged, planned)


@pytest.fixture(scope="module")
def space() -> Space:
    searched = {
        *("write_buffer_size", "max_bytes_for_level_base", "max_write_buffer_number", "max_background_jobs"),
        *("min_write_buffer_number_to_merge", "level0_file_num_compaction_trigger"),
    }
    return space_of(preset("ceph:pacific"), {}, [one.name for one in TUNABLES if one.name not in searched])


@pytest.fixture(scope="module")
def whole(space: Space, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[object, ...]]:
    return search(tmp_path_factory.mktemp("whole") / "s.db", space, lambda: None)


def test_a_search_tries_what_is_refused_and_what_is_not(whole: list[tuple[object, ...]]) -> None:
    problems = [one[4] for one in whole]
    assert any(problems)
    assert {"too large", "far worse"} <= set(problems)
    assert sum(one[5] is not None for one in whole) == 1 + BATCHES * SIZE
    assert {one[2] for one in whole} == {"the log", "a plan", "TPE", "near the best"}
    assert [one[1] for one in whole][1:3] == ["planned 6", "planned 2"]
    chosen = [tuple(sorted(one[3].items())) for one in whole if one[4] is None]  # type: ignore[attr-defined]
    assert len(chosen) == len(set(chosen))


def test_cut_off_anywhere_it_comes_to_the_same(space: Space, whole: list[tuple[object, ...]], tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    for every in (1, 2, 3, 7):
        left = every

        def step() -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise Cut

        with pytest.raises(Cut):
            search(path, space, step)
    assert search(path, space, lambda: None) == whole


def test_a_study_of_another_log_is_refused(space: Space, tmp_path: Path) -> None:
    Study(tmp_path / "s.db", space, {"log": "x"})
    with pytest.raises(InputError, match="holds a study of another log"):
        Study(tmp_path / "s.db", space, {"log": "y"})


def test_a_candidate_proposed_again_is_the_same(space: Space, tmp_path: Path) -> None:
    study = Study(tmp_path / "s.db", space, {})
    first = study.propose("one", "a", space.present, judged)
    study.record(first, scores_of(space, space.present), 1.0, 1.0)
    again = study.propose("two", "b", space.present, judged)
    assert (again.name, again.cost, again.is_waiting) == ("one", 1.0, False)


def test_a_failed_candidate_has_its_reason(space: Space, tmp_path: Path) -> None:
    study = Study(tmp_path / "s.db", space, {})
    study.refuse(study.propose("one", "a", space.present, judged), "the replay failed: x")
    (found,) = study.tried
    assert (found.problem, found.is_out, found.scores) == ("the replay failed: x", False, None)


def test_what_is_pruned_is_told_from_what_the_bounds_refuse(space: Space, tmp_path: Path) -> None:
    study = Study(tmp_path / "s.db", space, {})
    pruned = study.propose("one", "a", {**space.present, "level0_file_num_compaction_trigger": "2"}, judged)
    refused = study.propose("two", "a", {**space.present, "max_background_jobs": "8"}, judged)
    assert (pruned.is_pruned, pruned.is_out, pruned.is_waiting, pruned.estimate) == (True, False, False, 3.0)
    assert (refused.is_pruned, refused.is_out, refused.is_waiting) == (False, True, False)
    assert study.tried == [pruned, refused]


def test_what_only_replays_tell_is_probed_from_the_best(tmp_path: Path) -> None:
    searched = {"compaction_pri", "max_bytes_for_level_base", "level0_file_num_compaction_trigger"}
    space = space_of(preset("ceph:pacific"), {}, [one.name for one in TUNABLES if one.name not in searched])
    probed = [one for one in space.dimensions if one.option == "compaction_pri"]
    study = Study(tmp_path / "s.db", space, {}, probed=probed)
    best = study.propose("best", "a", {**space.present, "max_bytes_for_level_base": str(1 << 30)}, judged_freely)
    study.record(best, scores_of(space, dict(best.choices)), 0.1, 1.0)
    for _ in range(8):
        for one in study.next_batch(1, judged_freely):
            study.record(one, scores_of(space, dict(one.choices)), 1.0, 1.0)
    found = [one for one in study.tried if one.origin == "one option of the best"]
    assert len(found) == 2
    for one in found:
        assert {**one.choices, "compaction_pri": ""} == {**best.choices, "compaction_pri": ""}
    assert len({one.choices["compaction_pri"] for one in (best, *found)}) == 3


def judged_freely(_: Tried) -> Prospect:
    return Prospect(None, 1.0)


def test_of_many_neighbours_the_one_estimated_lowest_is_drawn(space: Space, tmp_path: Path) -> None:
    def estimate(choices: Mapping[str, str]) -> float:
        return float(choices["max_bytes_for_level_base"])

    bases = []
    for number, estimated in enumerate((lambda _: None, estimate)):
        study = Study(tmp_path / f"{number}.db", space, {}, estimate=estimated)
        first = study.propose("current", "the log", space.present, judged)
        study.record(first, scores_of(space, space.present), 1.0, 1.0)
        for _ in range(4):
            for one in study.next_batch(SIZE, judged):
                study.record(one, scores_of(space, dict(one.choices)), 1.0, 1.0)
        near = [one for one in study.tried if one.origin == "near the best" and one.scores is not None]
        bases.append(sum(float(one.choices["max_bytes_for_level_base"]) for one in near) / len(near))
    assert bases[1] < 0.8 * bases[0]
