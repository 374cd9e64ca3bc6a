"""`lsmlens tune`: recommended settings, with the trade-off, the certainty and the exact commands."""

import argparse
import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from lsmlens.analyzer.errors import InputError
from lsmlens.cli import arguments
from lsmlens.cli.chosen_engine import choose_engine
from lsmlens.cli.chosen_options import read_candidates, read_option_set
from lsmlens.cli.chosen_run import read_heaviest_run
from lsmlens.cli.streams import has_colour, standard_output

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from lsmlens.cli.parser import Parser
    from lsmlens.reports.recommendation_report import RecommendationReport

DESCRIPTION = """\
Learns the workload from a log bundle, replays it in an embedded RocksDB under the log's own options and under many
others, and says which to run with: what changes and how certain that is, what it costs, what was tried and lost, and
the commands to paste. If nothing beats the current settings beyond noise, it says so. With --ab, only two given sets
of options are compared on the log's workload.
"""
OUTPUT_HELP = """\
also write FILE.html, .md, .json (the document), .txt, .ini (the options as an OPTIONS file), .conf (as part of
ceph.conf), or a chart as front.svg, course.svg, families.svg (or .png); may be given more than once
"""
DEFAULT_STUDY = "lsmlens-study.db"


def add_to(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Add the command to the command line."""
    command = commands.add_parser(
        "tune", help="recommended settings, with the trade-off and the commands", description=DESCRIPTION
    )
    arguments.add_paths(command, arguments.LOGS_HELP)
    command.add_argument(
        "--run", metavar="NAME", help="which run of the bundle (default: the one that writes most bytes)"
    )
    command.add_argument(
        "--ab",
        metavar=("A", "B"),
        nargs=2,
        help="compare two sets of options (as for predict) on the log's workload, instead of searching",
    )
    search = command.add_argument_group("search")
    search.add_argument(
        "--budget",
        metavar="TIME",
        type=_duration,
        default=600.0,
        help="how long to search: 90s, 10m, 2h (default: 10m)",
    )
    search.add_argument(
        "--objective",
        choices=("wear", "latency", "cpu", "balanced"),
        default="balanced",
        help="what counts most (default: balanced)",
    )
    search.add_argument(
        "--freeze",
        metavar="OPTION",
        action="append",
        default=[],
        help="keep this option as it is, COLUMN.OPTION for one column; may be given more than once",
    )
    search.add_argument(
        "--candidates", metavar="FILE", help="a file with sets of options (as for predict) to try, one a line"
    )
    search.add_argument(
        "--memory", metavar="SIZE", type=_size, help="most memory for memtables, such as 1G (default: a quarter of"
        " osd_memory_target, or as much as now)"
    )  # fmt: skip
    arguments.add_count(search, "--trials", "screen N candidates, however long that takes")
    search.add_argument("--seed", metavar="N", type=int, default=1, help="of the search's draws (default: 1)")
    search.add_argument(
        "--study", metavar="FILE", help=f"where trials are kept (default: {DEFAULT_STUDY})", default=DEFAULT_STUDY
    )
    search.add_argument("--resume", action="store_true", help="go on with the study in that file")
    arguments.add_engine(command, "instead of the version that wrote the log")
    machine = command.add_argument_group("machines")
    arguments.add_count(machine, "--jobs", "replays at once (default: one a processor)")
    machine.add_argument(
        "--scheduler", metavar="ADDRESS", help="run the replays on the workers of this dask.distributed scheduler"
    )
    arguments.add_work_dir(machine, "where databases live while they run (default: in memory where there is room)")
    arguments.add_output(command, OUTPUT_HELP)
    arguments.add_format(command, "json", "markdown")
    arguments.add_quiet(command)
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """Search, print, and write what was asked for."""
    from lsmlens.reports.outputs import RECOMMENDATION

    if options.ab is not None:
        return _compare(options)
    outputs = RECOMMENDATION.outputs(options.output)
    study = _study(options)
    report = _report(options, study)
    for output in outputs:
        RECOMMENDATION.write(output, report)
    standard_output().write(_printed(report, options.format))
    return 0


def _printed(report: "RecommendationReport", form: str) -> str:
    from lsmlens.reports.outputs import RECOMMENDATION

    if form != "text":
        return RECOMMENDATION.printed(report, form)
    from lsmlens.reports.recommendation_text import render

    return render(report, colour=has_colour())


def _study(options: argparse.Namespace) -> Path:
    path = Path(options.study)
    if path.exists() and not options.resume:
        raise InputError(str(path), "there is a study already", "--resume goes on with it, --study FILE begins another")
    if not path.exists() and options.resume:
        raise InputError(str(path), "there is no study to resume", "leave --resume away to begin one")
    if not path.absolute().parent.is_dir():
        raise InputError(str(path.parent), "no such folder", "make it first")
    return path


def _report(options: argparse.Namespace, study: Path) -> "RecommendationReport":
    from lsmlens.cli.search_progress import SearchProgress
    from lsmlens.reports.recommendation_report import RecommendationReport
    from lsmlens.tuners.estimation.fit import fit
    from lsmlens.tuners.options.run_options import options_of_run
    from lsmlens.tuners.replays.ledger import Ledger
    from lsmlens.tuners.replays.replayer import Replayer
    from lsmlens.tuners.search.application import application_of
    from lsmlens.tuners.search.evaluation import Evaluator
    from lsmlens.tuners.search.request import Request
    from lsmlens.tuners.search.scores import Objective
    from lsmlens.tuners.search.tuning import Tuning

    analysis = read_heaviest_run(options.paths, options.run, options.quiet)
    fitted = fit(analysis)
    own = options_of_run(analysis)
    candidates = [] if options.candidates is None else read_candidates(options.candidates, own)
    engine = choose_engine(options, analysis.run.rocksdb_version)
    with ExitStack() as stack:
        executor, slots = _executor(options.scheduler, stack)
        progress = stack.enter_context(SearchProgress(quiet=options.quiet))
        ledger = Ledger(study)
        stack.callback(ledger.close)
        replayer = Replayer(
            engine,
            jobs=options.jobs or slots,
            executor=executor,
            work_dir=options.work_dir,
            ledger=ledger,
            on_progress=progress.show,
        )
        request = Request(
            objective=Objective(options.objective),
            budget_seconds=options.budget,
            trials=options.trials,
            frozen=tuple(options.freeze),
            memory_bytes=options.memory,
            candidates=tuple(candidates),
            batch=ledger.decided("batch", options.jobs or slots or max(2, len(os.sched_getaffinity(0)))),
            seed=options.seed,
        )
        recommendation = Tuning(Evaluator(fitted, own, replayer), request, study, progress.say).recommend()
    source = " ".join(options.paths)
    picked = recommendation.picked
    application = (
        None if picked is None else application_of(analysis, recommendation.present, picked.options, options.paths[0])
    )
    return RecommendationReport(source, recommendation, application)


def _compare(options: argparse.Namespace) -> int:
    """Two sets of options on the log's workload: the predicted difference, family by family."""
    from lsmlens.cli.trial_progress import TrialProgress
    from lsmlens.reports.outputs import DUEL
    from lsmlens.tuners.estimation.fit import fit
    from lsmlens.tuners.options.run_options import options_of_run
    from lsmlens.tuners.replays.replayer import Replayer
    from lsmlens.tuners.search.duel import duel_of

    outputs = DUEL.outputs(options.output)
    analysis = read_heaviest_run(options.paths, options.run, options.quiet)
    fitted, own = fit(analysis), options_of_run(analysis)
    one, other = (read_option_set(text, own) for text in options.ab)
    if one.name == other.name:
        one, other = one.named("A"), other.named("B")
    engine = choose_engine(options, analysis.run.rocksdb_version)
    with TrialProgress(quiet=options.quiet) as progress:
        replayer = Replayer(engine, options.jobs, work_dir=options.work_dir, on_progress=progress.show)
        duel = duel_of(fitted, own, one, other, replayer)
    for output in outputs:
        DUEL.write(output, duel)
    standard_output().write(DUEL.printed(duel, options.format))
    return 0


def _executor(address: str | None, stack: ExitStack) -> "tuple[Executor | None, int | None]":
    """The executor of a dask.distributed scheduler, and how many replays its workers run at once."""
    if address is None:
        return None, None
    from lsmlens.tuners.replays.cluster import cluster_executor

    return cluster_executor(address, stack)


def _duration(text: str) -> float:
    from lsmlens.analyzer.durations import parse_duration

    try:
        return parse_duration(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _size(text: str) -> int:
    from lsmlens.analyzer.options.option_strings import parse_size

    size = parse_size(text.upper().removesuffix("IB").removesuffix("B"))
    if size is None or size <= 0:
        raise argparse.ArgumentTypeError(f"{text} is no size such as 512M or 1G")
    return size
