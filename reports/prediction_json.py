"""A prediction as the document `lsmlens.prediction/1`, in the log's own units and amount of work."""

from typing import Annotated, Any, Final, Literal

from lsmlens.analyzer.analysis_document import LsmAmplification, RecordRatio, means, metric
from lsmlens.reports.json_form import to_text
from lsmlens.reports.prediction_tables import (
    NOT_JUDGED,
    Observed,
    PredictionReport,
    is_outside,
    named_bounds,
    named_log,
    named_values,
    unjudged,
)
from lsmlens.tuners.predictions.figures import Figures
from lsmlens.tuners.predictions.prediction import FamilyPrediction, OptionsPrediction
from lsmlens.tuners.predictions.self_consistency import Check
from lsmlens.tuners.predictions.stalls import StallForecast
from msgspec import UNSET, Struct, UnsetType

SCHEMA: Final = "lsmlens.prediction/1"

SortedRunsMean = Annotated[
    float | None,
    means(
        "Sorted runs that a read of an absent key looks into: memtables, level-0 tables and deeper levels with tables;"
        " mean over time, and over the column families by their share of the log's operations. Null where nothing"
        " tells."
    ),
]
BlocksPerGet = Annotated[
    float | None,
    means("Blocks of data, indexes and filters that a Get looks into. Null where nothing tells of reads."),
]
FlushCount = Annotated[float, metric("flushes")]
CompactionCount = Annotated[float, metric("compactions")]
FlushMib = Annotated[float, metric("flush_bytes")]
OutputMib = Annotated[float, metric("total_output_size_mib")]
RecordsIn = Annotated[float, metric("total_input_records")]
RecordsOut = Annotated[float, metric("total_output_records")]


class FiguresJson(Struct, kw_only=True):
    """Figures in the log's own units, for the log's own amount of work."""

    compactions: CompactionCount
    flush_mib: FlushMib
    total_output_size_mib: OutputMib
    total_input_records: RecordsIn
    total_output_records: RecordsOut
    output_input_ratio_of_sums: RecordRatio
    write_amplification: LsmAmplification
    sorted_runs: SortedRunsMean = None
    blocks_per_get: BlocksPerGet = None
    stall_seconds: Annotated[
        float | None,
        means("Seconds for which writers were slowed down or stopped, as RocksDB counts; null where nothing tells."),
    ] = None


class StallsAtLoadJson(Struct, kw_only=True):
    """What writers meet at so many times the log's load."""

    load: Annotated[float, means("Times the log's load.")]
    stall_seconds: Annotated[float, means("Seconds for which writers were slowed down or stopped.")]
    low: Annotated[float, means("Lower end of the 90 % interval.")]
    high: Annotated[float, means("Upper end of the 90 % interval.")]
    slowdowns: Annotated[int, means("Spells in which writes were slowed down.")]
    stops: Annotated[int, means("Times that writes were stopped.")]


class HeadroomJson(Struct, kw_only=True):
    """How many times the log's load it takes until writers are slowed down or stopped."""

    load: Annotated[float | None, means("Times the log's load; null where it is more than 4.")]
    low: Annotated[float, means("Lower end of the 90 % interval.")]
    high: Annotated[float | None, means("Upper end of the 90 % interval; null where it is more than 4.")]


class ClosedFormJson(Struct, kw_only=True):
    """What can be said of stalls without a replay, at the log's own load: a baseline."""

    utilisation: Annotated[
        float,
        means("Compaction seconds over threads times seconds; under a rate limiter bytes over what it lets through."),
    ]
    busiest: Annotated[float, means("The same in the busiest stretch.")]
    level0_files: Annotated[
        dict[str, float],
        means("By family: files that start a compaction, and those that come while the longest one runs."),
    ]
    headroom: Annotated[
        float,
        means("The load at which the busiest stretch takes all there is, or a family's files reach the slowdown."),
    ]


class StallForecastJson(Struct, kw_only=True):
    """Stalls under one set of options."""

    loads: Annotated[list[StallsAtLoadJson], means("At the log's load, and at others that were asked for.")]
    headroom: Annotated[
        HeadroomJson | None,
        means("Null where the closed form leaves far more load than was asked about, so nothing was replayed."),
    ]
    level0_files: Annotated[dict[str, int], means("By family: the most in a replay of the log's own load.")]
    closed_form: ClosedFormJson


class FamilyBoundsJson(Struct, kw_only=True):
    """An end of the 90 % intervals of one column family's figures; those of ratios are not the ratios of ends."""

    flushes: FlushCount
    compactions: CompactionCount
    flush_mib: FlushMib
    total_output_size_mib: OutputMib
    total_input_records: RecordsIn
    total_output_records: RecordsOut


class FamilyFiguresJson(FamilyBoundsJson, kw_only=True):
    """Figures of one column family."""

    output_input_ratio_of_sums: RecordRatio
    write_amplification: LsmAmplification


