"""The analysis as a terminal report."""

from collections import Counter
from collections.abc import Iterator, Sequence

from lsmlens.analyzer.amplification import FamilyWrites
from lsmlens.analyzer.analysis import Analysis, RunAnalysis
from lsmlens.analyzer.compaction_statistics import LABELS, CompactionStatistics
from lsmlens.analyzer.printable import printable
from lsmlens.reports.moments import moment, moment_of_micros
from lsmlens.reports.numbers import mib, plain, ratio, share, size
from lsmlens.reports.tables import table
from lsmlens.reports.text_life import clients, counters, findings, options, pressure

SIDE_BY_SIDE = 6
BOLD, DIM, RESET = "\x1b[1m", "\x1b[2m", "\x1b[0m"


def render(analysis: Analysis, colour: bool = False) -> str:
    """The whole report, ending in a newline; with terminal emphasis where `colour` is set."""
    lines: list[str] = []
    for title, body in _sections(analysis):
        if lines:
            lines.append("")
        title = printable(title)
        lines.append(f"{BOLD}{title}{RESET}" if colour else title)
        lines += map(printable, body)
    return "\n".join(lines) + "\n"


def _sections(analysis: Analysis) -> Iterator[tuple[str, list[str]]]:
    yield "Bundle", _members(analysis)
    runs = analysis.runs
    for one in runs:
        if one.findings or (one.not_assessed and len(runs) <= SIDE_BY_SIDE and not one.run.is_monitor):
            yield (f"{one.run.name}: findings" if len(runs) > 1 else "Findings"), findings(one)
    if len(runs) <= SIDE_BY_SIDE:
        yield "Compaction Statistics", _statistics(analysis)
    else:
        yield "Compaction Statistics, all runs", _statistics_total(analysis)
        yield "Compaction Statistics by run", _statistics_by_run(analysis)
    for one in runs:
        prefix = f"{one.run.name}: " if len(runs) > 1 else ""
        if len(runs) <= SIDE_BY_SIDE:
            if one.families:
                yield f"{prefix}by column family", _families(one)
                yield f"{prefix}by output level", _levels(one)
            if one.flushes:
                yield f"{prefix}what flushes took in", _flushes(one)
            if one.windows:
                yield f"{prefix}by time", _windows(one)
            for title, body in (
                ("stalls and pressure", pressure(one)),
                ("options that differ from the defaults", options(one)),
                ("counters", counters(one)),
                ("what clients felt", clients(one)),
            ):
                if body:
                    yield f"{prefix}{title}", body
            yield f"{prefix}data quality", _quality(one)
        elif one.notes:
            yield f"{prefix}data quality", [f"  ! {note}" for note in one.notes]


def _members(analysis: Analysis) -> list[str]:
    used = {path for one in analysis.runs for path in (*one.run.members, *one.beside.paths)}
    lines = [_run_line(one) for one in analysis.runs]
    others = Counter(str(member.role) for member in analysis.members if member.path not in used)
    if others:
        named = ", ".join(f"{count} {role}" for role, count in sorted(others.items()))
        lines.append(f"  not analysed: {named}")
    lines += [f"  ! {member.path}: {member.problem}" for member in analysis.members if member.problem]
    wanted = analysis.selection
    chosen = [
        f"since {wanted.since}" if wanted.since else "",
        f"until {wanted.until}" if wanted.until else "",
        "column family " + ", ".join(sorted(wanted.column_families)) if wanted.column_families else "",
        f"output level {wanted.level}" if wanted.level is not None else "",
    ]
    if any(chosen):
        lines.append("  only jobs " + "; ".join(filter(None, chosen)))
    return lines


def _run_line(one: RunAnalysis) -> str:
    run = one.run
    versions = ", ".join(
        f"{name} {version}"
        for name, version in (("Ceph", run.ceph_version), ("RocksDB", run.rocksdb_version))
        if version
    )
    kind = " (monitor's store.db)" if run.is_monitor else ""
    files = f"{len(run.members)} file{'s' if len(run.members) > 1 else ''}"
    return f"  {run.name}{kind}: {versions or 'version not in the log'}; {files}, {size(run.quality.bytes)}"


def _columns(analysis: Analysis) -> list[tuple[str, CompactionStatistics]]:
    columns = [(one.run.name, one.statistics) for one in analysis.runs]
    if analysis.total_statistics is not None:
        columns.append((_total_name(analysis), analysis.total_statistics))
    return columns


def _total_name(analysis: Analysis) -> str:
    return "total" if len(analysis.counted_in_total) == len(analysis.runs) else "total (no mon)"


