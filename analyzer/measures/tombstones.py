"""Tombstones that listings step over: where they lie, how old they are, and whether a compaction will take them.

Counted are the tables that the log says were made and neither deleted nor compacted since; tables from before the log
are not seen. A table that was moved down since is in the level it was moved to.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import polars as pl
from lsmlens.analyzer.bundles.companions import Beside
from lsmlens.analyzer.metrics import TABLE_SUMS, TOMBSTONE_SHARE
from lsmlens.analyzer.numbers import duration, plain, size
from lsmlens.analyzer.options.option_strings import parse_size
from lsmlens.analyzer.options.options_in_force import value_of
from lsmlens.analyzer.runs.jobs import COMPACTION, MOVE
from lsmlens.analyzer.runs.osds import is_osd
from lsmlens.analyzer.runs.run import Run, SlowOperation
from lsmlens.analyzer.units import MICROS

if TYPE_CHECKING:
    from lsmlens.analyzer.measures.statistics_series import StatisticsSeries
    from lsmlens.analyzer.options.options_in_force import OptionInForce

UNKNOWN_FAMILY = "(unknown)"
# Before it, `oldest_key_time` was no time: tables of RocksDB 6.8 say 3.
FIRST_KEY_SECONDS = 1_000_000_000
# What stands for "as the format has it": 30 days, for block-based tables (options/cf_options, RocksDB).
TTL_BY_DEFAULT, MONTH_SECONDS = (1 << 64) - 2, 30 * 86_400
LEVEL_STYLE = "kCompactionStyleLevel"
COLLECTOR = "rocksdb_cf_compact_on_deletion"
# Ceph's defaults for the collector: so many deletions within so many entries in a row.
TRIGGER, WINDOW = 16384, 32768

# Iterators of BlueStore's omap and its listing of a collection, by the counters of their times (BlueStore.cc).
LISTING_COUNTER = "clist_lat"
ITERATORS = (
    "omap_seek_to_first_lat",
    "omap_upper_bound_lat",
    "omap_lower_bound_lat",
    "omap_next_lat",
    "omap_get_keys_lat",
    "omap_get_values_lat",
    "omap_clear_lat",
    LISTING_COUNTER,
)
# What "slow operation observed for" names of them; the second are those that read the onodes' family.
SLOW_OMAP = ("seek_to_first", "upper_bound", "lower_bound", "next", "omap_iterator", "omap_get", "omap_clear")
SLOW_LISTING = ("_collection_list", "collection_list", "_remove_collection", "clist")
# Internal entries that iterators stepped over without returning them, and what they returned (RocksDB, statistics.h).
SKIPPED = "rocksdb.number.iter.skip"
RETURNED = ("rocksdb.number.db.seek.found", "rocksdb.number.db.next.found", "rocksdb.number.db.prev.found")


class LevelTombstones(NamedTuple):
    """The tombstones of one family in one level, as far as the log knows its tables.

    `oldest_seconds` is how long before the log's end the oldest of its tables with tombstones was begun,
    `median_seconds` the same of the table that holds the median tombstone. `is_due` says whether a compaction of the
    level is due by the options in force, None where they do not tell, and `reason` why or why not. Point deletions
    that are `marked` lie in tables that compaction on deletion marks in any case, `markable` ones in tables where that
    depends on how close together they lie; the others in tables that hold too few.
    """

    family: str
    level: int
    tables: int
    bytes: int
    entries: int
    tombstones: int
    range_tombstones: int
    oldest_seconds: float | None
    median_seconds: float | None
    is_due: bool | None
    reason: str
    marked: int
    markable: int

    @property
    def share(self) -> float:
        """Tombstones / entries."""
        return self.tombstones / self.entries if self.entries else 0.0


class Iteration(NamedTuple):
    """How long iterators of one kind took: by counters since the daemon started, and by lines of slow operations."""

    name: str
    times: int
    mean_seconds: float | None
    slow_lines: int = 0
    longest_seconds: float | None = None


class Collector(NamedTuple):
    """Compaction on deletion: whether it is on, None where nothing tells, and what it marks a table for."""

    is_on: bool | None
    trigger: int = TRIGGER
    window: int = WINDOW

    def marks(self, entries: int, tombstones: int) -> bool | None:
        """Whether it marks a table with so many: None where that depends on how close together they lie.

        Tombstones that are kept apart as well as they can be are `trigger` - 1 in each window, so one more is enough.
        Source: utilities/table_properties_collectors/compact_on_deletion_collector.cc.
        """
        if tombstones < self.trigger:
            return False
        whole, rest = divmod(entries, self.window)
        return True if tombstones > whole * (self.trigger - 1) + min(rest, self.trigger - 1) else None


def live_tables(run: Run) -> pl.LazyFrame:
    """The tables whose entries the log tells, and that live at its end, each in the level it was moved to last.

    Those of a job that never finished belong to no level; those that a recovery of the WAL wrote, to level 0.
    """
    jobs = run.scan_jobs()
    compacted = jobs.filter(kind=COMPACTION).select(number="input_tables").explode("number").drop_nulls()
    moved = (
        jobs.filter(kind=MOVE)
        .select(number=pl.col("input_tables"), moved_to=pl.col("output_level").cast(pl.Int8))
        .explode("number")
        .unique("number", keep="last", maintain_order=True)
    )
    return (
        run.scan_tables()
        .filter(tells_entries(), pl.col("deleted_at").is_null())
        .join(compacted, on="number", how="anti", maintain_order="left")
        .join(moved, on="number", how="left", maintain_order="left")
        .with_columns(
            level=pl.coalesce("moved_to", "level", pl.when(pl.col("created_by").is_null()).then(0).cast(pl.Int8)),
            column_family=pl.col("column_family").fill_null(UNKNOWN_FAMILY),
        )
        .drop("moved_to")
        .drop_nulls("level")
    )


def tells_entries() -> pl.Expr:
    """Of a table, whether the log tells how many entries it has, and tombstones among them."""
    return pl.col("entries").is_not_null() & pl.col("deletions").is_not_null()


def live_sums(run: Run) -> dict[str, int]:
    """The sums over live tables; empty where the log tells of no table's entries."""
    if not run.scan_tables().select(tells_entries().any()).collect().item():
        return {}
    return _sums(live_tables(run).select("bytes", "entries", "deletions", "range_deletions").collect())


