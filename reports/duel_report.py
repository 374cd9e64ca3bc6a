"""A duel of two sets of options as a terminal report."""

from collections.abc import Iterator

from lsmlens.analyzer.units import MIB
from lsmlens.reports.numbers import plain, ratio
from lsmlens.reports.sections import indented, lay_out, note_lines
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
    rows = [(one.option, one.family or "all", one.other or "-", one.value or "-") for one in duel.differences]
    return Table(("option", "column family", duel.a.name, duel.b.name), tuple(rows), left=(0, 1))


def render(duel: Duel) -> str:
    """The whole report, ending in a newline."""
    return lay_out(_parts(duel))


def _parts(duel: Duel) -> Iterator[tuple[str, list[str]]]:
    title = f"{duel.b.name} against {duel.a.name}, on the work of {duel.name}"
    yield title, indented(ratios_table(duel).lines())
    yield "compaction output by column family, MiB", indented(families_table(duel).lines())
    differences = indented(differences_table(duel).lines() if duel.differences else ["nothing"])
    notes = [line for note in duel.notes for line in note_lines(note)]
    yield "what differs", [*differences, *([""] if notes else []), *notes]


def _value(one: Ratio, value: float) -> str:
    return plain(round(value / MIB if one.metric.endswith("bytes") else value))


def _ratio(one: Ratio) -> tuple[str, str, str]:
    if one.ratio != one.ratio:
        return "-", "-", "-"
    verdict = "the same, by what is known" if not one.is_different else "B less" if one.ratio < 1 else "B more"
    return ratio(one.ratio), f"{ratio(one.low)} to {ratio(one.high)}", verdict
