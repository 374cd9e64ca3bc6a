"""The tables of one run, cells as people read them: all reports for people print these."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lsmlens.analyzer.amplification import FamilyWrites
from lsmlens.analyzer.analysis import Analysis, RunAnalysis
from lsmlens.analyzer.compaction_statistics import CompactionStatistics
from lsmlens.analyzer.metrics import LABELS
from lsmlens.analyzer.pressure import FamilyPressure
from lsmlens.reports.moments import moment_of_micros
from lsmlens.reports.numbers import bytes_of, file_name, mib, millis, plain, ratio, share
from lsmlens.reports.tables import Table

if TYPE_CHECKING:
    from lsmlens.analyzer.options.options_in_force import OptionInForce


def statistics_columns(analysis: Analysis) -> list[tuple[str, CompactionStatistics]]:
    """The columns of the published table: the runs, and their total unless it would only repeat one of them."""
    columns = [(one.run.name, one.statistics) for one in analysis.runs]
    if analysis.total_statistics is not None and len(analysis.counted_in_total) > 1:
        whole = len(analysis.counted_in_total) == len(analysis.runs)
        columns.append(("total" if whole else "total (no mon)", analysis.total_statistics))
    return columns


def statistics(columns: Sequence[tuple[str, CompactionStatistics]]) -> Table:
    """The published "Compaction Statistics" table."""
    rows = [(label, *(plain(getattr(column, name)) for _, column in columns)) for name, label in LABELS.items()]
    return Table(("", *(name for name, _ in columns)), tuple(rows))


def statistics_by_run(analysis: Analysis) -> Table:
    """The same figures for many runs, one row each."""
    rows = [
        (
            one.run.name,
            plain(one.statistics.log_duration_seconds),
            plain(one.statistics.compaction_events),
            plain(one.statistics.total_compaction_seconds),
            plain(one.statistics.total_output_size_mib),
            plain(one.statistics.total_input_records),
            plain(one.statistics.total_output_records),
            ratio(one.statistics.output_input_ratio_of_sums),
            mib(one.total.flush_bytes),
            ratio(one.total.write_amplification),
        )
        for one in analysis.runs
    ]
    header = ("run", "log s", "compactions", "seconds", "output MiB", "records in", "out", "out/in", "flush MiB")
    return Table((*header, "LSM WA"), tuple(rows))


def families(one: RunAnalysis) -> Table:
    """Writes by column family."""
    header = ("column family", "flushes", "flush MiB", "compactions", "input MiB", "output MiB", "records in")
    rows = [_family(family.name or '""', family) for family in one.families]
    total = _family("total", one.total)
    return Table((*header, "records out", "out/in", "moves", "LSM WA"), tuple(rows), total)


def _family(name: str, family: FamilyWrites) -> tuple[str, ...]:
    return (
        name,
        plain(family.flushes),
        mib(family.flush_bytes),
        plain(family.compactions),
        mib(family.compaction_input_bytes),
        mib(family.compaction_output_bytes),
        plain(family.input_records),
        plain(family.output_records),
        ratio(family.output_input_ratio),
        plain(family.trivial_moves),
        ratio(family.write_amplification),
    )


def pressure(families: Sequence[FamilyPressure]) -> Table:
    """How near column families came to stalls, at their worst and in the mean by time."""
    header = (
        "column family",
        "L0 files: most",
        "mean",
        "compact at",
        "slow at",
        "stop at",
        "full memtables: most",
        "mean",
    )
    rows = [
        (
            one.family or '""',
            plain(one.level0_files),
            _mean(one.level0_files_mean),
            plain(one.compaction_trigger),
            plain(one.slowdown_trigger),
            plain(one.stop_trigger),
            plain(one.immutable_memtables),
            _mean(one.immutable_memtables_mean),
            plain(one.memtables),
            bytes_of(one.pending_compaction_bytes),
            bytes_of(one.pending_compaction_bytes_mean),
        )
        for one in families
    ]
    return Table((*header, "of", "pending: most", "mean"), tuple(rows))


def _mean(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def levels(one: RunAnalysis) -> Table:
    """Writes by the level written to."""
    header = ("into level", "flush MiB", "compactions", "seconds", "input MiB", "output MiB", "records in")
    rows = [
        (
            f"L{level.level}",
            mib(level.flush_bytes),
            plain(level.compactions),
            f"{level.compaction_seconds:.1f}",
            mib(level.compaction_input_bytes),
            mib(level.compaction_output_bytes),
            plain(level.input_records),
            plain(level.output_records),
            ratio(level.output_input_ratio),
            plain(level.trivial_moves),
            mib(level.trivial_move_bytes),
        )
        for level in one.levels
    ]
    return Table((*header, "records out", "out/in", "moves", "moved MiB"), tuple(rows))


def reasons(one: RunAnalysis) -> Table:
    """Why flushes and compactions ran, the most frequent reason of each kind first."""
    import polars as pl
    from lsmlens.analyzer.jobs import MOVE

    counted = (
        one.run.jobs.filter(pl.col("kind") != MOVE)
        .group_by("kind", pl.col("reason").fill_null("not logged"))
        .agg(jobs=pl.len(), size=pl.col("output_bytes").sum())
        .sort("kind", "jobs", "reason", descending=[True, True, False])
    )
    rows = [(kind, reason, plain(jobs), mib(size or 0)) for kind, reason, jobs, size in counted.rows()]
    return Table(("kind", "reason", "jobs", "written MiB"), tuple(rows), left=(0, 1))


def flushes(one: RunAnalysis) -> Table:
    """What flushes took in, what survived them, and why they were made."""
    header = ("column family", "flushes", "memtables each", "entries in", "deletes in", "entries out")
    rows = [
        (
            view.name or '""',
            plain(view.flushes),
            "-" if view.memtables_per_flush is None else f"{view.memtables_per_flush:.1f}",
            plain(view.input_entries),
            plain(view.input_deletes),
            plain(view.output_entries),
            share(view.dropped_share),
            share(view.dropped_puts_share),
            ", ".join(f"{count} {reason}" for reason, count in view.reasons.most_common()),
        )
        for view in one.flushes
    ]
    return Table((*header, "died in memory", "puts died", "reasons"), tuple(rows), left=(0, 8))


def windows(sums: Sequence[tuple[int, FamilyWrites]]) -> Table:
    """Writes by time window."""
    rows = [
        (
            moment_of_micros(start) or "-",
            plain(window.flushes),
            mib(window.flush_bytes),
            plain(window.compactions),
            f"{window.compaction_seconds:.1f}",
            mib(window.compaction_output_bytes),
            ratio(window.write_amplification),
        )
        for start, window in sums
    ]
    header = ("from (UTC)", "flushes", "flush MiB", "compactions", "seconds", "output MiB", "LSM WA")
    return Table(header, tuple(rows))


def options(one: RunAnalysis) -> Table:
    """Options that differ from the release's defaults, alike families together; without rows where none does."""
    alike: dict[tuple[str, str, str | None, str], list[str]] = {}
    for option in (*one.options, *one.ceph_options):
        if option.differs:
            key = (option.name, option.value, option.default, str(option.source))
            alike.setdefault(key, []).append(_owner(option))
    rows = [
        (name, value, default or "-", ", ".join(owners), source)
        for (name, value, default, source), owners in sorted(alike.items())
    ]
    return Table(("option", "value", "default", "of", "read in"), tuple(rows), left=(0, 1, 2, 3, 4))