class FamilyPredictionJson(Struct, kw_only=True):
    """What is predicted for one column family."""

    name: Annotated[str, means("The column family.")]
    predicted: FamilyFiguresJson
    low: Annotated[FamilyBoundsJson, means("Lower ends of 90 % intervals.")]
    high: Annotated[FamilyBoundsJson, means("Upper ends of 90 % intervals.")]
    raw: Annotated[FamilyFiguresJson, means("The replays' own mean, before it was anchored on the log.")]


class WindowNeededJson(Struct, kw_only=True):
    """How much of the log one compaction of level 0 spans under the options, against what the log shows."""

    column_family: Annotated[str, means("The column family.")]
    needed_puts: Annotated[float, means("Puts that one compaction of level 0 merges under the options.")]
    shown_puts: Annotated[float, means("Puts of the longest window whose survivors the log shows.")]
    is_beyond_the_log: Annotated[bool, means("Whether more is needed than is shown.")]


class ObservedFamilyJson(FamilyFiguresJson, kw_only=True):
    """What one column family of a real run did."""

    name: Annotated[str, means("The column family.")]


class ObservedJson(Struct, kw_only=True):
    """What a real run of the options did."""

    run: Annotated[str, means("The run.")]
    figures: FiguresJson
    errors: Annotated[dict[str, float | None], means("Predicted over observed, less 1, by figure.")]
    outside: Annotated[list[str], means("Figures that their interval does not hold.")]
    column_families: Annotated[list[ObservedFamilyJson], means("By column family.")]


class OptionsPredictionJson(Struct, kw_only=True):
    """What the log would have shown under one set of options."""

    options: Annotated[str, means("The name of the options.")]
    predicted: Annotated[FiguresJson | None, means("Null where no replay finished.")]
    low: Annotated[FiguresJson | None, means("Lower ends of 90 % intervals.")]
    high: Annotated[FiguresJson | None, means("Upper ends of 90 % intervals.")]
    column_families: Annotated[list[FamilyPredictionJson], means("By column family.")]
    windows: Annotated[list[WindowNeededJson], means("By column family.")]
    observed: Annotated[ObservedJson | None, means("What a real run of the options did, where one was given.")]
    stalls: Annotated[
        StallForecastJson | None, means("Null where the log does not tell how long compactions took.")
    ] = None
    quality: Annotated[list[str], means("What to know before believing it, the gravest first.")]


class FittedOnJson(Struct, kw_only=True):
    """The log that the workload was learned from."""

    source: Annotated[str, means("The paths that were given.")]
    run: Annotated[str, means("The run of the bundle.")]
    rocksdb_version: Annotated[str | None, means("The RocksDB that wrote the log.")]
    observed: Annotated[FiguresJson, means("What the log itself shows.")]
    stalls: Annotated[
        StallForecastJson | None,
        means("Predicted for the log's own options; null where the log does not tell how long compactions took."),
    ] = None


class EngineJson(Struct, kw_only=True):
    """What replayed the workload."""

    name: Annotated[str, means("capi or rocksdict.")]
    rocksdb_version: Annotated[str, means("The RocksDB in it.")]


class VariantJson(Struct, kw_only=True):
    """A variant of the learned workload."""

    scale: Annotated[float, means("By what every size and population was divided.")]
    seed: Annotated[int, means("Of its draws.")]


class SelfCheckJson(Struct, kw_only=True):
    """One column family of the learned workload under the log's own options, against the log.

    Differences are relative, null where the log has nothing to compare with.
    """

    column_family: Annotated[str, means("The column family.")]
    share_of_bytes: Annotated[float, means("Of all bytes that the log shows flushed and compacted.")]
    flushes: Annotated[float | None, means("Difference of the number of flushes.")]
    flush_bytes: Annotated[float | None, means("Difference of the bytes flushed.")]
    compaction_bytes: Annotated[float | None, means("Difference of the bytes that compactions wrote.")]
    compactions: Annotated[float | UnsetType | None, means("Difference of the number of compactions.")] = UNSET
    is_consistent: Annotated[
        bool, means("Flushes within 5 % and compaction bytes within 15 %; a note in quality says so where not.")
    ]


class PredictionJson(Struct, kw_only=True):
    """What `lsmlens predict --format json` prints."""

    schema: Annotated[Literal["lsmlens.prediction/1"], means("The document's kind and version.")] = SCHEMA
    fitted_on: FittedOnJson
    engine: EngineJson
    replays: Annotated[
        list[VariantJson], means("The variants of the workload that every set of options was replayed with.")
    ]
    self_consistency: Annotated[list[SelfCheckJson], means("By column family.")]
    predictions: Annotated[list[OptionsPredictionJson], means("One for each set of options.")]


def to_json(report: PredictionReport) -> str:
    """The document as indented JSON text, ending in a newline."""
    return to_text(document(report))


