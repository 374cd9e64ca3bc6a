"""The tables of one run, cells as people read them: all reports for people print these."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lsmlens.analyzer.amplification import FamilyWrites
from lsmlens.analyzer.analysis import Analysis, RunAnalysis
from lsmlens.analyzer.compaction_statistics import LABELS, CompactionStatistics
from lsmlens.analyzer.pressure import FamilyPressure
from lsmlens.reports.moments import moment_of_micros
from lsmlens.reports.numbers import bytes_of, file_name, mib, millis, plain, ratio, share
from lsmlens.reports.tables import Table

if TYPE_CHECKING:
    from lsmlens.analyzer.options.options_in_force import OptionInForce
    from lsmlens.analyzer.overlap import Overlap


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
    """How near column families came to stalls, at their worst."""
    header = ("column family", "most L0 files", "compact at", "slow at", "stop at", "full memtables", "of", "pending")
    rows = [
        (
            one.family or '""',
            plain(one.level0_files),
            plain(one.compaction_trigger),
            plain(one.slowdown_trigger),
            plain(one.stop_trigger),
            plain(one.immutable_memtables),
            plain(one.memtables),
            bytes_of(one.pending_compaction_bytes),
        )
        for one in families
    ]
    return Table(header, tuple(rows))


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


def client_results(one: RunAnalysis) -> Table | None:
    """What load programs measured; None where none did."""
    rows = [
        (
            file_name(result.source) + ("" if result.is_complete else " (cut)"),
            result.operation or "-",
            plain(result.iops),
            bytes_of(result.bytes_per_second) + "/s" if result.bytes_per_second is not None else "-",
            millis(result.latency_mean_seconds),
            millis(result.latency_percentiles_seconds.get(99.0)),
        )
        for result in one.beside.client_results
    ]
    return Table(("client result", "op", "IOPS", "bandwidth", "mean", "p99"), tuple(rows)) if rows else None


def coincidences(one: RunAnalysis) -> Table | None:
    """How often what was slow overlaps flushes, compactions and stalls, against chance; None where nothing was slow."""
    rows: dict[str, list[str]] = {}
    for found in one.coincidences:
        if found.during not in _DURING:
            continue
        row = rows.setdefault(found.what, [_short(found.what), plain(found.overlap.operations), plain(found.moments)])
        row.append(_times_chance(found.overlap) if found.had_any else "none then")
    header = ("times as often as by chance (90 % interval)", "count", "moments")
    return Table((*header, *(f"during {name}" for name in _DURING)), tuple(map(tuple, rows.values()))) if rows else None


_DURING = ("flushes", "compactions", "stalls")


def _short(what: str) -> str:
    head, of, source = what.partition(" of ")
    return f"{head}{of}{file_name(source)}"


def _times_chance(overlap: "Overlap") -> str:
    ratio_found, interval = overlap.ratio, overlap.interval
    if ratio_found is None or interval is None:
        return "-"
    high = "any" if interval[1] is None else f"{interval[1]:.1f}"
    return f"{ratio_found:.1f} ({interval[0]:.1f} to {high})"


def _millis(*seconds: float | None) -> str:
    return " / ".join(map(millis, seconds))


def stages(one: RunAnalysis) -> Table | None:
    """Where operations kept by the OSD spent their time, by class; None without operations."""
    rows = [
        (
            str(times.operation_class),
            plain(times.operations),
            millis(times.whole.mean_seconds),
            millis(times.whole.p95_seconds),
            millis(times.whole.max_seconds),
            ", ".join(f"{group.group} {share(group.share)}" for group in times.groups[:4]),
        )
        for times in one.stage_times
        if times.whole is not None
    ]
    header = ("class", "operations", "mean", "p95", "slowest", "time held by")
    return Table(header, tuple(rows), left=(0, 5)) if rows else None
