"""`lsmlens analyze`: what compaction did in a log bundle."""

import argparse
import gc
import os
import sys
from typing import TYPE_CHECKING

from lsmlens.analyzer.errors import LsmlensError

if TYPE_CHECKING:
    from lsmlens.analyzer.analysis import Analysis
    from lsmlens.analyzer.selection import Selection
    from lsmlens.cli.parser import Parser

DESCRIPTION = """\
Reads log bundles and prints what RocksDB's flushes and compactions did: the published "Compaction
Statistics" table, writes and write amplification by column family and level, and what could not be read.
"""
PATHS_HELP = """\
a log, a folder, or an archive (tar, zip, gzip, zstd, xz, bzip2, also inside one another); - is standard input
"""


def add_to(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Add the command to the command line."""
    command = commands.add_parser("analyze", help="what compaction did in a log bundle", description=DESCRIPTION)
    command.add_argument("paths", metavar="PATH", nargs="+", help=PATHS_HELP)
    command.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        action="append",
        default=[],
        help="also write FILE.json (the document), .csv (one row a flush, compaction or move), .parquet (every event)"
        " or .txt; may be given more than once",
    )
    command.add_argument("--format", choices=("text", "json"), default="text", help="what to print (default: text)")
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
    command.add_argument(
        "--fail-on",
        choices=("info", "warning", "critical"),
        metavar="SEVERITY",
        help="leave with status 1 if there is a finding of this severity (info, warning, critical) or above",
    )
    command.add_argument("-q", "--quiet", action="store_true", help="no progress on standard error")
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """Analyse, print, and write what was asked for."""
    gc.disable()  # what is built here lives to the end, and holds no cycles worth looking for
    from lsmlens.analyzer.analysis import analyze
    from lsmlens.analyzer.selection import Selection
    from lsmlens.cli.parser import standard_output
    from lsmlens.cli.progress import Progress
    from lsmlens.reports.output_files import check_names, write

    check_names(options.output)
    selection = Selection(options.since, options.until, frozenset(options.cf), options.level)
    _check_times(selection)
    window = _window_seconds(options.window)
    with Progress(options.paths, quiet=options.quiet) as progress:
        analysis = analyze(options.paths, selection, window, progress.advance)
    _warn_of_unknown_families(analysis)
    for path in options.output:
        write(path, analysis)
    out = standard_output()
    if options.format == "json":
        from lsmlens.reports.json_document import to_json

        out.write(to_json(analysis))
    else:
        from lsmlens.reports.text import render

        out.write(render(analysis, colour=sys.stdout.isatty() and "NO_COLOR" not in os.environ))
    return 1 if _is_failed(analysis, options.fail_on) else 0


def _is_failed(analysis: "Analysis", severity: str | None) -> bool:
    """Whether a gate was asked for and a finding reaches it; says so first on standard error."""
    if severity is None:
        return False
    from lsmlens.analyzer.findings import Severity

    limit = Severity(severity).rank
    reached = [one for run in analysis.runs for one in run.findings if one.severity.rank >= limit]
    if reached:
        print(f"failed: {len(reached)} finding(s) of severity {severity} or above", file=sys.stderr)
    return bool(reached)


def _window_seconds(text: str | None) -> float | None:
    from lsmlens.analyzer.windows import parse_duration

    try:
        return None if text is None else parse_duration(text)
    except ValueError:
        raise LsmlensError(f"--window: no duration that is known: {text}", "use such as 30s, 10m or 1h") from None


def _warn_of_unknown_families(analysis: "Analysis") -> None:
    wanted = analysis.selection.column_families
    if not wanted:
        return
    known = {str(event.get("column_family")) for one in analysis.runs for event in one.run.events}
    for name in sorted(wanted - known):
        print(f"warning: no column family {name}; there are {', '.join(sorted(known - {'None'}))}", file=sys.stderr)


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
