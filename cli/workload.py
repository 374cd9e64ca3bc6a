"""`lsmlens workload`: the workload that a log shows, learned from the log alone."""

import argparse
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lsmlens.cli.parser import Parser

DESCRIPTION = """\
Learns from a log bundle what was written to the database: per column family the puts and deletes over time, the sizes
of keys and values, and which keys overwrite and delete each other, as far as flushes and compactions show it. Writes it
as a workload document, which `lsmlens replay` takes, and says in words what was learned from what.
"""
RUN_HELP = "which run of the bundle, where there are several, such as osd.3"


def add_to(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Add the command to the command line."""
    command = commands.add_parser("workload", help="the workload a log shows", description=DESCRIPTION)
    command.add_argument("paths", metavar="PATH", nargs="+", help="a log, a folder or an archive")
    command.add_argument("--run", metavar="NAME", help=RUN_HELP)
    command.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        action="append",
        default=[],
        help="write the document to FILE.yaml, or the summary to FILE.txt; - prints the document instead of the"
        " summary; may be given more than once",
    )
    command.add_argument("-q", "--quiet", action="store_true", help="no progress on standard error")
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """Fit, print the summary, and write what was asked for."""
    from lsmlens.cli.chosen_run import read_run
    from lsmlens.cli.parser import standard_output
    from lsmlens.reports.output_files import parse_outputs, write
    from lsmlens.reports.workload_files import WRITERS
    from lsmlens.reports.workload_text import render
    from lsmlens.tuners.estimation.fit import fit
    from lsmlens.tuners.workloads.yaml_form import to_yaml

    outputs = parse_outputs([name for name in options.output if name != "-"], WRITERS)
    fitted = fit(read_run(options.paths, options.run, options.quiet))
    for output in outputs:
        write(output, fitted, WRITERS)
    out = standard_output()
    if "-" in options.output:
        out.write(to_yaml(fitted.workload))
    else:
        out.write(render(fitted, colour=sys.stdout.isatty() and "NO_COLOR" not in os.environ))
    return 0
