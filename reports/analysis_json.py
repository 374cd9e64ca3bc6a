"""An analysis as the document `lsmlens.analysis/1`."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from lsmlens.analyzer.analysis import Analysis, RunAnalysis
from lsmlens.analyzer.analysis_document import (
    AmplificationJson,
    AnalysisJson,
    BlameJson,
    ClientResultJson,
    ClientSeriesJson,
    CoincidenceJson,
    CompactionOnDeletionJson,
    CompactionStatisticsJson,
    CounterIntervalJson,
    CountersJson,
    DumpFamilyJson,
    DumpJson,
    DumpsJson,
    DurationsJson,
    EvidenceJson,
    FamilyJson,
    FindingJson,
    FlushJson,
    IterationJson,
    KvThreadJson,
    LeftOutJson,
    LevelJson,
    LiveTablesJson,
    MemberJson,
    NotAssessedJson,
    NotUnderstoodJson,
    OperationClassJson,
    OperationJson,
    OptionChangeJson,
    OptionJson,
    OsdBlameJson,
    PlanJson,
    PlannedChangeJson,
    PressureCourseJson,
    PressureJson,
    PressureSeriesJson,
    QualityJson,
    RunAmplificationJson,
    RunJson,
    SelectionJson,
    SessionJson,
    SlowOperationsJson,
    StageGroupTimeJson,
    StageJson,
    StageTimeJson,
    StallCountJson,
    StallLinesJson,
    StallsJson,
    StepJson,
    TombstonesJson,
    TotalJson,
    WindowJson,
    WindowSumsJson,
)
from lsmlens.analyzer.clients.operations import Operation, slowest
from lsmlens.analyzer.counters.counter_intervals import CounterInterval
from lsmlens.analyzer.findings import Finding
from lsmlens.analyzer.measures.amplification import FamilyWrites, LevelWrites
from lsmlens.analyzer.measures.flushes import FlushView
from lsmlens.analyzer.plan import Plan
from lsmlens.analyzer.units import MICROS
from lsmlens.reports.json_form import made_of, to_text
from lsmlens.reports.moments import moment, moment_of_micros
from lsmlens.reports.waterfall import begun
from msgspec import UNSET

SLOWEST_OPERATIONS = 10


def to_json(analysis: Analysis) -> str:
    """The document as indented JSON text, ending in a newline; the same bytes for the same input."""
    return to_text(document(analysis))


def document(analysis: Analysis) -> AnalysisJson:
    """Everything an analysis says."""
    selection = analysis.selection
    return AnalysisJson(
        members=[
            MemberJson(path=member.path, role=str(member.role), bytes=member.size, problem=member.problem)
            for member in analysis.members
        ],
        selection=made_of(SelectionJson, selection, column_families=sorted(selection.column_families)),
        runs=[run_json(one) for one in analysis.runs],
        total=_total(analysis),
        blame=_blame(analysis),
        window_sums=_window_sums(analysis),
    )


def _total(analysis: Analysis) -> TotalJson | None:
    if analysis.total is None or analysis.total_statistics is None:
        return None
    return made_of(
        TotalJson,
        analysis.total,
        runs=list(analysis.counted_in_total),
        compaction_statistics=made_of(CompactionStatisticsJson, analysis.total_statistics),
        write_amplification=AmplificationJson(lsm=analysis.total.write_amplification, total=None),
    )


def _blame(analysis: Analysis) -> BlameJson | None:
    blame = analysis.blame
    if blame is None:
        return None
    return BlameJson(
        operations=blame.operations,
        asked=list(blame.asked),
        verdict=list(blame.sentences),
        osds=[
            made_of(
                OsdBlameJson,
                one,
                devices=list(one.devices),
                asked={str(osd): count for osd, count in sorted(one.asked.items())},
                stages=_sorted(one.stages),
                family=one.during.family or None if one.during else None,
                ratio=one.during.overlap.ratio if one.during else None,
            )
            for one in blame.osds
        ],
    )


def _window_sums(analysis: Analysis) -> WindowSumsJson | None:
    """What a later comparison tells the noise of these figures by."""
    from lsmlens.analyzer.comparison.window_sums import window_sums

    found = window_sums([one.run for one in analysis.counted], analysis.selection)
    if found is None:
        return None
    columns = {
        name: [int(value) if value == int(value) else value for value in values]
        for name, values in found.columns.items()
        if "/" not in name
    }
    return made_of(WindowSumsJson, found, columns=columns)


def run_json(one: RunAnalysis) -> RunJson:
    """What a document says of one run."""
    run, quality = one.run, one.run.quality
    return RunJson(
        name=run.name,
        monitor=run.is_monitor,
        members=run.members,
        ceph_version=run.ceph_version,
        rocksdb_version=run.rocksdb_version,
        utc_offset_seconds=run.utc_offset_seconds,
        sessions=[
            SessionJson(
                opened_at=moment(session.opened_at_millis, run.utc_offset_seconds),
                closed_at=moment_of_micros(session.last_event_micros),
                rocksdb_version=session.rocksdb_version,
                ceph_version=session.ceph_version,
                db_session_id=session.session_id,
            )
            for session in run.sessions
        ],
        events=_sorted(run.event_counts),
        compaction_statistics=made_of(CompactionStatisticsJson, one.statistics),
        column_families=[family_json(family) for family in one.families],
        levels=[level_json(level) for level in one.levels],
        flushes=[flush_json(view) for view in one.flushes],
        windows=[made_of(WindowJson, sums, start=moment_of_micros(start)) for start, sums in one.windows],
        write_amplification=_amplification(one),
        stalls=_stalls(one),
        pressure=[made_of(PressureJson, pressure) for pressure in one.pressure],
        pressure_series=_pressure_series(one),
        live_tables=LiveTablesJson(**one.live_tables) if one.live_tables else None,
        tombstones=[made_of(TombstonesJson, level) for level in one.tombstones],
        compaction_on_deletion=made_of(CompactionOnDeletionJson, one.collector),
        iterations=[made_of(IterationJson, iteration) for iteration in one.iterations],
        slow_operations=_slow_operations(one),
        kv_thread=[
            made_of(KvThreadJson, time, at=moment(time.millis, run.utc_offset_seconds)) for time in run.kv_thread
        ],
        statistics_dumps=_dumps(one),
        options=_options(one),
        counters=_counters(one),
        counter_intervals=[
            made_of(
                CounterIntervalJson,
                interval.counted,
                life=interval.life,
                since=interval.since,
                until=interval.until,
                seconds=interval.seconds,
                rates=_rates(interval),
            )
            for interval in one.counter_intervals
        ],
        operations=[_operation_class(times) for times in one.stage_times],
        slowest_operations=[_operation(each) for each in slowest(one.beside.operations, SLOWEST_OPERATIONS)],
        coincidences=[_coincidence(found) for found in one.coincidences],
        client_results=[_client_result(result) for result in one.beside.client_results],
        client_series=[_client_series(series) for series in one.beside.client_series],
        findings=[_finding(finding) for finding in one.findings],
        not_assessed=[made_of(NotAssessedJson, rule) for rule in one.not_assessed],
        plan=_plan(one.plan),
        data_quality=made_of(
            QualityJson,
            quality,
            lines_estimated=quality.lines_are_estimated,
            compactions_without_column_family=quality.without_column_family["compaction"],
            flushes_without_column_family=quality.without_column_family["flush"],
            moves_without_column_family=quality.without_column_family["move"],
            column_family_found_by=_sorted(quality.attributed_by),
            without_start=_sorted(quality.without_start),
            without_finish=_sorted(quality.without_finish),
            unknown_events=_sorted(quality.unknown_events),
            unknown_fields=_sorted(quality.unknown_fields),
            clock_steps_back=run.stamps.steps,
            not_understood=[made_of(NotUnderstoodJson, line) for line in quality.not_understood],
            notes=list(one.notes),
        ),
    )


def family_json(family: FamilyWrites) -> FamilyJson:
    """What a document says of one column family's writes."""
    return made_of(FamilyJson, family)


