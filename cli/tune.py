"""`lsmlens tune`: recommended settings, with the trade-off, the certainty and the exact commands."""

import argparse
import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from lsmlens.analyzer.errors import InputError

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from lsmlens.analyzer.analysis import RunAnalysis
    from lsmlens.cli.parser import Parser
    from lsmlens.reports.recommendation_report import RecommendationReport
    from lsmlens.tuners.engines.choice import EngineChoice
    from lsmlens.tuners.options.option_set import OptionSet

DESCRIPTION = """\
Learns the workload from a log bundle, replays it in an embedded RocksDB under the log's own options and under many
others, and says which to run with: what changes and how certain that is, what it costs, what was tried and lost, and
the commands to paste. If nothing beats the current settings beyond noise, it says so. With --ab, only two given sets
of options are compared on the log's workload.
"""
UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
DEFAULT_STUDY = "lsmlens-study.db"


def add_to(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Add the command to the command line."""
    command = commands.add_parser(
        "tune", help="recommended settings, with the trade-off and the commands", description=DESCRIPTION
    )
    command.add_argument("paths", metavar="PATH", nargs="+", help="a log, a folder or an archive")
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
    search.add_argument("--trials", metavar="N", type=_count, help="screen N candidates, however long that takes")
    search.add_argument("--seed", metavar="N", type=int, default=1, help="of the search's draws (default: 1)")
    search.add_argument(
        "--study", metavar="FILE", help=f"where trials are kept (default: {DEFAULT_STUDY})", default=DEFAULT_STUDY
    )
    search.add_argument("--resume", action="store_true", help="go on with the study in that file")
    engine = command.add_argument_group("engine")
    engine.add_argument("--engine", choices=("capi", "rocksdict"), help="how RocksDB is embedded (default: the best)")
    engine.add_argument("--engine-lib", metavar="PATH", help="a shared library of RocksDB, or a jar that holds one")
    engine.add_argument("--rocksdb-version", metavar="V", help="instead of the version that wrote the log")
    engine.add_argument("--no-download", action="store_true", help="take an engine that is here already")
    machine = command.add_argument_group("machines")
    machine.add_argument("--jobs", metavar="N", type=_count, help="replays at once (default: one a processor)")
    machine.add_argument(
        "--scheduler", metavar="ADDRESS", help="run the replays on the workers of this dask.distributed scheduler"
    )
    machine.add_argument(
        "--work-dir", metavar="DIR", help="where databases live while they run (default: in memory where there is room)"
    )
    command.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        action="append",
        default=[],
        help="also write FILE.html, .md, .json (the document), .txt, .ini (the options as an OPTIONS file), .conf (as"
        " part of ceph.conf), or a chart as front.svg, course.svg, families.svg (or .png); may be given more than once",
    )
    command.add_argument("--format", choices=("text", "json", "markdown"), default="text", help="what to print"
                         " (default: text)")  # fmt: skip
    command.add_argument("-q", "--quiet", action="store_true", help="no progress on standard error")
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """Search, print, and write what was asked for."""
    from lsmlens.cli.parser import standard_output
    from lsmlens.reports.output_files import parse_outputs, write

    if options.ab is not None:
        return _compare(options)
    from lsmlens.reports.recommendation_files import CHARTS, WRITERS

    outputs = parse_outputs(options.output, WRITERS, CHARTS)
    study = _study(options)
    report = _report(options, study)
    for output in outputs:
        write(output, report, WRITERS)
    standard_output().write(_printed(report, options.format))
    return 0


def _printed(report: "RecommendationReport", form: str) -> str:
    if form == "json":
        from lsmlens.reports.recommendation_json import to_json

        return to_json(report)
    if form == "markdown":
        from lsmlens.reports.recommendation_markdown import render as to_markdown

        return to_markdown(report)
    from lsmlens.reports.recommendation_text import render

    return render(report, colour=sys.stdout.isatty() and "NO_COLOR" not in os.environ)


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
    from lsmlens.tuners.search.application import application_of
    from lsmlens.tuners.search.evaluation import Evaluator
    from lsmlens.tuners.search.ledger import Ledger
    from lsmlens.tuners.search.request import Request
    from lsmlens.tuners.search.scores import Objective
    from lsmlens.tuners.search.tuning import Tuning

    analysis = _heaviest_run(options)
    fitted = fit(analysis)
    own = options_of_run(analysis)
    candidates = _candidates(options.candidates, own)
    engine = _engine(options, analysis)
    with ExitStack() as stack:
        executor, slots = _executor(options.scheduler, stack)
        progress = stack.enter_context(SearchProgress(quiet=options.quiet))
        ledger = Ledger(study)
        stack.callback(ledger.close)
        evaluator = Evaluator(
            fitted,
            own,
            engine,
            ledger,
            jobs=options.jobs or slots,
            executor=executor,
            work_dir=None if options.work_dir is None else Path(options.work_dir),
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
        recommendation = Tuning(evaluator, request, study, progress.say).recommend()
    source = " ".join(options.paths)
    picked = recommendation.picked
    application = (
        None if picked is None else application_of(analysis, recommendation.present, picked.options, options.paths[0])
    )
    return RecommendationReport(source, recommendation, application)


def _compare(options: argparse.Namespace) -> int:
    """Two sets of options on the log's workload: the predicted difference, family by family."""
    from lsmlens.cli.parser import standard_output
    from lsmlens.cli.trial_progress import TrialProgress
    from lsmlens.reports.duel_files import WRITERS
    from lsmlens.reports.output_files import parse_outputs, write
    from lsmlens.tuners.estimation.fit import fit
    from lsmlens.tuners.options.run_options import options_of_run
    from lsmlens.tuners.search.duel import duel_of

    outputs = parse_outputs(options.output, WRITERS)
    analysis = _heaviest_run(options)
    fitted, own = fit(analysis), options_of_run(analysis)
    one, other = (_options(text, own) for text in options.ab)
    if one.name == other.name:
        one, other = one.named("A"), other.named("B")
    work_dir = None if options.work_dir is None else Path(options.work_dir)
    engine = _engine(options, analysis)
    with TrialProgress(quiet=options.quiet) as progress:
        duel = duel_of(fitted, own, one, other, engine, jobs=options.jobs, work_dir=work_dir, on_progress=progress.show)
    for output in outputs:
        write(output, duel, WRITERS)
    if options.format == "json":
        from lsmlens.reports.duel_report import to_json

        standard_output().write(to_json(duel))
    else:
        from lsmlens.reports.duel_report import render

        standard_output().write(render(duel))
    return 0


def _heaviest_run(options: argparse.Namespace) -> "RunAnalysis":
    """The run called so, or the one that writes most; said where there were others."""
    from lsmlens.cli.chosen_run import read_run

    if options.run is not None:
        return read_run(options.paths, options.run, options.quiet)
    from lsmlens.analyzer.analysis import analyze
    from lsmlens.cli.progress import Progress

    with Progress(options.paths, quiet=options.quiet) as progress:
        runs = [one for one in analyze(options.paths, None, None, progress.advance).runs if one.families]
    osds = [one for one in runs if not one.run.is_monitor] or runs
    if not osds:
        raise InputError(
            " ".join(options.paths), "no run of a database was found", "lsmlens analyze says what was read"
        )
    heaviest = max(osds, key=lambda one: one.total.flush_bytes + one.total.compaction_output_bytes)
    if len(osds) > 1:
        _notice(f"of {len(osds)} runs this is about {heaviest.run.name}, which writes most; --run chooses another")
    return heaviest


def _candidates(path: str | None, own: "OptionSet") -> "list[OptionSet]":
    """The sets of a file, one a line; empty lines and those that begin with # are none."""
    if path is None:
        return []
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(path, f"cannot be read: {error}", "one set of options a line, as for predict") from error
    sets: list[OptionSet] = []
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        try:
            one = _options(text, own)
        except InputError as error:
            raise InputError(f"{path}:{number}", str(error), "one set of options a line, as for predict") from error
        if one.name in {other.name for other in sets} | {"current"}:
            one = one.named(f"{one.name} (line {number})")
        sets.append(one)
    return sets


def _options(text: str, own: "OptionSet") -> "OptionSet":
    from lsmlens.tuners.options.reading import read_options

    one = read_options(text, own)
    one.validate(own.families, own.rocksdb_version)
    return one


def _executor(address: str | None, stack: ExitStack) -> "tuple[Executor | None, int | None]":
    """The executor of a dask.distributed scheduler, and how many replays its workers run at once."""
    if address is None:
        return None, None
    from lsmlens.tuners.search.cluster import cluster_executor

    return cluster_executor(address, stack)


def _engine(options: argparse.Namespace, analysis: "RunAnalysis") -> "EngineChoice":
    from lsmlens.tuners.engines.choosing import choose_engine

    return choose_engine(
        options.engine,
        options.rocksdb_version or analysis.run.rocksdb_version,
        None if options.engine_lib is None else Path(options.engine_lib),
        allow_download=not options.no_download,
        on_notice=_notice,
    )


def _notice(text: str) -> None:
    print(f"note: {text}", file=sys.stderr)


def _duration(text: str) -> float:
    unit = UNITS.get(text[-1:].lower())
    try:
        seconds = float(text[:-1]) * unit if unit else float(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text} is no time such as 90s, 10m or 2h") from error
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return seconds


def _size(text: str) -> int:
    from lsmlens.analyzer.options.option_strings import parse_size

    size = parse_size(text.upper().removesuffix("IB").removesuffix("B"))
    if size is None or size <= 0:
        raise argparse.ArgumentTypeError(f"{text} is no size such as 512M or 1G")
    return size


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return value
