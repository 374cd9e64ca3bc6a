"""Replays of one workload under several sets of options: the trials they come to, and their outcomes."""

from dataclasses import dataclass, replace
from pathlib import Path

from lsmlens.analyzer.options.sharding import DEFAULT_FAMILY
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.replays.measurement import Mode
from lsmlens.tuners.replays.outcome import Outcome, outcome_of
from lsmlens.tuners.replays.replayer import Replayer
from lsmlens.tuners.replays.trial import Trial
from lsmlens.tuners.workloads.generator import DeclaredStream
from lsmlens.tuners.workloads.stream import Stream


@dataclass(frozen=True, slots=True)
class Plan:
    """What to replay. The names of `options` differ; other fields are those of `Trial`."""

    stream: Stream
    options: tuple[OptionSet, ...]
    mode: Mode = Mode.SETTLED
    scale: float = 1.0
    seeds: tuple[int, ...] = (1,)
    settle_bytes: int = 1 << 20
    pace: float = 1.0
    flush_at_end: bool = False
    keep_log: Path | None = None

    def trials(self, replayer: Replayer) -> list[Trial]:
        """All runs, the options in turn for each seed, so that what else the machine does falls on all alike.

        Options that say how keys are spread over families (Ceph's) get the workload so spread. The LOGs go to a folder
        of each run's own in `keep_log`. Raises InputError for options that do not go together, or not with the
        engine's version.
        """
        first = [self._trial(options, replayer) for options in self.options]
        return [
            replace(
                one,
                seed=seed,
                keep_log=None if self.keep_log is None else self.keep_log / f"{number}-{seed}",
            )
            for seed in self.seeds
            for number, one in enumerate(first, 1)
        ]

    def _trial(self, options: OptionSet, replayer: Replayer) -> Trial:
        stream = _spread(self.stream, options)
        return Trial(
            stream=stream,
            options=options.scaled(self.scale).resolve(stream.families, replayer.engine.version),
            engine=replayer.engine,
            mode=self.mode,
            scale=self.scale,
            settle_bytes=self.settle_bytes,
            pace=self.pace,
            flush_at_end=self.flush_at_end,
            limits=replayer.limits,
            work_dir=replayer.work_dir,
        )


def _spread(stream: Stream, options: OptionSet) -> Stream:
    """A declared workload written to the column families that the options speak of; any other as it is."""
    columns = options.sharding.columns
    has_default_alone = options.families == (DEFAULT_FAMILY,)
    if not isinstance(stream, DeclaredStream) or not (columns or has_default_alone):
        return stream
    return replace(stream, sharding={column.prefix: column.shards for column in columns})


def replay(plan: Plan, replayer: Replayer) -> tuple[Outcome, ...]:
    """The outcome of each set of options, in their order; every run is made anew."""
    trials = plan.trials(replayer)
    results = replayer.make(trials)
    count = len(plan.options)
    return tuple(
        outcome_of(trials[number].options, plan.mode, plan.scale, results[number::count]) for number in range(count)
    )
