"""The report of `lsmlens predict`: the answer for each set of options, then its tables, then how far to trust it."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import TYPE_CHECKING

from lsmlens.analyzer.numbers import counted, plain, ratio
from lsmlens.analyzer.units import MIB
from lsmlens.reports.document import (
    Block,
    ChartBlock,
    Detail,
    Document,
    Figure,
    Notices,
    Paragraphs,
    Section,
    Statement,
    TableBlock,
    Terms,
    Tone,
    Verdict,
)
from lsmlens.reports.document import (
    Figures as KeyFigures,
)
from lsmlens.reports.tables import Importance, Table
from lsmlens.tuners.predictions.figures import Figures
from lsmlens.tuners.predictions.prediction import FamilyPrediction, OptionsPrediction, Prediction
from lsmlens.tuners.predictions.windows_needed import level0_trigger

if TYPE_CHECKING:
    from lsmlens.reports.html.charts import Chart

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
# The figures that compactions have a part in; those of flushes are known from fewer of them.
OF_COMPACTIONS = frozenset(LABELS) - {"flush_mib"}
# Families with less of all bytes are left out of the text, and counted.
LEAST_SHARE = 0.01
NOTES_FIRST = 2  # on the first screen
NOT_JUDGED = "cannot be judged"
TERMS = (
    (
        "predicted",
        "What the log shows of each column family, times the ratio of two replays of the same workload: under these"
        " options and under the log's own. The workload is learned from the log alone.",
    ),
    (
        "90 % interval",
        "By the scatter of the replays, what the log leaves open of the workload, how far the replay under the log's"
        " own options is from the log, and what any such model errs.",
    ),
    ("change", "Predicted over what this log shows, less one."),
    ("error", "Predicted over observed, less one; ! where the observed figure lies outside the interval."),
    ("write amplification (LSM)", "(flushed + compaction output) / flushed."),
    (
        "self-consistency",
        "The learned workload replayed under the log's own options, against the log. It holds where flushes are within"
        " 5 % and compaction bytes within 15 %.",
    ),
)


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


def compose(report: PredictionReport) -> Document:
    """The report of a prediction."""
    anchor = report.prediction.anchor
    run = anchor.fitted.evidence.run.run
    every = list(zip(report.prediction.predictions, report.observed, strict=True))
    said = tuple(notes(report))
    sections = [Section("short", "In short", tuple(_short(report)))]
    for number, (one, observed) in enumerate(every, 1):
        blocks = tuple(_options(report, one, observed))
        sections.append(Section(f"options-{number}", f"Under {one.name}", blocks))
    sections += [
        Section("notes", "Before you believe it", tuple(_notes(said))),
        Section("self-consistency", "Self-consistency", tuple(_consistency(report))),
        Section(
            "computed",
            "How each number is computed",
            (Paragraphs(tuple(basis(report))), Terms(TERMS, detail=Detail.PAGE)),
        ),
    ]
    facts = [("Log", report.source)]
    facts += [("Ceph", run.ceph_version)] if run.ceph_version else []
    facts += [("RocksDB", run.rocksdb_version)] if run.rocksdb_version else []
    facts.append(("Replayed in", f"RocksDB {anchor.engine.version}"))
    more = "More: --full (by column family, self-consistency, notes) · -o report.html (charts)"
    return Document("Prediction", anchor.fitted.name, tuple(facts), tuple(sections), more)


def _short(report: PredictionReport) -> Iterator[Block]:
    predictions = report.prediction.predictions
    for one in predictions:
        subject = one.name if len(predictions) > 1 else f"under {one.name}"
        yield Verdict(subject, tuple(_statements(report, one)))
    if beyond := tuple(outside(report)):
        yield Notices(beyond, detail=Detail.BRIEF)
    predicted = [
        (one, observed) for one, observed in zip(predictions, report.observed, strict=True) if one.predicted is not None
    ]
    reasons = [(one.name, reason) for one, _ in predicted if (reason := _reason(report, one))]
    if reasons:
        several = len(predictions) > 1
        texts = tuple(f"{f'{name}: ' if several else ''}{reason}" for name, reason in reasons)
        yield Paragraphs(texts, detail=Detail.BRIEF)
    if not predicted:
        return
    if len(predicted) == 1:
        yield KeyFigures(tuple(_key_figures(report, *predicted[0])))
        table = figures_table(report, *predicted[0])
    else:
        table = overview_table(report)
    note = "The line is the 90 % interval" + ("; a diamond is what a real run did." if any(report.observed) else ".")
    caption = "For the same work, in the log's own units"
    yield ChartBlock(partial(_figures_chart, report), table, note, is_open=True, caption=caption, detail=Detail.BRIEF)


def _statements(report: PredictionReport, one: OptionsPrediction) -> Iterator[Statement]:
    """What compactions would write, how sure that is, and the write amplification."""
    if one.predicted is None:
        yield Statement("no prediction: no replay reached its end", Tone.WARNING)
        return
    if refusal := unjudged(report, one):
        yield Statement(f"{NOT_JUDGED}: {refusal}", Tone.WARNING)
        return
    before = log_total(report.prediction)
    value, now = one.predicted.value.output_bytes, before.output_bytes
    low, high = one.predicted.low.output_bytes, one.predicted.high.output_bytes
    tone = Tone.BETTER if high < now else Tone.WORSE if low > now else Tone.NEUTRAL
    interval = f"90 % interval {percent(low, now)} to {percent(high, now)}"
    yield Statement(f"{percent(value, now)} compaction output ({interval})", tone)
    if tone is Tone.NEUTRAL:
        yield Statement("no difference that is certain")
    new, old = one.predicted.value.write_amplification, before.write_amplification
    yield Statement(f"write amplification {number(new)}, now {number(old)}")


def _reason(report: PredictionReport, one: OptionsPrediction) -> str:
    """What makes the difference: flushes, and how often records go through compactions."""
    if one.predicted is None or unjudged(report, one):
        return ""
    before, after = log_total(report.prediction), one.predicted.value
    if not before.flushes or not after.flushes:
        return ""
    each, now_each = after.flush_bytes / after.flushes, before.flush_bytes / before.flushes
    said = f"{counted(round(after.flushes), 'flush', 'flushes')} of {number(each / MIB)} MiB on average"
    said += f" (now {plain(round(before.flushes))} of {number(now_each / MIB)} MiB)"
    return (
        f"{said}; {counted(round(after.compactions), 'compaction')} take in {plain(round(after.input_records))} records"
        f" (now {plain(round(before.compactions))} and {plain(round(before.input_records))})"
    )


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


def _key_figures(report: PredictionReport, one: OptionsPrediction, observed: Observed | None) -> Iterator[Figure]:
    for row in figures_table(report, one, observed).rows[: 1 if unjudged(report, one) else 4]:
        yield Figure(row[0], row[2], f"{row[3]}; this log {row[1]}, {row[4]}")


def _figures_chart(report: PredictionReport) -> "Chart":
    from lsmlens.reports.html.prediction_charts import figures_chart

    return figures_chart(report)


def _families_chart(report: PredictionReport, number: int) -> "Chart":
    from lsmlens.reports.html.prediction_charts import families_chart

    return families_chart(report, number)


def _options(report: PredictionReport, one: OptionsPrediction, observed: Observed | None) -> Iterator[Block]:
    if one.predicted is None:
        yield Paragraphs(("No prediction: the notes say why.",))
        return
    if len(report.prediction.predictions) > 1:
        yield TableBlock("For the same work, in the log's own units", figures_table(report, one, observed))
    table, hidden = families_table(report, one, observed)
    number = report.prediction.predictions.index(one)
    if unjudged(report, one):
        yield TableBlock("Bytes by column family, MiB", table, hidden_families(hidden))
        return
    yield ChartBlock(
        partial(_families_chart, report, number),
        table,
        is_open=True,
        caption="Bytes by column family, MiB",
        detail=Detail.FULL,
    )
    if hidden:
        yield Paragraphs((hidden_families(hidden),))


def _notes(said: tuple[str, ...]) -> Iterator[Block]:
    """The gravest come first."""
    if said:
        yield Notices(said[:NOTES_FIRST], detail=Detail.BRIEF)
    if said[NOTES_FIRST:]:
        yield Notices(said[NOTES_FIRST:])


def _consistency(report: PredictionReport) -> Iterator[Block]:
    yield Paragraphs(
        (
            "The learned workload replayed under the log's own options, against the log: how well it is understood."
            " Where it does not hold, that family's intervals are wider.",
        )
    )
    yield TableBlock("", checks_table(report))


def figures_table(report: PredictionReport, one: OptionsPrediction, observed: Observed | None) -> Table:
    """The figures: of the log, predicted with their interval, and observed with the error.

    Those that a log is too short for are left open.
    """
    assert one.predicted is not None
    values, (low, high) = one.predicted.value.named(), named_bounds(one)
    before = log_total(report.prediction).named()
    real = observed.total.named() if observed is not None else {}
    is_short = bool(unjudged(report, one))
    header = ["figure", "this log", "predicted", "90 % interval", "change"]
    if observed is not None:
        header += [f"observed: {observed.name}", "error"]
    rows: list[tuple[str, ...]] = []
    tones: dict[tuple[int, int], str] = {}
    for place, (name, (label, is_whole)) in enumerate(LABELS.items()):
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
            tones |= {(place, len(row) - 1): Tone.WARNING} if is_beyond else {}
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
    before = log_total(report.prediction).named()
    found = [one for one in report.prediction.predictions if one.predicted is not None]
    short = {one.name for one in found if unjudged(report, one)}
    rows: list[tuple[str, ...]] = []
    for name, (label, is_whole) in LABELS.items():
        row = [label, number(before[name], is_whole)]
        for one in found:
            assert one.predicted is not None
            value = one.predicted.value.named()[name]
            is_open = one.name in short and name in OF_COMPACTIONS
            row.append(NOT_JUDGED if is_open else f"{number(value, is_whole)} ({percent(value, before[name])})")
        rows.append(tuple(row))
    return Table(("figure", "this log", *(one.name for one in found)), tuple(rows))


def basis(report: PredictionReport) -> Iterator[str]:
    """What the figures rest on."""
    anchor = report.prediction.anchor
    scales = sorted({one.scale for one in anchor.variants})
    yield (
        f"The same work under other options, in the log's own units: learned from the log alone, replayed in"
        f" RocksDB {anchor.engine.version}."
    )
    yield (
        f"{len(anchor.variants)} replays of each set of options, sizes divided by"
        f" {' and '.join(f'{scale:g}' for scale in scales)}, scaled by the log's own figures, family by family."
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
    """Which figures of real runs their intervals do not hold, a sentence for each run."""
    for one, observed in zip(report.prediction.predictions, report.observed, strict=True):
        if observed is None or one.predicted is None:
            continue
        low, high = named_bounds(one)
        real = observed.total.named()
        beyond = [
            label.removesuffix(", MiB")
            for name, (label, _) in LABELS.items()
            if is_outside(real[name], low[name], high[name])
        ]
        if beyond:
            yield f"{one.name}: {observed.name} lies outside the interval in {', '.join(beyond)}"


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
