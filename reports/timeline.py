"""What a run's charts show, summed up by time: activity, bytes by level, amplification, pressure, operations.

Everything is in bins, so a log of days comes to no more than one of minutes. A job's seconds and bytes are spread
evenly over the time it ran; write amplification counts a job whole where it finished, as `--window` does.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from lsmlens.analyzer.analysis import MOST_WINDOWS, RunAnalysis
from lsmlens.analyzer.bundles.companions import Beside
from lsmlens.analyzer.measures.amplification import UNATTRIBUTED, FamilyWrites, writes_by_window
from lsmlens.analyzer.measures.shape import LevelHolds, bytes_by_level, files_by_level
from lsmlens.analyzer.numbers import DAY, HOUR, MINUTE, file_name
from lsmlens.analyzer.runs.jobs import FLUSH, MOVE
from lsmlens.analyzer.runs.run import Run
from lsmlens.analyzer.runs.selection import JobFilter, Selection
from lsmlens.analyzer.units import MICROS

if TYPE_CHECKING:
    import polars as pl

WINDOWS = 60
BINS_PER_WINDOW = 5
LANES = 24
OTHER_FAMILIES = "(others)"
CLIENT_SPANS = 240
LENGTHS_SECONDS = (
    *(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 20, 30),
    *(MINUTE * minutes for minutes in (1, 2, 5, 10, 15, 20, 30)),
    *(HOUR * hours for hours in (1, 2, 3, 4, 6, 12)),
    *(DAY * days for days in (1, 2, 7, 14, 28, 91, 182, 364, 3640)),
)


@dataclass(frozen=True, slots=True)
class TimeBins:
    """`count` bins of `width_micros` each from `start_micros` on; all in microseconds, since 1970 UTC."""

    start_micros: int
    width_micros: int
    count: int

    @classmethod
    def over(cls, first_micros: int, last_micros: int, most: int) -> "TimeBins":
        """At most `most` bins that hold both moments; they begin at multiples of their length."""
        for seconds in LENGTHS_SECONDS:
            width = round(seconds * MICROS)
            start = first_micros // width * width
            count = (last_micros - start) // width + 1
            if count <= most:
                return cls(start, width, count)
        width = -(-(last_micros - first_micros + 1) // most)
        return cls(first_micros, width, most)

    @property
    def seconds(self) -> float:
        """The length of one bin."""
        return self.width_micros / MICROS

    @property
    def end_micros(self) -> int:
        """Where the last bin ends."""
        return self.start_micros + self.count * self.width_micros

    def index(self, micros: int) -> int:
        """The bin of a moment, the nearest for one outside."""
        return min(max((micros - self.start_micros) // self.width_micros, 0), self.count - 1)

    def start_of(self, index: int) -> int:
        """Where a bin starts."""
        return self.start_micros + index * self.width_micros

    def shares(self, since_micros: int, until_micros: int) -> Iterator[tuple[int, int]]:
        """The bins that an interval touches, with the microseconds it has in each; of a moment, its bin with 0."""
        first, last = self.index(since_micros), self.index(until_micros)
        for index in range(first, last + 1):
            start = self.start_of(index)
            begin = since_micros if index == first else start
            end = until_micros if index == last else start + self.width_micros
            if end > begin or first == last:
                yield index, max(0, end - begin)


@dataclass(frozen=True, slots=True)
class Level0Span:
    """A stretch of bins, from the first on and before the second, with the same most files in level 0."""

    family: str
    since: int
    until: int
    files: int


class Level0History:
    """Follows `lsm_state`: between two events of a family level 0 is as the first left it, until the next open.

    `lane` is what a family is drawn in; of several in one lane the most files count.
    """

    def __init__(self, bins: TimeBins) -> None:
        self._bins = bins
        self._states: dict[str, dict[str, tuple[int, int, int]]] = defaultdict(dict)
        self._most: dict[tuple[str, int], int] = {}

    def take(self, job: Mapping[str, Any], lane: str) -> None:
        """Take in what a finished job (a row of jobs, its time in microseconds) says level 0 holds from then on."""
        if not job["level_files"]:
            return
        family, session, files = job["column_family"], job["session"], job["level_files"][0]
        index = self._bins.index(job["finished_at"])
        before = self._states[lane].get(family)
        if before is not None and before[0] == session:
            for passed in range(before[1], index + 1):
                self._raise(lane, passed, before[2])
        self._raise(lane, index, files)
        self._states[lane][family] = (session, index, files)

    def spans(self) -> list[Level0Span]:
        """Stretches of equal count, by lane and time; none where level 0 was empty or nothing tells."""
        spans: list[Level0Span] = []
        for (lane, index), files in sorted(self._most.items()):
            last = spans[-1] if spans else None
            if last is not None and (last.family, last.until, last.files) == (lane, index, files):
                spans[-1] = Level0Span(lane, last.since, index + 1, files)
            elif files:
                spans.append(Level0Span(lane, index, index + 1, files))
        return spans

    def _raise(self, lane: str, index: int, files: int) -> None:
        self._most[lane, index] = max(files, self._most.get((lane, index), 0))


@dataclass(frozen=True, slots=True)
class OperationBin:
    """The operations of one class that started in one bin; times in seconds."""

    bin: int
    operation_class: str
    operations: int
    median_seconds: float
    slowest_seconds: float


@dataclass(frozen=True, slots=True)
class ClientSpan:
    """The mean latency a load program measured from one moment to another, whole runs or seconds of one."""

    name: str
    since_micros: int
    until_micros: int
    mean_seconds: float
    p99_seconds: float | None = None


@dataclass(slots=True)
class Activity:
    """What the flushes or the compactions of one family did in one bin; `jobs` are those that finished in it."""

    busy_micros: int = 0
    jobs: int = 0
    bytes: float = 0.0


@dataclass(slots=True)
class FlushedMemtables:
    """Memtables that flushes of one reason took in, by the bin they started in."""

    flushes: int = 0
    memory_bytes: int = 0


class Held(NamedTuple):
    """What a level holds at the end of a bin, all column families together; files where the jobs' events tell."""

    bytes: int
    files: int


