"""R07: all keys are in one column family."""

from collections.abc import Iterator
from typing import ClassVar

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, Severity
from lsmlens.analyzer.options.option_evidence import Source
from lsmlens.analyzer.options.sharding import DEFAULT_FAMILY, parse_show_sharding
from lsmlens.analyzer.rules.sharding_rule import ShardingRule, resharding, show_sharding
from lsmlens.analyzer.runs.osds import PACIFIC

# The families an OSD that Pacific or later made has with bluestore_rocksdb_cf=true, its default since 16:
# default, m-0 to m-2, p-0 to p-2, O-0 to O-2, L, P (Ceph, bluestore_rocksdb_cfs).
FAMILIES_OF_PACIFIC = 12
# Read from the running database, not from what a configuration would make of a new one.
SEEN_IN_LOG = (Source.LOG, Source.SET_OPTIONS)


class MissingFamilies(ShardingRule):
    """A Pacific or later OSD keeps all keys in the one column family `default`.

    Evidence: the log's options dump, which goes on to events, names no other family, none of the jobs is of another,
    and no sharding text is stored. The OSD was made before Pacific, or with bluestore_rocksdb_cf=false; an upgrade
    does not change it.

    Threshold: none but `default`, from 16 on. Ceph, bluestore-config-ref, "RocksDB Sharding".

    Advice: reshard to the text the release gives new OSDs, one OSD at a time, beginning with one.

    Risk: the OSD is down while all keys are rewritten, which takes minutes to hours. If resharding is interrupted
    the OSD does not start until the same command has been run to its end.

    Check: `show-sharding` prints the text, and the log names twelve families at the next start.
    """

    code: ClassVar[str] = "R07"
    title: ClassVar[str] = "Column families missing"
    first_release: ClassVar[int] = PACIFIC

    def assess(self, run: RunAnalysis) -> Iterator[Finding | NotAssessed]:
        """At most one finding."""
        sharding = parse_show_sharding(run.beside.sharding_output or "")
        named = {one.family for one in run.options if one.family is not None and one.source in SEEN_IN_LOG}
        named |= {one.name for one in run.families if not one.name.startswith("(")}
        if (sharding is not None and sharding.columns) or named - {DEFAULT_FAMILY}:
            return
        printed = [one for one in run.options if one.family == DEFAULT_FAMILY and one.source in SEEN_IN_LOG]
        if not printed:
            yield NotAssessed(self.code, self.title, "an OSD log that goes back to an open, or show-sharding")
            return
        if not run.run.event_counts:
            yield NotAssessed(self.code, self.title, "a log that goes on past the open, or show-sharding")
            return
        yield self._finding(run)

    def _finding(self, run: RunAnalysis) -> Finding:
        advised = resharding(run)
        return Finding(
            code=self.code,
            title=self.title,
            severity=Severity.WARNING,
            confidence=Confidence.HIGH,
            meaning="objects, omap and the PG log share one tree: compactions are larger, and short-lived keys are"
            " rewritten along with the rest. The OSD was made before Pacific, or with bluestore_rocksdb_cf=false",
            value="1 column family",
            threshold=f"{FAMILIES_OF_PACIFIC} in an OSD that Pacific or later made",
            threshold_source="Ceph, bluestore-config-ref: RocksDB Sharding",
            evidence=(Evidence(", ".join(run.members), f"Ceph {run.ceph_version}; options printed for: default"),),
            column_family=DEFAULT_FAMILY,
            advice="reshard, one OSD at a time",
            changes=advised.changes,
            risk="the OSD is down for minutes to hours; if interrupted, it does not start until reshard is run again",
            check=f"{show_sharding(run)} prints the text (OSD stopped); the next start logs options of more families",
        )
