"""Findings, options, stalls, counters and what clients felt, as lines of the terminal report."""

import re
from collections.abc import Iterator
from dataclasses import replace
from textwrap import wrap
from typing import TYPE_CHECKING

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Finding
from lsmlens.analyzer.plan import Plan
from lsmlens.reports import client_tables, plan_blocks, run_tables
from lsmlens.reports.numbers import bytes_of, millis, plain, share

if TYPE_CHECKING:
    from lsmlens.analyzer.statistics_series import StatisticsSeries

WIDTH = 100
OPTIONS_SHOWN = 40
CELL_WIDTH = 28
LEAST_SHARE = 0.0005


def findings(one: RunAnalysis, width: int = WIDTH) -> list[str]:
    """Most severe first; then what could not be assessed, and for want of what."""
    lines: list[str] = []
    said: set[tuple[str, str, tuple[str, ...]]] = set()
    for finding in one.findings:
        lines += _hanging(_headline(finding), width)
        advice = (finding.code, finding.advice, finding.commands)
        if advice not in said:  # else it was said for a column family before
            said.add(advice)
            lines += _details(finding, width)
    if not one.findings:
        lines.append("  none")
    if one.not_assessed:
        lines += _hanging(f"not assessed: {'; '.join(_lacking(one))} (more: lsmlens explain CODE)", width)
    return lines


def plan_lines(plan: Plan, width: int = WIDTH) -> list[str]:
    """What all findings together would change, once, and how."""
    lines = plan_blocks.changes_table(plan).lines() if plan.changes else ["  nothing to change"]
    for text in plan_blocks.left_out(plan):
        lines += _hanging(text, width)
    for title, notes, pasted in plan_blocks.steps(plan):
        lines += ["", *_hanging(title, width)]
        for note in notes:
            lines += _paragraph(note, width)
        lines += [f"        {line}" for line in pasted]
    return lines


def _lacking(one: RunAnalysis) -> list[str]:
    """For want of what rules could not be applied, those for want of the same together; how to get it is left out."""
    lacking: dict[str, list[str]] = {}
    for rule in one.not_assessed:
        lacking.setdefault(_HOW.split(rule.needs, maxsplit=1)[0], []).append(rule.code)
    return [f"{', '.join(codes)} {'need' if len(codes) > 1 else 'needs'} {needs}" for needs, codes in lacking.items()]


# Where the words on what a rule needs go over to what there is, and to how to get the rest.
_HOW = re.compile(r" \(|: ")


def _hanging(text: str, width: int) -> list[str]:
    return wrap(
        text, width, initial_indent="  ", subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )


def _headline(finding: Finding) -> str:
    where = f" [{finding.column_family}]" if finding.column_family is not None else ""
    return (
        f"{finding.severity.upper()} {finding.code} {finding.title}{where}: {finding.value}"
        f" (threshold {finding.threshold}; confidence {finding.confidence})"
    )


def _details(finding: Finding, width: int) -> Iterator[str]:
    yield from _paragraph(finding.meaning, width)
    for evidence in finding.evidence[:3]:
        place = evidence.source if evidence.line is None else f"{evidence.source}:{evidence.line}"
        yield from _paragraph(f"evidence: {place}: {evidence.text}", width)
    if finding.advice:
        yield from _paragraph(f"change: {finding.advice}", width)
    for command in finding.commands:
        yield f"        {command}"
    if finding.risk:
        yield from _paragraph(f"risk: {finding.risk}", width)
    if finding.check:
        yield from _paragraph(f"check: {finding.check}", width)


def _paragraph(text: str, width: int) -> Iterator[str]:
    for line in wrap(text, width - 6, break_long_words=False, break_on_hyphens=False):
        yield f"      {line}"


def options(one: RunAnalysis) -> list[str]:
    """Options that differ from the release's defaults, alike families together; empty where nothing tells."""
    if not one.options:
        return []
    table = run_tables.options(one)
    if not table.rows:
        return ["  all options whose defaults are known have them"]
    left_out = len(table.rows) - OPTIONS_SHOWN
    shown = ((name, _clipped(value), _clipped(default), *rest) for name, value, default, *rest in table.rows)
    lines = replace(table, rows=tuple(shown)[:OPTIONS_SHOWN]).lines()
    return lines + ([f"  … and {left_out} more"] if left_out > 0 else [])


