"""The tables of a prediction, and what they say of figures that a log is too short for."""

from dataclasses import dataclass
from math import ceil

from lsmlens.analyzer.measures.sorted_runs import mean_sorted_runs
from lsmlens.analyzer.numbers import plain, ratio
from lsmlens.reports.document import (
    Tone,
)
from lsmlens.reports.tables import Importance, Table
from lsmlens.tuners.predictions.figures import Figures
from lsmlens.tuners.predictions.prediction import FamilyPrediction, OptionsPrediction, Prediction
from lsmlens.tuners.predictions.windows_needed import level0_trigger

# The figures of a prediction, what people call them, and whether they are whole numbers.
LABELS = {
    "flush_mib": ("flushed, MiB", False),
    "total_output_size_mib": ("compaction output, MiB", False),
    "write_amplification": ("write amplification (LSM)", False),
    "compactions": ("compactions", True),
    "total_input_records": ("records into compactions", True),
    "total_output_records": ("records out of compactions", True),
    "output_input_ratio_of_sums": ("records out per record in", False),
    "sorted_runs": ("sorted runs a read looks into", False),
    "blocks_per_get": ("blocks looked into for a Get", False),
}
# The figures that compactions have a part in; those of flushes are known from fewer of them.
OF_COMPACTIONS = frozenset(LABELS) - {"flush_mib"}
# What a read costs, which many logs do not tell; a row that holds nothing is left out.
OF_READS = ("sorted_runs", "blocks_per_get")
# Families with less of all bytes are left out of the text, and counted.
LEAST_SHARE = 0.01
NOT_JUDGED = "cannot be judged"


@dataclass(frozen=True, slots=True)
class Observed:
    """What a real run did: its name, and its figures, whole and by family.

    `work` is how many operations its flushes took in, over those of the log that was learned from. `sorted_runs` are
    the mean over its families, by that log's operations, `stall_seconds` what its dumps say.
    """

    name: str
    total: Figures
    families: dict[str, Figures]
    work: float = 1.0
    sorted_runs: float | None = None
    blocks_per_get: float | None = None
    stall_seconds: float | None = None

    def named(self) -> dict[str, float | None]:
        """Its figures by the names of a prediction's."""
        reads = {"sorted_runs": self.sorted_runs, "blocks_per_get": self.blocks_per_get}
        return self.total.named() | reads | {"stall_seconds": self.stall_seconds}


@dataclass(frozen=True, slots=True)
class PredictionReport:
    """What there is to report. `observed` stands beside the prediction at the same place, None where there is none."""

    source: str
    prediction: Prediction
    observed: tuple[Observed | None, ...]


def named_bounds(one: OptionsPrediction) -> tuple[dict[str, float | None], dict[str, float | None]]:
    """Low and high of every figure of a prediction, by name."""
    if one.predicted is None:
        return {}, {}
    low, high = (getattr(one.predicted, end).named() | one.reads.named(end) for end in ("low", "high"))
    for name, bounds in (
        ("write_amplification", one.amplification_bounds),
        ("output_input_ratio_of_sums", one.ratio_bounds),
    ):
        low[name], high[name] = bounds if bounds is not None else (None, None)
    stalls = one.stalls.now if one.stalls is not None else None
    low["stall_seconds"], high["stall_seconds"] = (stalls.low, stalls.high) if stalls is not None else (None, None)
    return low, high


def named_values(one: OptionsPrediction) -> dict[str, float | None]:
    """Every figure of a prediction, by name; nothing where none was made."""
    if one.predicted is None:
        return {}
    stalls = {"stall_seconds": one.stalls.now.seconds if one.stalls is not None else None}
    return one.predicted.value.named() | one.reads.named() | stalls


def named_log(prediction: Prediction) -> dict[str, float | None]:
    """Every figure of the log, by name."""
    evidence = prediction.anchor.fitted.evidence
    reads = {
        "sorted_runs": mean_sorted_runs(evidence.sorted_runs, evidence.operations),
        "blocks_per_get": evidence.reads.blocks_per_get,
    }
    series = evidence.run.series
    return log_total(prediction).named() | reads | {"stall_seconds": series.stall_seconds if series else None}


