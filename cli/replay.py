"""`lsmlens replay`: a workload against a real embedded RocksDB, under any options."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from lsmlens.analyzer.errors import LsmlensError
from lsmlens.analyzer.numbers import counted
from lsmlens.cli import completion
from lsmlens.cli.arguments import (
    MACHINE,
    OPTIONS_HELP,
    Colour,
    Engine,
    EngineLib,
    Full,
    NoDownload,
    Quiet,
    Redact,
    RocksdbVersion,
    files,
    formats,
)
from lsmlens.cli.commands import examples
from lsmlens.cli.progress import Progress
from lsmlens.cli.streams import given_names, hiding, note, publish, warn
from lsmlens.cli.values import above_zero
from lsmlens.reports.outputs import REPLAY

if TYPE_CHECKING:
    from lsmlens.reports.replay import ReplayReport

app = typer.Typer(add_completion=False)
EXAMPLES = examples(
    "lsmlens replay fillrandom --options rocksdb:default --scale 64",
    "lsmlens replay workload.yaml --options ceph:quincy --options ceph:reef --seeds 3",
    "lsmlens replay rbd-4k-randwrite --options ceph:reef --mode paced --scale 16",
)


@app.command(epilog=EXAMPLES)
def replay(
    workload: Annotated[
        str,
        typer.Argument(
            metavar="WORKLOAD",
            autocompletion=completion.workload_presets,
            help="A preset (rbd-4k-randwrite, rgw-small-objects, cephfs-metadata, mixed, fillrandom, overwrite), a"
            " workload's YAML document, or a trace.",
        ),
    ],
    *,
    options: Annotated[
        list[str],
        typer.Option(
            "--options",
            metavar="OPTIONS",
            autocompletion=completion.option_presets,
            help=f"What to run under: {OPTIONS_HELP}; NAME=OPTIONS names it; may be given more than once.",
        ),
    ],
    mode: Annotated[Literal["settled", "paced"], typer.Option(help="How to run.")] = "settled",
    scale: Annotated[
        float,
        typer.Option(
            metavar="K",
            parser=above_zero,
            help="Divide every size and population by K: the same shape K times sooner.",
        ),
    ] = 1.0,
    seeds: Annotated[int, typer.Option(metavar="N", min=1, help="Runs of each set of options.")] = 1,
    pace: Annotated[
        float, typer.Option(metavar="X", parser=above_zero, help="Paced: X times the workload's rate.")
    ] = 1.0,
    settle: Annotated[
        float, typer.Option(metavar="MIB", parser=above_zero, help="Settled: settle after MIB written.")
    ] = 1.0,
    flush_at_end: Annotated[bool, typer.Option("--flush-at-end", help="Flush all memtables before the end.")] = False,
    engine: Engine = None,
    engine_lib: EngineLib = None,
    rocksdb_version: RocksdbVersion = None,
    no_download: NoDownload = False,
    jobs: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Runs at once (default: one a processor; paced: one).", rich_help_panel=MACHINE
        ),
    ] = None,
    work_dir: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Where the databases live while they run (default: the user's cache).",
            rich_help_panel=MACHINE,
        ),
    ] = None,
    least_free_disk: Annotated[
        int,
        typer.Option(
            metavar="MIB", min=0, help="Stop a run when less disk space than this is free.", rich_help_panel=MACHINE
        ),
    ] = 1024,
    least_free_memory: Annotated[
        int,
        typer.Option(
            metavar="MIB", min=0, help="Stop a run when less memory than this is free.", rich_help_panel=MACHINE
        ),
    ] = 512,
    keep_logs: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep RocksDB's LOG of every run in DIR.", rich_help_panel=MACHINE),
    ] = None,
    output: Annotated[list[str], files(REPLAY)],
    form: Annotated[str, formats(REPLAY)] = "text",
    full: Full = False,
    redact: Redact = False,
    colour: Colour = "auto",
    quiet: Quiet = False,
) -> None:
    """Writes a workload to a real embedded RocksDB under each set of options.

    Prints what its flushes and compactions did, side by side. Settled runs (the default) let the database finish its
    compactions after each step: their bytes are repeatable. Paced runs go at the workload's own rate: for stalls,
    latency and CPU.
    """
    from lsmlens import tuners
    from lsmlens.reports.replay import ReplayReport
    from lsmlens.tuners.replays.workspace import Limits
    from lsmlens.tuners.workloads.sources import open_workload

    outputs = REPLAY.outputs(output)
    stream = open_workload(workload)
    _tidy(work_dir)
    with Progress(quiet) as progress:
        machine = tuners.Machine(
            engine,
            engine_lib,
            rocksdb_version,
            not no_download,
            jobs,
            work_dir,
            Limits(least_free_disk << 20, least_free_memory << 20),
            on_notice=note,
            on_phase=progress.begin,
            on_progress=progress.replayed,
        )
        outcomes = tuners.replay(
            stream,
            options,
            mode=mode,
            scale=scale,
            seeds=seeds,
            settle_mib=settle,
            pace=pace,
            flush_at_end=flush_at_end,
            keep_logs=keep_logs,
            machine=machine,
        )
    name = Path(workload).name if os.sep in workload else workload
    hide = hiding(redact, given_names(options))
    report = hide(ReplayReport(name, stream.seconds, outcomes, stream.notes))
    publish(REPLAY, report, outputs, form, full, colour)
    _tell_failures(report)


def _tidy(work_dir: Path | None) -> None:
    from lsmlens.tuners.replays.workspace import default_folder, remove_stale

    removed = remove_stale(work_dir or default_folder())
    if removed:
        note(f"removed {counted(len(removed), 'database')} that killed replays left in {removed[0].parent}")


def _tell_failures(report: "ReplayReport") -> None:
    """Say which runs failed. Raises LsmlensError where a set of options has no figures at all."""
    for outcome in report.outcomes:
        for failure in outcome.failures:
            warn(f"{outcome.name}, seed {failure.seed}: {failure.kind}: {failure.reason}")
    lost = [one.name for one in report.outcomes if one.figures is None]
    if lost:
        raise LsmlensError(f"no run under {', '.join(lost)} finished", "the warnings say why")