def _sums(tables: pl.DataFrame) -> dict[str, int]:
    return tables.select(expression.alias(name) for name, expression in TABLE_SUMS.items()).row(0, named=True)


def collector_of(run: Run, ceph_options: "Sequence[OptionInForce]", config_show: Mapping[str, object]) -> Collector:
    """Compaction on deletion as it is set; of other programs nothing tells, and the numbers are Ceph's."""
    if not is_osd(run):
        return Collector(None)

    def value(name: str) -> str:
        shown = config_show.get(name)
        return shown if isinstance(shown, str) else value_of(ceph_options, None, name) or ""

    trigger, window = (parse_size(value(f"{COLLECTOR}_{name}")) for name in ("trigger", "sliding_window"))
    state = {"true": True, "false": False}.get(value(COLLECTOR))
    return Collector(state, trigger or TRIGGER, window or WINDOW)


def measure_tombstones(
    run: Run, options: "Sequence[OptionInForce]", collector: Collector
) -> tuple[LevelTombstones, ...]:
    """The levels that hold any tombstone, by family and level; nothing where the log tells of no table's entries."""
    live = live_tables(run).select(_COLUMNS).collect()
    end = run.last_event_micros
    if live.is_empty() or end is None:
        return ()
    files = _files_at_end(run)
    found = []
    for (family,), tables in live.group_by("column_family", maintain_order=True):
        shape = _Shape(str(family), tables, files.get(str(family), ()), options)
        for (level,), some in tables.group_by("level"):
            found.append(_level(str(family), int(str(level)), some, end, shape, collector))
    return tuple(sorted(one for one in found if one.tombstones))


def _level(
    family: str, level: int, tables: pl.DataFrame, end_micros: int, shape: "_Shape", collector: Collector
) -> LevelTombstones:
    sums = _sums(tables)
    begun = pl.when(pl.col("oldest_key_at") > FIRST_KEY_SECONDS).then(pl.col("oldest_key_at") * MICROS)
    holding = (
        tables.filter(pl.col("deletions") > 0)
        .with_columns(begun=pl.coalesce(begun, pl.col("created_at").to_physical()))
        .sort("begun")
    )
    ages = [(end_micros - one) / MICROS for one in holding["begun"]]
    median = next(
        (age for age, sofar in zip(ages, holding["deletions"].cum_sum(), strict=True) if 2 * sofar >= sums[_ALL]), None
    )
    marks = [
        (collector.marks(entries, tombstones), tombstones)
        for entries, tombstones in holding.select(
            "entries", pl.col("deletions") - pl.col("range_deletions").fill_null(0)
        ).iter_rows()
    ]
    is_due, reason = shape.due(level, ages[0] if ages else None)
    return LevelTombstones(
        family,
        level,
        sums["live_tables"],
        sums["live_table_bytes"],
        sums["live_entries"],
        sums[_ALL],
        sums["live_range_tombstones"],
        ages[0] if ages else None,
        median,
        is_due,
        reason,
        marked=sum(count for said, count in marks if said),
        markable=sum(count for said, count in marks if said is None),
    )


_ALL = "live_tombstones"
_COLUMNS = (
    *("column_family", "level", "bytes", "entries", "deletions", "range_deletions"),
    *("created_at", "oldest_key_at"),
)


def _files_at_end(run: Run) -> dict[str, list[int]]:
    """By family, the tables in each level as its last job left them."""
    told = run.scan_jobs().filter(pl.col("level_files").list.len() > 0)
    last = told.group_by("column_family", maintain_order=True).agg(pl.col("level_files").last())
    return {family or UNKNOWN_FAMILY: files for family, files in last.collect().iter_rows()}


