"""A duel: two sets of options on one log's workload, and the predicted difference between them.

Both are replayed with the very same variants of the workload, so their ratio is more certain than either alone.
"""

import math
from dataclasses import dataclass
from statistics import fmean, stdev

from lsmlens.tuners.estimation.fit import FittedWorkload
from lsmlens.tuners.options.option_set import Difference, OptionSet
from lsmlens.tuners.predictions.anchor import anchor_from, usual_variants
from lsmlens.tuners.predictions.figures import Figures
from lsmlens.tuners.predictions.prediction import OptionsPrediction, prediction_of
from lsmlens.tuners.predictions.replays import Replayed, replay_all, replayed
from lsmlens.tuners.predictions.self_consistency import log_ratio
from lsmlens.tuners.predictions.uncertainty import MODEL_ERROR, NINETY_PERCENT
from lsmlens.tuners.replays.measurement import TrialFailure
from lsmlens.tuners.replays.replayer import Replayer

METRICS = ("flush_bytes", "output_bytes", "compactions", "input_records")
# Below this change of a ratio's logarithm the model's error shrinks in proportion.
WHOLE_CHANGE = 0.35


@dataclass(frozen=True, slots=True)
class Ratio:
    """B over A in one metric of one family, or of all (`family` None): with the ends of its 90 % interval."""

    family: str | None
    metric: str
    a: float
    b: float
    ratio: float
    low: float
    high: float

    @property
    def is_different(self) -> bool:
        """Whether the interval leaves 1 out."""
        return not self.low <= 1 <= self.high


@dataclass(frozen=True, slots=True)
class Duel:
    """Two predictions and their ratios, those of all families first."""

    name: str
    a: OptionsPrediction
    b: OptionsPrediction
    ratios: tuple[Ratio, ...]
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]


def duel_of(
    fitted: FittedWorkload, own: OptionSet, a: OptionSet, b: OptionSet, replayer: Replayer, *, seeds: int = 4
) -> Duel:
    """Replay the log's own options and both sets. Raises InputError where no replay of one reaches its end."""
    variants = usual_variants(fitted, [own, a, b], seeds)
    every = replay_all(variants, [own, a, b], fitted.evidence.run, replayer)
    results = [replayed(found, variants) for found in every]
    anchor = anchor_from(fitted, own, replayer.engine, variants, results[0])
    ended = [number for number, one in enumerate(results[0]) if isinstance(one, Replayed)]
    first, second = ([found[number] for number in ended] for found in results[1:])
    one, other = prediction_of(anchor, a, first), prediction_of(anchor, b, second)
    notes = tuple(dict.fromkeys((*one.quality, *other.quality)))
    return Duel(fitted.name, one, other, tuple(_ratios(one, other, first, second)), b.differences(a), notes)


def _ratios(
    a: OptionsPrediction,
    b: OptionsPrediction,
    first: list[Replayed | TrialFailure],
    second: list[Replayed | TrialFailure],
) -> list[Ratio]:
    if a.predicted is None or b.predicted is None:
        return []
    pairs = [
        (one, other)
        for one, other in zip(first, second, strict=True)
        if isinstance(one, Replayed) and isinstance(other, Replayed)
    ]
    found = []
    values = {None: (a.predicted.value, b.predicted.value)} | {
        one.name: (one.predicted.value, other.predicted.value)
        for one, other in zip(a.families, b.families, strict=True)
    }
    for family, (mine, theirs) in values.items():
        for metric in METRICS:
            logs = [log_ratio(metric, _figures(other, family), _figures(one, family)) for one, other in pairs]
            found.append(_ratio(family, metric, getattr(mine, metric), getattr(theirs, metric), logs))
    return found


def _ratio(family: str | None, metric: str, a: float, b: float, logs: list[float]) -> Ratio:
    """The ratio of the predictions, its interval by how far the pairs of replays scatter and what any model errs."""
    ratio = b / a if a else math.nan
    middle = fmean(logs) if logs else 0.0
    scatter = stdev(logs) if len(logs) > 1 else 0.0
    model = MODEL_ERROR[metric] * min(1.0, abs(middle) / WHOLE_CHANGE)
    factor = math.exp(NINETY_PERCENT * math.hypot(scatter, model))
    return Ratio(family, metric, a, b, ratio, ratio / factor, ratio * factor)


def _figures(replayed: Replayed, family: str | None) -> Figures:
    if family is not None:
        return replayed.families.get(family, Figures())
    whole = Figures()
    for one in replayed.families.values():
        whole = whole + one
    return whole
