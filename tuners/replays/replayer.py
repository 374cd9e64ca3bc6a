"""The replayer: makes replays, at once or one after another, here or elsewhere, and keeps what they came to."""

import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Executor, Future, ThreadPoolExecutor, as_completed, wait
from dataclasses import dataclass, field, replace
from pathlib import Path

from lsmlens.tuners.engines.choice import EngineChoice
from lsmlens.tuners.replays.ledger import Ledger, trial_keys
from lsmlens.tuners.replays.measurement import FailureKind, Measurement, Mode, TrialFailure
from lsmlens.tuners.replays.trial import Trial, run_trial
from lsmlens.tuners.replays.workspace import Limits, memory_folder

LEAST_SHARE = 0.01
TURN_SECONDS = 0.2


@dataclass(slots=True)
class ReplayProgress:
    """How far a number of runs is: `done` and `failed` of `runs`, and `share` of all their work."""

    runs: int
    done: int = 0
    failed: int = 0
    started: float = field(default_factory=time.monotonic)
    shares: dict[int, float] = field(default_factory=dict)

    @property
    def share(self) -> float:
        """What is done of all the work, from 0 to 1."""
        return sum(self.shares.values()) / self.runs if self.runs else 1.0

    @property
    def seconds_left(self) -> float | None:
        """Seconds the rest takes at the pace so far; None while too little is done to tell."""
        if self.share < LEAST_SHARE:
            return None
        return (time.monotonic() - self.started) * (1 - self.share) / self.share


OnResult = Callable[[int, Measurement | TrialFailure], None]


@dataclass(frozen=True, slots=True)
class Replayer:
    """What every replay of a command needs: the engine, the machine it may take, and the ledger it is kept in.

    `jobs` replays are made at once; by default settled ones one for each processor, paced ones alone. `executor` makes
    them elsewhere (such as `distributed.Client.get_executor()`). `work_dir` is where databases live; where it is None,
    that is the user's cache, or memory (`settled_folder`). `limits` must stay free on the machine. `ledger` keeps the
    replays made, in memory by default. `on_progress` is told how far they are, from several threads, one at a time.
    """

    engine: EngineChoice
    jobs: int | None = None
    executor: Executor | None = None
    work_dir: Path | None = None
    limits: Limits = field(default_factory=Limits)
    ledger: Ledger = field(default_factory=Ledger)
    on_progress: Callable[[ReplayProgress], None] | None = None

    @property
    def at_once(self) -> int:
        """How many settled replays are made at once."""
        return self.jobs or max(1, len(os.sched_getaffinity(0)))

    def settled_folder(self, replay_bytes: float) -> Path | None:
        """Where databases of settled replays live that hold up to so many bytes each.

        Syncs of a disk are most of a settled replay's time, and what it is made for, bytes, does not depend on the
        device: so that is memory, where it has room for those that are made at once. None is the user's cache.
        """
        if self.work_dir is not None or self.executor is not None:
            return self.work_dir
        return memory_folder(replay_bytes * self.at_once)

    def results(self, trials: Sequence[Trial]) -> list[Measurement | TrialFailure]:
        """What the trials came to, in their order: those that the ledger knows, and the others, made and kept there.

        Their workloads must be declared ones.
        """
        keys = trial_keys(trials)
        known = {key: kept for key in dict.fromkeys(keys) if (kept := self.ledger.replay(key)) is not None}
        results: dict[str, Measurement | TrialFailure] = dict(known)
        missing = [place for place, key in enumerate(keys) if key not in results and key not in keys[:place]]

        def keep(place: int, result: Measurement | TrialFailure) -> None:
            if isinstance(result, Measurement):
                self.ledger.keep_replay(keys[missing[place]], result)

        made = self.make([trials[place] for place in missing], keep)
        results |= {keys[place]: result for place, result in zip(missing, made, strict=True)}
        return [_called(results[key], one.options.name) for key, one in zip(keys, trials, strict=True)]

    def make(self, trials: Sequence[Trial], on_result: OnResult | None = None) -> list[Measurement | TrialFailure]:
        """Make all of these replays anew; their results in their order, in which they are begun, too.

        `on_result` is called with a trial's place and result as soon as it has one, by one thread at a time. Elsewhere
        progress is told by whole runs; here each run has a process of its own. An interrupt ends them all, and their
        folders go.
        """
        progress = ReplayProgress(len(trials))
        if self.executor is not None:
            return self._elsewhere(self.executor, trials, progress, on_result)
        lock, stop = threading.Lock(), threading.Event()

        def run(number: int) -> Measurement | TrialFailure:
            def tell(share: float) -> None:
                with lock:
                    progress.shares[number] = min(share, 1.0)
                    if self.on_progress is not None:
                        self.on_progress(progress)

            result = run_trial(trials[number], tell, stop)
            with lock:
                progress.done += 1
                progress.failed += isinstance(result, TrialFailure)
                if on_result is not None:
                    on_result(number, result)
            tell(1.0)
            return result

        is_paced = any(one.mode is Mode.PACED for one in trials)  # these would slow each other
        count = self.jobs or (1 if is_paced else self.at_once)
        with ThreadPoolExecutor(count, thread_name_prefix="replay") as threads:
            futures = [threads.submit(run, number) for number in range(len(trials))]
            try:
                waiting = set(futures)
                while waiting:  # in turns: a signal that another thread got is seen between two
                    waiting = wait(waiting, TURN_SECONDS, FIRST_EXCEPTION).not_done
                    if any(future.done() and future.exception() for future in futures):
                        break
                return [future.result() for future in futures]
            except BaseException:
                stop.set()
                for future in futures:
                    future.cancel()
                raise

    def _elsewhere(
        self,
        executor: Executor,
        trials: Sequence[Trial],
        progress: ReplayProgress,
        on_result: OnResult | None,
    ) -> list[Measurement | TrialFailure]:
        futures = [executor.submit(run_trial, trial) for trial in trials]
        numbers = {future: number for number, future in enumerate(futures)}
        results: dict[int, Measurement | TrialFailure] = {}
        try:
            for future in as_completed(futures):
                number = numbers[future]
                results[number] = _result(future, trials[number])
                progress.done += 1
                progress.failed += isinstance(results[number], TrialFailure)
                if on_result is not None:
                    on_result(number, results[number])
                progress.shares[number] = 1.0
                if self.on_progress is not None:
                    self.on_progress(progress)
        except BaseException:
            for future in futures:
                future.cancel()
            raise
        return [results[number] for number in range(len(trials))]


def _called(result: Measurement | TrialFailure, name: str) -> Measurement | TrialFailure:
    """The result with the name that its options have in this trial: others may have the same options."""
    if isinstance(result, TrialFailure) or result.options.name == name:
        return result
    return replace(result, options=replace(result.options, name=name))


def _result(future: "Future[Measurement | TrialFailure]", trial: Trial) -> Measurement | TrialFailure:
    """A worker that is lost costs its run only."""
    try:
        return future.result()
    except Exception as error:
        return TrialFailure(trial.seed, FailureKind.CRASHED, f"its worker was lost: {type(error).__name__}: {error}")