def level_json(level: LevelWrites) -> LevelJson:
    """What a document says of one level."""
    return made_of(LevelJson, level)


def flush_json(view: FlushView) -> FlushJson:
    """What a document says of one column family's flushes."""
    memtables = {str(count): times for count, times in sorted(view.memtables.items())}
    return made_of(FlushJson, view, column_family=view.name, reasons=_sorted(view.reasons), memtables=memtables)


def _sorted(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items()))


def _amplification(one: RunAnalysis) -> RunAmplificationJson:
    total, lsm = one.total_amplification, one.total.write_amplification
    if total is None:
        return RunAmplificationJson(lsm=lsm)
    return RunAmplificationJson(
        lsm=lsm,
        total=total.ratio,
        total_user_bytes=total.user_bytes,
        total_wal_bytes=total.wal_bytes,
        total_table_bytes=total.table_bytes,
        total_by="counters" if total.is_by_counters else "statistics dumps",
    )


def _stalls(one: RunAnalysis) -> StallsJson:
    series = one.series
    return StallsJson(
        lines=[
            StallLinesJson(column_family=family, kind=kind, cause=cause, lines=count)  # type: ignore[arg-type]
            for (family, kind, cause), count in sorted(one.run.stall_lines.items())
        ],
        seconds=series.stall_seconds if series else None,
        counts=[
            StallCountJson(column_family=family, cause=cause, count=count)
            for (family, cause), count in sorted(series.stalls.items())
        ]
        if series
        else [],
    )


