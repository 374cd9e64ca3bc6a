"""`lsmlens fleet`: many OSDs in one data set, and a look over them."""

import os
import sys
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from lsmlens.analyzer.errors import LsmlensError
from lsmlens.analyzer.numbers import counted, plain
from lsmlens.cli.arguments import Colour, Quiet, Redact, files, formats
from lsmlens.cli.commands import examples, show_help_alone
from lsmlens.cli.streams import hiding, note, print_result, publish, warn
from lsmlens.reports.outputs import FLEET

if TYPE_CHECKING:
    from concurrent.futures import Executor
    from contextlib import ExitStack

app = typer.Typer(
    add_completion=False,
    invoke_without_command=True,
    epilog=examples(
        "lsmlens fleet add fleet/ bundles/",
        "lsmlens fleet report fleet/ -o fleet.html",
        "lsmlens fleet check fleet/",
    ),
)
DataSetPath = Annotated[Path, typer.Argument(metavar="DATASET", help="The folder of the data set.")]


@app.callback()
def fleet(context: typer.Context) -> None:
    """Keeps the jobs of many OSDs as one Parquet data set, adds to it by the hour, and shows who is unlike the others.

    polars, DuckDB and Spark read the data set as it is: jobs, tables, opens, options, counters, findings and readings,
    partitioned by cluster, host, daemon and day.
    """
    show_help_alone(context)


@app.command(
    short_help="Add logs, and the files beside them.",
    epilog=examples(
        "lsmlens fleet add fleet/ bundles/",
        "lsmlens fleet add fleet/ /var/log/ceph --host $(hostname)",
        "lsmlens fleet add fleet/ bundle.tar.zst --cluster eu1 --scheduler tcp://scheduler:8786",
    ),
)
def add(
    path: Annotated[Path, typer.Argument(metavar="DATASET", help="The folder of the data set, made if need be.")],
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH", help="Logs, folders or archives; what was added before is not read again."),
    ],
    cluster: Annotated[str, typer.Option(metavar="NAME", help="The cluster that the logs are of.")] = "ceph",
    host: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The host of the OSDs whose `ceph osd metadata` is not among the files."),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", metavar="N", min=1, help="Daemons at once (default: one a processor).")
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Read on the workers of this dask.distributed scheduler, which must see the same files.",
        ),
    ] = None,
    quiet: Quiet = False,
) -> int:
    """Reads logs, one task a daemon, and adds what they tell to a data set.

    A log is known by its content, so the same log again, or under another name, adds nothing; the next hour of it goes
    on where the last ended. Each daemon's rows are published whole or not at all.
    """
    from contextlib import ExitStack

    from lsmlens.analyzer.fleet.addition import add as add_logs
    from lsmlens.analyzer.fleet.dataset import DataSet
    from lsmlens.cli.progress import Progress

    dataset = DataSet.made_at(path)
    with ExitStack() as stack:
        executor = _executor(jobs, scheduler, stack)
        progress = stack.enter_context(Progress(quiet))
        added = add_logs(dataset, paths, executor, cluster, host, progress.counting("adding"))
    failed = [one for one in added if one.failure]
    for one in failed:
        warn(f"{one.daemon}: nothing was added: {one.failure}")
    logs, new_jobs = sum(one.logs for one in added), sum(one.jobs for one in added)
    print_result(
        f"{counted(logs, 'new log')} of {counted(len(added) - len(failed), 'daemon')}, "
        f"{plain(new_jobs)} flushes, compactions and moves\n"
        if added
        else "nothing new: all of these logs were added before\n"
    )
    return 1 if failed else 0


