"""`lsmlens collect`: a bundle of a live cluster's OSDs, or of a database."""

import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from lsmlens.analyzer.errors import LsmlensError
from lsmlens.cli.arguments import Quiet
from lsmlens.cli.commands import examples
from lsmlens.cli.streams import note, print_result, warn
from lsmlens.cli.values import seconds, size

if TYPE_CHECKING:
    from lsmlens.analyzer.collection.bundle import Limits, Plan, Told

FAILURES_SHOWN = 20
ENDING = (signal.SIGTERM, signal.SIGHUP)

app = typer.Typer(add_completion=False)
EXAMPLES = examples(
    "lsmlens collect --osds all --worst 10 -o bundle.tar.zst",
    "lsmlens collect --osds host:ceph12 --since 6h --debug-for 10m -o ceph12.tar.zst",
    "lsmlens collect --db /var/lib/rocksdb -o database.tar.gz",
)


@app.command(epilog=EXAMPLES)
def collect(
    *,
    osds: Annotated[
        str | None,
        typer.Option(
            metavar="WHICH", help="Which OSDs: all, osd.3,osd.7, host:NAME or class:NAME.", show_default=False
        ),
    ] = None,
    worst: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Of these the N whose commits take longest, by `ceph osd perf`."),
    ] = None,
    db: Annotated[
        Path | None, typer.Option("--db", metavar="DIR", help="Instead of OSDs: a RocksDB database's folder.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="The bundle: .tar.zst or .tar.gz; whole or not at all.",
            show_default=False,
        ),
    ] = None,
    since: Annotated[
        float, typer.Option(metavar="TIME", parser=seconds, help="Pieces of logs written to within this time.")
    ] = 86_400.0,
    interval: Annotated[
        float, typer.Option(metavar="TIME", parser=seconds, help="Between the two perf dumps, such as 5m.")
    ] = 300.0,
    debug_for: Annotated[
        float | None,
        typer.Option(
            metavar="TIME",
            parser=seconds,
            help="Raise debug_rocksdb and debug_bluestore to 5/5 for this time, and put them back whatever happens."
            " Without it no setting is touched.",
        ),
    ] = None,
    through: Annotated[
        Literal["ceph", "cephadm", "kubectl"] | None,
        typer.Option(help="How to get to the cluster (default: the first of these that is installed)."),
    ] = None,
    namespace: Annotated[str, typer.Option(metavar="NAME", help="Rook's, for kubectl.")] = "rook-ceph",
    ssh: Annotated[bool, typer.Option("--ssh", help="Take logs of OSDs on other hosts through ssh.")] = False,
    jobs: Annotated[int, typer.Option("--jobs", metavar="N", min=1, help="Commands at once.")] = 8,
    timeout: Annotated[
        float,
        typer.Option(metavar="TIME", parser=seconds, help="How long a command may take; for logs ten times that."),
    ] = 60.0,
    log_limit: Annotated[
        int, typer.Option(metavar="SIZE", parser=size, help="The most of an OSD's log, such as 512M.")
    ] = 1 << 30,
    redact: Annotated[
        bool, typer.Option("--redact", help="Put tokens in place of host names, addresses, paths and the like.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the commands, and ask only which OSDs there are.")
    ] = False,
    print_script: Annotated[
        bool, typer.Option("--print-script", help="Print a POSIX shell script that collects the same without Python.")
    ] = False,
    quiet: Quiet = False,
) -> int:
    """Gathers what lsmlens reads of OSDs into one archive: logs, perf dumps, configuration, operations, cluster state.

    Run it where the cluster's admin is. It only asks, through `ceph tell`, `ceph daemon`, cephadm or kubectl, and never
    changes a setting, but for --debug-for. Secrets are left out. What failed is said, and listed in collection.json;
    then the exit status is 1.
    """
    from lsmlens.analyzer.collection.bundle import Limits

    if (osds is None) == (db is None):
        raise LsmlensError(
            "which OSDs, or which database?", "give --osds all, or such as --osds host:NAME, or --db DIR"
        )
    limits = Limits(jobs, timeout, log_limit, since, interval, debug_for)
    if print_script:
        print_result(_script(osds, worst, limits, through, namespace, ssh))
        return 0
    if output is None and not dry_run:
        raise LsmlensError("where to?", "give -o FILE.tar.zst or -o FILE.tar.gz")
    with ExitStack() as stack:
        stack.enter_context(_ended_by_signals())
        if db is not None:
            told = _of_database(db, output, since, redact, quiet)
        else:
            assert osds is not None
            told = _of_osds(osds, worst, limits, (through, namespace, ssh), output, redact, quiet, dry_run)
    failed = [one for one in told if one.failure]
    for one in failed[:FAILURES_SHOWN]:
        warn(f"{one.file}: {one.failure}")
    if len(failed) > FAILURES_SHOWN:
        warn(f"{len(failed) - FAILURES_SHOWN} more that failed are listed in collection.json")
    return 1 if failed else 0


