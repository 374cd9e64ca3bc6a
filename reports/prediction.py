"""The report of `lsmlens predict`: the answer for each set of options, then its tables, then how far to trust it."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from lsmlens.analyzer.numbers import counted, plain
from lsmlens.analyzer.units import MIB
from lsmlens.reports import stalls
from lsmlens.reports.document import (
    Block,
    ChartBlock,
    Detail,
    Document,
    KeyFigure,
    KeyFigures,
    Notices,
    Paragraphs,
    Section,
    Statement,
    TableBlock,
    Terms,
    Tone,
    VerdictBlock,
)
from lsmlens.reports.prediction_tables import (
    LABELS,
    NOT_JUDGED,
    Observed,
    PredictionReport,
    checks_table,
    families_table,
    figures_table,
    hidden_families,
    is_outside,
    log_total,
    named_bounds,
    number,
    overview_table,
    percent,
    unjudged,
)
from lsmlens.tuners.predictions.prediction import OptionsPrediction

if TYPE_CHECKING:
    from lsmlens.reports.html.charts import Chart

NOTES_FIRST = 2  # on the first screen
SAME_WORK = 0.03  # what two runs of the same work differ by
TERMS = (
    (
        "predicted",
        "What replays of the workload show under these options, less what they are off by under the log's own as far as"
        " that is likely to last. What the options do not change is as in the log, from which alone the workload is"
        " learned.",
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
    *stalls.TERMS,
)


def compose(report: PredictionReport) -> Document:
    """The report of a prediction."""
    anchor = report.prediction.anchor
    run = anchor.fitted.evidence.run.run
    every = list(zip(report.prediction.predictions, report.observed, strict=True))
    said = tuple(notes(report))
    sections = [Section("short", "In short", tuple(_short(report)))]
    for place, (one, observed) in enumerate(every, 1):
        blocks = tuple(_options(report, one, observed))
        sections.append(Section(f"options-{place}", f"Under {one.name}", blocks))
    sections += [
        Section("stalls", "Stalls", tuple(_stalls(report))),
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
        yield VerdictBlock(subject, tuple(_statements(report, one)))
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
        yield Statement("no prediction: no replay finished", Tone.WARNING)
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
    yield from stalls.statements(one.stalls, report.prediction.own_stalls)


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


def _key_figures(report: PredictionReport, one: OptionsPrediction, observed: Observed | None) -> Iterator[KeyFigure]:
    for row in figures_table(report, one, observed).rows[: 1 if unjudged(report, one) else 4]:
        yield KeyFigure(row[0], row[2], f"{row[3]}; this log {row[1]}, {row[4]}")


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


def _stalls(report: PredictionReport) -> Iterator[Block]:
    table = stalls.stalls_table(report.prediction)
    if table is None:
        yield Paragraphs((stalls.UNKNOWN,))
    else:
        yield TableBlock("For how long writers would wait, and how much more load it takes until they do", table)


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


def outside(report: PredictionReport) -> Iterator[str]:
    """Which figures of real runs their intervals do not hold, and which runs did other work, a sentence for each."""
    for one, observed in zip(report.prediction.predictions, report.observed, strict=True):
        if observed is None or one.predicted is None:
            continue
        low, high = named_bounds(one)
        real = observed.named()
        beyond = [
            label.removesuffix(", MiB")
            for name, (label, _) in LABELS.items()
            if is_outside(real[name], low[name], high[name])
        ]
        if beyond:
            yield f"{one.name}: {observed.name} lies outside the interval in {', '.join(beyond)}"
        if abs(observed.work - 1) > SAME_WORK:
            how = "fewer" if observed.work < 1 else "more"
            off = f"{100 * abs(observed.work - 1):.0f} % {how} operations than this log's"
            yield f"{one.name}: the flushes of {observed.name} took in {off}: it is not the same work"