def unjudged(report: PredictionReport, one: OptionsPrediction) -> str:
    """Why a log is too short to say what compactions would do under the options; empty where it is not.

    It is where the families that compactions wrote most of the log's bytes of would not fill a single compaction with
    the log's work: that none is seen then says nothing.
    """
    before = report.prediction.anchor.observed
    short = [family for family in one.families if _is_short(one, family)]
    whole = sum(seen.output_bytes for seen in before.values())
    if not short or 2 * sum(before[family.name].output_bytes for family in short) < whole:
        return ""
    heaviest = max(short, key=lambda family: before[family.name].output_bytes)
    flushes, trigger = heaviest.predicted.value.flushes, level0_trigger(one.options, heaviest.name)
    said = f"this log makes {flushes:.1f} flushes of {heaviest.name} under these options, {trigger} start a compaction"
    if flushes < 0.05:
        return f"{said}; a much longer log is needed"
    return f"{said}; about {ceil(2 * trigger / flushes)} times more log is needed"


def _is_short(one: OptionsPrediction, family: FamilyPrediction) -> bool:
    """Whether the log's work does not fill one compaction of the family under the options."""
    return family.predicted.value.flushes < level0_trigger(one.options, family.name)


def figures_table(report: PredictionReport, one: OptionsPrediction, observed: Observed | None) -> Table:
    """The figures: of the log, predicted with their interval, and observed with the error.

    Those that a log is too short for are left open.
    """
    assert one.predicted is not None
    values, (low, high) = named_values(one), named_bounds(one)
    before = named_log(report.prediction)
    real = observed.named() if observed is not None else {}
    is_short = bool(unjudged(report, one))
    header = ["figure", "this log", "predicted", "90 % interval", "change"]
    if observed is not None:
        header += [f"observed: {observed.name}", "error"]
    rows: list[tuple[str, ...]] = []
    tones: dict[tuple[int, int], str] = {}
    for name, (label, is_whole) in LABELS.items():
        if name in OF_READS and before[name] is None and values[name] is None:
            continue
        if is_short and name in OF_COMPACTIONS:
            row = [label, number(before[name], is_whole), NOT_JUDGED, "-", "-"]
            row += [number(real[name], is_whole), "-"] if observed is not None else []
            rows.append(tuple(row))
            continue
        row = [
            label,
            number(before[name], is_whole),
            number(values[name], is_whole),
            f"{number(low[name], is_whole)} to {number(high[name], is_whole)}",
            percent(values[name], before[name]),
        ]
        if observed is not None:
            is_beyond = is_outside(real[name], low[name], high[name])
            row += [number(real[name], is_whole), percent(values[name], real[name]) + (" !" if is_beyond else "")]
            tones |= {(len(rows), len(row) - 1): Tone.WARNING} if is_beyond else {}
        rows.append(tuple(row))
    return Table(tuple(header), tuple(rows), tones=tones)


