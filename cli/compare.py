"""`lsmlens compare`: what became better and worse from one arm to another, and how sure that is."""

import argparse
import gc
from typing import TYPE_CHECKING

from lsmlens.cli import arguments
from lsmlens.cli.streams import has_colour, standard_output, tell_failed

if TYPE_CHECKING:
    from lsmlens.cli.parser import Parser
    from lsmlens.reports.outputs import ComparisonReport

DESCRIPTION = """\
Puts arms side by side, each one run or several, and says of every metric whether an arm is better or worse than the
first, by how much, and how sure that is. A path is whatever `lsmlens analyze` reads, a folder of benchmark results, an
analysis saved with `analyze -o FILE.json`, or a CSV of published figures, of which each column is an arm.
"""
ARMS_HELP = "an arm: the paths of its runs, and a name (default: the path's last part); the first is the baseline"
GATE_HELP = """\
leave with status 1 if an arm breaks this limit: METRIC:+10%% or METRIC:-5%% against the baseline, METRIC:>0 and the
like for the value itself; may be given more than once
"""

OUTPUT_HELP = """\
also write FILE.html (the report with charts), .md (fits a pull-request comment), .json (the document), .junit.xml,
.benchmark.json (github-action-benchmark), .csv (the figures), .parquet (a row a metric and arm), .txt, or one chart as
.svg or .png, called after it (changes.svg) or after CHART= (changes=pr-12.svg); may be given more than once
"""


def add_to(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Add the command to the command line."""
    command = commands.add_parser(
        "compare", help="what is better and worse in one arm than in another", description=DESCRIPTION
    )
    command.add_argument("arms", metavar="[NAME=]PATH[,PATH…]", nargs="+", help=ARMS_HELP)
    arguments.add_output(command, OUTPUT_HELP)
    arguments.add_format(command, "json", "markdown", "github")
    command.add_argument("--baseline", metavar="NAME", help="compare with this arm instead of the first")
    command.add_argument("--fail-if", metavar="METRIC:LIMIT", action="append", default=[], help=GATE_HELP)
    command.add_argument("--all", action="store_true", help="show what is not significant as well")
    arguments.add_redact(command)
    arguments.add_quiet(command)
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """Compare, print, and write what was asked for."""
    gc.disable()  # what is built here lives to the end, and holds no cycles worth looking for
    from lsmlens.analyzer.comparison.arms import parse_arm, read_arms, with_baseline
    from lsmlens.analyzer.comparison.comparison import compare
    from lsmlens.analyzer.comparison.gates import judge_gates, parse_gate
    from lsmlens.cli.progress import Progress
    from lsmlens.reports.outputs import COMPARISON, ComparisonReport

    outputs = COMPARISON.outputs(options.output)
    gates = [parse_gate(text) for text in options.fail_if]
    requests = [parse_arm(text) for text in options.arms]
    paths = [path for request in requests for path in request.paths]
    with Progress(paths, quiet=options.quiet) as progress:
        arms = read_arms(requests, progress.advance)
    if options.baseline is not None:
        arms = with_baseline(arms, options.baseline)
    comparison = compare(arms)
    results = judge_gates(gates, comparison)
    failed = [result for result in results if result.is_failed]
    for result in failed:
        tell_failed(result.reason)
    report = ComparisonReport(comparison, results)
    if options.redact:
        from lsmlens.reports.comparison_redaction import redacted

        report = redacted(report, [request.name for request in requests if request.name is not None])
    for output in outputs:
        COMPARISON.write(output, report)
    standard_output().write(_rendered(report, options))
    return 1 if failed else 0


def _rendered(report: "ComparisonReport", options: argparse.Namespace) -> str:
    """What is printed; for a workflow the step's summary is written as well."""
    from lsmlens.reports.outputs import COMPARISON

    if options.format != "text":
        return COMPARISON.printed(report, options.format)
    from lsmlens.reports.comparison_text import render

    return render(report.comparison, report.gates, options.all, has_colour())
