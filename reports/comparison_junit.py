"""A comparison as JUnit XML: a suite for each arm, in it a case for each metric; and one for the gates."""

from collections.abc import Iterator

from lsmlens.analyzer.comparison.comparison import Comparison
from lsmlens.analyzer.comparison.metrics import Better
from lsmlens.analyzer.comparison.verdicts import Judgement, Verdict
from lsmlens.analyzer.comparison.work import change
from lsmlens.reports import comparison_tables as tables
from lsmlens.reports.comparison_files import ComparisonReport
from lsmlens.reports.junit import Case, Suite, render


def to_junit(report: ComparisonReport) -> str:
    """With gates, they alone fail; without, a metric that became worse does. What is not judged is skipped.

    What became worse stands in its suite's output as well.
    """
    comparison = report.comparison
    suites = [_suite(comparison, place, not report.gates) for place in range(1, len(comparison.names))]
    if report.gates:
        cases = [
            Case(
                "lsmlens.gates",
                f"{one.gate.text} [{one.arm}]",
                (one.reason, "gate") if one.is_failed else None,
                one.reason if one.is_failed else "",
            )
            for one in report.gates
        ]
        suites.append(Suite("gates", tuple(cases)))
    return render(suites)


def _suite(comparison: Comparison, place: int, worse_fails: bool) -> Suite:
    name = comparison.names[place]
    judged = list(_judged(comparison, place))
    worse = [said for _, _, judgement, said in judged if judgement.verdict is Verdict.WORSE]
    cases = []
    for metric, label, judgement, said in judged:
        fails = worse_fails and judgement.verdict is Verdict.WORSE
        is_judged = judgement.verdict in (Verdict.WORSE, Verdict.BETTER, Verdict.SAME)
        cases.append(
            Case(
                f"lsmlens.{metric}",
                f"{label} [{name}]",
                (said, "worse") if fails else None,
                said if fails else "",
                None if is_judged else f"{judgement.verdict}: {judgement.reason}",
            )
        )
    notices = [notice.text for notice in comparison.notices if not notice.arms or name in notice.arms]
    properties = (("baseline", comparison.names[0]), ("versions", comparison.arms[place].versions))
    return Suite(name, tuple(cases), properties, "\n".join([*notices, *comparison.sentences, *worse]))


def _judged(comparison: Comparison, place: int) -> Iterator[tuple[str, str, Judgement, str]]:
    """Name and label of each metric that can be better or worse, what it is judged, and that in words."""
    for row in comparison.rows:
        judgement = row.judgements[place]
        if judgement is None or row.metric.better is Better.NEITHER:
            continue
        label = tables.name_of(row)
        before, after = (tables.cell(row.metric, row.figures[arm]) for arm in (0, place))
        changed = f" ({change(judgement.ratio)})" if judgement.ratio is not None else ""
        interval = f", 95 % interval {tables.interval(judgement)}" if judgement.low is not None else ""
        yield row.metric.name, label, judgement, f"{label}: {before} to {after}{changed}: {judgement.verdict}{interval}"
