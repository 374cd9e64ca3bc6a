"""What a log would have shown under other options: the same work, in the log's own units, with a 90 % interval."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.predictions.anchor import Anchor, weighed
from lsmlens.tuners.predictions.figures import METRICS, Figures, total
from lsmlens.tuners.predictions.quality import quality
from lsmlens.tuners.predictions.read_costs import NO_READ_COSTS, ReadCosts, read_costs
from lsmlens.tuners.predictions.replays import Replayed, replay_all, replayed
from lsmlens.tuners.predictions.self_consistency import SLACK, error, log_ratio
from lsmlens.tuners.predictions.stalls import StallForecast, forecasts
from lsmlens.tuners.predictions.uncertainty import (
    NINETY_PERCENT,
    Deviation,
    bounds,
    deviation,
    effective,
    lasting_share,
    not_lasting,
    part_of,
    spread_of,
)
from lsmlens.tuners.predictions.windows_needed import WindowNeed, level0_trigger, windows_needed
from lsmlens.tuners.replays.measurement import TrialFailure
from lsmlens.tuners.replays.replayer import Replayer


@dataclass(frozen=True, slots=True)
class Predicted:
    """One figure's set: the value, and the ends of its 90 % interval."""

    value: Figures
    low: Figures
    high: Figures


@dataclass(frozen=True, slots=True)
class FamilyPrediction:
    """What one family would have done. `raw` is the replays' own mean, before it was anchored on the log."""

    name: str
    predicted: Predicted
    raw: Figures


@dataclass(frozen=True, slots=True)
class OptionsPrediction:
    """What the log would have shown under one set of options; `predicted` is None where every replay failed.

    `stalls` is None where the log does not tell how long compactions took, or nothing can hold them that long.
    `amplification_bounds` and `ratio_bounds` are the intervals of the write amplification and of records out per
    record in, whose parts do not err apart.
    """

    options: OptionSet
    predicted: Predicted | None
    families: tuple[FamilyPrediction, ...]
    amplification_bounds: tuple[float, float] | None
    ratio_bounds: tuple[float, float] | None
    needs: tuple[WindowNeed, ...]
    quality: tuple[str, ...]
    reads: ReadCosts = NO_READ_COSTS
    stalls: StallForecast | None = None

    @property
    def name(self) -> str:
        """The name of the options."""
        return self.options.name


@dataclass(frozen=True, slots=True)
class Prediction:
    """Predictions of several sets of options, from one anchor; `own_stalls` are those under the log's own options."""

    anchor: Anchor
    predictions: tuple[OptionsPrediction, ...]
    own_stalls: StallForecast | None = None


RATIO_ERROR = 0.02


def predict(
    anchor: Anchor,
    options: Sequence[OptionSet],
    replayer: Replayer,
    loads: Sequence[float] = (),
    rate_limit: float | None = None,
) -> Prediction:
    """Replay the anchor's variants under each set of options, and say what the log would have shown.

    Stalls are predicted for `loads` times the log's load, too, and for a rate limiter of `rate_limit` bytes a second.
    Raises InputError for options that cannot stand together.
    """
    results = replay_all(anchor.variants, options, anchor.fitted.evidence.run, replayer)
    found = [
        prediction_of(anchor, one, replayed(every, anchor.variants))
        for one, every in zip(options, results, strict=True)
    ]
    asked = [(one.options, {each.name: each.predicted.value for each in one.families}) for one in found]
    own, *stalls = forecasts(anchor, [(anchor.options, anchor.observed), *asked], replayer, loads, rate_limit)
    return Prediction(anchor, tuple(replace(one, stalls=each) for one, each in zip(found, stalls, strict=True)), own)


def prediction_of(anchor: Anchor, options: OptionSet, results: Sequence[Replayed | TrialFailure]) -> OptionsPrediction:
    """What replays of the anchor's variants, in their order, say of a set of options."""
    ended = [number for number, one in enumerate(results) if isinstance(one, Replayed)]
    found = [one for one in results if isinstance(one, Replayed)]
    failures = [one for one in results if isinstance(one, TrialFailure)]
    needs = windows_needed(anchor.fitted, options, found)
    said = quality(anchor, options, found, failures, needs)
    if not found:
        return OptionsPrediction(options, None, (), None, None, needs, said)
    beyond = {one.family: one.beyond for one in needs}
    own = [anchor.own[number] for number in ended]
    families, deviations = [], {}
    for name, seen in sorted(anchor.observed.items()):
        weights = [anchor.weights[name][number] for number in ended]
        trigger = level0_trigger(options, name)
        family, deviations[name] = _family(name, seen, own, found, weights, beyond.get(name, 1.0), trigger)
        families.append(family)
    values = {one.name: one.predicted.value for one in families}
    value = total(values)
    low, high = {}, {}
    for metric in METRICS:
        parts = {name: getattr(one, metric) for name, one in values.items()}
        low[metric], high[metric] = bounds(getattr(value, metric), _of_total(metric, parts, deviations))
    # where none of a family's flushes is predicted to be compacted, the few that may be come on top
    first = total({one.name: one.predicted.high for one in families if not one.predicted.value.compactions})
    first = replace(first, flushes=0.0, flush_bytes=0.0)
    predicted = Predicted(value, Figures(**low), Figures(**high) + first)
    return OptionsPrediction(
        options,
        predicted,
        tuple(families),
        _amplification(predicted),
        _ratio(value, deviations),
        needs,
        said,
        read_costs(anchor, found, ended),
    )


