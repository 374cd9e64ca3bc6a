"""Data quality in words: what to know about a log before believing figures made of it."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from lsmlens.analyzer.findings import Confidence, Finding
from lsmlens.analyzer.numbers import counted
from lsmlens.analyzer.runs.jobs import BY_JOB_LINE
from lsmlens.analyzer.runs.osds import is_osd
from lsmlens.analyzer.runs.run import Run

# Above this share of damaged events counts and shares are of another log than was written (ours).
MOST_REJECTED_SHARE = 0.01
# A log that begins late lacks the starts of the jobs that ran then: no more than so many, nor of such a share (ours).
JOBS_AT_ONCE, MOST_WITHOUT_START = 16, 0.1
# Rules that live on the lines around events; and fewer events than these prove nothing of the lines (ours).
OF_LINES, OF_LINES_OF_OSDS = ("R01", "R02", "R25"), ("R11",)
LEAST_EVENTS = 20


def notes(run: Run, sums: Mapping[str, float]) -> list[str]:
    """One sentence for each thing in a run that bears on its figures; empty for a clean log."""
    quality, stamps = run.quality, run.stamps
    said: list[str] = []
    if not run.event_counts:
        said.append(_without_events(run))
    if holds_events_alone(run):
        said.append("the log holds events alone: stalls, slow operations, errors and options were filtered out of it")
    elif _lacks_starts(run):
        said.append("lines were filtered out of the log, or lost: many jobs finish that never started in it")
    said += [f"a part of the log is missing: {damage}" for damage in quality.damaged]
    if stamps.steps:
        said.append(
            f"the clock went back {_times(stamps.steps)} by more than a second"
            f" (at most {stamps.largest_step_millis / 1000:g} s): the log duration may be off"
        )
    if quality.cut_lines:
        said.append(f"{counted(quality.cut_lines, 'overlong line')} cut at 64 MiB")
    if quality.events_rejected:
        said.append(f"{counted(quality.events_rejected, 'event')} damaged beyond use, not counted")
    if quality.events_cut:
        said.append(
            f"{counted(quality.events_cut, 'event')} cut short or malformed in the log: only whole fields are used"
        )
    for kind, count in sorted(quality.without_start.items()):
        said.append(f"{counted(count, kind)} finished whose start is not in the log")
    for kind, count in sorted(quality.without_finish.items()):
        said.append(f"{counted(count, kind)} started and never finished in the log (cut, killed or still running)")
    for kind, count in sorted(quality.without_column_family.items()):
        said.append(f"{counted(count, kind)} of an unknown column family")
    without_duration = sums["compactions"] - sums["timed_compactions"]
    without_input = sums["compactions"] - sums["weighed_compactions"]
    if without_duration:
        said.append(f"the mean rates leave out {counted(round(without_duration), 'compaction')} of 0 µs")
    if without_input:
        said.append(f"the mean ratio leaves out {counted(round(without_input), 'compaction')} without input records")
    if quality.unknown_events:
        kinds = ", ".join(f"{kind} ({count})" for kind, count in sorted(quality.unknown_events.items()))
        said.append(f"event kinds not known, kept: {kinds}")
    if quality.impossible_values:
        names = ", ".join(f"{name} ({count})" for name, count in sorted(quality.impossible_values.items()))
        said.append(f"values that cannot be, left out: {names}")
    if quality.unknown_fields:
        names = ", ".join(f"{name} ({count})" for name, count in sorted(quality.unknown_fields.items()))
        said.append(f"event fields not known, kept: {names}")
    return said


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _without_events(run: Run) -> str:
    if not run.members:
        return "no log: only counters, configuration, operations or the cluster's own words were read"
    if run.sessions:
        return "RocksDB was opened but logged no events: nothing was flushed or compacted, or the log ends at the open"
    if run.ceph_version is None and not run.is_monitor and not run.name.startswith("osd."):
        return (
            "no RocksDB events: nothing was flushed or compacted while this log was written, or they were filtered out"
        )
    return (
        "no RocksDB events: either debug_rocksdb is below 4 (set it to `4/5`, the default), or nothing was flushed or"
        " compacted while this log was written"
    )


def unseen(run: Run) -> Iterator[tuple[str, str]]:
    """What a filtered log cannot show: the codes of rules that live on it, and what they lack."""
    if holds_events_alone(run):
        for code in OF_LINES + (OF_LINES_OF_OSDS if is_osd(run) else ()):
            yield code, "the lines around events: this log holds events alone"


def holds_events_alone(run: Run) -> bool:
    """Whether all other lines were filtered out: then there are jobs, and nothing that stands around them."""
    others = len(run.dumps) + len(run.errors) + len(run.slow_operations) + len(run.kv_thread) + len(run.stall_lines)
    opened = any(session.opened_at_millis is not None for session in run.sessions)
    is_enough = sum(run.event_counts.values()) >= LEAST_EVENTS
    return is_enough and not others and not opened and not run.quality.attributed_by[BY_JOB_LINE]


def _lacks_starts(run: Run) -> bool:
    """Whether more finished jobs lack their starts than may have run when the log began: some lines are gone."""
    finished = run.event_counts["flush_finished"] + run.event_counts["compaction_finished"]
    lacking = sum(run.quality.without_start.values())
    return lacking > JOBS_AT_ONCE and lacking > MOST_WITHOUT_START * finished


def bounded(finding: Finding, run: Run) -> Finding:
    """The finding, no surer than the log allows: what counts or shares say of a log that lacks a part is not certain.

    A line that is there proves what it says whatever else is missing.
    """
    proven = any(one.line is not None for one in finding.evidence)
    events = sum(run.event_counts.values())
    is_torn = bool(run.quality.damaged) or run.quality.events_rejected > events * MOST_REJECTED_SHARE
    if proven or not (is_torn or _lacks_starts(run)) or finding.confidence is not Confidence.HIGH:
        return finding
    return replace(finding, confidence=Confidence.MEDIUM)
