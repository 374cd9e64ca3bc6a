"""What the rules of sharding share: the OSDs they are of, and resharding, which is their advice."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Finding, NotAssessed, OptionChange
from lsmlens.analyzer.options.option_changes import SHARDING
from lsmlens.analyzer.options.option_defaults import ceph_defaults
from lsmlens.analyzer.runs.osds import ceph_release, is_osd, store_path


class ShardingRule(ABC):
    """A rule of OSDs whose Ceph is of `first_release` (16, 18) or later."""

    code: ClassVar[str]
    title: ClassVar[str]
    first_release: ClassVar[int]

    def check(self, run: RunAnalysis, peers: Sequence[RunAnalysis]) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """Nothing for what is no OSD, or one of an earlier release; not assessed if the release is not known."""
        if not is_osd(run.run):
            return
        release = ceph_release(run.run)
        if release is None:
            yield NotAssessed(self.code, self.title, "a log with Ceph's version")
        elif release[0] >= self.first_release:
            yield from self.assess(run)

    @abstractmethod
    def assess(self, run: RunAnalysis) -> Iterator[Finding | NotAssessed]:
        """What the rule says of an OSD of such a release."""


@dataclass(frozen=True, slots=True)
class Resharding:
    """The sharding text an OSD is to have, and of which release it is; both None where the release is not known."""

    release: str | None
    change: OptionChange | None

    @property
    def changes(self) -> tuple[OptionChange, ...]:
        """What a finding that asks for it changes."""
        return () if self.change is None else (self.change,)


def resharding(run: RunAnalysis) -> Resharding:
    """To the sharding text that the OSD's own release gives new OSDs."""
    defaults = ceph_defaults(run.ceph_version)
    if defaults is None:
        return Resharding(None, None)
    return Resharding(defaults.name, OptionChange(SHARDING, defaults.options[SHARDING], is_ceph=True))


def show_sharding(run: RunAnalysis) -> str:
    """The command that prints the stored text, the OSD being stopped."""
    return f"ceph-bluestore-tool --path {store_path(run.run)} show-sharding"
