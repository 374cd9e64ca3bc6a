"""`lsmlens workload`: the workload that a log shows, learned from the log alone."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from lsmlens.analyzer.errors import InputError
from lsmlens.cli.arguments import Colour, Full, Logs, Quiet, Redact, Run, files, formats
from lsmlens.cli.commands import examples
from lsmlens.cli.progress import read_run
from lsmlens.cli.streams import hiding, is_coloured, print_result, terminal_width
from lsmlens.reports.outputs import WORKLOAD

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lsmlens.tuners.workloads.moments import FamilyMoments
    from lsmlens.tuners.workloads.stream import Stream

app = typer.Typer(add_completion=False)
EXAMPLES = examples(
    "lsmlens workload ceph-osd.0.log.gz",
    "lsmlens workload bundle/ --run osd.3 -o workload.yaml",
    "lsmlens workload ceph-osd.0.log.gz --exact trace -o summary.txt",
)


@app.command(epilog=EXAMPLES)
def workload(
    paths: Logs,
    *,
    run: Run = None,
    exact: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="What was really written: a query trace, a log with write batches (debug_rocksdb 30) or a workload"
            " document; the estimate is held against it.",
        ),
    ] = None,
    output: Annotated[list[str], files(WORKLOAD, "; - prints the document")],
    form: Annotated[str, formats(WORKLOAD)] = "text",
    full: Full = False,
    redact: Redact = False,
    colour: Colour = "auto",
    quiet: Quiet = False,
) -> None:
    """Learns from a log bundle what was written to the database.

    Per column family the puts and deletes over time, the sizes of keys and values, and which keys overwrite and delete
    each other, as far as flushes and compactions show it. Says in words what was learned from what, and writes it as a
    workload document, which `lsmlens replay` takes. A query trace, or an OSD's log with write batches (debug_rocksdb
    30), is counted exactly instead.
    """
    from lsmlens import tuners

    hide = hiding(redact)
    outputs = WORKLOAD.outputs([name for name in output if name != "-"])
    stream = _trace(paths)
    if stream is None:
        try:
            fitted = hide(tuners.learn(read_run(paths, run, quiet)))
        except InputError:
            stream = _batches(paths)
            if stream is None:
                raise
    if stream is not None:
        print_result(_counted(stream, paths, bool(output), exact, hide, is_coloured(colour)))
        return
    for one in outputs:
        WORKLOAD.write(one, fitted)
    if "-" in output or form != "text":
        text = WORKLOAD.printed(fitted, "yaml" if "-" in output else form)
    else:
        text = WORKLOAD.screen(fitted, full, terminal_width(), is_coloured(colour))
    if exact is not None:
        from lsmlens.reports.terminal import render
        from lsmlens.reports.workload import compose_check
        from lsmlens.tuners.workloads.moments import moments
        from lsmlens.tuners.workloads.sources import open_workload

        written, learned = moments(open_workload(exact)), moments(fitted.stream)
        check = compose_check(*hide((exact, written, learned)))
        text += "\n" + render(check, full, terminal_width(), is_coloured(colour))
    print_result(text)


def _counted(
    stream: "Stream",
    paths: "Sequence[str]",
    wants_document: bool,
    exact: str | None,
    hide: "Callable[[tuple[str, tuple[FamilyMoments, ...]]], tuple[str, tuple[FamilyMoments, ...]]]",
    colour: bool,
) -> str:
    """What a stream of write batches holds."""
    from lsmlens.reports.terminal import render
    from lsmlens.reports.workload import compose_counted
    from lsmlens.tuners.workloads.moments import moments

    source = " ".join(paths)
    if wants_document:
        raise InputError(source, "is counted, not learned: there is no document", "lsmlens replay takes it as it is")
    if exact is not None:
        raise InputError(source, "is exact itself", "--exact goes with a log")
    return render(compose_counted(*hide((source, moments(stream)))), width=terminal_width(), colour=colour)


def _trace(paths: "Sequence[str]") -> "Stream | None":
    """The one path as a query trace, if it is one."""
    from lsmlens.tuners.workloads.trace_file import is_trace
    from lsmlens.tuners.workloads.traces import open_trace

    path = Path(paths[0])
    if len(paths) > 1 or not path.is_file():
        return None
    with path.open("rb") as file:
        return open_trace(path) if is_trace(file.read(4096)) else None


def _batches(paths: "Sequence[str]") -> "Stream | None":
    """The one path as a log with write batches, if it has any."""
    from lsmlens.tuners.workloads.batch_lines import open_batch_lines

    try:
        return open_batch_lines(Path(paths[0])) if len(paths) == 1 else None
    except InputError:
        return None
