"""Rules: one diagnosis a file, listed here in the order in which they are applied."""

from lsmlens.analyzer.findings import Rule
from lsmlens.analyzer.rules.write_stops import WriteStops

RULES: tuple[Rule, ...] = (WriteStops(),)


def rule_of(code: str) -> Rule | None:
    """The rule with this code, in either case; None if there is none."""
    return next((rule for rule in RULES if rule.code.casefold() == code.casefold()), None)
