"""What a rule on scheduling is. Its docstring has the paragraphs that every rule's has."""

from collections.abc import Iterable
from typing import ClassVar, Protocol

from lsmlens.analyzer.findings import Finding, NotAssessed
from lsmlens.analyzer.qos.view import OsdView, QosView


class OsdRule(Protocol):
    """One diagnosis of one OSD."""

    code: ClassVar[str]
    title: ClassVar[str]

    def check(self, osd: OsdView, view: QosView) -> Iterable[Finding | NotAssessed]:
        """What the rule finds: nothing, findings, or that it lacks what it needs."""


class ClusterRule(Protocol):
    """One diagnosis of the whole cluster."""

    code: ClassVar[str]
    title: ClassVar[str]

    def check_cluster(self, view: QosView) -> Iterable[Finding | NotAssessed]:
        """What the rule finds: nothing, findings, or that it lacks what it needs."""