@dataclass(slots=True)
class Timeline:
    """One run over time. Keys are bin numbers first; `families` are in the order of lanes, by name.

    Windows hold `BINS_PER_WINDOW` bins each. `stalled_seconds` are those of statistics dumps, and `kv_thread` the share
    of time in which that thread had work, with the moments between which they were counted.
    """

    first_micros: int
    last_micros: int
    bins: TimeBins
    families: tuple[str, ...]
    activity: dict[tuple[int, str, str], Activity] = field(default_factory=dict)
    level_bytes: dict[tuple[int, int], float] = field(default_factory=lambda: defaultdict(float))
    stall_lines: Counter[tuple[int, str]] = field(default_factory=Counter)
    stalled_seconds: list[tuple[int, int, float]] = field(default_factory=list)
    opens_micros: list[int] = field(default_factory=list)
    windows: list[tuple[int, FamilyWrites]] = field(default_factory=list)
    level0: list[Level0Span] = field(default_factory=list)
    shape: dict[tuple[int, int], "Held"] = field(default_factory=dict)
    flushed: dict[tuple[int, str], FlushedMemtables] = field(default_factory=dict)
    waiting_memtables: dict[int, int] = field(default_factory=dict)
    operations: list[OperationBin] = field(default_factory=list)
    client_spans: list[ClientSpan] = field(default_factory=list)
    kv_thread: list[tuple[int, int, float]] = field(default_factory=list)

    @property
    def window_seconds(self) -> float:
        """The length of one window."""
        return self.bins.seconds * BINS_PER_WINDOW

    def busy_seconds(self, kind: str) -> dict[int, float]:
        """Seconds of jobs of a kind by bin, all families together; more than a bin's length where jobs ran at once."""
        seconds: dict[int, float] = defaultdict(float)
        for (index, _, of_kind), activity in self.activity.items():
            if of_kind == kind:
                seconds[index] += activity.busy_micros / MICROS
        return dict(seconds)


