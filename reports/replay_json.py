"""The outcomes of replays as the document `lsmlens.replay/1`."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from lsmlens.analyzer.analysis_document import (
    Amount,
    AmplificationJson,
    Compactions,
    CompactionStatisticsJson,
    Count,
    FamilyJson,
    FamilyName,
    FlushBytes,
    Flushes,
    FlushJson,
    InputRecords,
    LevelJson,
    LsmAmplification,
    OutputBytes,
    OutputRecords,
    Positive,
    means,
    metric,
)
from lsmlens.reports.analysis_json import family_json, flush_json, level_json
from lsmlens.reports.json_form import made_of, to_text
from lsmlens.reports.replay import ReplayReport
from lsmlens.tuners.replays.measurement import FailureKind, Latencies, Measurement, Mode
from lsmlens.tuners.replays.outcome import Outcome, OutcomeFigures
from msgspec import Struct

SCHEMA: Final = "lsmlens.replay/1"

Percentiles = Annotated[dict[str, Amount], means("Microseconds by percentile.")]


class ReplayedWorkloadJson(Struct, kw_only=True):
    """What was written."""

    name: Annotated[str, means("The workload's name.")]
    seconds: Annotated[Amount, means("Its length by its own clock.")]
    notes: Annotated[list[str], means("What reading it had to leave out or to assume.")]


class EffectiveOptionsJson(Struct, kw_only=True):
    """The options in force, as RocksDB wrote them into its OPTIONS file."""

    database: Annotated[dict[str, str], means("DBOptions.")]
    column_families: Annotated[dict[str, dict[str, str]], means("CFOptions, by column family.")]
    tables: Annotated[dict[str, dict[str, str]], means("BlockBasedTableOptions, by column family.")]


class ReplayStallLinesJson(Struct, kw_only=True):
    """Stall warnings of one column family, kind and cause."""

    column_family: FamilyName
    kind: Annotated[str, means("Whether writes were slowed down or stopped.")]
    cause: Annotated[str, means("Which limit was reached.")]
    lines: Annotated[
        Amount,
        means("Warnings in the LOG, mean over the seeds; one is logged at every recalculation while the state lasts."),
    ]


class ReplayStallsJson(Struct, kw_only=True):
    """Writes slowed down or stopped."""

    seconds: Annotated[
        Amount | None,
        means("Seconds for which writes were stalled, by the database's own count; null where it does not tell."),
    ]
    lines: Annotated[list[ReplayStallLinesJson], means("By column family, kind and cause.")]


class ReadsJson(Struct, kw_only=True):
    """What reads came to: of all blocks of data, indexes and filters, in the block cache or not."""

    sorted_runs: Annotated[
        float | None,
        means(
            "What a read of an absent key looks into: memtables, level-0 tables, deeper levels with tables; mean over"
            " time, and over the column families by the records written to each. Known without reads, too."
        ),
    ]
    gets: Annotated[Count, means("Point reads.")]
    gets_found: Annotated[Count, means("Of these, those that found a value.")]
    blocks_per_get: Annotated[float | None, means("Blocks looked into for a Get; null where there was none.")]
    seeks: Annotated[Count, means("Iterators, each with one seek.")]
    nexts: Annotated[Count, means("Their steps after it.")]
    blocks_per_seek: Annotated[
        float | None, means("Blocks looked into for an iterator with its steps; null where there was none.")
    ]
    cache_hit_ratio: Annotated[float | None, means("Share of the blocks that the block cache had.")]
    filters_useful_share: Annotated[float | None, means("Share of filter checks that spared the look into a table.")]
    tombstones_per_next: Annotated[
        float | None, means("Tombstones that iterators stepped over for each step; null where nothing counts them.")
    ]


class ResourcesJson(Struct, kw_only=True):
    """What a run took of this machine, as replayed: a mean over the seeds."""

    wall_seconds: Annotated[Amount, means("From the first write to the last compaction.")]
    cpu_seconds: Annotated[Amount, means("User and system time without making the batches.")]
    memory_bytes: Annotated[
        Count, means("Resident memory at the most, over what it was before the database was opened.")
    ]
    peak_memory_bytes: Annotated[Count, means("Resident memory of the whole process at the most.")]


class LatenciesJson(Struct, kw_only=True):
    """Latency of writes in a paced replay; of several seeds, the means of their percentiles."""

    writes: Annotated[Count, means("Write calls.")]
    mean_response_micros: Annotated[Amount, means("Their mean.")]
    response_micros: Annotated[
        Percentiles, means("From the moment the workload meant to write (no coordinated omission), by percentile.")
    ]
    service_micros: Annotated[Percentiles, means("From the call of RocksDB's Write, by percentile.")]


class SpreadJson(Struct, kw_only=True):
    """A figure over the seeds."""

    mean: Annotated[float, means("Its mean.")]
    low: Annotated[float, means("The lowest.")]
    high: Annotated[float, means("The highest.")]
    standard_deviation: Annotated[float | None, means("null for one seed.")]


class ReplayFiguresJson(Struct, kw_only=True):
    """What the replays came to, as measured at their scale; means over the seeds, counts rounded to whole ones."""

    compaction_statistics: CompactionStatisticsJson
    column_families: Annotated[list[FamilyJson], means("By column family.")]
    levels: Annotated[list[LevelJson], means("By level written to.")]
    flushes: Annotated[list[FlushJson], means("What went into flushes and what survived them.")]
    write_amplification: AmplificationJson
    preloaded_records: Annotated[
        Count, means("Records that were in the database before the workload; in no figure but space.")
    ]
    records: Annotated[Count, means("Records the workload wrote: puts, deletes, merges, range deletes.")]
    user_bytes: Annotated[Count, means("Bytes of the workload's write batches in RocksDB's wire format.")]
    wal_bytes: Annotated[Count | None, means("The engine's ticker rocksdb.wal.bytes; null where it keeps none.")]
    flush_bytes: FlushBytes
    compaction_output_bytes: OutputBytes
    memtable_entries: Annotated[Count, means("Entries left in memtables at the end.")]
    space_bytes: Annotated[Count, means("Bytes of the live tables at the end.")]
    peak_space_bytes: Annotated[
        Count, means("Bytes of all files of the database at the most, as far as looking twice a second shows.")
    ]
    stalls: ReplayStallsJson
    reads: ReadsJson


class ReplayRunJson(Struct, kw_only=True):
    """One seed's run, as replayed."""

    seed: Annotated[int, means("Its seed.")]
    compactions: Compactions
    flushes: Flushes
    flush_bytes: FlushBytes
    compaction_output_bytes: OutputBytes
    input_records: InputRecords
    output_records: OutputRecords
    write_amplification: LsmAmplification
    records: Annotated[Count, means("Records the workload wrote.")]
    user_bytes: Annotated[Count, means("Bytes of the workload's write batches.")]
    memtable_entries: Annotated[dict[str, Count], means("Entries left in each family's memtables.")]
    stall_seconds: Annotated[Amount | None, means("For which writes were stalled; null where nothing tells.")]
    wall_seconds: Annotated[Amount, means("From the first write to the last compaction.")]
    settle_seconds: Annotated[Amount, means("Of these, waiting for flushes and compactions.")]
    generation_seconds: Annotated[Amount, means("Of these, making the batches.")]
    cpu_seconds: Annotated[Amount, means("User and system time of the process without making the batches.")]
    peak_memory_bytes: Annotated[Count, means("Resident memory of the whole process at the most.")]
    latencies: Annotated[LatenciesJson | None, means("null for settled replays.")]
    tickers: Annotated[dict[str, int], means("The engine's tickers that are not 0.")]
    notes: Annotated[list[str], means("What to know of this run.")]