def _clipped(cell: str) -> str:
    """A value; Ceph's option strings are long, and their parts have rows of their own."""
    return cell if len(cell) <= CELL_WIDTH else f"{cell[: CELL_WIDTH - 1]}…"


def pressure(one: RunAnalysis) -> list[str]:
    """Stalls, and the column families that came near to one; empty where nothing tells."""
    near = [family for family in one.pressure if family.is_notable]
    lines = [f"  {line}" for line in stall_lines(one)]
    return lines + (run_tables.pressure(near).lines() if near else [])


def stall_lines(one: RunAnalysis) -> list[str]:
    """Stalls by cause, from warnings and from statistics dumps, and what BlueStore says; empty where nothing tells."""
    run, series = one.run, one.series
    lines = [
        f"{plain(count)} line(s): {kind} for {cause.replace('_', ' ')}, {family}"
        for (family, kind, cause), count in sorted(run.stall_lines.items())
    ]
    if series is not None:
        cut = sum(point.is_cut for point in series.points)
        stalled = "unknown" if series.stall_seconds is None else f"{series.stall_seconds:.1f} s"
        lines.append(
            f"{len(series.points)} statistics dump(s){f', {cut} of them cut' if cut else ''}, the last"
            f" {_after_open(series)}: until then writes stalled {stalled},"
            f" users wrote {bytes_of(series.user_bytes)}, WAL {bytes_of(series.wal_bytes)}"
        )
    if run.slow_operations:
        longest = max(seconds for seconds, _ in run.slow_places.values())
        lines.append(f"{plain(len(run.slow_operations))} line(s): slow operation observed, the longest {longest:.2f} s")
    if run.kv_thread:
        busiest = max(time.busy_share for time in run.kv_thread)
        seconds, idle = sum(time.seconds for time in run.kv_thread), sum(time.idle_seconds for time in run.kv_thread)
        lines.append(
            f"kv thread busy {share(1 - idle / seconds)} of {seconds:.0f} s, most {share(busiest)} of a line's"
        )
    total = one.total_amplification
    if total is not None:
        written = f"WAL {bytes_of(total.wal_bytes)} and tables {bytes_of(total.table_bytes)}"
        reach = (
            f"by counters since the daemon started: {written}, for each byte of the WAL"
            if total.is_by_counters
            else f"as far as the dumps reach: {written} for {bytes_of(total.user_bytes)} from users"
        )
        lines.append(f"total write amplification {total.ratio:.2f}, {reach}")
    return lines


def counters(one: RunAnalysis) -> list[str]:
    """The counters that bear on RocksDB, and the log's bytes against BlueFS's; empty without perf dumps."""
    table = run_tables.counters(one)
    if table is None:
        return []
    lines = table.lines()
    if one.cross_check is not None and one.cross_check.difference is not None:
        lines.append(
            f"  tables written since then by the log: {bytes_of(one.cross_check.log_bytes)},"
            f" {share(one.cross_check.difference)} off BlueFS's own count"
        )
    intervals = run_tables.counter_intervals(one)
    return lines + (intervals.lines() if intervals is not None else [])


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
            f"  {times.operations} {times.operation_class} op(s) kept by the OSD:"
            f" mean {millis(times.whole.mean_seconds)}, p95 {millis(times.whole.p95_seconds)},"
            f" most {millis(times.whole.max_seconds)}; time held by {held}"
        )
    if one.beside.operations:
        from lsmlens.reports.waterfall import waterfalls

        lines += ["  the slowest, stage by stage:", *waterfalls(one)]
    for table in (client_tables.coincidences(one), client_tables.client_results(one), client_tables.client_series(one)):
        if table is not None:
            lines += table.lines()
    return lines


def _after_open(series: "StatisticsSeries") -> str:
    last = series.last_of_opens
    return f"{plain(last[-1].uptime_seconds)} s after the open" if last else "at an unknown time"
