"""R19: RocksDB's events are not in the log of a Ceph daemon."""

import re
from collections.abc import Iterator, Sequence
from typing import ClassVar

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, Severity
from lsmlens.analyzer.options.option_changes import is_ceph

# Ceph logs RocksDB's messages of level INFO, events among them, at debug level 4 (CephRocksdbLogger in
# src/kv/RocksDBStore.cc); 4/5 is the default of all releases.
EVENTS_LEVEL = 4
# Ours: a daemon has opened its database some seconds after its start.
LEAST_SECONDS = 10.0
OPTION = "debug_rocksdb"

_LEVEL = re.compile(r"\s*(\d{1,3})")


class MutedEvents:
    """The log holds no RocksDB events, so nothing can be measured: debug_rocksdb is too low.

    Evidence: no EVENT_LOG_v1 line in the log, with debug_rocksdb below 4 in config show; or, without config show, a
    whole log that begins with the daemon's start and does not hold the lines of RocksDB's open, which are of the same
    level.

    Threshold: debug_rocksdb below 4 (CephRocksdbLogger in src/kv/RocksDBStore.cc). A log without events and without
    a start may be that of a quiet daemon.

    Advice: set debug_rocksdb to 4/5, its default; no restart is needed.

    Risk: a few more log lines for each flush and compaction.

    Check: EVENT_LOG_v1 lines appear in the log with the next flush.
    """

    code: ClassVar[str] = "R19"
    title: ClassVar[str] = "No RocksDB events in the log"

    def check(self, run: RunAnalysis, peers: Sequence[RunAnalysis]) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """One finding, for daemons of Ceph only."""
        if not is_ceph(run) or run.run.event_counts:
            return
        kind = "mon" if run.is_monitor else "osd"
        shown = run.beside.config_show.get(OPTION)
        match = _LEVEL.match(shown) if isinstance(shown, str) else None
        if match is None and run.ceph_version is None:
            yield NotAssessed(self.code, self.title, "config show, or a log from the daemon's start on")
            return
        lasted = run.statistics.log_duration_seconds or 0.0
        if match is None and (run.run.sessions or run.run.quality.damaged or lasted < LEAST_SECONDS):
            # RocksDB's lines of an open are of the events' level, so events would be there if anything had happened.
            yield NotAssessed(self.code, self.title, "config show, or a whole log that goes on past the open")
            return
        if match is not None and int(match[1]) >= EVENTS_LEVEL:
            return
        yield Finding(
            code=self.code,
            title=self.title,
            severity=Severity.WARNING,
            confidence=Confidence.MEDIUM if match is None else Confidence.HIGH,
            meaning="flushes and compactions are not logged, so nothing can be measured from this log",
            value=f"{OPTION} is {shown}" if match is not None else "no events from the daemon's start on",
            threshold=f"{OPTION} {EVENTS_LEVEL}",
            threshold_source="Ceph, src/kv/RocksDBStore.cc",
            evidence=(
                Evidence(
                    run.members[0] if run.members else run.name,
                    f"no EVENT_LOG_v1 in {run.run.quality.lines} lines"
                    + (f"; ceph version {run.ceph_version}" if run.ceph_version else ""),
                ),
            ),
            advice=f"set {OPTION} to 4/5, its default; no restart is needed",
            commands=(f"ceph config set {kind} {OPTION} 4/5",),
            risk="a few more log lines for each flush and compaction",
            check="EVENT_LOG_v1 lines appear in the log with the next flush",
        )