class ReplayFailureJson(Struct, kw_only=True):
    """A run that did not come to its end."""

    seed: Annotated[int, means("Its seed.")]
    kind: Annotated[FailureKind, means("How it ended.")]
    reason: Annotated[str, means("Why, in words.")]


class OutcomeJson(Struct, kw_only=True):
    """What one set of options came to: means over its seeds, counts rounded to whole ones.

    Figures are in the workload's own units: bytes, records and compaction seconds are multiplied by the scale,
    log_duration_seconds is the workload's length. They are null, and lists empty, where no run finished.
    """

    options: Annotated[str, means("The name of the options.")]
    effective_options: EffectiveOptionsJson
    engine: Annotated[str, means("capi or rocksdict; empty where no run finished.")]
    rocksdb_version: Annotated[str, means("The RocksDB that was run.")]
    library: Annotated[str | None, means("The shared library, where one was loaded.")]
    scale: Annotated[Positive, means("Sizes, populations and lifetimes were divided by it.")]
    mode: Annotated[Mode, means("How it was run.")]
    seeds: Annotated[list[int], means("Of the runs that came to their end.")]
    compaction_statistics: CompactionStatisticsJson | None = None
    column_families: Annotated[list[FamilyJson], means("By column family.")] = []
    levels: Annotated[list[LevelJson], means("By level written to.")] = []
    flushes: Annotated[list[FlushJson], means("What went into flushes and what survived them.")] = []
    write_amplification: AmplificationJson | None = None
    preloaded_records: Annotated[
        Count | None, means("Records that were in the database before the workload; in no figure but space.")
    ] = None
    records: Annotated[Count | None, means("Records the workload wrote: puts, deletes, merges, range deletes.")] = None
    user_bytes: Annotated[Count | None, means("Bytes of the workload's write batches in RocksDB's wire format.")] = None
    wal_bytes: Annotated[Count | None, means("The engine's ticker rocksdb.wal.bytes; null where it keeps none.")] = None
    flush_bytes: Annotated[Count | None, metric("flush_bytes")] = None
    compaction_output_bytes: Annotated[Count | None, metric("compaction_output_bytes")] = None
    memtable_entries: Annotated[Count | None, means("Entries left in memtables at the end.")] = None
    space_bytes: Annotated[Count | None, means("Bytes of the live tables at the end.")] = None
    peak_space_bytes: Annotated[
        Count | None, means("Bytes of all files of the database at the most, as far as looking twice a second shows.")
    ] = None
    stalls: ReplayStallsJson | None = None
    reads: ReadsJson | None = None
    resources: ResourcesJson | None = None
    latencies: Annotated[LatenciesJson | None, means("null for settled replays.")]
    spread: Annotated[dict[str, SpreadJson], means("Figures over the seeds, in the workload's own units.")]
    as_replayed: Annotated[ReplayFiguresJson | None, means("The same figures as measured at the scale.")]
    runs: Annotated[list[ReplayRunJson], means("Each seed's run.")]
    failures: Annotated[list[ReplayFailureJson], means("Runs that did not come to their end.")]
    quality: Annotated[list[str], means("What to know before believing the figures.")]


