"""A comparison as annotations of a workflow."""

from lsmlens.analyzer.comparison.verdicts import Verdict
from lsmlens.analyzer.comparison.work import change
from lsmlens.reports.comparison_files import ComparisonReport
from lsmlens.reports.comparison_tables import name_of
from lsmlens.reports.github import Annotation


def annotations(report: ComparisonReport) -> list[Annotation]:
    """One for each gate that failed, each arm with metrics that became worse, and each notice on the data."""
    comparison = report.comparison
    made = [Annotation("error", f"Gate {one.gate.text}", one.reason) for one in report.gates if one.is_failed]
    for place, name in enumerate(comparison.names):
        worse = [
            f"{name_of(row)} {change(judgement.ratio)}" if judgement.ratio is not None else name_of(row)
            for row in comparison.rows
            if (judgement := row.judgements[place]) is not None and judgement.verdict is Verdict.WORSE
        ]
        if worse:
            made.append(Annotation("warning", f"{name} against {comparison.names[0]}: worse", ", ".join(worse)))
    for notice in comparison.notices:
        arms = ", ".join(notice.arms) or "all arms"
        made.append(Annotation("notice", "What to know first", f"{arms}: {notice.text}"))
    return made
