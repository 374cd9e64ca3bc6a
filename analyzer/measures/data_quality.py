"""Data quality in words: what to know about a log before believing figures made of it."""

from collections.abc import Mapping
from dataclasses import replace

from lsmlens.analyzer.findings import Confidence, Finding
from lsmlens.analyzer.numbers import counted
from lsmlens.analyzer.runs.run import Run

# Above this share of damaged events counts and shares are of another log than was written (ours).
MOST_REJECTED_SHARE = 0.01


def notes(run: Run, sums: Mapping[str, float]) -> list[str]:
    """One sentence for each thing in a run that bears on its figures; empty for a clean log."""
    quality, stamps = run.quality, run.stamps
    said: list[str] = []
    if not run.event_counts:
        said.append(_without_events(run))
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


def bounded(finding: Finding, run: Run) -> Finding:
    """The finding, no surer than the log allows: what counts or shares say of a log that lacks a part is not certain.

    A line that is there proves what it says whatever else is missing.
    """
    proven = any(one.line is not None for one in finding.evidence)
    events = sum(run.event_counts.values())
    is_torn = bool(run.quality.damaged) or run.quality.events_rejected > events * MOST_REJECTED_SHARE
    if proven or not is_torn or finding.confidence is not Confidence.HIGH:
        return finding
    return replace(finding, confidence=Confidence.MEDIUM)