def measure_timeline(one: RunAnalysis, selection: Selection) -> Timeline | None:
    """The run over time; None where nothing in it has a time. Only selected jobs count."""
    wanted = selection.of(one.run)
    extent = _extent(one.run, wanted)
    if extent is None:
        return None
    lanes = _lanes(one.families)
    coarse = TimeBins.over(*extent, WINDOWS)
    bins = TimeBins(coarse.start_micros, coarse.width_micros // BINS_PER_WINDOW, coarse.count * BINS_PER_WINDOW)
    timeline = Timeline(*extent, bins, tuple(sorted(set(lanes.values()))))
    jobs = wanted.of(one.run.jobs)
    timeline.windows = list(writes_by_window(jobs.lazy(), timeline.window_seconds, MOST_WINDOWS))
    level0 = Level0History(timeline.bins)
    for job in _rows(jobs):
        lane = lanes.get(job["column_family"], OTHER_FAMILIES)
        if job["kind"] == MOVE:
            continue
        _take_job(timeline, job, lane)
        level0.take(job, lane)
    for flush in _started_flushes(one.run, wanted):
        _take_memtables(timeline, flush)
    timeline.level0 = level0.spans()
    timeline.shape = _shape(one.run, wanted, bins)
    _take_switches(timeline, one.run, selection)
    _take_stalls(timeline, one)
    timeline.operations = operation_bins(one, timeline.bins)
    timeline.kv_thread = list(_kv_thread(one.run, timeline.bins))
    timeline.client_spans = [
        span
        for span in client_spans(one.beside)
        if span.until_micros > timeline.bins.start_micros and span.since_micros < timeline.bins.end_micros
    ]
    return timeline


def _shape(run: Run, wanted: JobFilter, bins: TimeBins) -> dict[tuple[int, int], Held]:
    """What each level holds at the end of each bin, from the first table that the log or a MANIFEST tells of."""
    held = [
        _at_ends(
            (one for one in told if not wanted.column_families or one.column_family in wanted.column_families), bins
        )
        for told in (bytes_by_level(run), files_by_level(run))
    ]
    levels = range(1 + max((level for _, level in held[0]), default=-1))
    told_bins = sorted({index for index, _ in held[0]})
    return {
        (index, level): Held(held[0].get((index, level), 0), held[1].get((index, level), 0))
        for index in told_bins
        for level in levels
    }


def _at_ends(told: Iterable[LevelHolds], bins: TimeBins) -> dict[tuple[int, int], int]:
    """The amounts of each level at the end of each bin, added up over column families."""
    totals: dict[int, int] = defaultdict(int)
    known: dict[tuple[str, int], int] = {}
    at_ends: dict[tuple[int, int], int] = {}
    current: int | None = None

    def close(until: int) -> None:
        for index in range(until if current is None else current, until):
            at_ends.update({(index, level): amount for level, amount in totals.items()})

    for one in told:
        if one.micros >= bins.end_micros:
            break
        index = bins.index(one.micros)
        close(index)
        current = index
        totals[one.level] += one.amount - known.get((one.column_family, one.level), 0)
        known[one.column_family, one.level] = one.amount
    close(bins.count)
    return at_ends


def _extent(run: Run, wanted: JobFilter) -> tuple[int, int] | None:
    """First and last moment to show, in microseconds UTC."""
    first, last = run.stamps.first, run.stamps.last
    if first is None or last is None:
        return None
    since, until = _utc_micros(run, first), _utc_micros(run, last)
    since = max(since, wanted.since_micros) if wanted.since_micros is not None else since
    until = min(until, wanted.until_micros) if wanted.until_micros is not None else until
    return (since, until) if since <= until else None


def _utc_micros(run: Run, local_millis: int) -> int:
    return (local_millis - 1000 * (run.utc_offset_seconds or 0)) * 1000


def _lanes(families: Iterable[FamilyWrites]) -> dict[str, str]:
    """Family -> the lane it is drawn in: its own, or that of all that wrote little where there are many."""
    by_bytes = sorted(families, key=lambda family: -(family.flush_bytes + family.compaction_output_bytes))
    shown = {family.name for family in (by_bytes if len(by_bytes) <= LANES else by_bytes[: LANES - 1])}
    return {family.name: family.name if family.name in shown else OTHER_FAMILIES for family in by_bytes}


def _rows(jobs: "pl.DataFrame") -> Iterator[dict[str, Any]]:
    """Jobs one by one, by the columns that a timeline needs; times in microseconds."""
    import polars as pl

    columns = ("session", "kind", "output_level", "output_bytes", "level_files", "immutable_memtables", "micros")
    yield from jobs.select(
        *columns,
        pl.col("column_family").fill_null(UNATTRIBUTED),
        pl.col("started_at", "finished_at").dt.epoch("us"),
    ).iter_rows(named=True)


def _started_flushes(run: Run, wanted: JobFilter) -> Iterator[dict[str, Any]]:
    """Flushes by the time they started, finished or not."""
    import polars as pl

    columns = (pl.col("started_at").dt.epoch("us"), "reason", "memory_bytes")
    for jobs in (run.jobs, run.unfinished):
        flushes = wanted.of(jobs.filter(pl.col("kind") == FLUSH), "started_at")
        yield from flushes.filter(pl.col("started_at").is_not_null()).select(columns).iter_rows(named=True)


def _take_job(timeline: Timeline, job: dict[str, Any], lane: str) -> None:
    kind, until, written = job["kind"], job["finished_at"], job["output_bytes"]
    since = job["started_at"]
    if since is None:
        since = until - (job["micros"] or 0)
    since = min(max(since, timeline.bins.start_micros), until)
    length = until - since
    for index, micros in timeline.bins.shares(since, until):
        share = written * micros / length if length else written
        activity = timeline.activity.setdefault((index, lane, kind), Activity())
        activity.busy_micros += micros
        activity.bytes += share
        timeline.level_bytes[index, job["output_level"]] += share
    finished = timeline.activity.setdefault((timeline.bins.index(until), lane, kind), Activity())
    finished.jobs += 1
    if waiting := job["immutable_memtables"]:
        index = timeline.bins.index(until)
        timeline.waiting_memtables[index] = max(waiting, timeline.waiting_memtables.get(index, 0))


def _take_memtables(timeline: Timeline, flush: dict[str, Any]) -> None:
    reason = flush["reason"] or "not logged"
    flushed = timeline.flushed.setdefault((timeline.bins.index(flush["started_at"]), reason), FlushedMemtables())
    flushed.flushes += 1
    flushed.memory_bytes += flush["memory_bytes"] or 0


def _take_switches(timeline: Timeline, run: Run, selection: Selection) -> None:
    for local_millis, family, immutable in run.memtable_switches.frame().iter_rows():
        moment = _utc_micros(run, local_millis)
        is_wanted = not selection.column_families or family in selection.column_families
        if is_wanted and timeline.bins.start_micros <= moment < timeline.bins.end_micros:
            index = timeline.bins.index(moment)
            timeline.waiting_memtables[index] = max(immutable, timeline.waiting_memtables.get(index, 0))


def _take_stalls(timeline: Timeline, one: RunAnalysis) -> None:
    run, bins = one.run, timeline.bins
    for local_millis, _, kind in run.stall_moments:
        moment = _utc_micros(run, local_millis)
        if bins.start_micros <= moment < bins.end_micros:
            timeline.stall_lines[bins.index(moment), kind] += 1
    for point in one.series.points if one.series else ():
        if point.millis is not None and point.interval_seconds and point.interval_stall_seconds:
            until = _utc_micros(run, point.millis)
            since = max(until - round(point.interval_seconds * MICROS), bins.start_micros)
            if since < until <= bins.end_micros:
                timeline.stalled_seconds.append((since, until, point.interval_stall_seconds))
    opened = (session.opened_at_millis for session in run.sessions)
    moments = (_utc_micros(run, millis) for millis in opened if millis is not None)
    timeline.opens_micros = [moment for moment in moments if bins.start_micros <= moment < bins.end_micros]


def _kv_thread(run: Run, bins: TimeBins) -> Iterator[tuple[int, int, float]]:
    for stretch in run.kv_thread:
        if stretch.millis is not None:
            until = _utc_micros(run, stretch.millis)
            since = max(until - round(stretch.seconds * MICROS), bins.start_micros)
            if since < until <= bins.end_micros:
                yield since, until, stretch.busy_share


def operation_bins(one: RunAnalysis, bins: TimeBins) -> list[OperationBin]:
    """Operations kept by the OSD and told by its log, by bin and class."""
    from statistics import median

    durations: dict[tuple[int, str], list[float]] = defaultdict(list)
    for operation in one.beside.operations:
        offset = 0 if operation.has_zone else (one.run.utc_offset_seconds or 0)
        if operation.initiated_micros is None or operation.duration_seconds is None:
            continue
        moment = operation.initiated_micros - offset * MICROS
        if bins.start_micros <= moment < bins.end_micros:
            durations[bins.index(moment), str(operation.operation_class)].append(operation.duration_seconds)
    for what, took, local_millis in one.run.slow_operations:
        if local_millis is not None:
            moment = (local_millis - 1000 * (one.run.utc_offset_seconds or 0)) * 1000 - round(took * MICROS)
            if bins.start_micros <= moment < bins.end_micros:
                durations[bins.index(moment), f"slow in the log: {what}"].append(took)
    return [
        OperationBin(index, name, len(seconds), median(seconds), max(seconds))
        for (index, name), seconds in sorted(durations.items())
    ]


def client_spans(beside: Beside) -> Iterator[ClientSpan]:
    """A span for each result that tells its end, and of a course over time each of at most `CLIENT_SPANS` stretches."""
    told: set[str] = set()
    if beside.client_series:
        from lsmlens.analyzer.clients.client_series import latencies

        for series in latencies(beside.client_series):
            told.add(series.source)
            steps = series.steps()
            length = -(-len(steps) // CLIENT_SPANS)
            name = " ".join(filter(None, (file_name(series.source), series.operation)))
            for first in range(0, len(steps), length):
                stretch = steps[first : first + length]
                mean = sum(seconds for _, _, seconds in stretch) / len(stretch)
                yield ClientSpan(name, stretch[0][0], stretch[-1][1], mean)
    for result in beside.client_results:
        if result.source not in told and result.ended_micros and result.runtime_seconds and result.latency_mean_seconds:
            since = result.ended_micros - round(result.runtime_seconds * MICROS)
            name = " ".join(filter(None, (file_name(result.source), result.job, result.operation)))
            p99 = result.latency_percentiles_seconds.get(99.0)
            yield ClientSpan(name, since, result.ended_micros, result.latency_mean_seconds, p99)