class _Shape:
    """The levels of one family at the log's end, and what of them is due by the options in force."""

    def __init__(
        self, family: str, live: pl.DataFrame, files: Sequence[int], options: "Sequence[OptionInForce]"
    ) -> None:
        self._own = {one.name: one.value for one in options if one.family == family}
        sizes = live.group_by("level").agg(pl.col("bytes").sum(), pl.len()).rows()
        self._bytes: dict[int, int] = {level: total for level, total, _ in sizes}
        known: dict[int, int] = {level: count for level, _, count in sizes}
        self._files = dict(enumerate(files)) or known
        self._is_whole = all(known.get(level, 0) >= count for level, count in self._files.items())

    def due(self, level: int, oldest_seconds: float | None) -> tuple[bool | None, str]:
        """Whether a compaction of a level is due by its size, and why or why not."""
        if not self._own:
            return None, "the options are not known"
        if self._own.get("compaction_style", LEVEL_STYLE) != LEVEL_STYLE:
            return None, f"{self._own['compaction_style']}: by sorted runs, not by level"
        if self._own.get("disable_auto_compactions") in ("1", "true"):
            return False, "automatic compactions are off"
        is_due, reason = self._by_files() if level == 0 else self._by_size(level)
        if is_due:
            return True, reason
        wait = self._until_aged(oldest_seconds)
        return is_due, f"{reason}; {wait}" if wait else reason

    def _by_files(self) -> tuple[bool | None, str]:
        trigger, files = self._number("level0_file_num_compaction_trigger"), self._files.get(0, 0)
        if not trigger:
            return None, "the trigger of level 0 is not known"
        return files >= trigger, f"{plain(files)} of {plain(trigger)} files"

    def _by_size(self, level: int) -> tuple[bool | None, str]:
        if level == (self._number("num_levels") or 0) - 1:
            return False, "nothing lies below the last level"
        target, held = self._target(level), self._bytes.get(level, 0)
        if target is None:
            return None, "the level's target is not known"
        said = f"{'' if self._is_whole else 'at least '}{size(held)} of {size(round(target))}"
        if held >= target:
            return True, said
        return (False if self._is_whole else None), said

    def _target(self, level: int) -> float | None:
        base, factor = self._number("max_bytes_for_level_base"), self._real("max_bytes_for_level_multiplier")
        if not base or not factor:
            return None
        if self._own.get("level_compaction_dynamic_level_bytes") not in ("1", "true"):
            return float(base * factor ** (level - 1))
        last = max(self._bytes)  # levels are sized from the last one up
        return float(max(base, self._bytes[last] * factor ** (level - last)))

    def _until_aged(self, oldest_seconds: float | None) -> str:
        """When age alone will make a compaction due, by ttl or periodic_compaction_seconds."""
        periods = [self._number(name) or 0 for name in ("ttl", "periodic_compaction_seconds")]
        limits = [MONTH_SECONDS if one >= TTL_BY_DEFAULT else one for one in periods if one]
        if not limits or oldest_seconds is None:
            return ""
        left = min(limits) - oldest_seconds
        return f"for its age in {duration(left)}" if left > 0 else "for its age now"

    def _number(self, name: str) -> int | None:
        return parse_size(self._own.get(name, "").partition(".")[0])

    def _real(self, name: str) -> float | None:
        try:
            return float(self._own.get(name, ""))
        except ValueError:
            return None


NO_COLLECTOR = Collector(None)


def measure_iterations(run: Run, beside: Beside) -> tuple[Iteration, ...]:
    """How long iterators took: those that counters or slow lines tell of, by name."""
    slow: dict[str, list[float]] = {}
    for one in (SlowOperation(*row) for row in run.slow_operations):
        if one.what.startswith((*SLOW_OMAP, *SLOW_LISTING)):
            slow.setdefault(one.what, []).append(one.seconds)
    found = [Iteration(name, 0, None, len(times), max(times)) for name, times in sorted(slow.items())]
    return (*_counted(beside), *found)


def _counted(beside: Beside) -> Iterator[Iteration]:
    if not beside.perf_dumps:
        return
    last = beside.perf_dumps[-1]
    for name in ITERATORS:
        average = last.average(f"bluestore.{name}")
        if average is not None and average.count:
            yield Iteration(name, average.count, average.mean_seconds)


def skipped_per_entry(series: "StatisticsSeries | None") -> float | None:
    """Entries that iterators stepped over for each one they returned; None where no statistics dump counts them."""
    if series is None or SKIPPED not in series.tickers:
        return None
    returned = sum(series.tickers.get(name, 0) for name in RETURNED)
    return series.tickers[SKIPPED] / returned if returned else None


def share_of(levels: Sequence[LevelTombstones]) -> float | None:
    """The share of entries that are tombstones, of some levels together."""
    sums = {
        "live_tombstones": sum(one.tombstones for one in levels),
        "live_entries": sum(one.entries for one in levels),
    }
    return TOMBSTONE_SHARE.value(sums)
