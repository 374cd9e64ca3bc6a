"""The tables under the charts over time: the same figures, by window."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TypeVar

from lsmlens.analyzer.numbers import millis, plain, share
from lsmlens.analyzer.runs.jobs import COMPACTION, FLUSH
from lsmlens.analyzer.units import MIB, MICROS
from lsmlens.reports.moments import moment_of_micros
from lsmlens.reports.run_tables import windows
from lsmlens.reports.tables import Table
from lsmlens.reports.timeline import BINS_PER_WINDOW, Timeline

NOTHING = "·"

ColumnT = TypeVar("ColumnT")


class TimeTables:
    """One run's timeline as tables; a row is a window, named by its start in UTC."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline

    def activity(self) -> Table:
        """Seconds of flushes and of compactions, by column family."""
        seconds: dict[tuple[int, str, str], float] = defaultdict(float)
        for (index, lane, kind), one in self._timeline.activity.items():
            seconds[index // BINS_PER_WINDOW, lane, kind] += one.busy_micros / MICROS
        lanes = self._timeline.families
        cells = {
            (window, lane): f"{seconds[window, lane, FLUSH]:.2f} / {seconds[window, lane, COMPACTION]:.2f}"
            for window, lane, _ in list(seconds)
        }
        return self._by_window([lane or '""' for lane in lanes], lanes, cells)

    def levels(self) -> Table:
        """MiB written into each level."""
        mib: dict[tuple[int, int], float] = defaultdict(float)
        for (index, level), count in self._timeline.level_bytes.items():
            mib[index // BINS_PER_WINDOW, level] += count / MIB
        levels = sorted({level for _, level in mib})
        return self._by_window(
            [f"L{level} MiB" for level in levels], levels, {key: f"{value:.1f}" for key, value in mib.items()}
        )

    def amplification(self) -> Table:
        """Flushes, compactions and write amplification."""
        return windows(self._timeline.windows)

    def latency(self) -> Table:
        """Operations by when they started, then what load programs measured."""
        bins, timeline = self._timeline.bins, self._timeline
        rows = [
            (
                moment_of_micros(bins.start_of(one.bin)) or "-",
                one.operation_class,
                plain(one.operations),
                millis(one.median_seconds),
                millis(one.slowest_seconds),
            )
            for one in timeline.operations
        ]
        rows += [
            (
                moment_of_micros(span.since_micros) or "-",
                span.name,
                f"{(span.until_micros - span.since_micros) / MICROS:.1f} s",
                millis(span.mean_seconds),
                millis(span.p99_seconds),
            )
            for span in timeline.client_spans
        ]
        header = ("from (UTC)", "of", "operations, or time", "median, or mean", "slowest, or p99")
        return Table(header, tuple(rows), left=(0, 1))

    def kv_thread(self) -> Table:
        """How busy the kv thread was, as its lines have it."""
        rows = [
            (moment_of_micros(since) or "-", f"{(until - since) / MICROS:.1f} s", share(busy))
            for since, until, busy in sorted(self._timeline.kv_thread)
        ]
        return Table(("from (UTC)", "time", "busy"), tuple(rows))

    def level0(self) -> Table:
        """The most files in level 0, by column family."""
        most: dict[tuple[int, str], int] = defaultdict(int)
        for span in self._timeline.level0:
            for window in range(span.since // BINS_PER_WINDOW, (span.until - 1) // BINS_PER_WINDOW + 1):
                most[window, span.family] = max(most[window, span.family], span.files)
        lanes = sorted({lane for _, lane in most})
        return self._by_window(
            [lane or '""' for lane in lanes], lanes, {key: str(value) for key, value in most.items()}
        )

    def memtables(self) -> Table:
        """MiB of memtables flushed, by reason, and the most memtables left waiting."""
        mib: dict[tuple[int, str], float] = defaultdict(float)
        waiting: dict[int, int] = defaultdict(int)
        for (index, reason), one in self._timeline.flushed.items():
            mib[index // BINS_PER_WINDOW, reason] += one.memory_bytes / MIB
        for index, count in self._timeline.waiting_memtables.items():
            waiting[index // BINS_PER_WINDOW] = max(count, waiting[index // BINS_PER_WINDOW])
        reasons = sorted({reason for _, reason in mib})
        cells = {key: f"{value:.1f}" for key, value in mib.items()}
        cells.update({(window, ""): str(count) for window, count in waiting.items()})
        return self._by_window([*(f"{one} MiB" for one in reasons), "most waiting"], [*reasons, ""], cells)

    def _by_window(
        self, titles: Sequence[str], columns: Sequence[ColumnT], cells: Mapping[tuple[int, ColumnT], str]
    ) -> Table:
        """A row for each window that has any cell."""
        bins = self._timeline.bins
        rows = [
            (
                moment_of_micros(bins.start_of(window * BINS_PER_WINDOW)) or "-",
                *(cells.get((window, column), NOTHING) for column in columns),
            )
            for window in sorted({window for window, _ in cells})
        ]
        return Table(("from (UTC)", *titles), tuple(rows))