def _statistics(analysis: Analysis) -> list[str]:
    columns = _columns(analysis)
    if len(analysis.counted_in_total) == 1:  # one OSD and its monitor: the total says nothing new
        columns = columns[:-1]
    return _labelled(columns)


def _statistics_total(analysis: Analysis) -> list[str]:
    assert analysis.total_statistics is not None
    return _labelled([(f"{len(analysis.counted_in_total)} runs", analysis.total_statistics)])


def _labelled(columns: Sequence[tuple[str, CompactionStatistics]]) -> list[str]:
    rows = [[label, *(plain(getattr(statistics, name)) for _, statistics in columns)] for name, label in LABELS.items()]
    return table(["", *(name for name, _ in columns)], rows)


def _statistics_by_run(analysis: Analysis) -> list[str]:
    header = [
        "run",
        "log s",
        "compactions",
        "seconds",
        "output MiB",
        "records in",
        "out",
        "out/in",
        "flush MiB",
        "LSM WA",
    ]
    rows = [
        [
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
        ]
        for one in analysis.runs
    ]
    return table(header, rows)


_FAMILY_HEADER = (
    "column family",
    "flushes",
    "flush MiB",
    "compactions",
    "input MiB",
    "output MiB",
    "records in",
    "records out",
    "out/in",
    "moves",
    "LSM WA",
)


def _families(one: RunAnalysis) -> list[str]:
    rows = [_family_row(family.name or '""', family) for family in one.families]
    return table(_FAMILY_HEADER, rows, _family_row("total", one.total))


def _family_row(name: str, family: FamilyWrites) -> list[str]:
    return [
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
    ]


def _levels(one: RunAnalysis) -> list[str]:
    header = [
        "into level",
        "flush MiB",
        "compactions",
        "seconds",
        "input MiB",
        "output MiB",
        "records in",
        "records out",
    ]
    rows = [
        [
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
        ]
        for level in one.levels
    ]
    return table([*header, "out/in", "moves", "moved MiB"], rows)


def _flushes(one: RunAnalysis) -> list[str]:
    header = ["column family", "flushes", "memtables each", "entries in", "deletes in", "entries out"]
    rows = [
        [
            view.name or '""',
            plain(view.flushes),
            "-" if view.memtables_per_flush is None else f"{view.memtables_per_flush:.1f}",
            plain(view.input_entries),
            plain(view.input_deletes),
            plain(view.output_entries),
            share(view.dropped_share),
            share(view.dropped_puts_share),
            ", ".join(f"{count} {reason}" for reason, count in view.reasons.most_common()),
        ]
        for view in one.flushes
    ]
    return table([*header, "died in memory", "puts died", "reasons"], rows)


def _windows(one: RunAnalysis) -> list[str]:
    header = ["from (UTC)", "flushes", "flush MiB", "compactions", "seconds", "output MiB", "LSM WA"]
    rows = [
        [
            moment_of_micros(start) or "-",
            plain(sums.flushes),
            mib(sums.flush_bytes),
            plain(sums.compactions),
            f"{sums.compaction_seconds:.1f}",
            mib(sums.compaction_output_bytes),
            ratio(sums.write_amplification),
        ]
        for start, sums in one.windows
    ]
    return table(header, rows)


def _quality(one: RunAnalysis) -> list[str]:
    run, quality = one.run, one.run.quality
    lines = "about " if quality.lines_are_estimated else ""
    read = [
        f"  read {lines}{plain(quality.lines)} lines, {plain(sum(run.event_counts.values()))} events,"
        f" {plain(quality.duplicates_removed)} repeats removed, {plain(quality.events_rejected)} rejected",
    ]
    if run.event_counts:
        read.append("  " + ", ".join(f"{plain(count)} {kind}" for kind, count in sorted(run.event_counts.items())))
    if run.sessions:
        opened = [session.opened_at_millis for session in run.sessions if session.opened_at_millis is not None]
        times = f", the last at {moment(max(opened), run.utc_offset_seconds)}" if opened else ""
        opens = len(opened)
        begins = "" if opens == len(run.sessions) else "begins in an open session; "
        read.append(f"  {begins}{opens} open{'' if opens == 1 else 's'} of the database{times}")
    for index, name in enumerate(sorted(run.members)):
        if index == 8:
            read.append(f"  … and {len(run.members) - index} more files")
            break
        read.append(f"  from {name}")
    read += [f"  ! {note}" for note in one.notes]
    for line in quality.not_understood:
        place = line.member if line.line is None else f"{line.member}:{line.line}"
        read.append(f"    {place}: {line.reason}: {line.text}")
    return read
