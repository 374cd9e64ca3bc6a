"""`lsmlens qos`: which scheduler is in force on an OSD, what it allots, what is wrong, and which profile to choose."""

import os
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from lsmlens.cli.arguments import Bundles, Colour, FailOn, Full, Quiet, Redact, files, formats
from lsmlens.cli.commands import examples
from lsmlens.cli.streams import hiding, is_gate_failed, publish
from lsmlens.reports.outputs import QOS

if TYPE_CHECKING:
    from concurrent.futures import Executor


MOST_WORKERS = 8

app = typer.Typer(add_completion=False)
EXAMPLES = examples(
    "lsmlens qos bundle/",
    "lsmlens qos bundle/ --no-simulation --fail-on warning",
    "ceph tell osd.0 config show | lsmlens qos - --no-simulation",
)


@app.command(epilog=EXAMPLES)
def qos(
    paths: Bundles,
    *,
    output: Annotated[list[str], files(QOS)],
    form: Annotated[str, formats(QOS)] = "text",
    objective: Annotated[
        Literal["client", "balanced", "recovery"],
        typer.Option(
            help="What the recommendation favours; balanced: the least product of clients' mean and recovery's time."
        ),
    ] = "balanced",
    no_simulation: Annotated[
        bool, typer.Option("--no-simulation", help="Only what is in force, findings and closed forms.")
    ] = False,
    depth: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Writes that clients keep in flight (default: as in the client results, else 64).",
        ),
    ] = None,
    osds: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="OSDs in the cluster (default: as the bundle says).")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Seed of the simulation.")] = 1,
    fail_on: FailOn = None,
    redact: Redact = False,
    full: Full = False,
    colour: Colour = "auto",
    quiet: Quiet = False,
) -> int:
    """Says which scheduler is in force on an OSD and what it allots to clients, recovery and best effort.

    And what is wrong; how long recovery takes; and, by simulation, which profile and how many backfills at once to
    choose. Reads what a bundle holds on scheduling: config show and dump, osd metadata, perf dumps, dump_op_pq_state,
    pg dump, status, the OSD's and the cluster's log, client results.
    """
    from lsmlens.analyzer.findings import Severity
    from lsmlens.analyzer.qos.reading import read_material
    from lsmlens.analyzer.qos.view import view_of
    from lsmlens.cli.progress import Progress
    from lsmlens.reports.qos import QosReport
    from lsmlens.tuners.qos.assessment import assess
    from lsmlens.tuners.qos.recommendation import QosObjective

    outputs = QOS.outputs(output)
    with ExitStack() as stack:
        progress = stack.enter_context(Progress(quiet))
        material = read_material(paths, progress.reading(paths))
        assessment = assess(
            view_of(material),
            None if no_simulation else _executor(stack),
            QosObjective(objective),
            depth=depth,
            osds=osds,
            seed=seed,
            on_played=None if no_simulation else progress.simulating(),
        )
    assessment = hiding(redact)(assessment)
    report = QosReport(assessment, None if fail_on is None else Severity(fail_on))
    publish(QOS, report, outputs, form, full, colour)
    findings = [finding for run in assessment.diagnoses for finding in run.findings]
    return 1 if is_gate_failed(findings, report.fail_on) else 0


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
