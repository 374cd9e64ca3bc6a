"""`lsmlens compare`: what became better and worse from one arm to another, and how sure that is."""

import gc
from typing import Annotated

import typer
from lsmlens.cli import completion
from lsmlens.cli.arguments import Colour, Quiet, Redact, files, formats
from lsmlens.cli.commands import examples
from lsmlens.cli.streams import hiding, publish, tell_failed
from lsmlens.reports.outputs import COMPARISON

app = typer.Typer(add_completion=False)
EXAMPLES = examples(
    "lsmlens compare before/ after/",
    "lsmlens compare main=a.log,b.log pr=c.log,d.log --fail-if write_amp:+10%",
    "lsmlens compare quincy.json reef.json -o report.html",
)


@app.command(epilog=EXAMPLES)
def compare(
    arms: Annotated[
        list[str],
        typer.Argument(
            metavar="[NAME=]PATH[,PATH…]",
            help="An arm: its runs' paths, and a name (default: the path's last part); the first is the baseline.",
        ),
    ],
    *,
    output: Annotated[list[str], files(COMPARISON)],
    form: Annotated[str, formats(COMPARISON)] = "text",
    baseline: Annotated[
        str | None, typer.Option(metavar="NAME", help="Compare with this arm instead of the first.")
    ] = None,
    fail_if: Annotated[
        list[str],
        typer.Option(
            metavar="METRIC:LIMIT",
            default_factory=list,
            show_default=False,
            autocompletion=completion.metrics,
            help="Exit with status 1 if an arm breaks this limit: METRIC:+10% or METRIC:-5% against the baseline,"
            " METRIC:>0 and the like for the value itself; may be given more than once.",
        ),
    ],
    full: Annotated[
        bool, typer.Option("--full", "--all", help="Print all metrics and details, also what is not significant.")
    ] = False,
    redact: Redact = False,
    colour: Colour = "auto",
    quiet: Quiet = False,
) -> int:
    """Puts arms side by side and says of every metric whether an arm is better or worse than the first.

    By how much, and how sure that is. An arm is one run or several; a path is whatever `lsmlens analyze` reads, a
    folder of benchmark results, an analysis saved with `analyze -o FILE.json`, or a CSV of published figures, of which
    each column is an arm.
    """
    gc.disable()  # what is built here lives to the end, and holds no cycles worth looking for
    from lsmlens.analyzer.comparison.arms import parse_arm, read_arms, with_baseline
    from lsmlens.analyzer.comparison.comparison import compare as comparison_of
    from lsmlens.analyzer.comparison.gates import judge_gates, parse_gate
    from lsmlens.cli.progress import Progress
    from lsmlens.reports.comparison import ComparisonReport

    outputs = COMPARISON.outputs(output)
    gates = [parse_gate(text) for text in fail_if]
    requests = [parse_arm(text) for text in arms]
    paths = [path for request in requests for path in request.paths]
    with Progress(quiet) as progress:
        read = read_arms(requests, progress.reading(paths))
    if baseline is not None:
        read = with_baseline(read, baseline)
    comparison = comparison_of(read)
    results = judge_gates(gates, comparison)
    failed = [result for result in results if result.is_failed]
    for result in failed:
        tell_failed(result.reason)
    hide = hiding(redact, [request.name for request in requests if request.name is not None])
    report = hide(ComparisonReport(comparison, results))
    publish(COMPARISON, report, outputs, form, full, colour)
    return 1 if failed else 0
