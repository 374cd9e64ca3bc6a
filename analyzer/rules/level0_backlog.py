"""R03: level 0 stayed full."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import polars as pl
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, Severity
from lsmlens.analyzer.measures.statistics_series import StatisticsSeries
from lsmlens.analyzer.numbers import counted, duration, plain, size
from lsmlens.analyzer.options.option_strings import parse_size
from lsmlens.analyzer.options.options_in_force import value_of
from lsmlens.analyzer.rules.background_jobs import more_threads
from lsmlens.analyzer.runs.jobs import MOVE

# A healthy database compacts level 0 within seconds of reaching the trigger (ours).
LONGEST_SECONDS = 60.0
TRIGGERS = ("level0_file_num_compaction_trigger", "level0_slowdown_writes_trigger", "level0_stop_writes_trigger")
# With the other styles the trigger counts sorted runs, and as many are there for good.
STYLE = "compaction_style"
LEVEL_STYLE = "kCompactionStyleLevel"


@dataclass(slots=True)
class _Backlog:
    """One family's level 0 over time: the longest stretch at or over the trigger, and the most files."""

    trigger: int
    session: int | None = None
    since_micros: int | None = None
    longest_micros: int = 0
    most_files: int = 0
    job: int = 0

    def take(self, session: int, job: int, now: int, files: int) -> None:
        """Take in what a job leaves in level 0 from then on."""
        if session != self.session:
            self.session, self.since_micros = session, None
        if self.since_micros is not None:
            self.longest_micros = max(self.longest_micros, now - self.since_micros)
        if files < self.trigger:
            self.since_micros = None
        elif self.since_micros is None:
            self.since_micros = now
        if files > self.most_files:
            self.most_files, self.job = files, job