class ReplayJson(Struct, kw_only=True):
    """What `lsmlens replay --format json` prints."""

    schema: Annotated[Literal["lsmlens.replay/1"], means("The document's kind and version.")] = SCHEMA
    workload: ReplayedWorkloadJson
    outcomes: Annotated[list[OutcomeJson], means("One for each set of options.")]


def to_json(report: ReplayReport) -> str:
    """The document as indented JSON text, ending in a newline."""
    return to_text(document(report))


def document(report: ReplayReport) -> ReplayJson:
    """Everything replays came to."""
    workload = ReplayedWorkloadJson(
        name=report.workload, seconds=report.workload_seconds, notes=list(report.workload_notes)
    )
    return ReplayJson(workload=workload, outcomes=[outcome_json(one) for one in report.outcomes])


def outcome_json(outcome: Outcome) -> OutcomeJson:
    """One outcome; figures are in the workload's own units, those under `as_replayed` as measured at its scale."""
    figures, options = outcome.figures, outcome.options
    return OutcomeJson(
        options=outcome.name,
        effective_options=EffectiveOptionsJson(
            database=dict(options.database),
            column_families={name: dict(values) for name, values in options.families.items()},
            tables={name: dict(values) for name, values in options.tables.items()},
        ),
        engine=outcome.engine,
        rocksdb_version=outcome.rocksdb_version,
        library=outcome.library,
        scale=outcome.scale,
        mode=outcome.mode,
        seeds=list(outcome.seeds),
        **(_figures(figures) if figures is not None else {}),
        resources=made_of(ResourcesJson, figures) if figures is not None else None,
        latencies=_latencies(figures.latencies) if figures is not None else None,
        spread={name: made_of(SpreadJson, spread) for name, spread in outcome.spreads.items()},
        as_replayed=ReplayFiguresJson(**_figures(outcome.as_replayed)) if outcome.as_replayed is not None else None,
        runs=[_run(one) for one in outcome.measurements],
        failures=[made_of(ReplayFailureJson, one) for one in outcome.failures],
        quality=list(outcome.quality),
    )


