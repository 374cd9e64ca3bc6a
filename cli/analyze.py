"""`lsmlens analyze`: what compaction did in a log bundle."""

import argparse
import gc
import os
import sys
from typing import TYPE_CHECKING

from lsmlens.analyzer.errors import LsmlensError
from lsmlens.cli import arguments
from lsmlens.cli.severity_gate import asked_severity, is_failed
from lsmlens.cli.streams import has_colour, standard_output, warn

if TYPE_CHECKING:
    from lsmlens.analyzer.analysis import Analysis
    from lsmlens.analyzer.selection import Selection
    from lsmlens.cli.parser import Parser
    from lsmlens.reports.outputs import AnalysisReport

DESCRIPTION = """\
Reads log bundles and prints what RocksDB's flushes and compactions did: the published "Compaction
Statistics" table, writes and write amplification by column family and level, and what could not be read.
"""
OUTPUT_HELP = """\
also write FILE.html (the report with charts), .md (fits a pull-request comment), .json (the document), .junit.xml,
.benchmark.json (github-action-benchmark), .csv (one row a flush, compaction or move), .parquet (the same rows with all
that is known), .tables.parquet (one row a table file), .blobs.parquet, .events.parquet (what is in none of these),
.txt, or one chart as .svg or .png, called after it (timeline.svg) or after CHART= (timeline=osd-0.svg); may be given
more than once
"""


def add_to(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Add the command to the command line."""
    command = commands.add_parser("analyze", help="what compaction did in a log bundle", description=DESCRIPTION)
    arguments.add_paths(command, arguments.BUNDLES_HELP)
    arguments.add_output(command, OUTPUT_HELP)
    arguments.add_format(command, "json", "markdown", "github")
    command.add_argument("--since", metavar="TIME", help="only jobs that finished at TIME or later: ISO 8601, in the"
                         " log's local time unless it has a zone, or seconds since 1970")  # fmt: skip
    command.add_argument("--until", metavar="TIME", help="only jobs that finished before TIME")
    command.add_argument("--cf", metavar="NAME", action="append", default=[], help="only this column family; may be"
                         " given more than once")  # fmt: skip
    command.add_argument(
        "--level", metavar="N", type=int, help="only what was written to level N (flushes write level 0)"
    )
    command.add_argument(
        "--window", metavar="LENGTH", help="also sum up jobs by windows of this length, such as 30s, 10m or 1h"
    )
    arguments.add_fail_on(command)
    arguments.add_redact(command)
    arguments.add_quiet(command)
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """Analyse, print, and write what was asked for."""
    gc.disable()  # what is built here lives to the end, and holds no cycles worth looking for
    from lsmlens.analyzer.analysis import analyze
    from lsmlens.analyzer.selection import Selection
    from lsmlens.cli.progress import Progress
    from lsmlens.reports.outputs import ANALYSIS, AnalysisReport

    outputs = ANALYSIS.outputs(options.output)
    selection = Selection(options.since, options.until, frozenset(options.cf), options.level)
    _check_times(selection)
    window = _window_seconds(options.window)
    with Progress(options.paths, quiet=options.quiet) as progress:
        analysis = analyze(options.paths, selection, window, progress.advance)
    _warn_of_unknown_families(analysis)
    if selection != Selection() and not any(one.families for one in analysis.runs):
        warn("no flush, compaction or move was selected")
    if options.redact:
        from lsmlens.reports.redaction import redacted

        analysis = redacted(analysis)
    report = AnalysisReport(analysis, asked_severity(options))
    for output in outputs:
        ANALYSIS.write(output, report)
    standard_output().write(_rendered(report, options.format))
    findings = [finding for one in analysis.runs for finding in one.findings]
    return 1 if is_failed(findings, report.fail_on) else 0


def _rendered(report: "AnalysisReport", form: str) -> str:
    """What is printed; for a workflow the step's summary is written as well."""
    from lsmlens.reports.outputs import ANALYSIS

    if form != "text":
        return ANALYSIS.printed(report, form)
    from lsmlens.reports.text import render

    analysis = report.analysis
    if not sys.stdout.isatty():
        return render(analysis)
    from lsmlens.reports.narrow_terminal import LEAST_WIDTH, fitted
    from lsmlens.reports.text_life import WIDTH

    width = max(LEAST_WIDTH, os.get_terminal_size(sys.stdout.fileno()).columns)
    return fitted(render(analysis, has_colour(), min(WIDTH, width)), width)


def _window_seconds(text: str | None) -> float | None:
    from lsmlens.analyzer.durations import parse_duration

    try:
        return None if text is None else parse_duration(text)
    except ValueError:
        raise LsmlensError(f"--window: no duration that is known: {text}", "use such as 30s, 10m or 1h") from None


def _warn_of_unknown_families(analysis: "Analysis") -> None:
    wanted = analysis.selection.column_families
    if not wanted:
        return
    known = {family.name for one in analysis.runs for family in one.families}
    for name in sorted(wanted - known):
        warn(f"no column family {name}; there are {', '.join(sorted(known - {'None'}))}")


def _check_times(selection: "Selection") -> None:
    from lsmlens.analyzer.stamps import parse_time

    for option, text in (("--since", selection.since), ("--until", selection.until)):
        try:
            if text is not None:
                parse_time(text)
        except (ValueError, OverflowError):
            raise LsmlensError(
                f"{option}: no time that is known: {text}",
                "use ISO 8601 such as 2026-11-20T22:56 or 2026-11-20T22:56:00Z, or seconds since 1970",
            ) from None
