"""Findings: what a rule saw in a run, how sure it is, what proves it and what to do."""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How much it matters; in rising order."""

    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """Its place in the order, from 0."""
        return list(Severity).index(self)


class Confidence(StrEnum):
    """How sure the rule is that what it saw means what it says."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What proves a finding: the file, the line in it where there is one, and what it says."""

    source: str
    text: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class OptionChange:
    """An option that should have another value: one of RocksDB's or, with `is_ceph`, one of Ceph's own.

    It is of the database, or of all its column families alike, unless `families` names some.
    """

    name: str
    value: str
    families: tuple[str, ...] = ()
    is_ceph: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found by a rule.

    `value` and `threshold` are as shown, with their units; `threshold_source` says where the threshold comes from.
    `changes` are the options it would have otherwise: the run's plan merges those of all findings, and says how they
    are made. `commands` are for all else, ready to paste: to look closer, or work to be done once. `check` says how
    to see that the change worked.
    """

    code: str
    title: str
    severity: Severity
    confidence: Confidence
    meaning: str
    value: str
    threshold: str
    threshold_source: str
    evidence: tuple[Evidence, ...]
    column_family: str | None = None
    advice: str = ""
    changes: tuple[OptionChange, ...] = ()
    commands: tuple[str, ...] = ()
    risk: str = ""
    check: str = ""


@dataclass(frozen=True, slots=True)
class NotAssessed:
    """A rule that could not be applied, and what it lacks (`perf dump`, `statistics dumps`, …)."""

    code: str
    title: str
    needs: str
