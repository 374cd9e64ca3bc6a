"""`lsmlens watch`: live logs, what happens in them, and metrics for Prometheus."""

import signal
import sys
import time
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from lsmlens.analyzer.errors import LsmlensError
from lsmlens.cli.arguments import Colour
from lsmlens.cli.commands import examples
from lsmlens.cli.streams import INTERRUPTED, is_coloured, print_result
from lsmlens.cli.values import seconds

if TYPE_CHECKING:
    from lsmlens.analyzer.watching.watch import Happened, Watch

KEPT_LINES = 100

app = typer.Typer(add_completion=False)
EXAMPLES = examples(
    "lsmlens watch /var/log/ceph/ceph-osd.3.log",
    "lsmlens watch /var/log/ceph/ceph-osd.*.log -o /srv/textfile/lsmlens.prom",
    "lsmlens watch /var/lib/rocksdb/LOG --window 10m --once",
)


@app.command(epilog=EXAMPLES)
def watch(
    logs: Annotated[
        list[Path], typer.Argument(metavar="LOG", help="A log that is being written, by the path it always has.")
    ],
    *,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Keep FILE.prom up to date, for node_exporter's textfile collector.",
            show_default=False,
        ),
    ] = None,
    every: Annotated[
        float, typer.Option(metavar="TIME", parser=seconds, help="How often the logs are looked at.")
    ] = 10.0,
    window: Annotated[
        float, typer.Option(metavar="TIME", parser=seconds, help="How far back figures and findings go.")
    ] = 3600.0,
    state: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where to keep how far each log has been read (default: the user's state)."),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Read what is new, and exit.")] = False,
    colour: Colour = "auto",
) -> int:
    """Follows live logs across rotation, truncation and restarts, and says what happens in them.

    On a terminal a table that is drawn anew; in a pipe a line for each finding as it arises or goes, each stall, and
    the window's figures. What was read once is not read again: the next watch of a log goes on where the last ended.
    """
    import platformdirs
    from lsmlens.analyzer.watching.watch import Watch
    from lsmlens.reports.watch import line, status

    if output is not None and output.suffix != ".prom":
        raise LsmlensError(f"{output}: no format for this suffix", "use .prom")
    if output is not None and not output.parent.is_dir():
        raise LsmlensError(f"{output.parent}: no such folder", "make it first")
    folder = state or platformdirs.user_state_path("lsmlens") / "watch"
    watching = Watch(logs, folder, window)
    try:
        if once:
            said = "".join(line(one) for one in watching.look(judge=True))
            _export(watching, output)
            print_result(said + status(watching))
            return 0
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        (_draw if sys.stdout.isatty() else _print)(watching, output, every, is_coloured(colour))
    except KeyboardInterrupt:
        return INTERRUPTED if sys.stdout.isatty() else 0
    finally:
        watching.close()
    return 0


def _print(watching: "Watch", output: Path | None, every: float, _: bool) -> None:
    """Lines, as things happen."""
    from lsmlens.reports.watch import line, status

    judged: Any = None
    while True:
        for one in watching.look():
            print_result(line(one))
        if watching.analysis is not judged:
            judged = watching.analysis
            print_result(status(watching))
        _export(watching, output)
        time.sleep(every)


def _draw(watching: "Watch", output: Path | None, every: float, coloured: bool) -> None:
    """A table that is drawn anew after each look."""
    from lsmlens.reports.watch import screen
    from rich.console import Console
    from rich.live import Live

    recent: deque[Happened] = deque(maxlen=KEPT_LINES)
    with Live(console=Console(no_color=not coloured), auto_refresh=False) as live:
        while True:
            recent.extend(watching.look())
            live.update(screen(watching, list(recent)), refresh=True)
            _export(watching, output)
            time.sleep(every)


def _export(watching: "Watch", output: Path | None) -> None:
    if output is None:
        return
    from lsmlens.reports.outputs import whole_file
    from lsmlens.reports.watch import metrics

    with whole_file(output) as temporary:
        temporary.write_text(metrics(watching), encoding="utf-8")
