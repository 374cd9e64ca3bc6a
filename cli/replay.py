"""`lsmlens replay`: a workload against a real embedded RocksDB, under any options."""

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from lsmlens.analyzer.errors import LsmlensError
from lsmlens.cli import arguments
from lsmlens.cli.chosen_engine import choose_engine
from lsmlens.cli.chosen_options import read_option_sets
from lsmlens.cli.streams import has_colour, note, standard_output, warn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lsmlens.cli.parser import Parser
    from lsmlens.reports.replay_tables import ReplayReport
    from lsmlens.tuners.options.option_set import OptionSet
    from lsmlens.tuners.replays.plan import Plan
    from lsmlens.tuners.workloads.stream import Stream

DESCRIPTION = """\
Writes a workload to a real embedded RocksDB under each set of options, and prints what its flushes and compactions
did, side by side. Settled runs (the default) let the database finish its compactions after each step: their bytes are
repeatable. Paced runs go at the workload's own rate: for stalls, latency and CPU.
"""
WORKLOAD_HELP = """\
a preset (rbd-4k-randwrite, rgw-small-objects, cephfs-metadata, mixed, fillrandom, overwrite), a workload's YAML
document, or a trace
"""
OPTIONS_HELP = """\
what to run under: a preset (ceph:quincy, ceph:reef, rocksdb:default …), a file (ceph.conf, config show, OPTIONS),
a log bundle, or an options string; NAME=OPTIONS names it; may be given more than once
"""
OUTPUT_HELP = (
    "also write FILE.json (the document), .csv (one row a run), .benchmark.json or .txt; may be given more than once"
)


def add_to(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Add the command to the command line."""
    command = commands.add_parser(
        "replay", help="a workload against a real RocksDB, under any options", description=DESCRIPTION
    )
    command.add_argument("workload", metavar="WORKLOAD", help=WORKLOAD_HELP)
    command.add_argument("--options", metavar="OPTIONS", action="append", required=True, help=OPTIONS_HELP)
    command.add_argument(
        "--mode", choices=("settled", "paced"), default="settled", help="how to run (default: settled)"
    )
    command.add_argument(
        "--scale",
        metavar="K",
        type=_above_zero,
        default=1.0,
        help="divide every size and population by K: the same shape K times sooner (default: 1)",
    )
    arguments.add_count(command, "--seeds", "runs of each set of options (default: 1)", default=1)
    command.add_argument(
        "--pace", metavar="X", type=_above_zero, default=1.0, help="paced: X times the workload's rate (default: 1)"
    )
    command.add_argument(
        "--settle", metavar="MIB", type=_above_zero, default=1.0, help="settled: settle after MIB written (default: 1)"
    )
    command.add_argument("--flush-at-end", action="store_true", help="flush all memtables before the end")
    arguments.add_engine(command, "RocksDB's version, such as 7.9.2")
    machine = command.add_argument_group("machine")
    arguments.add_count(machine, "--jobs", "runs at once (default: one a processor; paced: one)")
    arguments.add_work_dir(machine, "where the databases live while they run (default: the user's cache)")
    machine.add_argument(
        "--least-free-disk", metavar="MIB", type=_mib, default=1024, help="stop a run below this (default: 1024)"
    )
    machine.add_argument(
        "--least-free-memory", metavar="MIB", type=_mib, default=512, help="stop a run below this (default: 512)"
    )
    machine.add_argument("--keep-logs", metavar="DIR", type=Path, help="keep RocksDB's LOG of every run in DIR")
    arguments.add_output(command, OUTPUT_HELP)
    arguments.add_format(command, "json", "csv")
    arguments.add_quiet(command)
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """Replay, print, and write what was asked for."""
    from lsmlens.cli.trial_progress import TrialProgress
    from lsmlens.reports.outputs import REPLAY
    from lsmlens.reports.replay_tables import ReplayReport
    from lsmlens.tuners.replays.limits import Limits
    from lsmlens.tuners.replays.plan import replay
    from lsmlens.tuners.replays.replayer import Replayer

    outputs = REPLAY.outputs(options.output)
    plan = _plan(options)
    engine = choose_engine(options, _version(plan.stream, plan.options))
    _tidy(options.work_dir)
    with TrialProgress(quiet=options.quiet) as progress:
        limits = Limits(options.least_free_disk << 20, options.least_free_memory << 20)
        replayer = Replayer(engine, options.jobs, None, options.work_dir, limits, on_progress=progress.show)
        outcomes = replay(plan, replayer)
    stream = plan.stream
    report = ReplayReport(_workload_name(options.workload), stream.seconds, outcomes, stream.notes)
    for output in outputs:
        REPLAY.write(output, report)
    out = standard_output()
    if options.format != "text":
        out.write(REPLAY.printed(report, options.format))
    else:
        from lsmlens.reports.replay_text import render

        out.write(render(report, colour=has_colour()))
    return _status(report)


def _plan(options: argparse.Namespace) -> "Plan":
    from lsmlens.tuners.replays.measurement import Mode
    from lsmlens.tuners.replays.plan import Plan
    from lsmlens.tuners.workloads.sources import open_workload

    return Plan(
        stream=open_workload(options.workload),
        options=tuple(read_option_sets(options.options)),
        mode=Mode(options.mode),
        scale=options.scale,
        seeds=tuple(range(1, options.seeds + 1)),
        settle_bytes=round(options.settle * (1 << 20)),
        pace=options.pace,
        flush_at_end=options.flush_at_end,
        keep_log=options.keep_logs,
    )


def _version(stream: "Stream", sets: "Sequence[OptionSet]") -> str | None:
    """The version that wrote the workload's log, or the one that all options are of; None where neither is known."""
    from lsmlens.tuners.workloads.generator import DeclaredStream

    if isinstance(stream, DeclaredStream) and stream.rocksdb_version is not None:
        return stream.rocksdb_version
    versions = {one.rocksdb_version for one in sets if one.rocksdb_version}
    return versions.pop() if len(versions) == 1 else None


def _tidy(work_dir: Path | None) -> None:
    from lsmlens.tuners.replays.workspace import default_folder, remove_stale

    removed = remove_stale(work_dir or default_folder())
    if removed:
        note(f"removed {len(removed)} database(s) that killed replays left in {removed[0].parent}")


def _status(report: "ReplayReport") -> int:
    """2 where a set of options has no figures at all; runs that failed are told first on standard error."""
    for outcome in report.outcomes:
        for failure in outcome.failures:
            warn(f"{outcome.name}, seed {failure.seed}: {failure.kind}: {failure.reason}")
    lost = [one.name for one in report.outcomes if one.figures is None]
    if lost:
        raise LsmlensError(f"no run under {', '.join(lost)} came to its end", "the warnings say why")
    return 0


def _workload_name(text: str) -> str:
    return Path(text).name if os.sep in text else text


def _above_zero(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return value


def _mib(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text} is below 0")
    return value