def _family(
    name: str,
    seen: Figures,
    own: Sequence[Replayed],
    found: Sequence[Replayed],
    weights: Sequence[float],
    beyond: float,
    trigger: int,
) -> tuple[FamilyPrediction, dict[str, Deviation]]:
    """What the log shows of the family, times the replays' mean ratio, metric by metric."""
    before = [one.families.get(name, Figures()) for one in own]
    after = [one.families.get(name, Figures()) for one in found]
    raw = Figures(*(weighed([getattr(one, metric) for one in after], weights) for metric in METRICS))
    at_own = Figures(*(weighed([getattr(one, metric) for one in before], weights) for metric in METRICS))
    changes = {metric: abs(log_ratio(metric, raw, at_own)) for metric in METRICS}
    change = max(changes.values())
    flush_change = max(of_one for metric, of_one in changes.items() if metric.startswith("flush"))
    value, low, high, deviations = {}, {}, {}, {}
    for metric in METRICS:
        ratios = [log_ratio(metric, one, other) for one, other in zip(after, before, strict=True)]
        ratio = weighed(ratios, weights)
        off = error(metric, at_own, seen)
        jobs = seen.flushes if metric.startswith("flush") else seen.compactions
        chance = spread_of([log_ratio(metric, one, seen) for one in before], weights, jobs)
        passing = not_lasting(metric, off, chance, effective(weights))
        lasts = lasting_share(metric, off, passing)
        # options that leave flushes as they are leave them as the log shows them
        anchored = ratio + (1 - lasts) * off * part_of(flush_change if metric.startswith("flush") else change)
        value[metric] = _anchored(getattr(seen, metric), getattr(raw, metric), anchored, SLACK[metric])
        # compactions come in chains, each begun by as many flushes as trigger one
        jobs = raw.flushes if metric.startswith("flush") else raw.flushes / trigger
        spread = spread_of(ratios, weights, jobs)
        deviations[metric] = deviation(metric, spread, math.sqrt(lasts) * passing, change, beyond)
        low[metric], high[metric] = bounds(value[metric], deviations[metric].whole)
    most = Figures(**high)
    if not value["compactions"] and value["flushes"] < trigger <= most.flushes:
        most = most + _first_compactions(seen, most, trigger)
    return FamilyPrediction(name, Predicted(Figures(**value), Figures(**low), most), raw), deviations


def _first_compactions(seen: Figures, most: Figures, trigger: int) -> Figures:
    """What is compacted if as many flushes as may be trigger it, though the replays had too few.

    Each table is then compacted once, and holds as many records by its bytes as those that the log compacted.
    """
    count = float(int(most.flushes / trigger))
    per_byte = most.flush_bytes / seen.output_bytes if seen.output_bytes else 0.0
    return Figures(
        compactions=count,
        output_bytes=most.flush_bytes,
        input_records=seen.input_records * per_byte,
        output_records=seen.output_records * per_byte,
    )


def _anchored(seen: float, raw: float, ratio: float, slack: float) -> float:
    """The observed value times the ratio; where the log shows none, what the replay does."""
    if not raw:
        return 0.0
    return max(0.0, (seen + slack) * math.exp(ratio) - slack) if seen else raw


def _of_total(metric: str, parts: dict[str, float], deviations: dict[str, dict[str, Deviation]]) -> float:
    """The deviation of a sum: families err apart in part, and together in part."""
    whole = sum(parts.values())
    if not whole:
        return 0.0
    apart = math.sqrt(sum((part * deviations[name][metric].own) ** 2 for name, part in parts.items()))
    together = sum(part * deviations[name][metric].shared for name, part in parts.items())
    return math.hypot(apart, together) / whole


def _amplification(predicted: Predicted) -> tuple[float, float] | None:
    """Bounds of the write amplification: those of the compaction bytes, beside flush bytes as predicted."""
    flushed = predicted.value.flush_bytes
    if not flushed:
        return None
    return (flushed + predicted.low.output_bytes) / flushed, (flushed + predicted.high.output_bytes) / flushed


def _ratio(value: Figures, deviations: dict[str, dict[str, Deviation]]) -> tuple[float, float] | None:
    """Bounds of records out per record in: both counts err together, so by a part of their deviation."""
    ratio = value.output_input_ratio
    if ratio is None:
        return None
    shared = max((one["output_records"].shared for one in deviations.values()), default=0.0)
    factor = math.exp(NINETY_PERCENT * math.hypot(RATIO_ERROR, shared / 2))
    return ratio / factor, min(1.0, ratio * factor)