def document(report: PredictionReport) -> PredictionJson:
    """Everything a prediction says."""
    anchor = report.prediction.anchor
    return PredictionJson(
        fitted_on=FittedOnJson(
            source=report.source,
            run=anchor.fitted.name,
            rocksdb_version=anchor.fitted.evidence.run.rocksdb_version,
            observed=FiguresJson(**_values(named_log(report.prediction))),
            stalls=stalls_json(report.prediction.own_stalls),
        ),
        engine=EngineJson(name=anchor.engine.name, rocksdb_version=anchor.engine.version),
        replays=[VariantJson(scale=one.scale, seed=one.seed) for one in anchor.variants],
        self_consistency=[check_json(one, one.compactions) for one in anchor.checks],
        predictions=[
            options_prediction_json(one, observed, unjudged(report, one))
            for one, observed in zip(report.prediction.predictions, report.observed, strict=True)
        ],
    )


def check_json(one: Check, compactions: float | UnsetType | None = UNSET) -> SelfCheckJson:
    """One family's check; `compactions` is left out where it is not given."""
    return SelfCheckJson(
        column_family=one.family,
        share_of_bytes=one.share,
        flushes=one.flushes,
        flush_bytes=one.flush_bytes,
        compaction_bytes=one.output_bytes,
        compactions=compactions,
        is_consistent=one.is_consistent,
    )


def options_prediction_json(
    one: OptionsPrediction, observed: Observed | None = None, refusal: str = ""
) -> OptionsPredictionJson:
    """One set of options: what was predicted, its bounds, and what a real run did, if one stands beside it.

    `refusal` says why compactions cannot be judged, if that is so: the gravest note there is.
    """
    low, high = named_bounds(one)
    predicted = FiguresJson(**_values(named_values(one))) if one.predicted is not None else None
    return OptionsPredictionJson(
        options=one.name,
        predicted=predicted,
        low=FiguresJson(**_values(low)) if low else None,
        high=FiguresJson(**_values(high)) if high else None,
        column_families=[_family(family) for family in one.families],
        windows=[
            WindowNeededJson(
                column_family=need.family,
                needed_puts=need.needed_puts,
                shown_puts=need.shown_puts,
                is_beyond_the_log=need.beyond > 1,
            )
            for need in one.needs
        ],
        observed=None if observed is None else _observed(one, observed),
        stalls=stalls_json(one.stalls),
        quality=[*([f"{NOT_JUDGED}: {refusal}"] if refusal else []), *one.quality],
    )


def stalls_json(forecast: StallForecast | None) -> StallForecastJson | None:
    """Stalls under one set of options; None where they are not known."""
    if forecast is None:
        return None
    closed = forecast.closed_form
    return StallForecastJson(
        loads=[
            StallsAtLoadJson(
                load=one.load,
                stall_seconds=one.seconds,
                low=one.low,
                high=one.high,
                slowdowns=one.slowdowns,
                stops=one.stops,
            )
            for one in forecast.at_loads
        ],
        headroom=None if forecast.headroom is None else HeadroomJson(**forecast.headroom._asdict()),
        level0_files=dict(forecast.level0_files),
        closed_form=ClosedFormJson(
            utilisation=closed.utilisation,
            busiest=closed.busiest,
            level0_files=dict(closed.level0_files),
            headroom=closed.headroom,
        ),
    )


def _family(family: FamilyPrediction) -> FamilyPredictionJson:
    return FamilyPredictionJson(
        name=family.name,
        predicted=FamilyFiguresJson(flushes=family.predicted.value.flushes, **_named(family.predicted.value)),
        low=_bounds(family.predicted.low),
        high=_bounds(family.predicted.high),
        raw=FamilyFiguresJson(flushes=family.raw.flushes, **_named(family.raw)),
    )


def _named(figures: Figures) -> dict[str, Any]:
    return dict(figures.named())


def _values(named: dict[str, float | None]) -> dict[str, Any]:
    return dict(named)


def _bounds(figures: Figures) -> FamilyBoundsJson:
    values = _named(figures)
    del values["write_amplification"], values["output_input_ratio_of_sums"]
    return FamilyBoundsJson(flushes=figures.flushes, **values)


def _observed(one: OptionsPrediction, observed: Observed) -> ObservedJson:
    low, high = named_bounds(one)
    values, real = named_values(one), observed.named()
    return ObservedJson(
        run=observed.name,
        figures=FiguresJson(**_values(real)),
        errors={
            name: predicted / figure - 1 if predicted is not None and (figure := real[name]) else None
            for name, predicted in values.items()
        },
        outside=[name for name in real if values and is_outside(real[name], low[name], high[name])],
        column_families=[
            ObservedFamilyJson(name=name, flushes=figures.flushes, **_named(figures))
            for name, figures in sorted(observed.families.items())
        ],
    )
