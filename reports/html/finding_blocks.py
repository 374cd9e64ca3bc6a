"""Findings as blocks of a page: a rule that fired in several places once, with the places."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Evidence, Finding, Severity
from lsmlens.reports.html.page import Block, Details, FindingBlock, Instance, Paragraphs, TableBlock
from lsmlens.reports.tables import Table

EVIDENCE_SHOWN = 5


def finding_blocks(runs: Sequence[RunAnalysis]) -> Iterator[Block]:
    """All findings of all runs, the gravest first and open; then the rules that could not be applied."""
    grouped: dict[tuple[str, Severity], list[tuple[RunAnalysis, Finding]]] = {}
    for one in runs:
        for finding in one.findings:
            grouped.setdefault((finding.code, finding.severity), []).append((one, finding))
    for place, ((_, severity), found) in enumerate(sorted(grouped.items(), key=_gravest_first)):
        is_open = place == 0 or severity is Severity.CRITICAL
        yield replace(_finding(found, named=len(runs) > 1), is_open=is_open)
    if not grouped:
        yield Paragraphs(("None of the rules that could be applied found anything.",))
    lacking: dict[tuple[str, str, str], list[str]] = {}
    for one in runs:
        for rule in one.not_assessed:
            if not one.run.is_monitor:
                lacking.setdefault((rule.code, rule.title, rule.needs), []).append(one.run.name)
    if lacking:
        rows = [(code, title, needs, ", ".join(names)) for (code, title, needs), names in sorted(lacking.items())]
        table = Table(("rule", "looks for", "needs", "in"), tuple(rows), left=(0, 1, 2, 3))
        yield Details(f"{len(rows)} rules that could not be applied", (TableBlock("Rules and what they lack", table),))


def _gravest_first(item: tuple[tuple[str, Severity], object]) -> tuple[int, str]:
    code, severity = item[0]
    return -severity.rank, code


def _finding(found: Sequence[tuple[RunAnalysis, Finding]], named: bool) -> FindingBlock:
    """A rule that fired at one severity; advice is that of the first place, as far as it is the same for all."""
    first = found[0][1]
    instances = []
    evidence: dict[str, None] = {}
    for one, finding in found:
        where = [one.run.name] if named else []
        where += [finding.column_family or '""'] if finding.column_family is not None else []
        instances.append(
            Instance(" ".join(where), finding.value, finding.threshold, finding.confidence, finding.meaning)
        )
        evidence.update(dict.fromkeys(map(_evidence, finding.evidence)))
    shown = list(evidence)[:EVIDENCE_SHOWN]
    if len(evidence) > EVIDENCE_SHOWN:
        shown.append(f"… and {len(evidence) - EVIDENCE_SHOWN} more")
    return FindingBlock(
        first.code,
        first.title,
        first.severity,
        tuple(instances),
        tuple(shown),
        first.threshold_source,
        first.advice,
        first.commands,
        first.risk,
        first.check,
    )


def _evidence(evidence: Evidence) -> str:
    place = evidence.source if evidence.line is None else f"{evidence.source}:{evidence.line}"
    return f"{place}: {evidence.text}"
