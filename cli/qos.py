"""`lsmlens qos`: which scheduler is in force on an OSD, what it allots, what is wrong, and which profile to choose."""

import argparse
import os
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING

from lsmlens.analyzer.errors import InputError
from lsmlens.cli import arguments
from lsmlens.cli.severity_gate import asked_severity, is_failed
from lsmlens.cli.streams import has_colour, standard_output

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from lsmlens.analyzer.analysis import Analysis
    from lsmlens.cli.parser import Parser
    from lsmlens.cli.progress import Progress
    from lsmlens.reports.outputs import QosReport

DESCRIPTION = """\
Reads what a bundle holds on scheduling: config show and dump, osd metadata, perf dumps, dump_op_pq_state, pg dump,
status, the OSD's and the cluster's log, client results. Says which scheduler is in force and what it allots to
clients, recovery and best effort; what is wrong; how long recovery takes; and, by simulation, which profile and how
many backfills at once to choose.
"""
OUTPUT_HELP = """\
also write FILE.html, .md, .json (the document), .txt, .junit.xml, or a chart as allocation.svg, front.svg, course.svg,
recovery.svg (or .png); may be given more than once
"""
DEPTH_HELP = "writes that clients keep on their way (default: as in the client results, else 64)"
MOST_WORKERS = 8


def add_to(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Add the command to the command line."""
    command = commands.add_parser(
        "qos", help="the op scheduler: in force, allocation, findings, simulation", description=DESCRIPTION
    )
    arguments.add_paths(command, arguments.BUNDLES_HELP)
    arguments.add_output(command, OUTPUT_HELP)
    arguments.add_format(command, "json", "markdown", "github")
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
    arguments.add_count(command, "--depth", DEPTH_HELP)
    arguments.add_count(command, "--osds", "OSDs in the cluster (default: as the bundle says)")
    command.add_argument("--seed", metavar="N", type=int, default=1, help="of the simulation (default: 1)")
    arguments.add_fail_on(command)
    arguments.add_redact(command)
    arguments.add_quiet(command)
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """Assess, print, and write what was asked for."""
    from lsmlens.analyzer.qos.reading import read_material, rereadable
    from lsmlens.analyzer.qos.view import view_of
    from lsmlens.cli.play_progress import PlayProgress
    from lsmlens.cli.progress import Progress
    from lsmlens.reports.outputs import QOS, QosReport
    from lsmlens.tuners.qos.assessment import assess
    from lsmlens.tuners.qos.recommendation import Objective

    outputs = QOS.outputs(options.output)
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
    if options.redact:
        from lsmlens.reports.qos_redaction import redacted

        assessment = redacted(assessment)
    report = QosReport(assessment, asked_severity(options))
    for output in outputs:
        QOS.write(output, report)
    standard_output().write(_rendered(report, options.format))
    findings = [finding for one in assessment.diagnoses for finding in one.findings]
    return 1 if is_failed(findings, report.fail_on) else 0


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
    from lsmlens.reports.outputs import QOS

    if form != "text":
        return QOS.printed(report, form)
    from lsmlens.reports.qos_text import render

    return render(report.assessment, colour=has_colour())
