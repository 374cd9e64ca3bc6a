"""`lsmlens workload`: the workload that a log shows, learned from the log alone."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from lsmlens.analyzer.errors import InputError
from lsmlens.cli import arguments
from lsmlens.cli.chosen_run import read_run
from lsmlens.cli.streams import has_colour, standard_output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lsmlens.cli.parser import Parser
    from lsmlens.tuners.estimation.fit import FittedWorkload
    from lsmlens.tuners.workloads.stream import Stream

DESCRIPTION = """\
Learns from a log bundle what was written to the database: per column family the puts and deletes over time, the sizes
of keys and values, and which keys overwrite and delete each other, as far as flushes and compactions show it. Writes it
as a workload document, which `lsmlens replay` takes, and says in words what was learned from what. A query trace, or an
OSD's log with write batches (debug_rocksdb 30), is counted exactly instead.
"""
RUN_HELP = "which run of the bundle, where there are several, such as osd.3"
OUTPUT_HELP = """\
write the document to FILE.yaml, or the summary to FILE.txt; - prints the document instead of the summary; may be given
more than once
"""
EXACT_HELP = """\
what was really written: a query trace, a log with write batches (debug_rocksdb 30) or a workload document; the
estimate is held against it
"""


def add_to(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Add the command to the command line."""
    command = commands.add_parser("workload", help="the workload a log shows", description=DESCRIPTION)
    arguments.add_paths(command, arguments.LOGS_HELP)
    command.add_argument("--run", metavar="NAME", help=RUN_HELP)
    command.add_argument("--exact", metavar="FILE", help=EXACT_HELP)
    arguments.add_output(command, OUTPUT_HELP)
    arguments.add_quiet(command)
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """Fit or count, print the summary, and write what was asked for."""
    from lsmlens.reports.outputs import WORKLOAD
    from lsmlens.reports.workload_text import render
    from lsmlens.tuners.estimation.fit import fit
    from lsmlens.tuners.workloads.yaml_form import to_yaml

    outputs = WORKLOAD.outputs([name for name in options.output if name != "-"])
    stream = _trace(options.paths)
    if stream is None:
        try:
            fitted = fit(read_run(options.paths, options.run, options.quiet))
        except InputError:
            stream = _batches(options.paths)
            if stream is None:
                raise
    if stream is not None:
        return _count(stream, options)
    for output in outputs:
        WORKLOAD.write(output, fitted)
    out = standard_output()
    if "-" in options.output:
        out.write(to_yaml(fitted.workload))
    else:
        out.write(render(fitted, colour=has_colour()))
    if options.exact is not None:
        _check(fitted, options.exact)
    return 0


def _count(stream: "Stream", options: argparse.Namespace) -> int:
    """Print what a stream of write batches holds."""
    from lsmlens.reports.moments_text import render
    from lsmlens.tuners.workloads.moments import moments

    source = " ".join(options.paths)
    if options.output:
        raise InputError(source, "is counted, not learned: there is no document", "lsmlens replay takes it as it is")
    if options.exact is not None:
        raise InputError(source, "is exact itself", "--exact stands beside a log")
    standard_output().write(render(source, moments(stream), colour=has_colour()))
    return 0


def _check(fitted: "FittedWorkload", path: str) -> None:
    from lsmlens.reports.moments_text import render_check
    from lsmlens.tuners.workloads.moments import moments
    from lsmlens.tuners.workloads.sources import open_workload

    text = render_check(path, moments(open_workload(path)), moments(fitted.stream), colour=has_colour())
    standard_output().write("\n" + text)


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
