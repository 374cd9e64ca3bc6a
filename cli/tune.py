"""`lsmlens tune`: recommended settings, with the trade-off, the certainty and the exact commands."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from lsmlens.analyzer.errors import InputError, LsmlensError
from lsmlens.cli import completion
from lsmlens.cli.arguments import (
    MACHINE,
    Colour,
    Engine,
    EngineLib,
    Full,
    Jobs,
    Logs,
    NoDownload,
    Quiet,
    Redact,
    RocksdbVersion,
    WorkDir,
    files,
    formats,
)
from lsmlens.cli.commands import examples
from lsmlens.cli.progress import Progress, read_run
from lsmlens.cli.streams import hiding, note, publish
from lsmlens.cli.values import seconds, size
from lsmlens.reports.outputs import DUEL, RECOMMENDATION

if TYPE_CHECKING:
    from concurrent.futures import Executor


DEFAULT_STUDY = "lsmlens-study.db"
SEARCH = "Search"

app = typer.Typer(add_completion=False)
EXAMPLES = examples(
    "lsmlens tune ceph-osd.0.log.gz",
    "lsmlens tune monday/ friday/ osd.7/ --hold-out osd.9/",
    "lsmlens tune bundle/ --ab ceph:quincy ceph:reef",
)


@app.command(epilog=EXAMPLES)
def tune(
    paths: Logs,
    *,
    run: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Which run of the bundle (default: the one that writes most bytes)."),
    ] = None,
    ab: Annotated[
        tuple[str, str] | None,
        typer.Option(
            metavar="A B",
            autocompletion=completion.option_presets,
            help="Compare two sets of options (as for predict) on the log's workload, instead of searching.",
        ),
    ] = None,
    hold_out: Annotated[
        list[str],
        typer.Option(
            metavar="PATH",
            default_factory=list,
            show_default=False,
            help="A log to hold out: no choice rests on it, and what is advised is tried on it. More than once.",
            rich_help_panel=SEARCH,
        ),
    ],
    weight: Annotated[
        list[float],
        typer.Option(
            metavar="NUMBER",
            default_factory=list,
            show_default=False,
            help="What each log counts, once for each in their order (default: 1).",
            rich_help_panel=SEARCH,
        ),
    ],
    budget: Annotated[
        float,
        typer.Option(
            metavar="TIME",
            parser=seconds,
            show_default="10m",
            help="How long to search: 90s, 10m, 2h.",
            rich_help_panel=SEARCH,
        ),
    ] = 600.0,
    objective: Annotated[
        Literal["wear", "reads", "latency", "throughput", "cpu", "balanced"],
        typer.Option(help="What to optimise for.", rich_help_panel=SEARCH),
    ] = "balanced",
    freeze: Annotated[
        list[str],
        typer.Option(
            metavar="OPTION",
            default_factory=list,
            show_default=False,
            help="Keep this option as it is, COLUMN.OPTION for one column; may be given more than once.",
            rich_help_panel=SEARCH,
        ),
    ],
    candidates: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="A file with sets of options (as for predict) to try, one a line.",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    memory: Annotated[
        int | None,
        typer.Option(
            metavar="SIZE",
            parser=size,
            help="Most memory for memtables, such as 1G (default: a quarter of osd_memory_target, or as much as now).",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Screen N candidates, however long that takes.", rich_help_panel=SEARCH),
    ] = None,
    seed: Annotated[
        int, typer.Option(metavar="N", min=0, help="Seed of the search's random choices.", rich_help_panel=SEARCH)
    ] = 1,
    study: Annotated[
        Path, typer.Option(metavar="FILE", help="Where to keep the trials.", rich_help_panel=SEARCH)
    ] = Path(DEFAULT_STUDY),
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the study in that file.", rich_help_panel=SEARCH)
    ] = False,
    engine: Engine = None,
    engine_lib: EngineLib = None,
    rocksdb_version: RocksdbVersion = None,
    no_download: NoDownload = False,
    jobs: Jobs = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Run the replays on the workers of this dask.distributed scheduler.",
            rich_help_panel=MACHINE,
        ),
    ] = None,
    work_dir: WorkDir = None,
    output: Annotated[list[str], files(RECOMMENDATION)],
    form: Annotated[str, formats(RECOMMENDATION)] = "text",
    full: Full = False,
    redact: Redact = False,
    colour: Colour = "auto",
    quiet: Quiet = False,
) -> None:
    """Learns the workload from a log bundle, replays it under many sets of options, and says which to run with.

    What changes and how certain that is, what it costs, what was tried and lost, what would make it wrong, and the
    commands to paste. If nothing beats the current settings beyond noise, it says so. Several logs, of other days or
    OSDs, make it search for settings that are good on all of them; pieces of one log are one. With --ab, only two given
    sets of options are compared on the log's workload.
    """
    from lsmlens import tuners
    from lsmlens.reports.recommendation_tables import RecommendationReport
    from lsmlens.tuners.options.reading import read_candidates
    from lsmlens.tuners.options.run_options import options_of_run
    from lsmlens.tuners.search.application import application_of

    if ab is None:
        outputs = RECOMMENDATION.outputs(output)
        _check_study(study, resume)
    else:
        duel_outputs = DUEL.outputs(output)
        if form not in DUEL.formats:
            raise LsmlensError(f"--format {form}: not with --ab", f"use {' or '.join(DUEL.formats)}")
    first, *more = _logs(paths, hold_out, run, ab is not None)
    analysis = read_run(first[1], run, quiet, heaviest=True)
    others = {name: read_run(group, None, quiet, heaviest=True) for name, group in more}
    held_out = {
        name: read_run(group, None, quiet, heaviest=True) for name, group in tuners.separate_logs(hold_out).items()
    }
    tried = [] if candidates is None else read_candidates(candidates, options_of_run(analysis))
    hide = hiding(redact)
    if ab is None:  # the study shall hold no names either
        analysis, tried, freeze, others, held_out = hide((analysis, tried, freeze, others, held_out))
    learned = tuners.learn(analysis)
    with ExitStack() as stack:
        executor, slots = _executor(scheduler, stack)
        progress = stack.enter_context(Progress(quiet))
        machine = tuners.Machine(
            engine,
            engine_lib,
            rocksdb_version,
            not no_download,
            jobs or slots,
            work_dir,
            executor=executor,
            on_notice=note,
            on_phase=progress.begin,
            on_progress=progress.replayed,
        )
        if ab is not None:
            duel = tuners.duel(learned, *ab, machine=machine)
        else:
            recommendation = tuners.tune(
                learned,
                study,
                budget_seconds=budget,
                objective=objective,
                trials=trials,
                freeze=freeze,
                memory_bytes=memory,
                candidates=tried,
                seed=seed,
                name=first[0] if others or held_out else None,
                others=others,
                held_out=held_out,
                weights=weight,
                machine=machine,
            )
    if ab is not None:
        publish(DUEL, hide(duel), duel_outputs, form, full, colour)
        return
    picked = recommendation.picked
    application = (
        None if picked is None else application_of(analysis, recommendation.present, picked.options, first[1][0])
    )
    report = RecommendationReport(" ".join(paths), recommendation, application)
    publish(RECOMMENDATION, hide(report), outputs, form, full, colour)


def _logs(paths: list[str], hold_out: list[str], run: str | None, is_duel: bool) -> list[tuple[str, list[str]]]:
    """The logs to learn from, each with its name; one where a run is named, whatever was given."""
    from lsmlens import tuners

    learned = [path for path in paths if path not in hold_out]
    if not learned:
        raise InputError("--hold-out", "every log is held out", "leave one to learn from")
    logs = [*tuners.separate_logs(learned).items()]
    if len(logs) == 1 or run is not None or is_duel:
        return [(logs[0][0], learned)]
    return logs


def _check_study(path: Path, resume: bool) -> None:
    if path.exists() and not resume:
        raise InputError(str(path), "there already is a study", "--resume goes on with it, --study FILE begins another")
    if not path.exists() and resume:
        raise InputError(str(path), "there is no study to resume", "leave out --resume to begin one")
    if not path.absolute().parent.is_dir():
        raise InputError(str(path.parent), "no such folder", "make it first")


def _executor(address: str | None, stack: ExitStack) -> "tuple[Executor | None, int | None]":
    """The executor of a dask.distributed scheduler, and how many replays its workers run at once."""
    if address is None:
        return None, None
    from lsmlens.tuners.replays.cluster import cluster_executor

    return cluster_executor(address, stack)
