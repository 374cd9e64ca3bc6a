"""Paced rounds: the best finalists beside the present options at full size and the log's own rate, for latency.

A round is one seed and one load, each option set in turn, one replay at a time, so that what else the machine does
falls on all alike. A round lasts as long as the log does, divided by the load, for each option set: most budgets do not
allow for any, and then the answer says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import NamedTuple

from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.replays.measurement import Latencies, Measurement, Mode, TrialFailure
from lsmlens.tuners.replays.trial import Trial
from lsmlens.tuners.search.evaluation import Evaluator

# Seeds and loads in the order in which they are tried: the log's own rate first.
ROUNDS = ((1, 1.0), (1, 2.0), (2, 1.0), (2, 2.0), (1, 0.5), (3, 1.0))
# A replay takes so much longer than its workload, to open and to close.
OVERHEAD = 1.1


class Paced(NamedTuple):
    """One paced replay: its seed and load, seconds of stalls and latencies of writes."""

    seed: int
    load: float
    stall_seconds: float | None
    latencies: Latencies | None


@dataclass(frozen=True, slots=True)
class Pacing:
    """What was measured, by name of the options, one entry a round; and why not, where nothing was.

    `disturbed` are what disturbed replays, one entry for each of those that were.
    """

    replays: dict[str, tuple[Paced, ...]]
    least_seconds: float
    problem: str | None = None
    disturbed: tuple[str, ...] = ()

    def stall_seconds(self, name: str) -> float | None:
        """Mean seconds of stalls at the log's own rate; None where they were not measured."""
        known = [one.stall_seconds for one in self._at_own_rate(name) if one.stall_seconds is not None]
        return fmean(known) if known else None

    def latencies(self, name: str) -> Latencies | None:
        """Mean latencies at the log's own rate; None where they were not measured."""
        known = [one.latencies for one in self._at_own_rate(name) if one.latencies is not None]
        if not known:
            return None
        return Latencies(
            round(fmean(one.writes for one in known)),
            {point: fmean(one.response_micros[point] for one in known) for point in known[0].response_micros},
            {point: fmean(one.service_micros[point] for one in known) for point in known[0].service_micros},
            fmean(one.mean_response_micros for one in known),
        )

    def _at_own_rate(self, name: str) -> list[Paced]:
        return [one for one in self.replays.get(name, ()) if one.load == 1]


def affordable_rounds(seconds: float, sets: int, left: float) -> list[tuple[int, float]]:
    """The rounds that fit into what is left, for a log of so many seconds."""
    rounds = []
    for seed, load in ROUNDS:
        left -= sets * seconds / load * OVERHEAD
        if left < 0:
            break
        rounds.append((seed, load))
    return rounds


def paced(evaluator: Evaluator, sets: Sequence[OptionSet], rounds: Sequence[tuple[int, float]]) -> Pacing:
    """Replay the option sets in turn, one at a time."""
    stream, replayer = evaluator.fitted.stream, evaluator.replayer
    least = 2 * stream.seconds * OVERHEAD
    if not rounds:
        return Pacing({}, least, "latency and stalls were not measured: the budget allows no replay at the log's rate")
    trials = [
        Trial(
            stream,
            options.resolve(stream.families, replayer.engine.version),
            replayer.engine,
            Mode.PACED,
            seed=seed,
            pace=load,
            work_dir=replayer.work_dir,
        )
        for seed, load in rounds
        for options in sets
    ]
    results = replace(replayer, jobs=1).results(trials)
    found: dict[str, list[Paced]] = {one.name: [] for one in sets}
    problems = [one.reason for one in results if isinstance(one, TrialFailure)]
    places = [(round_, options) for round_ in rounds for options in sets]
    for ((seed, load), options), result in zip(places, results, strict=True):
        if isinstance(result, Measurement):
            found[options.name].append(Paced(seed, load, result.stalls.seconds, result.latencies))
    problem = f"a paced replay failed: {problems[0]}" if problems else None
    disturbed = tuple(one.disturbances[0] for one in results if isinstance(one, Measurement) and one.disturbances)
    return Pacing({name: tuple(every) for name, every in found.items()}, least, problem, disturbed)