def _owner(option: "OptionInForce") -> str:
    return option.family if option.family is not None else "all"


def counters(one: RunAnalysis) -> Table | None:
    """The counters that bear on RocksDB; None without perf dumps."""
    summary = one.counters
    if summary is None:
        return None
    kv = _millis(summary.kv_sync_seconds, summary.kv_flush_seconds, summary.kv_commit_seconds)
    transactions = _millis(summary.transaction_submit_seconds, summary.transaction_commit_seconds)
    rocksdb = _millis(summary.rocksdb_get_seconds, summary.rocksdb_submit_seconds, summary.rocksdb_submit_sync_seconds)
    written = (summary.bluefs_wal_bytes_written, summary.bluefs_sst_bytes_written, summary.bluefs_slow_bytes_written)
    slow = f"{bytes_of(summary.slow_used_bytes)}, at most {bytes_of(summary.slow_peak_bytes)}"
    rows = (
        ("kv sync / flush / commit", kv),
        ("transaction submit / commit", transactions),
        ("RocksDB get / submit / submit sync", rocksdb),
        ("BlueFS written: WAL / tables / slow device", " / ".join(map(bytes_of, written))),
        ("database on its device", f"{bytes_of(summary.db_used_bytes)} of {bytes_of(summary.db_total_bytes)}"),
        ("spilled to the slow device", slow),
        ("onodes found in cache", share(summary.onode_hit_share)),
        ("client writes", f"{plain(summary.client_writes)}, {bytes_of(summary.client_write_bytes)}"),
    )
    return Table((f"since the daemon started, {len(one.beside.perf_dumps)} perf dumps", ""), rows)


def counter_intervals(one: RunAnalysis) -> Table | None:
    """The same from each perf dump to the next; None where there are less than two."""
    if len(one.counter_intervals) < 2:
        return None
    lives = one.counter_intervals[-1].life > 1
    rows = [
        (
            (f"{interval.life}: " if lives else "") + file_name(interval.until),
            _millis(counted.kv_flush_seconds, counted.kv_commit_seconds),
            millis(counted.transaction_commit_seconds),
            millis(counted.rocksdb_get_seconds),
            " / ".join(map(bytes_of, (counted.bluefs_wal_bytes_written, counted.bluefs_sst_bytes_written))),
            bytes_of(counted.slow_used_bytes),
            share(counted.onode_hit_share),
            plain(counted.client_writes),
            _range(interval.seconds),
            _range(interval.per_second(counted.client_writes)),
        )
        for interval in one.counter_intervals
        for counted in (interval.counted,)
    ]
    header = (
        "up to the perf dump",
        "kv flush / commit",
        "transaction",
        "RocksDB get",
        "WAL / tables written",
        "spilled",
    )
    return Table((*header, "onodes hit", "client writes", "seconds", "writes/s"), tuple(rows))


def _range(ends: tuple[float, float] | None) -> str:
    return "-" if ends is None else f"{ends[0]:.0f} to {ends[1]:.0f}"


def _millis(*seconds: float | None) -> str:
    return " / ".join(map(millis, seconds))
