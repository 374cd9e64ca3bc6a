"""`lsmlens qos`: which scheduler is in force on an OSD, what it allots, what is wrong, and which profile to choose."""

import argparse
import os
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING

from lsmlens.analyzer.errors import InputError

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from lsmlens.analyzer.analysis import Analysis
    from lsmlens.analyzer.qos.rules import Diagnosis
    from lsmlens.cli.parser import Parser
    from lsmlens.cli.progress import Progress
    from lsmlens.reports.qos_files import QosReport

DESCRIPTION = """\
Reads what a bundle holds on scheduling: config show and dump, osd metadata, perf dumps, dump_op_pq_state, pg dump,
status, the OSD's and the cluster's log, client results. Says which scheduler is in force and what it allots to
clients, recovery and best effort; what is wrong; how long recovery takes; and, by simulation, which profile and how
many backfills at once to choose.
"""
MOST_WORKERS = 8


def add_to(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Add the command to the command line."""
    from lsmlens.cli.analyze import PATHS_HELP

    command = commands.add_parser(
        "qos", help="the op scheduler: in force, allocation, findings, simulation", description=DESCRIPTION
    )
    command.add_argument("paths", metavar="PATH", nargs="+", help=PATHS_HELP)
    command.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        action="append",
        default=[],
        help="also write FILE.html, .md, .json (the document), .txt, or a chart as allocation.svg, front.svg,"
        " course.svg, recovery.svg (or .png); may be given more than once",
    )
    command.add_argument("--format", choices=("text", "json", "markdown"), default="text", help="what to print"
                         " (default: text)")  # fmt: skip
    command.add_argument(
        "--objective",
        choices=("client", "balanced", "recovery"),
        default="balanced",
        help="what the recommendation favours (default: balanced, the least product of clients' mean and recovery's"
        " time)",
    )
    command.add_argument(
        "--no-simulation", action="store_true", help="only what is in force, findings and closed forms"
    )
    command.add_argument("--depth", metavar="N", type=_count, help="writes that clients keep on their way (default:"
                         " as in the client results, else 64)")  # fmt: skip
    command.add_argument("--osds", metavar="N", type=_count, help="OSDs in the cluster (default: as the bundle says)")
    command.add_argument("--seed", metavar="N", type=int, default=1, help="of the simulation (default: 1)")
    command.add_argument(
        "--fail-on",
        choices=("info", "warning", "critical"),
        metavar="SEVERITY",
        help="leave with status 1 if there is a finding of this severity (info, warning, critical) or above",
    )
    command.add_argument("-q", "--quiet", action="store_true", help="no progress on standard error")
    command.set_defaults(command=run)


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"not a number above 0: {text}")
    return value


def run(options: argparse.Namespace) -> int:
    """Assess, print, and write what was asked for."""
    from lsmlens.analyzer.findings import Severity
    from lsmlens.analyzer.qos.reading import read_material, rereadable
    from lsmlens.analyzer.qos.view import view_of
    from lsmlens.cli.parser import standard_output
    from lsmlens.cli.play_progress import PlayProgress
    from lsmlens.cli.progress import Progress
    from lsmlens.reports.output_files import parse_outputs, write
    from lsmlens.reports.qos_files import CHARTS, WRITERS, QosReport
    from lsmlens.tuners.qos.assessment import assess
    from lsmlens.tuners.qos.recommendation import Objective

    outputs = parse_outputs(options.output, WRITERS, CHARTS)
    with rereadable(options.paths) as paths:
        with Progress([*paths, *paths], quiet=options.quiet) as progress:  # which are read twice
            analysis = _analysis(paths, progress)
            material = read_material(paths, analysis, progress.advance)
        view = view_of(material)
        with ExitStack() as stack:
            executor = None if options.no_simulation else _executor(stack)
            playing = stack.enter_context(PlayProgress(options.quiet or options.no_simulation))
            assessment = assess(
                view,
                executor,
                Objective(options.objective),
                depth=options.depth,
                osds=options.osds,
                seed=options.seed,
                on_played=playing.tell,
            )
    report = QosReport(assessment)
    for output in outputs:
        write(output, report, WRITERS)
    standard_output().write(_rendered(report, options.format))
    limit = None if options.fail_on is None else Severity(options.fail_on).rank
    return 1 if limit is not None and _is_failed(assessment.diagnoses, limit, options.fail_on) else 0


def _analysis(paths: list[str], progress: "Progress") -> "Analysis | None":
    """What the logs came to; None where there are none, for documents alone will do."""
    from lsmlens.analyzer.analysis import analyze

    try:
        return analyze(paths, on_progress=progress.advance)
    except InputError:
        return None


def _executor(stack: ExitStack) -> "Executor":
    """Processes for the simulation, which is all Python; an interrupt is for their parent."""
    import signal
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    workers = min(MOST_WORKERS, os.cpu_count() or 1)
    # A fork needs no second import of everything; there are no threads yet that it could lose.
    context = get_context("fork" if sys.platform == "linux" else "spawn")
    executor = ProcessPoolExecutor(
        workers, context, initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_IGN)
    )
    stack.callback(executor.shutdown, wait=True, cancel_futures=True)
    return executor


def _rendered(report: "QosReport", form: str) -> str:
    if form == "json":
        from lsmlens.reports.qos_json import to_json

        return to_json(report.assessment)
    if form == "markdown":
        from lsmlens.reports import qos_markdown

        return qos_markdown.render(report.assessment)
    from lsmlens.reports.qos_text import render

    return render(report.assessment, colour=sys.stdout.isatty() and "NO_COLOR" not in os.environ)


def _is_failed(diagnoses: "tuple[Diagnosis, ...]", limit: int, severity: str) -> bool:
    """Whether a finding reaches the limit; says so on standard error."""
    reached = [finding for one in diagnoses for finding in one.findings if finding.severity.rank >= limit]
    if reached:
        print(f"failed: {len(reached)} finding(s) of severity {severity} or above", file=sys.stderr)
    return bool(reached)
