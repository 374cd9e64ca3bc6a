"""Many replays, one after another or at once, on this machine or on others."""

import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Executor, Future, ThreadPoolExecutor, as_completed, wait
from dataclasses import dataclass, field

from lsmlens.tuners.replays.measurement import FailureKind, Measurement, Mode, TrialFailure
from lsmlens.tuners.replays.trial import Trial, run_trial

LEAST_SHARE = 0.01
TURN_SECONDS = 0.2


@dataclass(slots=True)
class Progress:
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


def default_jobs(mode: Mode) -> int:
    """Settled runs at once: one for each processor; paced ones would slow each other, and are run alone."""
    return 1 if mode is Mode.PACED else max(1, len(os.sched_getaffinity(0)))


def run_trials(
    trials: Sequence[Trial],
    jobs: int | None = None,
    executor: Executor | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    on_result: Callable[[int, Measurement | TrialFailure], None] | None = None,
) -> list[Measurement | TrialFailure]:
    """The results of the trials, in their order; they are begun in that order, too.

    `executor` runs them elsewhere (such as `distributed.Client.get_executor()`); then progress is told by whole
    runs. Without one, `jobs` run at once here, each in a process of its own. An interrupt ends them all, and their
    folders go. `on_progress` is called from several threads, one at a time; so is `on_result`, with a trial's place
    and result as soon as it has one.
    """
    progress = Progress(len(trials))
    if executor is not None:
        return _elsewhere(trials, executor, progress, on_progress, on_result)
    lock, stop = threading.Lock(), threading.Event()

    def run(number: int) -> Measurement | TrialFailure:
        def tell(share: float) -> None:
            with lock:
                progress.shares[number] = min(share, 1.0)
                if on_progress is not None:
                    on_progress(progress)

        result = run_trial(trials[number], tell, stop)
        with lock:
            progress.done += 1
            progress.failed += isinstance(result, TrialFailure)
            if on_result is not None:
                on_result(number, result)
        tell(1.0)
        return result

    count = jobs or default_jobs(trials[0].mode if trials else Mode.SETTLED)
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
    trials: Sequence[Trial],
    executor: Executor,
    progress: Progress,
    on_progress: Callable[[Progress], None] | None,
    on_result: Callable[[int, Measurement | TrialFailure], None] | None,
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
            if on_progress is not None:
                on_progress(progress)
    except BaseException:
        for future in futures:
            future.cancel()
        raise
    return [results[number] for number in range(len(trials))]


def _result(future: "Future[Measurement | TrialFailure]", trial: Trial) -> Measurement | TrialFailure:
    """A worker that is lost costs its run only."""
    try:
        return future.result()
    except Exception as error:
        return TrialFailure(trial.seed, FailureKind.CRASHED, f"its worker was lost: {type(error).__name__}: {error}")
