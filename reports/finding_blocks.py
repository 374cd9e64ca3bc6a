"""Findings as blocks of a document: a rule that fired in several places once, with the places."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, zip_longest

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Evidence, Finding, NotAssessed, Severity
from lsmlens.analyzer.numbers import setting
from lsmlens.analyzer.plan import LeftOut, Plan, PlannedChange
from lsmlens.reports.document import (
    Block,
    CommandBlock,
    Detail,
    Details,
    FindingBlock,
    Instance,
    Paragraphs,
    TableBlock,
)
from lsmlens.reports.tables import Column, Table, tabulate

EVIDENCE_SHOWN = 5
NAMES_SHOWN = 4
_ASIDE = re.compile(r" \([^()]*\)")
# A number by itself, its digits in groups or not; not that of a name such as p-0 or L0.
_NUMBER = re.compile(r"(?<![\w.-])\d+(?:\u202f\d{3})*(?:\.\d+)?(?![\w.])")
LONGEST_VALUE = 24  # on a first screen

_CHANGES: tuple[Column[PlannedChange], ...] = (
    Column("option", lambda one: one.name),
    Column("from", lambda one: "not known" if one.before is None else setting(one.name, one.before), left=True),
    Column("to", lambda one: setting(one.name, one.after), left=True),
    Column("of", lambda one: _of(one), left=True),
    Column("asked for by", lambda one: ", ".join(one.codes), left=True),
    Column("takes effect", lambda one: str(one.takes_effect), left=True),
)

_PLURAL = re.compile(r"(\0 [a-z]+?)s\b")


def finding_blocks(found: Iterable[tuple[str, Finding]], lacking: Iterable[tuple[str, NotAssessed]]) -> Iterator[Block]:
    """All findings, each with the subject it is of, the gravest first; then the rules that could not be applied.

    A subject is empty where there is one only.
    """
    grouped: dict[tuple[str, Severity, str], list[tuple[str, Finding]]] = {}
    for subject, finding in found:
        cause = _NUMBER.sub("\0", finding.advice)  # other causes are answered by another advice
        grouped.setdefault((finding.code, finding.severity, cause), []).append((subject, finding))
    for place, (_, alike) in enumerate(sorted(grouped.items(), key=_gravest_first)):
        yield _finding(alike, is_first=not place)
    if not grouped:
        yield Paragraphs(("None of the rules that could be applied found anything.",))
    needs: dict[tuple[str, str, str], list[str]] = {}
    for subject, rule in lacking:
        needs.setdefault((rule.code, rule.title, rule.needs), []).append(subject)
    if needs:
        several = any(map(any, needs.values()))
        header = ("rule", "looks for", "needs", *(["in"] if several else []))
        rows = [(*rule, *([", ".join(names)] if several else [])) for rule, names in sorted(needs.items())]
        table = Table(header, tuple(rows), left=tuple(range(len(header))))
        yield Details(f"{len(rows)} rules that could not be applied", (TableBlock("", table),))


def _gravest_first(item: tuple[tuple[str, Severity, str], object]) -> tuple[int, str]:
    code, severity, _ = item[0]
    return -severity.rank, code


def _finding(found: Sequence[tuple[str, Finding]], is_first: bool) -> FindingBlock:
    """A rule that fired at one severity for one cause; advice is that of the first place, the same but for numbers."""
    first = found[0][1]
    evidence = list(dict.fromkeys(_evidence(one) for _, finding in found for one in finding.evidence))
    if len(evidence) > EVIDENCE_SHOWN:
        evidence[EVIDENCE_SHOWN:] = [f"… and {len(evidence) - EVIDENCE_SHOWN} more"]
    values = joined([finding.value for _, finding in found])
    return FindingBlock(
        first.code,
        first.title,
        first.severity,
        where=_places([(subject, finding.column_family) for subject, finding in found]),
        value=values[0] + (" and others" if len(values) > 1 else ""),
        instances=tuple(
            Instance(_where(subject, finding), finding.value, finding.threshold, str(finding.confidence))
            for subject, finding in found
        ),
        meanings=tuple(_meanings([finding for _, finding in found])),
        evidence=tuple(evidence),
        threshold_source=first.threshold_source,
        change=_ASIDE.sub("", first.advice.partition("; ")[0]),  # conditions and alternatives follow
        advice=first.advice,
        commands=first.commands,
        risk=first.risk,
        check=first.check,
        is_open=is_first or first.severity is Severity.CRITICAL,
    )


def joined(texts: Sequence[str]) -> list[str]:
    """Texts that differ in numbers alone as one, with `low to high` for each number that differs."""
    alike: dict[str, list[str]] = {}
    for text in texts:
        alike.setdefault(_frame(text), []).append(text)
    said = []
    for some in alike.values():
        ranges = [_range(values) for values in zip(*map(_NUMBER.findall, some), strict=True)]
        words = max((_NUMBER.sub("\0", text) for text in some), key=len).split("\0")  # plurals, if there are any
        said.append("".join(chain.from_iterable(zip_longest(words, ranges, fillvalue=""))))
    return said


def _frame(text: str) -> str:
    """What a text says but for its numbers: `1 line` as `2 lines`."""
    return _PLURAL.sub(r"\1", _NUMBER.sub("\0", text))


def _range(values: Sequence[str]) -> str:
    ordered = sorted(set(values), key=lambda value: float(value.replace("\u202f", "")))
    return ordered[0] if len(ordered) == 1 else f"{ordered[0]} to {ordered[-1]}"


def _meanings(findings: Sequence[Finding]) -> Iterator[str]:
    """What it means, said once for the column families of which the same is said."""
    families: dict[str, list[str]] = {}
    for finding in findings:
        name = f"{finding.column_family}: "
        is_named = finding.column_family is not None and finding.meaning.startswith(name)
        text = finding.meaning.removeprefix(name) if is_named else finding.meaning
        families.setdefault(_frame(text), []).append(finding.column_family or "" if is_named else "")
    texts = joined([finding.meaning.removeprefix(f"{finding.column_family}: ") for finding in findings])
    for text, named in zip(texts, families.values(), strict=True):
        names = list(dict.fromkeys(filter(None, named)))
        yield f"{_listed(names)}: {text}" if names else text


def _places(places: Sequence[tuple[str, str | None]]) -> str:
    """Families and subjects together: `p-0, p-1`, `osd.0 p-0, p-1; osd.3 p-0`, `12 of them`."""
    by_families: dict[tuple[str, ...], list[str]] = {}
    by_subject: dict[str, dict[str, None]] = {}
    for subject, family in places:
        families = by_subject.setdefault(subject, {})
        if family is not None:
            families[family or '""'] = None
    for subject, families in by_subject.items():
        by_families.setdefault(tuple(families), []).append(subject)
    said = [
        " ".join(filter(None, (_listed(list(filter(None, subjects))), _listed(families))))
        for families, subjects in by_families.items()
    ]
    return "; ".join(said[:NAMES_SHOWN]) + (" …" if len(said) > NAMES_SHOWN else "")


def _listed(names: Sequence[str]) -> str:
    more = len(names) - NAMES_SHOWN
    return ", ".join(names[:NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _where(subject: str, finding: Finding) -> str:
    family = finding.column_family
    return " ".join(filter(None, (subject, (family or '""') if family is not None else "")))


def _evidence(evidence: Evidence) -> str:
    place = evidence.source if evidence.line is None else f"{evidence.source}:{evidence.line}"
    return f"{place}: {evidence.text}"


def plan_lines(runs: Sequence[RunAnalysis]) -> Iterator[Block]:
    """What the plans of the runs change, in a line each."""
    for one, plan in _planned(runs):
        name = f"{one.run.name}: " if len(runs) > 1 else ""
        yield Paragraphs((f"{name}Plan: {_in_short(plan)}.",), detail=Detail.BRIEF)


def plan_blocks(runs: Sequence[RunAnalysis]) -> Iterator[Block]:
    """The plans of the runs that have one: what changes, then how."""
    for one, plan in _planned(runs):
        name = f"{one.run.name}: " if len(runs) > 1 else ""
        if plan.changes:
            yield TableBlock(f"{name}what changes", tabulate(_CHANGES, plan.changes))
        if plan.left_out:
            yield Paragraphs(tuple(map(_left_out, plan.left_out)))
        steps = tuple(_steps(plan))
        if steps:
            yield Details(f"{name}how to do it, and the way back", steps)


def _in_short(plan: Plan) -> str:
    """The changes by when they take effect; values that are long are left to the table."""
    by_effect: dict[str, list[str]] = {}
    for one in plan.changes:
        values = [setting(one.name, value) for value in (one.before or "?", one.after)]
        change = f" {' → '.join(values)}" if max(map(len, values)) <= LONGEST_VALUE else ""
        by_effect.setdefault(str(one.takes_effect), []).append(f"{one.name}{change} ({', '.join(one.codes)})")
    return "; ".join(f"{effect} {', '.join(changes)}" for effect, changes in by_effect.items()) or "nothing to change"


def _left_out(one: LeftOut) -> str:
    return f"Left out: {one.name} {setting(one.name, one.after)} ({_of(one)}; {', '.join(one.codes)}): {one.why}."


def _steps(plan: Plan) -> Iterator[Block]:
    for number, step in enumerate(plan.steps, 1):
        pasted = step.commands
        if not pasted and plan.options_fragment is not None:
            pasted = tuple(plan.options_fragment.splitlines())
        yield CommandBlock(f"{number}. {step.title}", pasted)
        if step.notes:
            yield Paragraphs(step.notes)


def _planned(runs: Sequence[RunAnalysis]) -> Iterator[tuple[RunAnalysis, Plan]]:
    return ((one, one.plan) for one in runs if one.plan is not None)


def _of(one: PlannedChange | LeftOut) -> str:
    return ", ".join(one.families) or "all"
