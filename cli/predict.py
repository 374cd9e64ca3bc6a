"""`lsmlens predict`: what a log would have shown under other options."""

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from lsmlens.analyzer.errors import LsmlensError

if TYPE_CHECKING:
    from lsmlens.analyzer.analysis import RunAnalysis
    from lsmlens.cli.parser import Parser
    from lsmlens.reports.prediction_report import Observed, PredictionReport
    from lsmlens.tuners.engines.choice import EngineChoice
    from lsmlens.tuners.options.option_set import OptionSet

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
OBSERVED_HELP = """\
a bundle of a real run of these options, to stand beside the prediction: the first for the first --options, and so on
"""


def add_to(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Add the command to the command line."""
    command = commands.add_parser(
        "predict", help="what a log would have shown under other options", description=DESCRIPTION
    )
    command.add_argument("paths", metavar="PATH", nargs="+", help="a log, a folder or an archive")
    command.add_argument("--run", metavar="NAME", help="which run of the bundle, where there are several")
    command.add_argument("--options", metavar="OPTIONS", action="append", required=True, help=OPTIONS_HELP)
    command.add_argument("--observed", metavar="PATH", action="append", default=[], help=OBSERVED_HELP)
    command.add_argument(
        "--seeds",
        metavar="N",
        type=_count,
        default=4,
        help="replays of each set of options: the best fit, then others that explain the log as well (default: 4)",
    )
    command.add_argument(
        "--scale",
        metavar="K",
        type=_scale,
        help="replay with every size and population divided by K (default: by the log's amount of work)",
    )
    engine = command.add_argument_group("engine")
    engine.add_argument("--engine", choices=("capi", "rocksdict"), help="how RocksDB is embedded (default: the best)")
    engine.add_argument("--engine-lib", metavar="PATH", help="a shared library of RocksDB, or a jar that holds one")
    engine.add_argument("--rocksdb-version", metavar="V", help="instead of the version that wrote the log")
    engine.add_argument("--no-download", action="store_true", help="take an engine that is here already")
    machine = command.add_argument_group("machine")
    machine.add_argument("--jobs", metavar="N", type=_count, help="replays at once (default: one a processor)")
    machine.add_argument(
        "--work-dir", metavar="DIR", help="where databases live while they run (default: the user's cache)"
    )
    command.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        action="append",
        default=[],
        help="also write FILE.json (the document) or .txt; may be given more than once",
    )
    command.add_argument("--format", choices=("text", "json"), default="text", help="what to print (default: text)")
    command.add_argument("-q", "--quiet", action="store_true", help="no progress on standard error")
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """Predict, print, and write what was asked for."""
    from lsmlens.cli.parser import standard_output
    from lsmlens.reports.output_files import parse_outputs, write
    from lsmlens.reports.prediction_files import WRITERS

    outputs = parse_outputs(options.output, WRITERS)
    if len(options.observed) > len(options.options):
        raise LsmlensError("more --observed than --options", "each --observed stands beside the --options at its place")
    report = _report(options)
    for output in outputs:
        write(output, report, WRITERS)
    out = standard_output()
    if options.format == "json":
        from lsmlens.reports.prediction_json import to_json

        out.write(to_json(report))
    else:
        from lsmlens.reports.prediction_text import render

        out.write(render(report, colour=sys.stdout.isatty() and "NO_COLOR" not in os.environ))
    lost = [one.name for one in report.prediction.predictions if one.predicted is None]
    if lost:
        raise LsmlensError(f"no prediction for {', '.join(lost)}", "the report says why")
    return 0


def _report(options: argparse.Namespace) -> "PredictionReport":
    from lsmlens.cli.chosen_run import read_run
    from lsmlens.cli.trial_progress import TrialProgress
    from lsmlens.reports.prediction_report import PredictionReport
    from lsmlens.tuners.estimation.fit import fit
    from lsmlens.tuners.options.run_options import options_of_run
    from lsmlens.tuners.predictions.anchor import anchor_on
    from lsmlens.tuners.predictions.prediction import predict

    analysis = read_run(options.paths, options.run, options.quiet)
    fitted = fit(analysis)
    own = options_of_run(analysis)
    sets = _option_sets(options.options, own)
    observed = [_observed(path, options) for path in options.observed]
    engine = _engine(options, analysis)
    work_dir = None if options.work_dir is None else Path(options.work_dir)
    with TrialProgress(quiet=options.quiet) as progress:
        anchor = anchor_on(
            fitted,
            own,
            engine,
            candidates=sets,
            seeds=options.seeds,
            scale=options.scale,
            jobs=options.jobs,
            work_dir=work_dir,
            on_progress=progress.show,
        )
    with TrialProgress(quiet=options.quiet) as progress:
        prediction = predict(anchor, sets, jobs=options.jobs, work_dir=work_dir, on_progress=progress.show)
    beside = (*observed, *[None] * (len(sets) - len(observed)))
    return PredictionReport(" ".join(options.paths), prediction, beside)


def _option_sets(texts: list[str], own: "OptionSet") -> "list[OptionSet]":
    """The sets, each with a name of its own, checked against the log's families."""
    from lsmlens.tuners.options.reading import read_options

    sets: list[OptionSet] = []
    for text in texts:
        one = read_options(text, own)
        one.validate(own.families, own.rocksdb_version)
        name, number = one.name, 1
        while name in {other.name for other in sets}:
            number += 1
            name = f"{one.name}#{number}"
        sets.append(one.named(name))
    return sets


def _observed(path: str, options: argparse.Namespace) -> "Observed":
    from lsmlens.cli.chosen_run import read_run
    from lsmlens.reports.prediction_report import Observed
    from lsmlens.tuners.predictions.figures import by_family, total

    analysis = read_run([path], options.run, options.quiet)
    families = by_family(analysis.families)
    return Observed(Path(path).name or path, total(families), families)


def _engine(options: argparse.Namespace, analysis: "RunAnalysis") -> "EngineChoice":
    from lsmlens.tuners.engines.choosing import choose_engine

    return choose_engine(
        options.engine,
        options.rocksdb_version or analysis.run.rocksdb_version,
        None if options.engine_lib is None else Path(options.engine_lib),
        allow_download=not options.no_download,
        on_notice=lambda text: print(f"note: {text}", file=sys.stderr),
    )


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return value


def _scale(text: str) -> float:
    value = float(text)
    if not 1 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is below 1")
    return value
