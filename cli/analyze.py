"""`lsmlens analyze`: what compaction did in a log bundle."""

import gc
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from lsmlens.analyzer.errors import LsmlensError
from lsmlens.cli.arguments import Bundles, Colour, FailOn, Full, Quiet, Redact, files, formats
from lsmlens.cli.commands import examples
from lsmlens.cli.streams import hiding, is_gate_failed, publish, warn
from lsmlens.cli.values import seconds
from lsmlens.reports.outputs import ANALYSIS

if TYPE_CHECKING:
    from lsmlens.analyzer.analysis import Analysis
    from lsmlens.analyzer.runs.selection import Selection

app = typer.Typer(add_completion=False)
EXAMPLES = examples(
    "lsmlens analyze ceph-osd.0.log.gz",
    "lsmlens analyze bundle/ -o report.html -o report.json",
    "lsmlens analyze bundle.tar.zst --since 2026-11-20T22:00 --cf p-0 --fail-on warning",
)


@app.command(epilog=EXAMPLES)
def analyze(
    paths: Bundles,
    *,
    output: Annotated[list[str], files(ANALYSIS)],
    form: Annotated[str, formats(ANALYSIS)] = "text",
    since: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Only jobs that finished at TIME or later: ISO 8601, in the log's local time unless it has a zone,"
            " or seconds since 1970.",
        ),
    ] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Only jobs that finished before TIME.")] = None,
    cf: Annotated[
        list[str],
        typer.Option(
            "--cf",
            metavar="NAME",
            default_factory=list,
            show_default=False,
            help="Only this column family; may be given more than once.",
        ),
    ],
    level: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, help="Only what was written to level N (flushes write level 0)."),
    ] = None,
    window: Annotated[
        float | None,
        typer.Option(
            metavar="LENGTH", parser=seconds, help="Also sum up jobs by windows of this length, such as 30s, 10m or 1h."
        ),
    ] = None,
    manifest: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="The database's MANIFEST or its folder: what levels hold besides the tables that the log tells of.",
            show_default=False,
        ),
    ] = None,
    full: Full = False,
    fail_on: FailOn = None,
    redact: Redact = False,
    colour: Colour = "auto",
    quiet: Quiet = False,
) -> int:
    """Reads log bundles and prints what RocksDB's flushes and compactions did.

    The verdict, findings, the plan and the published "Compaction Statistics" table; with --full writes and write
    amplification by column family and level, stalls, clients, options, and what could not be read.
    """
    gc.disable()  # what is built here lives to the end, and holds no cycles worth looking for
    from lsmlens.analyzer.diagnosis import analyze as analysis_of
    from lsmlens.analyzer.findings import Severity
    from lsmlens.analyzer.runs.selection import Selection
    from lsmlens.cli.progress import Progress
    from lsmlens.reports.analysis import AnalysisReport

    outputs = ANALYSIS.outputs(output)
    selection = Selection(since, until, frozenset(cf), level)
    _check_times(selection)
    with Progress(quiet) as progress:
        analysis = analysis_of(paths, selection, window, progress.reading(paths))
    _check_families(analysis)
    if selection != Selection() and not any(one.families for one in analysis.runs):
        warn("no flush, compaction or move was selected")
    if manifest is not None:
        _take_manifest(analysis, manifest)
    report = AnalysisReport(hiding(redact)(analysis), None if fail_on is None else Severity(fail_on))
    publish(ANALYSIS, report, outputs, form, full, colour)
    findings = [finding for run in analysis.runs for finding in run.findings]
    return 1 if is_gate_failed(findings, report.fail_on) else 0


def _take_manifest(analysis: "Analysis", path: Path) -> None:
    from lsmlens.analyzer.manifest import read_manifest

    if len(analysis.counted) > 1:
        raise LsmlensError(
            "--manifest is of one database, and there are several logs", "analyze each database by itself"
        )
    analysis.counted[0].run.manifest = read_manifest(path)


def _check_families(analysis: "Analysis") -> None:
    wanted = analysis.selection.column_families
    if not wanted:
        return
    known = {name for one in analysis.runs for name in one.run.jobs["column_family"].drop_nulls().unique()}
    known |= {option.family for one in analysis.runs for option in one.options if option.family is not None}
    for name in sorted(wanted - known):
        guess = "".join(f"did you mean {one}? " for one in get_close_matches(name, known, 1))
        raise LsmlensError(f"--cf: no column family {name}", f"{guess}there are {', '.join(sorted(known)) or 'none'}")


def _check_times(selection: "Selection") -> None:
    from lsmlens.analyzer.logs.stamps import parse_time

    for option, text in (("--since", selection.since), ("--until", selection.until)):
        try:
            if text is not None:
                parse_time(text)
        except (ValueError, OverflowError):
            raise LsmlensError(
                f"{option}: not a time: {text}",
                "use ISO 8601 such as 2026-11-20T22:56 or 2026-11-20T22:56:00Z, or seconds since 1970",
            ) from None