class Level0Backlog:
    """Level 0 held as many files as start a compaction, or more, for over a minute: compaction is behind.

    Evidence: `lsm_state` of the flush_finished and compaction_finished events of the column family, level 0 being
    its first number, over time within one open. What lies between two events is as the first of them left it. Where
    the log has no such events, statistics dumps: the files of level 0, and its score, which is 1 at the trigger; what
    lies between two dumps is not known, so confidence is medium.

    Threshold: level0_file_num_compaction_trigger, for more than 60 s without a break (ours); critical if
    level0_slowdown_writes_trigger was reached as well (RocksDB slows writes down there, 20 unless set). Only for
    level style compaction.

    Advice: more background jobs, if there is CPU and device time for them; else fewer bytes to rewrite: a
    max_bytes_for_level_base of about the size of level 0.

    Risk: more jobs take CPU and device time from clients. In Ceph the OSD must be restarted.

    Check: the first number of `lsm_state` falls below the trigger within seconds under the same load.
    """

    code: ClassVar[str] = "R03"
    title: ClassVar[str] = "Level 0 stayed full"

    def check(self, run: RunAnalysis, peers: Sequence[RunAnalysis]) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """One finding for each column family whose level 0 stayed full."""
        has_jobs = run.scan_jobs().select((pl.col("kind") != MOVE).any()).collect().item()
        if not has_jobs and run.series is not None and len(run.series.points) > 1:
            yield from self._by_dumps(run)
            return
        if not run.options:
            yield NotAssessed(self.code, self.title, "options in the log or config show")
            return
        if not has_jobs:
            yield NotAssessed(self.code, self.title, "flushes or compactions in the log, or two statistics dumps")
            return
        triggers = _triggers(run)
        for family, backlog in sorted(_backlogs(run, triggers).items()):
            seconds = backlog.longest_micros / 1e6
            if seconds <= LONGEST_SECONDS:
                continue
            trigger, slowdown, stop = triggers[family]
            yield Finding(
                code=self.code,
                title=self.title,
                severity=Severity.CRITICAL if slowdown and backlog.most_files >= slowdown else Severity.WARNING,
                confidence=Confidence.HIGH,
                meaning=f"{family}: compaction of level 0 is behind; reads look through up to {backlog.most_files}"
                f" files, and writes are slowed down at {slowdown} and stopped at {stop}",
                value=f"{duration(seconds)} at {counted(trigger, 'file')} or more, {plain(backlog.most_files)} at most",
                threshold=f"{duration(LONGEST_SECONDS)} at {counted(trigger, 'file')} or more; critical at"
                f" {counted(slowdown, 'file')}",
                threshold_source="the trigger is the database's own; how long is ours",
                evidence=(
                    Evidence(
                        run.name,
                        f"job {backlog.job} of {family}: lsm_state with {backlog.most_files} level-0 files",
                    ),
                ),
                column_family=family,
                advice="raise max_background_jobs (max_background_compactions where that is set), CPU permitting; or"
                " give level 1 about the size of level 0",
                changes=more_threads(run),
                risk="more jobs take CPU and device time from clients",
                check="the first number of lsm_state falls below the trigger within seconds",
            )

    def _by_dumps(self, run: RunAnalysis) -> Iterator[Finding]:
        """By statistics dumps alone: those in a row in which level 0 is full."""
        assert run.series is not None
        triggers = _triggers(run)
        for family, found in sorted(_stretches(run.series, triggers).items()):
            if found.seconds <= LONGEST_SECONDS:
                continue
            _, slowdown, _ = triggers.get(family, (0, 0, 0))
            pending = f", {size(found.most_pending_bytes)} waiting for compaction" if found.most_pending_bytes else ""
            yield Finding(
                code=self.code,
                title=self.title,
                severity=Severity.CRITICAL if slowdown and found.most_files >= slowdown else Severity.WARNING,
                confidence=Confidence.MEDIUM,
                meaning=f"{family}: compaction of level 0 is behind; reads look through up to {plain(found.most_files)}"
                " files",
                value=f"{counted(found.dumps, 'dump')} in a row over {duration(found.seconds)},"
                f" {counted(found.most_files, 'file')} at most",
                threshold=f"{duration(LONGEST_SECONDS)} with level 0 at its trigger",
                threshold_source="the trigger is the database's own; how long is ours",
                evidence=(
                    Evidence(run.name, f"statistics dumps: {plain(found.most_files)} files in L0 of {family}{pending}"),
                ),
                column_family=family,
                advice="raise max_background_jobs (max_background_compactions where that is set), CPU permitting; or"
                " give level 1 about the size of level 0",
                changes=more_threads(run),
                risk="more jobs take CPU and device time from clients",
                check="level 0 is below its trigger in the next statistics dumps",
            )


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Dumps in a row of one open with level 0 of a family at its trigger or over."""

    seconds: float
    dumps: int
    most_files: int
    most_pending_bytes: int


def _stretches(series: StatisticsSeries, triggers: dict[str, tuple[int, int, int]]) -> dict[str, _Stretch]:
    """The longest of each family, by its trigger, or by the score that the dumps print where that is not known."""
    begun: dict[str, tuple[float, int, int, int]] = {}
    longest: dict[str, _Stretch] = {}
    last = 0.0
    for point, tables in zip(series.points, series.tables, strict=True):
        uptime = point.uptime_seconds or 0.0
        if uptime < last:
            begun.clear()  # another open
        last = uptime
        for family, files in point.level0_files.items():
            rows = tables["column_families"].get(family, {}).get("levels") or [{}]
            is_full = files >= triggers[family][0] if family in triggers else rows[0].get("score", 0.0) >= 1
            if not is_full:
                begun.pop(family, None)
                continue
            since, dumps, most, pending = begun.get(family, (uptime, 0, 0, 0))
            most, pending = max(most, files), max(pending, point.pending_compaction_bytes.get(family, 0))
            begun[family] = since, dumps + 1, most, pending
            known = longest.get(family)
            if known is None or uptime - since > known.seconds:
                longest[family] = _Stretch(uptime - since, dumps + 1, most, pending)
    return longest


def levelled_families(run: RunAnalysis) -> list[str]:
    """The families with level style compaction whose options are known."""
    known = {one.family for one in run.options if one.name == TRIGGERS[0]}
    return sorted(
        family
        for family in known
        if family is not None and (value_of(run.options, family, STYLE) or LEVEL_STYLE) == LEVEL_STYLE
    )


def _triggers(run: RunAnalysis) -> dict[str, tuple[int, int, int]]:
    """(compaction, slowdown, stop) of the families with level style compaction."""
    found = {}
    for family in levelled_families(run):
        compaction, slowdown, stop = (parse_size(value_of(run.options, family, name) or "") for name in TRIGGERS)
        if compaction:
            found[family] = (compaction, slowdown or 0, stop or 0)
    return found


def _backlogs(run: RunAnalysis, triggers: dict[str, tuple[int, int, int]]) -> dict[str, _Backlog]:
    backlogs: dict[str, _Backlog] = {}
    jobs = run.scan_jobs().filter(pl.col("level_files").list.len() > 0)
    told = jobs.select(
        "column_family", "session", "job", pl.col("finished_at").to_physical(), pl.col("level_files").list.first()
    )
    for family, session, job, finished, files in told.collect().iter_rows():
        if family in triggers:
            backlog = backlogs.get(family) or backlogs.setdefault(family, _Backlog(triggers[family][0]))
            backlog.take(session, job, finished, files)
    return backlogs
