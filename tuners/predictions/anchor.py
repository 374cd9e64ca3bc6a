"""The anchor: a fitted workload replayed under the log's own options, which every prediction is measured against.

What a prediction says of a family is what the log shows of it, times how much more or less the replay of the same
workload does under the other options: bias that both replays share falls out. Besides the best fit, draws from the
ridge are replayed, smaller; those that come nearer to the log count more, family by family.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lsmlens.tuners.engines.choice import EngineChoice
from lsmlens.tuners.estimation.fit import FittedWorkload
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.predictions.figures import METRICS, Figures
from lsmlens.tuners.predictions.refinement import refined, variant_of
from lsmlens.tuners.predictions.replays import Replayed, Variant, refuse_if_all_failed, replay_all, replayed
from lsmlens.tuners.predictions.scales import coarser_scale, usual_scale
from lsmlens.tuners.predictions.self_consistency import Check, check, log_ratio
from lsmlens.tuners.replays.measurement import TrialFailure
from lsmlens.tuners.replays.replayer import Replayer

# Draws whose error is one of these larger than another's count by a factor of e^-0.5 less.
ERROR_UNIT = 0.1
# The best fit at the finer scale counts as so many draws.
BEST_COUNTS = 3.0
WEIGHED_METRICS = ("flush_bytes", "output_bytes", "compactions")
LEAST_WEIGHT = 0.02


@dataclass(frozen=True, slots=True)
class Anchor:
    """Replays of a fitted workload's variants under the log's own options.

    `own` are those that reached their end, with their `variants`. `weights` say, by family, how much each counts.
    """

    fitted: FittedWorkload
    options: OptionSet
    engine: EngineChoice
    observed: Mapping[str, Figures]
    variants: tuple[Variant, ...]
    own: tuple[Replayed, ...]
    weights: Mapping[str, tuple[float, ...]]
    checks: tuple[Check, ...]
    failures: tuple[TrialFailure, ...] = ()

    @property
    def scale(self) -> float:
        """The finest scale replayed."""
        return min(one.scale for one in self.variants)

    def mean(self, family: str, metric: str) -> float:
        """The replays' weighed mean of a family's metric, under the log's own options."""
        values = [getattr(one.families.get(family, Figures()), metric) for one in self.own]
        return weighed(values, self.weights[family])


def anchor_on(
    fitted: FittedWorkload,
    options: OptionSet,
    replayer: Replayer,
    *,
    candidates: Sequence[OptionSet] = (),
    seeds: int = 4,
    scale: float | None = None,
) -> Anchor:
    """Refine the fit, and replay it and `seeds` - 1 draws from the ridge under the log's own options.

    `scale` is the best fit's, by default the usual one; `candidates` are considered for how far down scales can go.
    Raises InputError if no replay reaches its end.
    """
    every = [options, *candidates]

    def replay(variants: Sequence[Variant]) -> list[Replayed | TrialFailure]:
        (results,) = replay_all(variants, [options], fitted.evidence.run, replayer)
        return replayed(results, variants)

    coarse = usual_variants(fitted, every, 2, scale)[-1].scale
    refit = refined(fitted, replay, coarse)
    variants = usual_variants(refit, every, seeds, scale)
    return anchor_from(refit, options, replayer.engine, variants, replay(variants))


def usual_variants(
    fitted: FittedWorkload, options: Sequence[OptionSet], seeds: int, scale: float | None = None
) -> list[Variant]:
    """The best fit, and `seeds` - 1 draws from the ridge at a coarser scale that every set of `options` stands."""
    families = fitted.stream.families
    operations = sum(one.evidence.operations for one in fitted.families)
    best = scale if scale is not None else usual_scale(operations, options, families)
    coarse = coarser_scale(best, options, families)
    return [
        variant_of(fitted, best),
        *(variant_of(fitted, coarse, one, 2 + number) for number, one in enumerate(fitted.draws(seeds - 1))),
    ]


def anchor_from(
    fitted: FittedWorkload,
    options: OptionSet,
    engine: EngineChoice,
    variants: Sequence[Variant],
    results: Sequence[Replayed | TrialFailure],
) -> Anchor:
    """The anchor of replays of these variants under the log's own options. Raises InputError if none has ended."""
    refuse_if_all_failed(results, fitted.name)
    best = variants[0].scale
    observed = {one.name: Figures.of(one) for one in fitted.evidence.run.families}
    ended = [(variant, one) for variant, one in zip(variants, results, strict=True) if isinstance(one, Replayed)]
    own = tuple(one for _, one in ended)
    weights = {family: _weights(family, own, seen, best, ended) for family, seen in observed.items()}
    means = {
        family: Figures(
            *(
                weighed([getattr(one.families.get(family, Figures()), metric) for one in own], weights[family])
                for metric in METRICS
            )
        )
        for family in observed
    }
    return Anchor(
        fitted,
        options,
        engine,
        observed,
        tuple(variant for variant, _ in ended),
        own,
        weights,
        check(means, observed),
        tuple(one for one in results if isinstance(one, TrialFailure)),
    )


def weighed(values: Sequence[float], weights: Sequence[float]) -> float:
    """The weighed mean."""
    return sum(value * weight for value, weight in zip(values, weights, strict=True)) / sum(weights)


def _weights(
    family: str,
    own: Sequence[Replayed],
    observed: Figures,
    best: float,
    ended: Sequence[tuple[Variant, Replayed]],
) -> tuple[float, ...]:
    """How much each replay counts for a family: the nearer to the log the more."""
    squares = [
        sum(log_ratio(metric, one.families.get(family, Figures()), observed) ** 2 for metric in WEIGHED_METRICS)
        / ERROR_UNIT**2
        for one in own
    ]
    least = min(squares)
    return tuple(
        max(LEAST_WEIGHT, math.exp((least - square) / 2 / len(WEIGHED_METRICS)))
        * (BEST_COUNTS if variant.scale == best and number == 0 else 1.0)
        for number, (square, (variant, _)) in enumerate(zip(squares, ended, strict=True))
    )