@app.command(
    short_help="Look over the whole fleet.",
    epilog=examples(
        "lsmlens fleet report fleet/",
        "lsmlens fleet report fleet/ --by host --where \"class = 'ssd' and day >= '2026-11-20'\"",
        "lsmlens fleet report fleet/ -o fleet.html -o fleet.json -o osds.csv",
    ),
)
def report(
    path: DataSetPath,
    output: Annotated[list[str], files(FLEET)],
    form: Annotated[str, formats(FLEET)] = "text",
    by: Annotated[
        Literal["host", "class", "version", "day"],
        typer.Option(help="The groups that stand side by side on the first screen."),
    ] = "class",
    where: Annotated[
        str | None,
        typer.Option(
            metavar="CONDITION", help="Only where this SQL condition holds: cluster, daemon, host, class, version, day."
        ),
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Print all of it, not the first screen alone.")] = False,
    redact: Redact = False,
    colour: Colour = "auto",
) -> None:
    """Shows a fleet on one screen: findings once, outliers and what differs about them, groups, option drift."""
    from lsmlens.analyzer.fleet.dataset import DataSet
    from lsmlens.analyzer.fleet.overview import overview
    from lsmlens.reports.fleet_report import FleetReport

    outputs = FLEET.outputs(output)
    shown = FleetReport(overview(DataSet.at(path), where), f"{path}{f' where {where}' if where else ''}", by)
    publish(FLEET, hiding(redact)(shown), outputs, form, full, colour)


@app.command(
    short_help="Verify the files, and repair them.",
    epilog=examples(
        "lsmlens fleet check fleet/",
        "lsmlens fleet check fleet/ --repair",
        "lsmlens fleet add fleet/ bundles/    # what was damaged, again",
    ),
)
def check(
    path: DataSetPath,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair", help="Finish or undo what was interrupted, set damaged files aside, and forget their logs."
        ),
    ] = False,
) -> int:
    """Verifies that every file is as it was written; exits with status 1 if one is not."""
    from lsmlens.analyzer.fleet.dataset import DataSet

    problems = DataSet.at(path).check(repair)
    for one in problems:
        of_whom = f"{one.daemon}: " if one.daemon else ""
        print_result(f"{of_whom}{one.what}{'; repaired' if one.is_repaired else ''}\n")
    damaged = sorted({one.daemon for one in problems if one.is_lost})
    if damaged and repair:
        note(f"add the logs of these again: {', '.join(damaged)}")
    if not problems:
        print_result("all files are intact\n")
    return 1 if any(not one.is_repaired for one in problems) else 0


@app.command(
    short_help="Drop old days.",
    epilog=examples(
        "lsmlens fleet drop fleet/ --before 2026-08-01",
        "lsmlens fleet check fleet/",
        "lsmlens fleet report fleet/ --by day",
    ),
)
def drop(
    path: DataSetPath, before: Annotated[str, typer.Option(metavar="DAY", help="The first day that stays.")]
) -> None:
    """Drops all rows of the days before one. Their logs stay known, and adding them again brings nothing back."""
    from lsmlens.analyzer.fleet.dataset import DataSet

    try:
        day = date.fromisoformat(before)
    except ValueError:
        raise LsmlensError(f"--before: not a date: {before}", "use such as 2026-11-20") from None
    dataset = DataSet.at(path)
    with dataset.alone():
        print_result(f"dropped {counted(dataset.drop_before(day), 'day')} of daemons\n")


def _executor(jobs: int | None, scheduler: str | None, stack: "ExitStack") -> "Executor":
    """The workers: those of a scheduler, or processes here."""
    if scheduler is not None:
        from lsmlens.tuners.replays.cluster import cluster_executor

        return cluster_executor(scheduler, stack)[0]
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    # A fork needs no second import of everything; there are no threads yet that it could lose.
    context = get_context("fork" if sys.platform == "linux" else "spawn")
    executor = ProcessPoolExecutor(jobs or os.cpu_count(), context, initializer=_begin_worker)
    stack.callback(executor.shutdown, wait=True, cancel_futures=True)
    return executor


def _begin_worker() -> None:
    """One thread is a worker's share of the machine, and an interrupt is for its parent."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["POLARS_MAX_THREADS"] = "1"