def _pressure_series(one: RunAnalysis) -> PressureSeriesJson | None:
    series = one.pressure_series
    if series is None:
        return None
    level0, memtables = (
        [
            PressureCourseJson(
                column_family=family,
                most=list(course.most),
                mean=[None if mean is None else round(mean, 4) for mean in course.means],
            )
            for family, course in sorted(families.items())
        ]
        for families in (series.level0_files, series.immutable_memtables)
    )
    return PressureSeriesJson(
        begins_at=moment_of_micros(series.start_micros),
        step_seconds=series.step_micros / MICROS,
        level0_files=level0,
        immutable_memtables=memtables,
    )


def _slow_operations(one: RunAnalysis) -> list[SlowOperationsJson]:
    counts = Counter(what for what, _, _ in one.run.slow_operations)
    return [
        SlowOperationsJson(what=what, lines=count, longest_seconds=one.run.slow_places[what][0])
        for what, count in sorted(counts.items())
    ]


def _dumps(one: RunAnalysis) -> DumpsJson | None:
    series = one.series
    if series is None:
        return None
    return DumpsJson(
        dumps=len(series.points),
        cut=sum(point.is_cut for point in series.points),
        user_bytes=series.user_bytes,
        wal_bytes=series.wal_bytes,
        points=[
            made_of(
                DumpJson,
                point,
                at=moment(point.millis, one.run.utc_offset_seconds),
                level0_files=_sorted(point.level0_files),
                pending_compaction_bytes=_sorted(point.pending_compaction_bytes),
                stall_counts={
                    name: {cause: count for cause, count in counts.items() if count}
                    for name, counts in point.stalls.items()
                    if any(counts.values())
                },
                column_families={name: DumpFamilyJson(**family) for name, family in tables["column_families"].items()},
                tickers=tables["tickers"],
                histograms=tables["histograms"],
            )
            for point, tables in zip(series.points, series.tables, strict=True)
        ],
    )


def _options(one: RunAnalysis) -> list[OptionJson]:
    """Options whose default is known; the others say little without one, and are many."""
    return [
        made_of(OptionJson, option, column_family=option.family, source=str(option.source))
        for option in (*one.options, *one.ceph_options)
        if option.default is not None
    ]


