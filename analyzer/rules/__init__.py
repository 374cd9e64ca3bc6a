"""Rules: one diagnosis a file, listed here in the order in which they are applied."""

from collections.abc import Iterable, Sequence
from typing import ClassVar, Protocol

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Finding, NotAssessed
from lsmlens.analyzer.rules.age_compactions import AgeCompactions
from lsmlens.analyzer.rules.cluster_health import ClusterHealth
from lsmlens.analyzer.rules.commit_latency import CommitLatency
from lsmlens.analyzer.rules.compaction_speed import CompactionSpeed
from lsmlens.analyzer.rules.compaction_threads import CompactionThreads
from lsmlens.analyzer.rules.fragmentation import Fragmentation
from lsmlens.analyzer.rules.kept_sharding import KeptSharding
from lsmlens.analyzer.rules.known_issues import KnownIssues
from lsmlens.analyzer.rules.kv_thread import KvThread
from lsmlens.analyzer.rules.level0_backlog import Level0Backlog
from lsmlens.analyzer.rules.level0_size import Level0Size
from lsmlens.analyzer.rules.level_targets import LevelTargets
from lsmlens.analyzer.rules.listed_tombstones import ListedTombstones
from lsmlens.analyzer.rules.logged_errors import LoggedErrors
from lsmlens.analyzer.rules.manual_work import ManualWork
from lsmlens.analyzer.rules.marked_compactions import MarkedCompactions
from lsmlens.analyzer.rules.memory_split import MemoryDoesNotGoRound
from lsmlens.analyzer.rules.missing_families import MissingFamilies
from lsmlens.analyzer.rules.muted_events import MutedEvents
from lsmlens.analyzer.rules.onode_misses import OnodeMisses
from lsmlens.analyzer.rules.peer_amplification import PeerAmplification
from lsmlens.analyzer.rules.pg_log import PgLog
from lsmlens.analyzer.rules.plain_options import PlainOptions
from lsmlens.analyzer.rules.read_statistics import ReadStatistics
from lsmlens.analyzer.rules.slow_operation_overlap import SlowOperationOverlap
from lsmlens.analyzer.rules.slow_operations import SlowOperations
from lsmlens.analyzer.rules.slow_peers import SlowPeers
from lsmlens.analyzer.rules.small_tables import SmallTables
from lsmlens.analyzer.rules.spillover import Spillover
from lsmlens.analyzer.rules.tombstone_leakage import TombstoneLeakage
from lsmlens.analyzer.rules.tombstones import Tombstones
from lsmlens.analyzer.rules.wal_bound_flushes import WalBoundFlushes
from lsmlens.analyzer.rules.write_slowdowns import WriteSlowdowns
from lsmlens.analyzer.rules.write_stops import WriteStops


class Rule(Protocol):
    """One diagnosis. Its docstring is what `lsmlens explain CODE` prints.

    The docstring's first line is what it says when it fires; then come the paragraphs `Evidence:`, `Threshold:`,
    `Advice:`, `Risk:` and `Check:`.
    """

    code: ClassVar[str]
    title: ClassVar[str]

    def check(self, run: RunAnalysis, peers: Sequence[RunAnalysis]) -> Iterable[Finding | NotAssessed]:
        """What the rule finds in a run: nothing, findings, or that it lacks what it needs.

        `peers` are the other runs of the bundle, monitors apart.
        """


RULES: tuple[Rule, ...] = (
    WriteStops(),
    WriteSlowdowns(),
    Level0Backlog(),
    Level0Size(),
    TombstoneLeakage(),
    WalBoundFlushes(),
    MissingFamilies(),
    KeptSharding(),
    Spillover(),
    LevelTargets(),
    SlowOperations(),
    SlowOperationOverlap(),
    Tombstones(),
    MarkedCompactions(),
    KvThread(),
    CommitLatency(),
    CompactionSpeed(),
    PeerAmplification(),
    MutedEvents(),
    Fragmentation(),
    OnodeMisses(),
    PgLog(),
    CompactionThreads(),
    ReadStatistics(),
    LoggedErrors(),
    PlainOptions(),
    ManualWork(),
    KnownIssues(),
    AgeCompactions(),
    ClusterHealth(),
    SlowPeers(),
    SmallTables(),
    ListedTombstones(),
    MemoryDoesNotGoRound(),
)


def rule_of(code: str) -> Rule | None:
    """The rule with this code, in either case; None if there is none."""
    return next((rule for rule in RULES if rule.code.casefold() == code.casefold()), None)
