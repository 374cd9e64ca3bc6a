"""The analysis as a terminal report."""

from collections import Counter
from collections.abc import Iterator

from lsmlens.analyzer.analysis import Analysis, RunAnalysis
from lsmlens.reports import plan_blocks, run_tables
from lsmlens.reports.moments import moment
from lsmlens.reports.numbers import plain, size
from lsmlens.reports.sections import lay_out
from lsmlens.reports.text_life import WIDTH, clients, counters, findings, options, plan_lines, pressure

SIDE_BY_SIDE = 6


def render(analysis: Analysis, colour: bool = False, width: int = WIDTH) -> str:
    """The whole report, ending in a newline; with terminal emphasis where `colour` is set.

    Findings are wrapped to `width`; tables and what else has its own form may be wider, see `narrow_terminal`.
    """
    return lay_out(_sections(analysis, width), colour)


def _sections(analysis: Analysis, width: int) -> Iterator[tuple[str, list[str]]]:
    yield "Bundle", _members(analysis)
    runs = analysis.runs
    for one in runs:
        is_chief = not one.run.is_monitor or len(runs) == 1
        if one.findings or (one.not_assessed and len(runs) <= SIDE_BY_SIDE and is_chief):
            yield (f"{one.run.name}: findings" if len(runs) > 1 else "Findings"), findings(one, width)
    for one, plan in plan_blocks.planned(runs, SIDE_BY_SIDE):
        yield (f"{one.run.name}: plan" if len(runs) > 1 else "Plan"), plan_lines(plan, width)
    if len(runs) <= SIDE_BY_SIDE:
        yield "Compaction Statistics", run_tables.statistics(run_tables.statistics_columns(analysis)).lines()
    else:
        assert analysis.total_statistics is not None
        column = (f"{len(analysis.counted_in_total)} runs", analysis.total_statistics)
        yield "Compaction Statistics, all runs", run_tables.statistics([column]).lines()
        yield "Compaction Statistics by run", run_tables.statistics_by_run(analysis).lines()
    for one in runs:
        prefix = f"{one.run.name}: " if len(runs) > 1 else ""
        if len(runs) <= SIDE_BY_SIDE:
            if one.families:
                yield f"{prefix}by column family", run_tables.families(one).lines()
                yield f"{prefix}by output level", run_tables.levels(one).lines()
                yield f"{prefix}why flushes and compactions ran", run_tables.reasons(one).lines()
            if one.flushes:
                yield f"{prefix}what flushes took in", run_tables.flushes(one).lines()
            if one.windows:
                yield f"{prefix}by time", run_tables.windows(one.windows).lines()
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
