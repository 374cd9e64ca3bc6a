"""The gate that `--fail-on` asks for: no finding of a severity or above."""

import argparse
from typing import TYPE_CHECKING

from lsmlens.cli.streams import tell_failed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lsmlens.analyzer.findings import Finding, Severity


def asked_severity(options: argparse.Namespace) -> "Severity | None":
    """The severity from which on a finding fails the command; None where no gate was asked for."""
    from lsmlens.analyzer.findings import Severity

    return None if options.fail_on is None else Severity(options.fail_on)


def is_failed(findings: "Iterable[Finding]", severity: "Severity | None") -> bool:
    """Whether a gate was asked for and a finding reaches it; says so on standard error."""
    if severity is None:
        return False
    reached = sum(finding.severity.rank >= severity.rank for finding in findings)
    if reached:
        tell_failed(f"{reached} finding(s) of severity {severity} or above")
    return reached > 0