def _figures(figures: OutcomeFigures) -> dict[str, Any]:
    """The values of ReplayFiguresJson, which are those of OutcomeJson as well."""
    stalls = ReplayStallsJson(
        seconds=figures.stall_seconds,
        lines=[
            ReplayStallLinesJson(column_family=family, kind=kind, cause=cause, lines=lines)
            for (family, kind, cause), lines in sorted(figures.stall_lines.items())
        ],
    )
    return {
        "compaction_statistics": made_of(CompactionStatisticsJson, figures.statistics),
        "column_families": [family_json(one) for one in figures.families],
        "levels": [level_json(one) for one in figures.levels],
        "flushes": [flush_json(one) for one in figures.flushes],
        "write_amplification": AmplificationJson(
            lsm=figures.total.write_amplification, total=figures.total_write_amplification
        ),
        "preloaded_records": figures.preloaded_records,
        "records": figures.records,
        "user_bytes": figures.user_bytes,
        "wal_bytes": figures.wal_bytes,
        "flush_bytes": figures.total.flush_bytes,
        "compaction_output_bytes": figures.total.compaction_output_bytes,
        "memtable_entries": figures.memtable_entries,
        "space_bytes": figures.space_bytes,
        "peak_space_bytes": figures.peak_space_bytes,
        "stalls": stalls,
        "reads": made_of(ReadsJson, figures.reads, sorted_runs=figures.sorted_runs),
    }


def _latencies(latencies: Latencies | None) -> LatenciesJson | None:
    if latencies is None:
        return None
    return made_of(
        LatenciesJson,
        latencies,
        response_micros=_percentiles(latencies.response_micros),
        service_micros=_percentiles(latencies.service_micros),
    )


def _percentiles(micros: Mapping[float, float]) -> dict[str, float]:
    return {f"{percent:g}": value for percent, value in sorted(micros.items())}


def _run(one: Measurement) -> ReplayRunJson:
    return made_of(
        ReplayRunJson,
        one,
        compactions=one.statistics.compaction_events,
        flushes=one.total.flushes,
        flush_bytes=one.total.flush_bytes,
        compaction_output_bytes=one.total.compaction_output_bytes,
        input_records=one.statistics.total_input_records,
        output_records=one.statistics.total_output_records,
        write_amplification=one.total.write_amplification,
        memtable_entries=dict(one.memtable_entries),
        stall_seconds=one.stalls.seconds,
        latencies=_latencies(one.latencies),
        tickers={name: count for name, count in sorted(one.tickers.items()) if count},
        notes=list(one.notes),
    )
