"""A watch, as it is seen: lines of what happened, a table that is drawn anew on a terminal, and metrics."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.metrics import LOG_SECONDS, SUMS, metric_named
from lsmlens.analyzer.numbers import percent, plain, size
from lsmlens.analyzer.printable import printable
from lsmlens.analyzer.watching.watch import OF_JOBS, OF_LOGS, Happened, Watch
from lsmlens.reports.openmetrics import PREFIX, Family, Sample, to_openmetrics

if TYPE_CHECKING:
    from rich.console import RenderableType

LINES_SHOWN: Final = 12
FIGURES: Final = ("flushes", "compactions", "written", "write amplification", "compacting", "stalls")
STYLES: Final = {"critical": "bold red", "warning": "yellow", "info": "cyan", "stall": "red", "note": "dim"}
COUNTED: Final = {**{name: SUMS[name].meaning for name in OF_JOBS}, **OF_LOGS}


def metrics(watch: Watch) -> str:
    """The window's metrics, and what was added up, for node_exporter's textfile collector."""
    families = [
        Family(
            f"{PREFIX}watched_{name}",
            f"Since the log is watched: {meaning}.",
            [Sample({"run": log.name}, log.state.sums[name]) for log in watch.logs],
            "counter",
        )
        for name, meaning in COUNTED.items()
    ]
    return to_openmetrics(watch.analysis, families)


def line(one: Happened) -> str:
    """What happened, as a line."""
    return f"{one.moment:%Y-%m-%dT%H:%M:%SZ} {one.log} {one.kind} {printable(one.text)}\n"


def status(watch: Watch) -> str:
    """A line for each log that was judged: the window in figures."""
    return "".join(
        f"{_moment(one)} {one.name} window {', '.join(f'{name} {value}' for name, value in _figures(one).items())}\n"
        for one in _judged(watch)
    )


def screen(watch: Watch, recent: Sequence[Happened]) -> "RenderableType":
    """The window of each log as a table, and below it what happened last."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    judged = {one.name: one for one in _judged(watch)}
    table = Table(expand=False, pad_edge=False)
    table.add_column("log")
    table.add_column("until")
    for name in FIGURES:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("findings")
    for log in watch.logs:
        one = judged.get(log.name)
        if one is None:
            table.add_row(log.name, "-", *("-" for _ in FIGURES), "")
            continue
        codes = Text(" ").join(
            Text(code, STYLES[severity]) for code, severity in sorted({(f.code, str(f.severity)) for f in one.findings})
        )
        table.add_row(log.name, _moment(one)[11:19], *_figures(one).values(), codes)
    lines = [Text(line(one).rstrip("\n"), STYLES.get(one.kind, ""), no_wrap=True) for one in recent[-LINES_SHOWN:]]
    return Group(table, *lines)


def _figures(one: RunAnalysis) -> dict[str, str]:
    sums = one.sums
    amplification, busy = (metric_named(name) for name in ("write_amplification_lsm", "compaction_busy_share"))
    assert amplification is not None
    assert busy is not None
    return {
        "flushes": plain(sums["flushes"]),
        "compactions": plain(sums["compactions"]),
        "written": size(round(sums["flush_bytes"] + sums["compaction_output_bytes"])),
        "write amplification": plain(amplification.value(sums), 3),
        "compacting": percent(busy.value({**sums, LOG_SECONDS: one.statistics.log_duration_seconds})),
        "stalls": plain(sum(one.run.stall_lines.values())),
    }


def _judged(watch: Watch) -> Sequence[RunAnalysis]:
    return () if watch.analysis is None else watch.analysis.runs


def _moment(one: RunAnalysis) -> str:
    from datetime import UTC, datetime

    last = one.run.stamps.last
    return "-" if last is None else f"{datetime.fromtimestamp(one.run.utc_micros(last) / 1e6, UTC):%Y-%m-%dT%H:%M:%SZ}"
