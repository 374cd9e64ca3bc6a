"""The report of `lsmlens tune --ab`: what one set of options does against another."""

from collections.abc import Iterator

from lsmlens.analyzer.numbers import ratio, setting
from lsmlens.analyzer.units import MIB
from lsmlens.reports.document import (
    Block,
    Detail,
    Document,
    Notices,
    Paragraphs,
    Section,
    Statement,
    TableBlock,
    Tone,
    VerdictBlock,
)
from lsmlens.reports.prediction_tables import number
from lsmlens.reports.tables import Table
from lsmlens.tuners.search.duel import Duel, Ratio

LABELS = {
    "flush_bytes": "flushed, MiB",
    "output_bytes": "compaction output, MiB",
    "compactions": "compactions",
    "input_records": "records into compactions",
}
LEAST_SHARE = 0.01


def ratios_table(duel: Duel, family: str | None = None) -> Table:
    """A, B and B over A of one family, or of all together."""
    rows = [
        (LABELS[one.metric], _value(one, one.a), _value(one, one.b), *_ratio(one))
        for one in duel.ratios
        if one.family == family
    ]
    return Table(("metric", duel.a.name, duel.b.name, "B/A", "90 % interval", "verdict"), tuple(rows))


def families_table(duel: Duel) -> Table:
    """Compaction output by family, those of weight."""
    some = [one for one in duel.ratios if one.family is not None and one.metric == "output_bytes"]
    whole = sum(max(one.a, one.b) for one in some)
    rows = [
        (one.family or "", _value(one, one.a), _value(one, one.b), *_ratio(one))
        for one in some
        if max(one.a, one.b) >= LEAST_SHARE * whole
    ]
    return Table(("column family", duel.a.name, duel.b.name, "B/A", "90 % interval", "verdict"), tuple(rows))


def differences_table(duel: Duel) -> Table:
    """What is not the same in both sets."""
    rows = [
        (one.option, one.family or "all", setting(one.option, one.other or "-"), setting(one.option, one.value or "-"))
        for one in duel.differences
    ]
    return Table(("option", "column family", duel.a.name, duel.b.name), tuple(rows), left=(0, 1))


def compose(duel: Duel) -> Document:
    """The report of a duel."""
    a, b = duel.a.name, duel.b.name
    sections = [
        Section("verdict", "In short", tuple(_verdict(duel))),
        Section("families", "Compaction output by column family, MiB", (TableBlock("", families_table(duel)),)),
    ]
    if duel.notes:
        sections.append(Section("notes", "Before you believe it", (Notices(duel.notes),)))
    more = "More: --full (by column family, notes) · -o FILE.html, .json"
    return Document(f"{b} against {a}", f"on the work of {duel.name}", (), tuple(sections), more)


def _verdict(duel: Duel) -> Iterator[Block]:
    whole = {one.metric: one for one in duel.ratios if one.family is None}
    output = whole.get("output_bytes")
    if output is None or output.ratio != output.ratio:
        yield VerdictBlock("", (Statement("cannot be compared: no compaction under the first set", Tone.WARNING),))
    else:
        ends = f"90 % interval {_percent(output.low)} to {_percent(output.high)}"
        said = f"{duel.b.name}: {_percent(output.ratio)} compaction output ({ends})"
        tone = Tone.NEUTRAL if not output.is_different else Tone.BETTER if output.ratio < 1 else Tone.WORSE
        statements = [Statement(said, tone)]
        statements += [] if output.is_different else [Statement("no difference that is certain")]
        yield VerdictBlock("", tuple(statements))
    yield TableBlock("Both on the very same replayed work", ratios_table(duel), detail=Detail.BRIEF)
    if duel.differences:
        yield TableBlock("What differs", differences_table(duel), detail=Detail.BRIEF)
    else:
        yield Paragraphs(("The options are the same.",), detail=Detail.BRIEF)


def _percent(value: float) -> str:
    return f"{100 * (value - 1):+.1f} %"


def _value(one: Ratio, value: float) -> str:
    is_size = one.metric.endswith("bytes")
    return number(value / MIB if is_size else value, is_whole=not is_size)


def _ratio(one: Ratio) -> tuple[str, str, str]:
    if one.ratio != one.ratio:
        return "-", "-", "-"
    verdict = "not significant" if not one.is_different else "B less" if one.ratio < 1 else "B more"
    return ratio(one.ratio), f"{ratio(one.low)} to {ratio(one.high)}", verdict
