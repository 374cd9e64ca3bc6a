"""Stalls: where writes were slowed down or stopped, for which cause, by the log's lines and by statistics dumps alike.

A line "Stalling writes because…" or "Stopping writes because…" is printed at every recalculation while the state
lasts; a dump counts how often it was entered. Either may be missing: the lines are warnings, which some programs do
not log, and dumps come every ten minutes. Source: db/column_family.cc and db/internal_stats.cc of RocksDB.
"""

from dataclasses import dataclass

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Evidence, OptionChange
from lsmlens.analyzer.measures.statistics_series import StatisticsSeries
from lsmlens.analyzer.numbers import counted, duration
from lsmlens.analyzer.options.option_strings import parse_size
from lsmlens.analyzer.options.options_in_force import value_of
from lsmlens.analyzer.rules.background_jobs import more_threads

SLOWDOWN, STOP = "slowdown", "stop"
MEMTABLES, LEVEL0, PENDING = "immutable_memtables", "level0_files", "pending_compaction_bytes"
LEVEL0_OR_MEMTABLES, BUFFER_MANAGER, UNKNOWN = "level0_files_or_memtables", "write_buffer_manager", "unknown"

BUFFERS, SPLIT = "max_write_buffer_number", "max_subcompactions"

# Shorter intervals between two dumps are those of an open or a close (ours).
LEAST_INTERVAL_SECONDS = 1.0
# Several writers that wait at once count each (ours: as many as write to one database); more was not so.
MOST_STALLED = 100


ADVICE = {
    MEMTABLES: "raise max_write_buffer_number, or let flushes run faster (background jobs, device)",
    LEVEL0: "let level 0 be compacted faster (max_subcompactions, background jobs), or make level 0 and level 1 alike"
    " in size",
    PENDING: "raise the number of background jobs, or max_bytes_for_level_base; compaction is behind",
    LEVEL0_OR_MEMTABLES: "let flushes and compactions of level 0 run faster (max_subcompactions, background jobs)",
    BUFFER_MANAGER: "give the write buffer manager more memory, or flush sooner: smaller write buffers, more jobs",
    UNKNOWN: "look for the cause in a LOG that holds warnings, and in the counts of a whole statistics dump",
}
# One compaction of level 0 to level 1 runs at a time, so more jobs alone do not make it faster (ours: a start).
SUBCOMPACTIONS = 4


@dataclass(frozen=True, slots=True)
class Stall:
    """Writes slowed down or stopped for one cause; `family` is None for what concerns the whole database.

    `lines` of the log say so, and by the last dump of each open it was `entered` so often; 0 where they do not tell.
    """

    family: str | None
    cause: str
    lines: int
    entered: int
    evidence: tuple[Evidence, ...]

    @property
    def of(self) -> str:
        """What begins a sentence on it: the family's name."""
        return f"{self.family}: " if self.family else ""

    @property
    def told(self) -> str:
        """How often, in words."""
        said = [counted(self.lines, "line")] if self.lines else []
        return " and ".join([*said, f"entered {counted(self.entered, 'time')}"] if self.entered else said)


def stalls_of(run: RunAnalysis, kind: str) -> list[Stall]:
    """The stalls of one kind (`slowdown`, `stop`), by family and cause."""
    counted = run.series.stalls if run.series is not None else {}
    dumped = {
        (family, cause.removesuffix(f"_{kind}s")): count
        for (family, cause), count in counted.items()
        if cause.endswith(f"_{kind}s")
    }
    logged = {(family, cause): lines for (family, of, cause), lines in run.run.stall_lines.items() if of == kind}
    stalls = []
    for family, cause in sorted(logged.keys() | dumped.keys()):
        lines, entered = logged.get((family, cause), 0), dumped.get((family, cause), 0)
        evidence = [run.run.stall_places[family, kind, cause]] if lines else []
        if entered:
            evidence.append(Evidence(run.name, f"statistics dumps: {family}, {cause} {kind}s {entered} since open"))
        stalls.append(Stall(family, cause, lines, entered, tuple(evidence)))
    stops = _buffer_manager_stops(run) if kind == STOP else 0
    if stops:
        evidence = [Evidence(run.name, f"statistics dumps: write-buffer-manager-limit-stops {stops}")]
        stalls.append(Stall(None, BUFFER_MANAGER, 0, stops, tuple(evidence)))
    return stalls


def _buffer_manager_stops(run: RunAnalysis) -> int:
    points = run.series.last_of_opens if run.series is not None else ()
    return sum(point.buffer_manager_stops or 0 for point in points)


def advice_on(stall: Stall) -> str:
    """What makes it rarer, in words."""
    return ADVICE[stall.cause]


def remedies(run: RunAnalysis, stall: Stall) -> tuple[OptionChange, ...]:
    """The options that make it rarer, twice what they are; nothing where the present values are not known."""
    if stall.cause == MEMTABLES:
        buffers = parse_size(value_of(run.options, stall.family, BUFFERS) or "")
        return () if buffers is None else (OptionChange(BUFFERS, str(2 * buffers)),)
    if stall.cause in (BUFFER_MANAGER, UNKNOWN):
        return ()
    changes = more_threads(run)
    split = parse_size(value_of(run.options, None, SPLIT) or "")
    if stall.cause != PENDING and split is not None and split < SUBCOMPACTIONS:
        changes += (OptionChange(SPLIT, str(SUBCOMPACTIONS)),)
    return changes


def stalled_share(series: StatisticsSeries) -> float | None:
    """The largest share of time for which writes were stalled: of any dump's interval, or of all opens together.

    Stops count as well as slowdowns. None where no dump tells.
    """
    shares = [
        point.interval_stall_seconds / point.interval_seconds
        for point in series.points
        if point.interval_stall_seconds is not None and (point.interval_seconds or 0.0) >= LEAST_INTERVAL_SECONDS
        if point.interval_seconds and point.interval_stall_seconds <= MOST_STALLED * point.interval_seconds
    ]
    uptime = sum(point.uptime_seconds or 0.0 for point in series.last_of_opens)
    if series.stall_seconds is not None and LEAST_INTERVAL_SECONDS <= uptime >= series.stall_seconds / MOST_STALLED:
        shares.append(series.stall_seconds / uptime)
    return max(shares, default=None)


def stalled_time(run: RunAnalysis) -> tuple[Evidence, ...]:
    """The stalled seconds of all opens, as evidence; nothing where no dump tells."""
    seconds = run.series.stall_seconds if run.series is not None else None
    if seconds is None:
        return ()
    return (Evidence(run.name, f"statistics dumps: writes stalled for {duration(seconds)} in all"),)
