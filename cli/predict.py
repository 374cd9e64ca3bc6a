"""`lsmlens predict`: what a log would have shown under other options."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from lsmlens.analyzer.errors import LsmlensError
from lsmlens.cli import completion
from lsmlens.cli.arguments import (
    OPTIONS_HELP,
    Colour,
    Engine,
    EngineLib,
    Full,
    Jobs,
    Logs,
    NoDownload,
    Quiet,
    Redact,
    RocksdbVersion,
    Run,
    WorkDir,
    files,
    formats,
)
from lsmlens.cli.commands import examples
from lsmlens.cli.progress import Progress, read_run
from lsmlens.cli.streams import given_names, hiding, note, publish
from lsmlens.cli.values import above_zero, from_one_on, size
from lsmlens.reports.outputs import PREDICTION

if TYPE_CHECKING:
    from lsmlens.reports.prediction_tables import Observed
    from lsmlens.tuners.estimation.fit import FittedWorkload

app = typer.Typer(add_completion=False)
EXAMPLES = examples(
    "lsmlens predict ceph-osd.0.log.gz --options ceph:quincy",
    "lsmlens predict bundle/ --run osd.3 --options +write_buffer_size=64M -o predicted.html",
    "lsmlens predict before/ --options after=ceph.conf --observed after/",
)


@app.command(epilog=EXAMPLES)
def predict(
    paths: Logs,
    *,
    run: Run = None,
    options: Annotated[
        list[str],
        typer.Option(
            "--options",
            metavar="OPTIONS",
            autocompletion=completion.option_presets,
            help=f"What to predict for: {OPTIONS_HELP}, +STRING on top of the log's own; NAME=OPTIONS names it; may be"
            " given more than once.",
        ),
    ],
    observed: Annotated[
        list[str],
        typer.Option(
            metavar="PATH",
            default_factory=list,
            show_default=False,
            help="A bundle of a real run of these options, to stand beside the prediction: the first for the first"
            " --options, and so on.",
        ),
    ],
    seeds: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            help="Replays of each set of options: the best fit, then others that explain the log as well.",
        ),
    ] = 4,
    scale: Annotated[
        float | None,
        typer.Option(
            metavar="K",
            parser=from_one_on,
            help="Replay with every size and population divided by K (default: by the log's amount of work).",
        ),
    ] = None,
    load: Annotated[
        list[float],
        typer.Option(
            metavar="K",
            parser=above_zero,
            default_factory=list,
            show_default=False,
            help="Say for how long writers would stall with K times the load, too; may be given more than once.",
        ),
    ],
    rate_limit: Annotated[
        int | None,
        typer.Option(
            metavar="BYTES",
            parser=size,
            help="Predict stalls under a rate limiter that lets flushes and compactions write BYTES a second (8M).",
        ),
    ] = None,
    engine: Engine = None,
    engine_lib: EngineLib = None,
    rocksdb_version: RocksdbVersion = None,
    no_download: NoDownload = False,
    jobs: Jobs = None,
    work_dir: WorkDir = None,
    output: Annotated[list[str], files(PREDICTION)],
    form: Annotated[str, formats(PREDICTION)] = "text",
    full: Full = False,
    redact: Redact = False,
    colour: Colour = "auto",
    quiet: Quiet = False,
) -> None:
    """Learns the workload from a log bundle and says what the log would have shown under other options.

    The workload is replayed in an embedded RocksDB of the log's version, first under the log's own options and then
    under the others. What is said is of the same work, in the log's own units, with a 90 % interval. Families that the
    replay does not bring out as the log shows them are named.
    """
    from lsmlens import tuners
    from lsmlens.reports.prediction_tables import PredictionReport

    outputs = PREDICTION.outputs(output)
    if len(observed) > len(options):
        raise LsmlensError("more --observed than --options", "each --observed stands beside the --options at its place")
    source = read_run(paths, run, quiet)
    learned = tuners.learn(source)
    beside = [_observed(path, learned, run, quiet) for path in observed]
    with Progress(quiet) as progress:
        machine = tuners.Machine(
            engine,
            engine_lib,
            rocksdb_version,
            not no_download,
            jobs,
            work_dir,
            on_notice=note,
            on_phase=progress.begin,
            on_progress=progress.replayed,
        )
        prediction = tuners.predict(
            learned, options, seeds=seeds, scale=scale, loads=load, rate_limit=rate_limit, machine=machine
        )
    report = PredictionReport(" ".join(paths), prediction, (*beside, *[None] * (len(options) - len(beside))))
    publish(PREDICTION, hiding(redact, given_names(options))(report), outputs, form, full, colour)
    lost = [one.name for one in prediction.predictions if one.predicted is None]
    if lost:
        raise LsmlensError(f"no prediction for {', '.join(lost)}", "the report says why")


def _observed(path: str, learned: "FittedWorkload", run: str | None, quiet: bool) -> "Observed":
    from lsmlens.analyzer.measures.sorted_runs import mean_sorted_runs, measure_sorted_runs
    from lsmlens.analyzer.metrics import WORK, sums_of
    from lsmlens.reports.prediction_tables import Observed
    from lsmlens.tuners.estimation.client_reads import read_totals
    from lsmlens.tuners.predictions.figures import by_family, total

    analysis, source = read_run([path], run, quiet), learned.evidence.run
    families = by_family(analysis.families)
    taken_in, of_source = (sums_of(one.jobs, names=(WORK,)).item() for one in (analysis, source))
    return Observed(
        Path(path).name or path,
        total(families),
        families,
        taken_in / of_source if of_source else 1.0,
        mean_sorted_runs(measure_sorted_runs(analysis.jobs), learned.evidence.operations),
        totals.blocks_per_get if (totals := read_totals(analysis)) is not None else None,
        analysis.series.stall_seconds if analysis.series is not None else None,
    )
