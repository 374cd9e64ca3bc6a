"""The recommendation's first screen, of made-up scores: a pick with its price, and the current settings kept."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from lsmlens.reports.outputs import RECOMMENDATION
from lsmlens.reports.recommendation_tables import RecommendationReport
from lsmlens.tuners.estimation.fit import FittedWorkload
from lsmlens.tuners.options.option_set import Difference
from lsmlens.tuners.options.run_options import options_of_run
from lsmlens.tuners.predictions.prediction import Prediction
from lsmlens.tuners.search.evaluation import Evaluated
from lsmlens.tuners.search.pacing import Pacing
from lsmlens.tuners.search.recommendation import Finalist, Recommendation, ReplayedCase
from lsmlens.tuners.search.scores import Objective, Scores
from lsmlens.tuners.search.study import Tried

MIB = float(1 << 20)
BEFORE = Scores(400 * MIB, 100 * MIB, 60.0, 3e6, 12.0, 64 * MIB, 200 * MIB)
AFTER = Scores(260 * MIB, 100 * MIB, 30.0, 2e6, 9.0, 96 * MIB, 230 * MIB)


@pytest.fixture(scope="module")
def found(learned: FittedWorkload, predicting: Callable[..., Prediction]) -> Recommendation:
    """Twice the trigger of level 0 writes a third less, for half as much memory more."""
    prediction = predicting(twice=0.6)
    present = options_of_run(learned.evidence.run)
    (twice,) = prediction.predictions

    def evaluated(scores: Scores) -> Evaluated:
        low, high = (scores._replace(written_bytes=scores.written_bytes * by) for by in (0.9, 1.1))
        return Evaluated(present, twice, scores, low, high, (scores,), None, 30.0, ())

    cases = (ReplayedCase("as fitted", 0.65), ReplayedCase("draw 1", 0.7))
    difference = Difference(None, "level0_file_num_compaction_trigger", "8", "4")
    pick = Finalist("c0007", "search", evaluated(AFTER), AFTER, 0.65, 0.72, cases, (difference,), False)
    tried = tuple(
        Tried(number, f"c{number:04}", "search", {}, scores=AFTER, cost=1 - number / 20) for number in range(8)
    )
    return Recommendation(
        learned,
        Objective.WEAR,
        present,
        BEFORE,
        prediction.anchor,
        evaluated(BEFORE),
        pick,
        "it costs least in every case",
        (pick,),
        tried,
        (),
        Pacing({}, 60.0, "not asked for"),
        128 << 20,
        "as much as now",
        16.0,
        600.0,
        600.0,
    )


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("is_kept", [False, True])
def test_first_screens(width: int, is_kept: bool, found: Recommendation, golden: Callable[[str, str], None]) -> None:
    shown = replace(found, picked=None, reason="no finalist costs less beyond noise") if is_kept else found
    text = RECOMMENDATION.screen(RecommendationReport("LOG", shown, None), width=width)
    assert all(len(line) <= width for line in text.splitlines())
    assert ("Keep the current settings" in text) is is_kept
    golden(f"tune-{'kept' if is_kept else 'changed'}-{width}.txt", text)
