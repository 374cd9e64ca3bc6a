"""What was tried, and two sets of options held together, as CSV."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import StringIO
from math import isnan

from lsmlens.tuners.search.duel import Duel
from lsmlens.tuners.search.recommendation import Recommendation
from lsmlens.tuners.search.scores import Scores

COLUMNS = ("settings", "role", "cost", "cost_high", "worst_case_cost", *Scores._fields, "problem")
RATIOS = ("column_family", "metric", "a", "b", "ratio", "low", "high")


def to_csv(recommendation: Recommendation) -> str:
    """A row for the current settings, each finalist and each candidate; the scores of finalists are predictions.

    Those of candidates are of one replay each, at the screening's scale. A cell is empty where a figure is not known.
    """
    return _written(COLUMNS, _rows(recommendation))


def _rows(recommendation: Recommendation) -> Iterator[Mapping[str, object]]:
    yield {"settings": "current settings", "role": "current", "cost": 1.0, **recommendation.present_scores._asdict()}
    for one in recommendation.finalists:
        costs = {"cost": one.cost, "cost_high": one.cost_high, "worst_case_cost": one.worst.cost}
        role = "pick" if one is recommendation.picked else "finalist"
        yield {"settings": one.name, "role": role, **costs, **one.scores._asdict()}
    for tried in recommendation.tried:
        scores = tried.scores._asdict() if tried.scores is not None else {}
        row = {"settings": tried.name, "role": tried.origin, "cost": tried.cost, "problem": tried.problem}
        yield {**row, **scores}


def duel_to_csv(duel: Duel) -> str:
    """A row for each metric of all families together, then of each: under A, under B, their ratio and its interval."""
    rows = []
    for one in duel.ratios:
        told = [None if isnan(value) else value for value in (one.ratio, one.low, one.high)]
        rows.append(dict(zip(RATIOS, (one.family, one.metric, one.a, one.b, *told), strict=True)))
    return _written(RATIOS, rows)


def _written(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    text = StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
