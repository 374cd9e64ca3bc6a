"""A comparison without the names in it."""

from collections.abc import Iterable

from lsmlens.reports.outputs import ComparisonReport
from lsmlens.reports.redaction import Redaction


def redacted(report: ComparisonReport, given_names: Iterable[str] = ()) -> ComparisonReport:
    """The report without names of hosts and the like; arms keep `given_names`, and lose names made of their paths."""
    redaction = Redaction()
    redaction.keep(given_names)
    observations = [(arm, one) for arm in report.comparison.arms for one in arm.observations]
    for _, one in observations:
        if one.analysis is not None:
            redaction.learn(one.analysis)
    for arm, one in observations:
        redaction.learn_arm(arm.name, one.path)
        redaction.learn_path(one.path)
        for name in one.runs:
            redaction.learn_run(name)
        for result in one.client_results:
            redaction.learn_path(result.source)
    return redaction.of(report)
