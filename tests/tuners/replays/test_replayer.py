"""The replayer keeps what replays came to, and makes none twice; where databases live is the machine's matter."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from lsmlens.tuners.engines.choice import EngineChoice
from lsmlens.tuners.options.reading import read_options
from lsmlens.tuners.predictions.replays import Variant, trial_of
from lsmlens.tuners.replays import replayer as replaying
from lsmlens.tuners.replays.ledger import Ledger
from lsmlens.tuners.replays.measurement import FailureKind, Measurement, TrialFailure
from lsmlens.tuners.replays.replayer import Replayer, ReplayProgress
from lsmlens.tuners.replays.trial import Trial
from lsmlens.tuners.replays.workspace import memory_folder
from lsmlens.tuners.workloads.presets import load_preset

ENGINE = EngineChoice("capi", "7.8.3")
Measured = Callable[..., Measurement]


@pytest.fixture
def trial() -> Trial:
    options = read_options("a=write_buffer_size=16777216")
    return trial_of(Variant(load_preset("overwrite"), 4.0, 1), options, ENGINE, None)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, measured: Measured) -> list[int]:
    """The seeds of the trials that are really made; that of seed 1 fails."""
    seeds: list[int] = []

    def run(trial: Trial, *_: object) -> Measurement | TrialFailure:
        seeds.append(trial.seed)
        if trial.seed == 1:
            return TrialFailure(1, FailureKind.CRASHED, "killed")
        return measured(seed=trial.seed, options=trial.options)

    monkeypatch.setattr(replaying, "run_trial", run)
    return seeds


def test_a_replay_that_has_ended_is_not_made_again(trial: Trial, made: list[int]) -> None:
    fails, ends, late = (replace(trial, seed=seed) for seed in (1, 2, 3))
    replayer = Replayer(ENGINE, jobs=1)
    first, second = replayer.results([fails, ends])
    assert isinstance(first, TrialFailure)
    assert made == [1, 2]
    again = replayer.results([replace(trial, seed=2), fails, late, ends])  # an equal one is the same
    assert [one.seed for one in again] == [2, 1, 3, 2]
    assert again[0] == again[3] == second
    assert made == [1, 2, 1, 3]
    replayer.results([replace(ends, scale=8.0)])
    assert made == [1, 2, 1, 3, 2]
    replayer.make([ends])
    assert made == [1, 2, 1, 3, 2, 2]


def test_what_a_file_holds_is_not_made_again(trial: Trial, made: list[int], tmp_path: Path) -> None:
    two = replace(trial, seed=2)
    kept = Replayer(ENGINE, ledger=Ledger(tmp_path / "s.db")).results([two])
    assert Replayer(ENGINE, ledger=Ledger(tmp_path / "s.db")).results([two]) == kept
    assert made == [2]


def test_equal_options_keep_their_own_names(trial: Trial, made: list[int]) -> None:
    one = replace(trial, seed=2)
    other = replace(one, options=replace(one.options, name="b"))
    results = Replayer(ENGINE).results([one, other])
    assert [result.options.name for result in results if isinstance(result, Measurement)] == ["a", "b"]
    assert made == [2]


def test_progress_counts_what_is_made(trial: Trial, made: list[int]) -> None:
    told: list[tuple[int, int, int, float]] = []

    def note(progress: ReplayProgress) -> None:
        told.append((progress.runs, progress.done, progress.failed, progress.share))

    Replayer(ENGINE, jobs=1, on_progress=note).results([replace(trial, seed=seed) for seed in (1, 2, 2)])
    assert told == [(2, 1, 1, 0.5), (2, 2, 1, 1.0)]


def test_settled_databases_live_in_memory_where_it_has_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []

    def folder(needed: float) -> Path:
        asked.append(needed)
        return tmp_path

    monkeypatch.setattr(replaying, "memory_folder", folder)
    assert Replayer(ENGINE, jobs=3).settled_folder(10.0) == tmp_path
    assert asked == [30.0]
    assert Replayer(ENGINE, work_dir=tmp_path / "mine").settled_folder(10.0) == tmp_path / "mine"
    assert len(asked) == 1


def test_memory_must_have_four_times_the_room(tmp_path: Path) -> None:
    found = memory_folder(1.0, tmp_path)
    assert found is not None
    assert found.parent == tmp_path
    assert memory_folder(1e18, tmp_path) is None
    assert memory_folder(1.0, tmp_path / "none") is None
