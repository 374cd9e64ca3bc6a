"""What a prediction's reports are made of: the prediction, and beside it what a real run of the options did."""

from collections.abc import Iterator
from dataclasses import dataclass

from lsmlens.reports.numbers import plain, ratio
from lsmlens.reports.tables import Table
from lsmlens.tuners.predictions.figures import Figures
from lsmlens.tuners.predictions.prediction import OptionsPrediction, Prediction

# The figures of a prediction, what people call them, and whether they are whole numbers.
LABELS = {
    "flush_mib": ("flushed, MiB", False),
    "total_output_size_mib": ("compaction output, MiB", False),
    "write_amplification": ("write amplification (LSM)", False),
    "compactions": ("compactions", True),
    "total_input_records": ("records into compactions", True),
    "total_output_records": ("records out of compactions", True),
    "output_input_ratio_of_sums": ("records out per record in", False),
}
# Families with less of all bytes are left out of the text, and counted.
LEAST_SHARE = 0.01


@dataclass(frozen=True, slots=True)
class Observed:
    """What a real run did: its name, and its figures, whole and by family."""

    name: str
    total: Figures
    families: dict[str, Figures]


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
    low, high = one.predicted.low.named(), one.predicted.high.named()
    for name, bounds in (
        ("write_amplification", one.amplification_bounds),
        ("output_input_ratio_of_sums", one.ratio_bounds),
    ):
        low[name], high[name] = bounds if bounds is not None else (None, None)
    return low, high


def figures_table(report: PredictionReport, one: OptionsPrediction, observed: Observed | None) -> Table:
    """The figures: of the log, predicted with their interval, and observed with the error."""
    assert one.predicted is not None
    values, (low, high) = one.predicted.value.named(), named_bounds(one)
    before = log_total(report.prediction).named()
    real = observed.total.named() if observed is not None else {}
    header = ["figure", "this log", "predicted", "90 % interval", "change"]
    if observed is not None:
        header += [f"observed: {observed.name}", "error"]
    rows = []
    for name, (label, is_whole) in LABELS.items():
        row = [
            label,
            number(before[name], is_whole),
            number(values[name], is_whole),
            f"{number(low[name], is_whole)} to {number(high[name], is_whole)}",
            percent(values[name], before[name]),
        ]
        if observed is not None:
            outside = is_outside(real[name], low[name], high[name])
            row += [number(real[name], is_whole), percent(values[name], real[name]) + (" !" if outside else "")]
        rows.append(tuple(row))
    return Table(tuple(header), tuple(rows))


def families_table(report: PredictionReport, one: OptionsPrediction, observed: Observed | None) -> tuple[Table, int]:
    """Flushed and compacted MiB by family, and how many families of little weight are left out."""
    before = report.prediction.anchor.observed
    whole = sum(figures.written_bytes for figures in before.values())
    header = ["column family", "flushed", "predicted", "compacted", "predicted", "90 % interval", "compactions"]
    if observed is not None:
        header += ["compacted: observed", "error"]
    rows = []
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
        if observed is not None:
            real = observed.families.get(family.name, Figures())
            outside = is_outside(real.output_bytes, low.output_bytes, high.output_bytes)
            error = percent(value.output_bytes, real.output_bytes)
            row += [number(real.named()["total_output_size_mib"]), error + (" !" if outside else "")]
        rows.append(tuple(row))
    return Table(tuple(header), tuple(rows)), hidden


def checks_table(report: PredictionReport) -> Table:
    """Self-consistency: the fitted workload under the log's own options against the log."""
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
    )


def overview_table(report: PredictionReport) -> Table:
    """The figures of the log, and of all sets of options side by side with their intervals."""
    before = log_total(report.prediction).named()
    found = [one for one in report.prediction.predictions if one.predicted is not None]
    rows = []
    for name, (label, is_whole) in LABELS.items():
        row = [label, number(before[name], is_whole)]
        for one in found:
            assert one.predicted is not None
            value, (low, high) = one.predicted.value.named()[name], named_bounds(one)
            interval = f"{number(low[name], is_whole)} to {number(high[name], is_whole)}"
            row += [number(value, is_whole), interval, percent(value, before[name])]
        rows.append(tuple(row))
    header = [cell for one in found for cell in (one.name, "90 % interval", "change")]
    return Table(("figure", "this log", *header), tuple(rows))


def in_short(report: PredictionReport) -> Iterator[str]:
    """A sentence for each set of options: what flushes and compactions would have written."""
    before = log_total(report.prediction)
    for one in report.prediction.predictions:
        if one.predicted is None:
            yield f"Under {one.name}: no prediction, for no replay reached its end."
            continue
        value, (low, high) = one.predicted.value.named(), named_bounds(one)
        name = "total_output_size_mib"
        yield (
            f"Under {one.name} compactions would have written {number(value[name])} MiB, between {number(low[name])}"
            f" and {number(high[name])} (90 %), where this log shows {number(before.named()[name])}:"
            f" {percent(value[name], before.named()[name])}. Write amplification (LSM)"
            f" {number(value['write_amplification'])}, now {number(before.write_amplification)}."
        )


def basis(report: PredictionReport) -> Iterator[str]:
    """What the figures rest on."""
    anchor = report.prediction.anchor
    scales = sorted({one.scale for one in anchor.variants})
    yield (
        f"The same work under other options, in the log's own units; learned from the log alone, replayed in"
        f" RocksDB {anchor.engine.version}."
    )
    yield (
        f"{len(anchor.variants)} replays of each set of options, sizes divided by"
        f" {' and '.join(f'{scale:g}' for scale in scales)}; anchored on the log family by family."
    )


def notes(report: PredictionReport) -> Iterator[str]:
    """What to know before believing it: each note once, with the options it is of unless it is of all."""
    found: dict[str, list[str]] = {}
    for one in report.prediction.predictions:
        for note in one.quality:
            found.setdefault(note, []).append(one.name)
    for note, names in found.items():
        whose = "" if len(names) == len(report.prediction.predictions) else f"{', '.join(names)}: "
        yield f"{whose}{note}"


def hidden_families(count: int) -> str:
    """How many families a table leaves out, in words; empty for none."""
    return f"{count} column families with less than 1 % of the bytes are not shown." if count else ""


def log_total(prediction: Prediction) -> Figures:
    """What the log shows of all families together."""
    whole = Figures()
    for one in prediction.anchor.observed.values():
        whole = whole + one
    return whole


def outside(report: PredictionReport) -> Iterator[str]:
    """Observed figures that their interval does not hold."""
    for one, observed in zip(report.prediction.predictions, report.observed, strict=True):
        if observed is None or one.predicted is None:
            continue
        low, high = named_bounds(one)
        real = observed.total.named()
        for name, (label, _) in LABELS.items():
            if is_outside(real[name], low[name], high[name]):
                yield f"{one.name}: {label} of {observed.name} lies outside its interval"


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
