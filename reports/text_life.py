"""Findings, options, stalls, counters and what clients felt, as lines of the terminal report."""

from collections.abc import Iterator
from textwrap import wrap
from typing import TYPE_CHECKING

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Finding
from lsmlens.reports.numbers import plain, share, size
from lsmlens.reports.tables import table

if TYPE_CHECKING:
    from lsmlens.analyzer.options.options_in_force import OptionInForce
    from lsmlens.analyzer.statistics_series import StatisticsSeries

WIDTH = 110
OPTIONS_SHOWN = 40
LEAST_SHARE = 0.0005


def findings(one: RunAnalysis) -> list[str]:
    """Most severe first; then what could not be assessed, and for want of what."""
    lines: list[str] = []
    said: set[tuple[str, str, tuple[str, ...]]] = set()
    for finding in one.findings:
        lines += _hanging(_headline(finding))
        advice = (finding.code, finding.advice, finding.commands)
        if advice not in said:  # else it was said for a column family before
            said.add(advice)
            lines += _details(finding)
    if not one.findings:
        lines.append("  none")
    lacking: dict[str, list[str]] = {}
    for rule in one.not_assessed:
        lacking.setdefault(rule.needs, []).append(rule.code)
    for needs, codes in sorted(lacking.items(), key=lambda item: item[1]):
        lines += _hanging(f"not assessed: {', '.join(codes)}: needs {needs}")
    return lines


def _hanging(text: str) -> list[str]:
    return wrap(
        text, WIDTH, initial_indent="  ", subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )


def _headline(finding: Finding) -> str:
    where = f" [{finding.column_family}]" if finding.column_family is not None else ""
    return (
        f"{finding.severity.upper()} {finding.code} {finding.title}{where}: {finding.value}"
        f" (threshold {finding.threshold}; confidence {finding.confidence})"
    )


def _details(finding: Finding) -> Iterator[str]:
    yield from _paragraph(finding.meaning)
    for evidence in finding.evidence[:3]:
        place = evidence.source if evidence.line is None else f"{evidence.source}:{evidence.line}"
        yield from _paragraph(f"evidence: {place}: {evidence.text}")
    if finding.advice:
        yield from _paragraph(f"change: {finding.advice}")
    for command in finding.commands:
        yield f"        {command}"
    if finding.risk:
        yield from _paragraph(f"risk: {finding.risk}")
    if finding.check:
        yield from _paragraph(f"check: {finding.check}")


def _paragraph(text: str) -> Iterator[str]:
    for line in wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False):
        yield f"      {line}"


def options(one: RunAnalysis) -> list[str]:
    """Options that differ from the release's defaults, alike families together; empty where nothing tells."""
    if not one.options:
        return []
    alike: dict[tuple[str, str, str | None, str], list[str]] = {}
    for option in (*one.options, *one.ceph_options):
        if option.differs:
            key = (option.name, option.value, option.default, str(option.source))
            alike.setdefault(key, []).append(_family(option))
    if not alike:
        return ["  all options whose defaults are known have them"]
    rows = [
        [name, value, default or "-", ", ".join(families), source]
        for (name, value, default, source), families in sorted(alike.items())
    ]
    lines = table(["option", "value", "default", "of", "read in"], rows[:OPTIONS_SHOWN], left=(0, 3, 4))
    return lines + ([f"  … and {len(rows) - OPTIONS_SHOWN} more"] if len(rows) > OPTIONS_SHOWN else [])


def _family(option: "OptionInForce") -> str:
    return option.family if option.family is not None else "all"


def pressure(one: RunAnalysis) -> list[str]:
    """Stalls by cause, from warnings and from statistics dumps; empty where there is neither."""
    run, series = one.run, one.series
    lines = [
        f"  {plain(count)} line(s): {kind} for {cause.replace('_', ' ')}, {family}"
        for (family, kind, cause), count in sorted(run.stall_lines.items())
    ]
    if series is not None:
        cut = sum(point.is_cut for point in series.points)
        stalled = "unknown" if series.stall_seconds is None else f"{series.stall_seconds:.1f} s"
        lines.append(
            f"  {len(series.points)} statistics dump(s){f', {cut} of them cut' if cut else ''}, the last"
            f" {_after_open(series)}: until then writes stalled {stalled},"
            f" users wrote {_bytes(series.user_bytes)}, WAL {_bytes(series.wal_bytes)}"
        )
    total = one.total_amplification
    if total is not None:
        lines.append(
            f"  total write amplification {total.ratio:.2f}: WAL {_bytes(total.wal_bytes)} and tables"
            f" {_bytes(total.table_bytes)} for {_bytes(total.user_bytes)} from users, as far as the dumps reach"
        )
    return lines


