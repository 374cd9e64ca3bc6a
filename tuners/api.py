"""What there is to ask of the tuners: learn a workload, predict, replay, hold two sets of options together, tune.

The commands of these names print what the functions here give. A *source* is a log, a folder or an archive, several of
them, a run that was analysed, or a workload that was learned from one. Options are what `--options` takes, or an
`OptionSet`.
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.errors import InputError
from lsmlens.tuners.engines.choice import choose_engine
from lsmlens.tuners.estimation.fit import FittedWorkload, fit
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.options.reading import read_option_sets
from lsmlens.tuners.options.run_options import options_of_run
from lsmlens.tuners.predictions.anchor import anchor_on
from lsmlens.tuners.predictions.prediction import Prediction
from lsmlens.tuners.predictions.prediction import predict as predict_from
from lsmlens.tuners.replays.ledger import KEPT_SO_FAR, Ledger
from lsmlens.tuners.replays.measurement import Mode
from lsmlens.tuners.replays.outcome import Outcome, ReplayPlan
from lsmlens.tuners.replays.outcome import replay as replay_plan
from lsmlens.tuners.replays.replayer import Replayer, ReplayProgress
from lsmlens.tuners.replays.workspace import Limits
from lsmlens.tuners.search.duel import Duel, duel_of
from lsmlens.tuners.workloads.document import Workload
from lsmlens.tuners.workloads.generator import DeclaredStream
from lsmlens.tuners.workloads.sources import open_workload
from lsmlens.tuners.workloads.stream import Stream

if TYPE_CHECKING:
    from lsmlens.tuners.search.recommendation import Recommendation

PathLike: TypeAlias = str | Path
Source: TypeAlias = PathLike | Sequence[PathLike] | RunAnalysis | FittedWorkload
Options: TypeAlias = Sequence[str | OptionSet]


ARCHIVE = re.compile(r"\.(tar|tgz|tbz2?|txz|tzst|zip|7z)(\.|$)", re.IGNORECASE)
PIECE = re.compile(r".*?log", re.IGNORECASE)


def _nothing(_: object) -> None:
    """Nobody is told."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What replays are made on, and who is told of them.

    `engine` is `capi` or `rocksdict`, by default the best there is; `engine_lib` a shared library of RocksDB, or a jar
    that holds one; `rocksdb_version` stands in place of the version that wrote the log, and without `download` only
    what is here already is taken. `jobs` replays are made at once, their databases live in `work_dir`, and `limits`
    stay free. `executor` makes them elsewhere. `on_notice` is told what was done unasked, `on_phase` what is replayed
    now, and `on_progress` how far that is.
    """

    engine: str | None = None
    engine_lib: Path | None = None
    rocksdb_version: str | None = None
    download: bool = True
    jobs: int | None = None
    work_dir: Path | None = None
    limits: Limits = field(default_factory=Limits)
    executor: Executor | None = None
    on_notice: Callable[[str], None] = _nothing
    on_phase: Callable[[str], None] = _nothing
    on_progress: Callable[[ReplayProgress], None] = _nothing

    def replayer(self, version: str | None, ledger: Ledger | None = None) -> Replayer:
        """What makes replays on RocksDB `version`, unless another was asked for; kept in a ledger.

        Raises EngineError where no engine can be had.
        """
        wanted = self.rocksdb_version or version
        engine = choose_engine(self.engine, wanted, self.engine_lib, self.download, self.on_notice)
        return Replayer(
            engine, self.jobs, self.executor, self.work_dir, self.limits, ledger or Ledger(), self.on_progress
        )


def read_run(
    paths: Sequence[PathLike],
    name: str | None = None,
    *,
    heaviest: bool = False,
    on_bytes: Callable[[str, int], None] | None = None,
    on_notice: Callable[[str], None] = _nothing,
) -> RunAnalysis:
    """The run called `name` of what is under `paths`; without a name the only one that there is to choose.

    That is an OSD's or another database's, not a monitor's. Of several, `heaviest` takes the one that flushes and
    compacts most bytes. `on_notice` is told which it is where there are others. Raises InputError where there is none,
    or several and no way to choose.
    """
    source = " ".join(map(str, paths))
    runs = analyze([str(path) for path in paths], None, None, on_bytes).runs
    if name is not None:
        chosen = [one for one in runs if name in (one.run.name, one.run.name.rsplit("/", 1)[-1])]
        if len(chosen) == 1:
            return chosen[0]
        what = f"{len(chosen)} runs called {name}" if chosen else f"no run called {name}"
        raise InputError(source, what, f"there are {_names(chosen or runs)}")
    written = [one for one in runs if one.families]
    databases = [one for one in written if not one.run.is_monitor] or written
    if not databases and not heaviest:
        databases = [one for one in runs if not one.run.is_monitor] or list(runs)
    if not databases:
        raise InputError(source, "no run of a database was found", "lsmlens analyze says what was read")
    if heaviest:
        found = max(databases, key=lambda one: one.total.flush_bytes + one.total.compaction_output_bytes)
        if len(databases) > 1:
            on_notice(
                f"of {len(databases)} runs this is about {found.run.name}, which writes most; --run chooses another"
            )
        return found
    if len(databases) > 1:
        raise InputError(source, f"{len(databases)} runs", f"choose one with --run: {_names(databases)}")
    if len(runs) > 1:
        on_notice(f"of {len(runs)} runs this is about {databases[0].run.name}")
    return databases[0]


def separate_logs(paths: Sequence[str]) -> dict[str, list[str]]:
    """What was given as several logs, by name, in order: each folder and archive is one, and so are a log's pieces.

    Pieces are files of one folder whose names begin alike up to `log` (`ceph-osd.0.log`, `ceph-osd.0.log.1.gz`). A file
    without `log` in its name (`perf.json`) goes with the log before it.
    """
    found: dict[str, list[str]] = {}
    for text in dict.fromkeys(paths):
        path = Path(text)
        is_whole = path.is_dir() or ARCHIVE.search(path.name)
        piece = None if is_whole else PIECE.match(path.name)
        if piece is not None:
            found.setdefault(str(path.with_name(piece[0])), []).append(text)
        elif found and not is_whole:
            found[[*found][-1]].append(text)
        else:
            found[text] = [text]
    names = [Path(key).name or key for key in found]
    labels = [name if names.count(name) == 1 else key for name, key in zip(names, found, strict=True)]
    return dict(zip(labels, found.values(), strict=True))


def _names(runs: Sequence[RunAnalysis]) -> str:
    return ", ".join(one.run.name for one in runs)


def learn(source: Source, run: str | None = None) -> FittedWorkload:
    """The workload that a log shows, learned from the log alone.

    `run` names one of several runs. Raises InputError where there is no such run, or it flushed nothing.
    """
    if isinstance(source, FittedWorkload):
        return source
    if isinstance(source, RunAnalysis):
        return fit(source)
    return fit(read_run([source] if isinstance(source, str | Path) else source, run))


def predict(
    source: Source,
    options: Options,
    *,
    run: str | None = None,
    seeds: int = 4,
    scale: float | None = None,
    loads: Sequence[float] = (),
    rate_limit: float | None = None,
    machine: Machine | None = None,
) -> Prediction:
    """What a log would have shown under other options: the same work, in the log's own units, with 90 % intervals.

    Stalls are predicted for the log's load and for `loads` times it, and for a rate limiter of `rate_limit` bytes a
    second.

    The workload is replayed under the log's own options and under each of `options`, by `seeds` workloads that explain
    the log. Raises InputError for options that are none, or that the log's database cannot have.
    """
    machine = machine or Machine()
    learned = learn(source, run)
    own, sets = _options_of(learned, options)
    replayer = machine.replayer(learned.evidence.run.run.rocksdb_version)
    machine.on_phase("replaying own options")
    anchor = anchor_on(learned, own, replayer, candidates=sets, seeds=seeds, scale=scale)
    machine.on_phase("replaying new options")
    return predict_from(anchor, sets, replayer, loads, rate_limit)


def replay(
    workload: PathLike | Workload | FittedWorkload | Stream,
    options: Options,
    *,
    mode: str = "settled",
    scale: float = 1.0,
    seeds: int = 1,
    settle_mib: float = 1.0,
    pace: float = 1.0,
    flush_at_end: bool = False,
    keep_logs: Path | None = None,
    machine: Machine | None = None,
) -> tuple[Outcome, ...]:
    """What a real RocksDB does with a workload under each set of options, in their order.

    `workload` is a preset's name, a file (a document, a trace, a log with write batches), or one that was learned or
    declared. `mode` is `settled` (repeatable bytes) or `paced` (at the workload's own rate: stalls and latency). The
    engine is of the version that wrote the workload's log, or that all options are of. Raises InputError for options
    or a workload that are none.
    """
    machine = machine or Machine()
    sets = tuple(read_option_sets(options))
    stream = _stream(workload)
    versions = {one.rocksdb_version for one in sets if one.rocksdb_version}
    version = versions.pop() if len(versions) == 1 else None
    if isinstance(stream, DeclaredStream) and stream.rocksdb_version is not None:
        version = stream.rocksdb_version
    plan = ReplayPlan(
        stream,
        sets,
        mode=Mode(mode),
        scale=scale,
        seeds=tuple(range(1, seeds + 1)),
        settle_bytes=round(settle_mib * (1 << 20)),
        pace=pace,
        flush_at_end=flush_at_end,
        keep_log=keep_logs,
    )
    replayer = machine.replayer(version)
    machine.on_phase("replaying")
    return replay_plan(plan, replayer)


def duel(
    source: Source,
    one: str | OptionSet,
    other: str | OptionSet,
    *,
    run: str | None = None,
    machine: Machine | None = None,
) -> Duel:
    """Two sets of options on a log's workload: the predicted difference, family by family."""
    machine = machine or Machine()
    learned = learn(source, run)
    own, (first, second) = _options_of(learned, [one, other])
    if second.name == f"{first.name}#2":
        first, second = first.named("A"), second.named("B")
    replayer = machine.replayer(learned.evidence.run.run.rocksdb_version)
    machine.on_phase("replaying")
    return duel_of(learned, own, first, second, replayer)


def tune(
    source: Source,
    study: PathLike,
    *,
    run: str | None = None,
    budget_seconds: float = 600.0,
    objective: str = "balanced",
    trials: int | None = None,
    freeze: Sequence[str] = (),
    memory_bytes: int | None = None,
    candidates: Options = (),
    seed: int = 1,
    name: str | None = None,
    others: Mapping[str, Source] | None = None,
    held_out: Mapping[str, Source] | None = None,
    weights: Sequence[float] = (),
    machine: Machine | None = None,
) -> "Recommendation":
    """The settings to run a log's workload with, found by replays under many.

    Trials are kept in the file `study`; where it is there already, the search goes on with it. `objective` is one of
    `Objective`, such as `wear` or `reads`; options named in `freeze` stay as they are, `candidates` are tried as well,
    and memtables take no more than `memory_bytes`. `trials` ends the search by a number of candidates in place of time.

    `others` are more logs beside the source, which is called `name`: of other days, of other OSDs, by their names.
    Candidates cost what they cost on all of them together, each by its weight in `weights` (the first is the source's;
    1 each by default). Those in `held_out` are replayed at the end, and no choice rests on them. Raises InputError for
    weights that are not as many as the logs.
    """
    from lsmlens.tuners.search.evaluation import Evaluator
    from lsmlens.tuners.search.other_logs import OtherLog
    from lsmlens.tuners.search.request import TuningRequest
    from lsmlens.tuners.search.scores import Objective
    from lsmlens.tuners.search.tuning import Tuning  # which needs optuna
    from optuna.exceptions import StorageInternalError

    machine = machine or Machine()
    learned = learn(source, run)
    own, tried = _options_of(learned, candidates)
    others, held_out = others or {}, held_out or {}
    counts = [*weights] or [1.0] * (1 + len(others))
    if len(counts) != 1 + len(others) or min(counts) <= 0:
        said = (
            f"{len(counts)} weights for {1 + len(others)} logs" if min(counts) > 0 else f"a weight of {min(counts):g}"
        )
        raise InputError("--weight", said, "give one above 0 for each log, in their order, none for those held out")
    with closing(Ledger(Path(study))) as ledger:
        logs = []
        for number, (other, one) in enumerate([*others.items(), *held_out.items()], 1):
            fitted = learn(one)
            replaying = machine.replayer(fitted.evidence.run.run.rocksdb_version, ledger)
            evaluator = Evaluator(fitted, options_of_run(fitted.evidence.run), replaying)
            is_held_out = number > len(others)
            weight = 1.0 if is_held_out else counts[number]
            logs.append(OtherLog(other, evaluator, Objective(objective), memory_bytes, weight, is_held_out))
        replayer = machine.replayer(learned.evidence.run.run.rocksdb_version, ledger)
        request = TuningRequest(
            objective=Objective(objective),
            budget_seconds=budget_seconds,
            trials=trials,
            frozen=tuple(freeze),
            memory_bytes=memory_bytes,
            candidates=tuple(tried),
            batch=ledger.decided("batch", machine.jobs or max(2, len(os.sched_getaffinity(0)))),
            seed=seed,
            log=name,
            weight=counts[0],
        )
        try:
            evaluator = Evaluator(learned, own, replayer)
            return Tuning(evaluator, request, Path(study), machine.on_phase, logs).recommend()
        except StorageInternalError as error:
            reason = str(error.__cause__ or error).splitlines()[0]
            raise InputError(str(study), f"the study cannot be kept: {reason}", KEPT_SO_FAR) from error


def _options_of(learned: FittedWorkload, options: Options) -> tuple[OptionSet, list[OptionSet]]:
    """The log's own options, and the sets that are asked for, over them."""
    own = options_of_run(learned.evidence.run)
    return own, read_option_sets(options, own)


def _stream(workload: PathLike | Workload | FittedWorkload | Stream) -> Stream:
    if isinstance(workload, FittedWorkload):
        return workload.stream
    if isinstance(workload, Workload):
        return DeclaredStream(workload)
    return open_workload(str(workload)) if isinstance(workload, str | Path) else workload
