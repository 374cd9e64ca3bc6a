"""What a comparison comes to, in sentences."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lsmlens.analyzer.comparison.verdicts import Judgement, Verdict
from lsmlens.analyzer.comparison.work import MEASURES, Work

if TYPE_CHECKING:
    from lsmlens.analyzer.comparison.comparison import Row

# What the first sentence tells of: of totals where arms did the same work, else per record.
_TOTALS = ("flush_bytes", "compaction_output_bytes", "table_bytes")
_PER_RECORD = ("flush_bytes_per_record", "compaction_bytes_per_record", "table_bytes_per_record")
_PUBLISHED = ("total_output_size_mib", "total_compaction_seconds", "total_input_records")
_NOTEWORTHY = 0.005
_NAMED = 4


def summary(names: Sequence[str], rows: "Sequence[Row]", works: Sequence[Work]) -> Iterator[str]:
    """For each arm what it writes, its write amplification and what that leaves out, what is better and worse."""
    by_name = {row.metric.name: row for row in rows}
    for place, work in enumerate(works, 1):
        for said in (_bytes(by_name, place, work), _amplification(by_name, place), _verdicts(rows, place)):
            if said:
                yield f"{names[place]}: {said}"


def in_words(ratio: float) -> str:
    """A ratio as a change: `up 5.8 %`, `down 46.1 %`, `4.2 times as much`, `unchanged`."""
    if ratio >= 3:
        return f"{ratio:.3g} times as much"
    percent = 100 * (ratio - 1)
    if abs(percent) < 0.05:
        return "unchanged"
    return f"{'up' if percent > 0 else 'down'} {abs(percent):.1f} %"


def _bytes(rows: "dict[str, Row]", place: int, work: Work) -> str:
    names = _TOTALS if work.is_equal else _PER_RECORD
    if not any(name in rows for name in names):
        names = _PUBLISHED
    judged = [(rows[name].metric.label, _judgement(rows, name, place)) for name in names if name in rows]
    told = [(label, one) for label, one in judged if one is not None and one.ratio is not None]
    said = ", ".join(f"{label} {in_words(one.ratio or 0.0)}{_sure(one)}" for label, one in told)
    if not said or work.measure is None or work.ratio is None:
        return said
    measure = f"{MEASURES[work.measure]} {in_words(work.ratio)}"
    if not work.is_equal:
        return f"{said}; {measure}"
    return f"{said}; {'over the same time' if work.is_by_time else 'for the same work'} ({measure})"


def _sure(judgement: Judgement) -> str:
    if judgement.verdict in (Verdict.BETTER, Verdict.WORSE, Verdict.SAME):
        return ""
    return " (noise unknown)" if judgement.reason.startswith("noise unknown") else f" ({judgement.verdict})"


def _amplification(rows: "dict[str, Row]", place: int) -> str:
    """Write amplification divides by flush bytes: it falls where more is flushed, and says nothing of that."""
    row, amplification = rows.get("write_amplification_lsm"), _judgement(rows, "write_amplification_lsm", place)
    if row is None or amplification is None or amplification.ratio is None:
        return ""
    before, after = row.values[0], row.values[place]
    is_unknown = amplification.reason.startswith("noise unknown")
    how = "noise unknown" if is_unknown else str(amplification.verdict)
    said = f"write amplification (LSM) {before:.3g} to {after:.3g}, {how}"
    flushed = _judgement(rows, "flush_bytes_per_record", place)
    if flushed is None or flushed.ratio is None or flushed.verdict not in (Verdict.BETTER, Verdict.WORSE):
        return said
    if abs(flushed.ratio - 1) < _NOTEWORTHY or (amplification.ratio < 1) == (flushed.ratio < 1):
        return said
    way = "down" if flushed.ratio > 1 else "up"
    return f"{said}; flush bytes per record {in_words(flushed.ratio)} alone move it {way}: see table bytes per record"


def _verdicts(rows: "Sequence[Row]", place: int) -> str:
    """How many metrics became better, worse and stayed: of the whole database, or else what clients measured."""
    whole = [row for row in rows if row.metric.part is None]
    labels: dict[Verdict, list[str]] = {verdict: [] for verdict in Verdict}
    for row in whole or rows:
        judgement = row.judgements[place]
        if judgement is not None:
            part = f"{row.metric.part}: " if row.metric.part is not None else ""
            labels[judgement.verdict].append(part + row.metric.label)
    said = []
    for verdict in (Verdict.BETTER, Verdict.WORSE, Verdict.SAME):
        found = labels[verdict]
        if found:
            which = f" ({', '.join(found)})" if verdict is Verdict.WORSE and len(found) <= _NAMED else ""
            said.append(f"{verdict} in {len(found)} metric{'' if len(found) == 1 else 's'}{which}")
    if said:
        return ", ".join(said)
    if labels[Verdict.NOT_SIGNIFICANT] and all(_is_unknown(row, place) for row in rows):
        return "no verdicts: what one run of each arm says by chance is not known"
    return "no metric tells it from the baseline beyond chance"


def _is_unknown(row: "Row", place: int) -> bool:
    judgement = row.judgements[place]
    is_open = judgement is not None and judgement.verdict is Verdict.NOT_SIGNIFICANT
    return not is_open or (judgement is not None and judgement.reason.startswith("noise unknown"))


def _judgement(rows: "dict[str, Row]", name: str, place: int) -> Judgement | None:
    row = rows.get(name)
    return row.judgements[place] if row is not None else None