def counters(one: RunAnalysis) -> list[str]:
    """The counters that bear on RocksDB, and the log's bytes against BlueFS's; empty without perf dumps."""
    summary = one.counters
    if summary is None:
        return []
    kv = _millis(summary.kv_sync_seconds, summary.kv_flush_seconds, summary.kv_commit_seconds)
    transactions = _millis(summary.transaction_submit_seconds, summary.transaction_commit_seconds)
    rocksdb = _millis(summary.rocksdb_get_seconds, summary.rocksdb_submit_seconds, summary.rocksdb_submit_sync_seconds)
    written = (
        summary.bluefs_wal_bytes_written,
        summary.bluefs_sst_bytes_written,
        summary.bluefs_slow_bytes_written,
    )
    rows = [
        ["kv sync / flush / commit", kv],
        ["transaction submit / commit", transactions],
        ["RocksDB get / submit / submit sync", rocksdb],
        ["BlueFS written: WAL / tables / slow device", " / ".join(map(_bytes, written))],
        ["database on its device", f"{_bytes(summary.db_used_bytes)} of {_bytes(summary.db_total_bytes)}"],
        ["spilled to the slow device", f"{_bytes(summary.slow_used_bytes)}, at most {_bytes(summary.slow_peak_bytes)}"],
        ["onodes found in cache", share(summary.onode_hit_share)],
        ["client writes", f"{plain(summary.client_writes)}, {_bytes(summary.client_write_bytes)}"],
    ]
    lines = table([f"since the daemon started, {len(one.beside.perf_dumps)} perf dumps", ""], rows)
    if one.cross_check is not None and one.cross_check.difference is not None:
        lines.append(
            f"  tables written by the log: {_bytes(one.cross_check.log_bytes)},"
            f" {share(one.cross_check.difference)} off BlueFS's own count"
        )
    return lines


def clients(one: RunAnalysis) -> list[str]:
    """Where operations spent their time, and benchmark results; empty where there are none."""
    lines: list[str] = []
    for times in one.stage_times:
        if times.whole is None:
            continue
        held = ", ".join(
            f"{group.group} {share(group.share)}" for group in times.groups[:4] if (group.share or 0) >= LEAST_SHARE
        )
        lines.append(
            f"  {times.operations} {times.operation_class} op(s) kept by the OSD: mean {_ms(times.whole.mean_seconds)},"
            f" p95 {_ms(times.whole.p95_seconds)}, most {_ms(times.whole.max_seconds)}; time held by {held}"
        )
    rows = [
        [
            result.source.replace("!", "/").rsplit("/", 1)[-1] + ("" if result.is_complete else " (cut)"),
            result.operation or "-",
            plain(result.iops),
            _bytes(result.bytes_per_second) + "/s" if result.bytes_per_second is not None else "-",
            _ms(result.latency_mean_seconds),
            _ms(result.latency_percentiles_seconds.get(99.0)),
        ]
        for result in one.beside.client_results
    ]
    if rows:
        lines += table(["client result", "op", "IOPS", "bandwidth", "mean", "p99"], rows)
    return lines


def _after_open(series: "StatisticsSeries") -> str:
    last = series.last_of_opens
    return f"{plain(last[-1].uptime_seconds)} s after the open" if last else "at an unknown time"


def _bytes(count: float | None) -> str:
    return "-" if count is None else size(round(count))


def _ms(seconds: float | None) -> str:
    return "-" if seconds is None else f"{1000 * seconds:.3g} ms"


def _millis(*seconds: float | None) -> str:
    return " / ".join(_ms(one) for one in seconds)