def _counters(one: RunAnalysis) -> CountersJson | None:
    if one.counters is None:
        return None
    check = one.cross_check
    return made_of(
        CountersJson,
        one.counters,
        perf_dumps=len(one.beside.perf_dumps),
        table_bytes_in_log=check.log_bytes if check else None,
        table_bytes_in_counter=check.counter_bytes if check else None,
        table_bytes_difference=check.difference if check else None,
    )


def _rates(interval: CounterInterval) -> dict[str, tuple[float, float]]:
    counted = interval.counted
    amounts = {
        "client_writes": counted.client_writes,
        "client_write_bytes": counted.client_write_bytes,
        "transactions": counted.transactions,
        "kv_syncs": counted.kv_syncs,
        "bluefs_wal_bytes_written": counted.bluefs_wal_bytes_written,
        "bluefs_sst_bytes_written": counted.bluefs_sst_bytes_written,
        "bluefs_slow_bytes_written": counted.bluefs_slow_bytes_written,
    }
    found = {f"{name}_per_second": interval.per_second(amount) for name, amount in amounts.items()}
    return {name: rate for name, rate in found.items() if rate is not None}


def _operation_class(times: Any) -> OperationClassJson:
    return OperationClassJson(
        class_=str(times.operation_class),
        operations=times.operations,
        whole=made_of(DurationsJson, times.whole) if times.whole else None,
        groups=[
            made_of(StageGroupTimeJson, group, durations=made_of(DurationsJson, group.durations))
            for group in times.groups
        ],
        stages=[
            made_of(StageTimeJson, stage, durations=made_of(DurationsJson, stage.durations)) for stage in times.stages
        ],
    )


def _operation(operation: Operation) -> OperationJson:
    return made_of(
        OperationJson,
        operation,
        class_=str(operation.operation_class),
        initiated_at=begun(operation),
        in_flight=operation.is_in_flight,
        stages=[made_of(StageJson, stage) for stage in operation.stages],
    )


def _coincidence(found: Any) -> CoincidenceJson:
    overlap = found.overlap
    low, high = overlap.interval or (None, None)
    return CoincidenceJson(
        what=found.what,
        during=found.during,
        had_any=found.had_any,
        count=overlap.operations,
        moments=found.moments,
        overlapping=overlap.overlapping,
        by_chance=overlap.by_chance,
        ratio=overlap.ratio,
        ratio_low=low,
        ratio_high=high,
    )


def _client_result(result: Any) -> ClientResultJson:
    percentiles = {f"{percent:g}": value for percent, value in sorted(result.latency_percentiles_seconds.items())}
    return made_of(
        ClientResultJson,
        result,
        ended_at=UNSET if result.ended_micros is None else moment_of_micros(result.ended_micros),
        latency_percentiles_seconds=percentiles,
    )


def _client_series(series: Any) -> ClientSeriesJson:
    is_placed = series.began_micros is not None
    return made_of(
        ClientSeriesJson,
        series,
        lines_left_out=series.left_out,
        measure=str(series.measure),
        began_at=moment_of_micros(series.began_micros),
        placed_by=series.placement if is_placed else None,
        not_placed_because=None if is_placed else series.placement,
        step_seconds=series.step_micros / MICROS,
        ends_seconds=[end / MICROS for end in series.ends],
        values=list(series.values),
    )


def _finding(finding: Finding) -> FindingJson:
    return made_of(
        FindingJson,
        finding,
        evidence=[made_of(EvidenceJson, one) for one in finding.evidence],
        changes=[made_of(OptionChangeJson, one, families=list(one.families)) for one in finding.changes],
        commands=list(finding.commands),
    )


def _plan(plan: Plan | None) -> PlanJson | None:
    if plan is None:
        return None
    return PlanJson(
        changes=[
            made_of(PlannedChangeJson, one, families=list(one.families), codes=list(one.codes)) for one in plan.changes
        ],
        left_out=[
            made_of(LeftOutJson, one, families=list(one.families), codes=list(one.codes)) for one in plan.left_out
        ],
        steps=[StepJson(title=step.title, commands=list(step.commands), notes=list(step.notes)) for step in plan.steps],
        options_fragment=plan.options_fragment,
    )
