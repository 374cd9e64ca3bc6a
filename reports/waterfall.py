"""The slowest operations an OSD kept, as waterfalls: each stage where it lies in the operation's time."""

from collections.abc import Iterator, Sequence

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.clients.operations import Operation, slowest
from lsmlens.analyzer.clients.stages import Stage
from lsmlens.analyzer.numbers import time_of
from lsmlens.reports.moments import moment, moment_of_micros
from lsmlens.reports.tables import Table

SHOWN_AS_TEXT, SHOWN_IN_PAGES = 3, 8
MOMENT_MICROS = 2_000_000
BAR_WIDTH = 24
DESCRIPTION_WIDTH = 96
# Stages that hold less of an operation are not drawn, all of them are in the document.
LEAST_SHARE = 0.005
BLOCK, TRACK = "█", "·"


def waterfalls(one: RunAnalysis) -> list[str]:
    """The slowest operations of three moments, as lines of a terminal report; empty where none was kept."""
    lines: list[str] = []
    for operation in slowest_apart(one.beside.operations, SHOWN_AS_TEXT):
        description = operation.description
        if len(description) > DESCRIPTION_WIDTH:
            description = f"{description[: DESCRIPTION_WIDTH - 1]}…"
        at = f" at {begun(operation)}" if operation.initiated_micros is not None else ""
        lines.append(f"  {time_of(operation.duration_seconds)}{at}, {operation.operation_class}")
        lines.append(f"    {description}")
        lines += _bars(operation)
    return lines


def slowest_apart(operations: Sequence[Operation], most: int = SHOWN_IN_PAGES) -> list[Operation]:
    """At most so many of the slowest, one of each moment: those about the same one waited for the same thing."""
    shown: list[Operation] = []
    for operation in slowest(operations, len(operations)):
        start = operation.initiated_micros or 0
        if all(abs(start - (other.initiated_micros or 0)) > MOMENT_MICROS for other in shown):
            shown.append(operation)
        if len(shown) == most:
            break
    return shown


def _bars(operation: Operation) -> Iterator[str]:
    whole = sum(stage.seconds for stage in operation.stages)
    drawn = [stage for stage in operation.stages if whole and stage.seconds >= LEAST_SHARE * whole]
    for stage in drawn:
        yield f"    {stage.group!s:11} {_bar(stage, whole)} {time_of(stage.seconds):>9}  {stage.since} to {stage.until}"


def _bar(stage: Stage, whole: float) -> str:
    start = min(BAR_WIDTH - 1, int(BAR_WIDTH * stage.start_seconds / whole))
    length = max(1, min(BAR_WIDTH - start, round(BAR_WIDTH * stage.seconds / whole)))
    return TRACK * start + BLOCK * length + TRACK * (BAR_WIDTH - start - length)


def waterfall_table(one: RunAnalysis) -> Table | None:
    """The same operations as pages show them, one row a stage; None where none was kept."""
    rows: list[tuple[str, ...]] = []
    for number, operation in enumerate(slowest_apart(one.beside.operations), 1):
        whole = sum(stage.seconds for stage in operation.stages)
        drawn = [stage for stage in operation.stages if whole and stage.seconds >= LEAST_SHARE * whole]
        for place, stage in enumerate(drawn):
            first = (f"{number}. {operation.operation_class}", begun(operation) or "-") if not place else ("", "")
            stages = f"{stage.since} to {stage.until}"
            rows.append((*first, str(stage.group), time_of(stage.start_seconds), time_of(stage.seconds), stages))
    header = ("operation", "began", "held by", "after", "for", "stage")
    return Table(header, tuple(rows), left=(0, 2, 5)) if rows else None


def begun(operation: Operation) -> str | None:
    """When it began: in UTC, in the OSD's local time (without a Z) where it logged no zone."""
    micros = operation.initiated_micros
    if micros is None or operation.has_zone:
        return moment_of_micros(micros)
    return moment(micros / 1000, None)