def families_table(report: PredictionReport, one: OptionsPrediction, observed: Observed | None) -> tuple[Table, int]:
    """Flushed and compacted MiB by family, and how many families of little weight are left out."""
    before = report.prediction.anchor.observed
    whole = sum(figures.written_bytes for figures in before.values())
    header = ["column family", "flushed", "predicted", "compacted", "predicted", "90 % interval", "compactions"]
    importance = [Importance.KEY, Importance.MINOR, Importance.MINOR, *[Importance.KEY] * 3, Importance.MINOR]
    if observed is not None:
        header += ["compacted: observed", "error"]
        importance += [Importance.KEY, Importance.KEY]
    rows: list[tuple[str, ...]] = []
    tones: dict[tuple[int, int], str] = {}
    hidden = 0
    for family in one.families:
        seen, value = before[family.name], family.predicted.value
        if max(seen.written_bytes, value.written_bytes) < LEAST_SHARE * whole:
            hidden += 1
            continue
        low, high = family.predicted.low, family.predicted.high
        row = [
            family.name,
            number(seen.named()["flush_mib"]),
            number(value.named()["flush_mib"]),
            number(seen.named()["total_output_size_mib"]),
            number(value.named()["total_output_size_mib"]),
            f"{number(low.named()['total_output_size_mib'])} to {number(high.named()['total_output_size_mib'])}",
            f"{number(seen.compactions, True)} to {number(value.compactions, True)}",
        ]
        if seen.compactions and _is_short(one, family) and not round(value.compactions):
            row[4:] = [NOT_JUDGED, "-", "-"]
        if observed is not None:
            real = observed.families.get(family.name, Figures())
            is_beyond = is_outside(real.output_bytes, low.output_bytes, high.output_bytes)
            error = percent(value.output_bytes, real.output_bytes)
            row += [number(real.named()["total_output_size_mib"]), error + (" !" if is_beyond else "")]
            tones |= {(len(rows), len(row) - 1): Tone.WARNING} if is_beyond else {}
        rows.append(tuple(row))
    return Table(tuple(header), tuple(rows), importance=tuple(importance), tones=tones), hidden


def checks_table(report: PredictionReport) -> Table:
    """Self-consistency: the learned workload under the log's own options against the log."""
    checks = report.prediction.anchor.checks
    rows = [
        (
            one.family,
            f"{100 * one.share:.1f} %",
            _difference(one.flushes),
            _difference(one.flush_bytes),
            _difference(one.output_bytes),
            _difference(one.compactions),
            "yes" if one.is_consistent else "NO",
        )
        for one in checks
    ]
    return Table(
        ("column family", "of all bytes", "flushes", "flush bytes", "compaction bytes", "compactions", "holds"),
        tuple(rows),
        tones={(row, 6): Tone.WARNING for row, one in enumerate(checks) if not one.is_consistent},
    )


def overview_table(report: PredictionReport) -> Table:
    """The figures of the log, and of all sets of options side by side, each with its change."""
    before = named_log(report.prediction)
    found = [one for one in report.prediction.predictions if one.predicted is not None]
    short = {one.name for one in found if unjudged(report, one)}
    rows: list[tuple[str, ...]] = []
    for name, (label, is_whole) in LABELS.items():
        if name in OF_READS and before[name] is None and all(named_values(one)[name] is None for one in found):
            continue
        row = [label, number(before[name], is_whole)]
        for one in found:
            assert one.predicted is not None
            value = named_values(one)[name]
            is_open = one.name in short and name in OF_COMPACTIONS
            changed = f" ({percent(value, before[name])})" if before[name] else ""
            row.append(NOT_JUDGED if is_open else number(value, is_whole) + changed)
        rows.append(tuple(row))
    return Table(("figure", "this log", *(one.name for one in found)), tuple(rows))


def hidden_families(count: int) -> str:
    """How many families a table leaves out, in words; empty for none."""
    return f"{count} column families with less than 1 % of the bytes are not shown." if count else ""


def log_total(prediction: Prediction) -> Figures:
    """What the log shows of all families together."""
    whole = Figures()
    for one in prediction.anchor.observed.values():
        whole = whole + one
    return whole


def is_outside(value: float | None, low: float | None, high: float | None) -> bool:
    """Whether a value is known and not within the interval."""
    return value is not None and low is not None and high is not None and not low <= value <= high


def number(value: float | None, is_whole: bool = False) -> str:
    """A figure as it stands in a table."""
    if value is None:
        return "-"
    if is_whole:
        return plain(round(value))
    return ratio(value) if value < 100 else plain(round(value, 1)) if value < 10_000 else plain(round(value))


def percent(value: float | None, reference: float | None) -> str:
    """How much more a value is than the reference."""
    return "-" if value is None or not reference else f"{100 * (value / reference - 1):+.1f} %"


def _difference(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:+.1f} %"
