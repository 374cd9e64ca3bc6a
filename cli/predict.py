"""`lsmlens predict`: what a log would have shown under other options."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from lsmlens.analyzer.errors import LsmlensError
from lsmlens.cli import arguments
from lsmlens.cli.chosen_engine import choose_engine
from lsmlens.cli.chosen_options import read_option_sets
from lsmlens.cli.chosen_run import read_run
from lsmlens.cli.streams import has_colour, standard_output

if TYPE_CHECKING:
    from lsmlens.cli.parser import Parser
    from lsmlens.reports.prediction_report import Observed, PredictionReport

DESCRIPTION = """\
Learns the workload from a log bundle, replays it in an embedded RocksDB of the log's version, first under the log's own
options and then under others, and says what the log would have shown under those: the same work, in the log's own
units, with a 90 % interval. Families that the replay does not bring out as the log shows them are named.
"""
OPTIONS_HELP = """\
what to predict for: a preset (ceph:quincy, ceph:reef, rocksdb:default …), a file (ceph.conf, config show, OPTIONS), a
log bundle (the options it ran with), or an options string, +STRING on top of the log's own; NAME=OPTIONS names it; may
be given more than once
"""
SEEDS_HELP = "replays of each set of options: the best fit, then others that explain the log as well (default: 4)"
OBSERVED_HELP = """\
a bundle of a real run of these options, to stand beside the prediction: the first for the first --options, and so on
"""
OUTPUT_HELP = """\
also write FILE.html (the report with charts), .md, .json (the document), .txt, or a chart as figures.svg, families.svg,
or .png; may be given more than once
"""


def add_to(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Add the command to the command line."""
    command = commands.add_parser(
        "predict", help="what a log would have shown under other options", description=DESCRIPTION
    )
    arguments.add_paths(command, arguments.LOGS_HELP)
    command.add_argument("--run", metavar="NAME", help="which run of the bundle, where there are several")
    command.add_argument("--options", metavar="OPTIONS", action="append", required=True, help=OPTIONS_HELP)
    command.add_argument("--observed", metavar="PATH", action="append", default=[], help=OBSERVED_HELP)
    arguments.add_count(command, "--seeds", SEEDS_HELP, default=4)
    command.add_argument(
        "--scale",
        metavar="K",
        type=_scale,
        help="replay with every size and population divided by K (default: by the log's amount of work)",
    )
    arguments.add_engine(command, "instead of the version that wrote the log")
    machine = command.add_argument_group("machine")
    arguments.add_count(machine, "--jobs", "replays at once (default: one a processor)")
    arguments.add_work_dir(machine, "where databases live while they run (default: in memory, if there is room)")
    arguments.add_output(command, OUTPUT_HELP)
    arguments.add_format(command, "json", "markdown", "html")
    arguments.add_quiet(command)
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """Predict, print, and write what was asked for."""
    from lsmlens.reports.outputs import PREDICTION

    outputs = PREDICTION.outputs(options.output)
    if len(options.observed) > len(options.options):
        raise LsmlensError("more --observed than --options", "each --observed stands beside the --options at its place")
    report = _report(options)
    for output in outputs:
        PREDICTION.write(output, report)
    out = standard_output()
    if options.format != "text":
        out.write(PREDICTION.printed(report, options.format))
    else:
        from lsmlens.reports.prediction_text import render

        out.write(render(report, colour=has_colour()))
    lost = [one.name for one in report.prediction.predictions if one.predicted is None]
    if lost:
        raise LsmlensError(f"no prediction for {', '.join(lost)}", "the report says why")
    return 0


def _report(options: argparse.Namespace) -> "PredictionReport":
    from lsmlens.cli.trial_progress import TrialProgress
    from lsmlens.reports.prediction_report import PredictionReport
    from lsmlens.tuners.estimation.fit import fit
    from lsmlens.tuners.options.run_options import options_of_run
    from lsmlens.tuners.predictions.anchor import anchor_on
    from lsmlens.tuners.predictions.prediction import predict
    from lsmlens.tuners.replays.replayer import Replayer

    analysis = read_run(options.paths, options.run, options.quiet)
    fitted = fit(analysis)
    own = options_of_run(analysis)
    sets = read_option_sets(options.options, own)
    observed = [_observed(path, options) for path in options.observed]
    engine = choose_engine(options, analysis.run.rocksdb_version)
    with TrialProgress(quiet=options.quiet) as progress:
        replayer = Replayer(engine, options.jobs, work_dir=options.work_dir, on_progress=progress.show)
        anchor = anchor_on(fitted, own, replayer, candidates=sets, seeds=options.seeds, scale=options.scale)
        prediction = predict(anchor, sets, replayer)
    beside = (*observed, *[None] * (len(sets) - len(observed)))
    return PredictionReport(" ".join(options.paths), prediction, beside)


def _observed(path: str, options: argparse.Namespace) -> "Observed":
    from lsmlens.reports.prediction_report import Observed
    from lsmlens.tuners.predictions.figures import by_family, total

    analysis = read_run([path], options.run, options.quiet)
    families = by_family(analysis.families)
    return Observed(Path(path).name or path, total(families), families)


def _scale(text: str) -> float:
    value = float(text)
    if not 1 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is below 1")
    return value