def _script(
    osds: str | None, worst: int | None, limits: "Limits", through: str | None, namespace: str, ssh: bool
) -> str:
    from importlib.metadata import version

    from lsmlens.analyzer.collection.access import Access
    from lsmlens.analyzer.collection.script import shell_script

    if osds is None:
        raise LsmlensError("--print-script is for OSDs", "of a database, copy LOG*, OPTIONS-* and MANIFEST-*")
    return shell_script(Access(through or "ceph", namespace, ssh), osds, worst, limits, version("lsmlens"))


def _of_osds(
    osds: str,
    worst: int | None,
    limits: "Limits",
    way: tuple[str | None, str, bool],
    output: Path | None,
    redact: bool,
    quiet: bool,
    dry_run: bool,
) -> "list[Told]":
    import threading

    from lsmlens.analyzer.collection.access import found_access
    from lsmlens.analyzer.collection.bundle import Collector, chosen_osds
    from lsmlens.analyzer.collection.commands import Runner
    from lsmlens.analyzer.collection.debug_levels import put_back_left
    from lsmlens.cli.progress import Progress

    suffix = "" if output is None else _suffix(output)
    if not dry_run:
        for script, worked in put_back_left():
            said = "debug levels that an earlier collection left raised"
            (note if worked else warn)(f"{said} were put back" if worked else f"{said} are still raised: sh {script}")
    access = found_access(*way)
    folder = output.parent if output is not None else Path.cwd()
    plan = chosen_osds(access, Runner(folder, limits.timeout_seconds, threading.Event()), osds, worst)
    if dry_run:
        print_result("".join(f"{line}\n" for line in plan.lines(limits)))
        return []
    assert output is not None
    with Progress(quiet) as progress:
        hide = _redaction(plan) if redact else None
        collector = Collector(plan, limits, hide, progress.counting("collecting"), note)
        return _written(output, lambda path: collector.write(path, suffix))


def _of_database(folder: Path, output: Path | None, since: float, redact: bool, quiet: bool) -> "list[Told]":
    from lsmlens.analyzer.collection.database import collect_database
    from lsmlens.cli.progress import Progress

    if output is None:
        raise LsmlensError("--dry-run is for OSDs", "of a database LOG*, OPTIONS-* and its MANIFEST are read")
    suffix = _suffix(output)
    with Progress(quiet) as progress:
        hide = _redaction(None) if redact else None
        counting = progress.counting("collecting")
        return _written(output, lambda path: collect_database(folder, path, suffix, since, hide, counting))


def _redaction(plan: "Plan | None") -> Callable[[str], str]:
    from lsmlens.reports.redaction import Redaction

    redaction = Redaction()
    if plan is not None:
        hosts = [osd.host for osd in plan.osds if osd.host]
        redaction.learn_names(("host", name) for host in hosts for name in (host, host.partition(".")[0]))
    return redaction.whole_text


def _suffix(output: Path) -> str:
    from lsmlens.analyzer.collection.bundle import SUFFIXES

    suffix = next((one for one in SUFFIXES if output.name.endswith(one) and output.name != one), None)
    if suffix is None:
        raise LsmlensError(f"{output}: no format for this suffix", f"use one of {' '.join(SUFFIXES)}")
    if not output.parent.is_dir():
        raise LsmlensError(f"{output.parent}: no such folder", "make it first")
    return suffix


def _written(output: Path, write: "Callable[[Path], list[Told]]") -> "list[Told]":
    from lsmlens.reports.outputs import whole_file

    for left in output.parent.glob(f".{escape(output.name)}.*.tmp"):  # by one that was killed
        process = left.name.split(".")[-2]
        if not Path("/proc", process).exists():
            left.unlink(missing_ok=True)
    try:
        with whole_file(output) as temporary:
            told = write(temporary)
    except OSError as error:
        raise LsmlensError(f"{output}: {(error.strerror or str(error)).lower()}", "choose another place") from error
    print_result(
        f"{output}: {sum(one.bytes > 0 for one in told)} files, {sum(one.bytes for one in told) >> 20} MiB unpacked\n"
    )
    return told


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Have the signals that end a program end it as an interrupt does: by way of what has to be done at the end."""

    def end(*_: Any) -> None:
        for one in (*ENDING, signal.SIGINT):
            signal.signal(one, signal.SIG_IGN)  # once is enough: what is put back is not to be interrupted
        raise KeyboardInterrupt

    before = {one: signal.signal(one, end) for one in (*ENDING, signal.SIGINT)}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
