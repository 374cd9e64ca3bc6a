"""Data quality in words: what to know about a log before believing figures made of it."""

from collections.abc import Mapping

from lsmlens.analyzer.run import Run


def notes(run: Run, sums: Mapping[str, float]) -> list[str]:
    """One sentence for each thing in a run that bears on its figures; empty for a clean log."""
    quality, stamps = run.quality, run.stamps
    said: list[str] = []
    if not run.event_counts:
        if run.sessions:
            said.append(
                "RocksDB was opened but logged no events: debug_rocksdb is below 4, or the log is cut;"
                " set `debug_rocksdb = 4/5` (the default) to have them"
            )
        else:
            said.append(
                "no RocksDB events: either debug_rocksdb is below 4 (set it to `4/5`, the default),"
                " or nothing was flushed or compacted while this log was written"
            )
    if stamps.steps:
        said.append(
            f"the clock went back {_times(stamps.steps)} by more than a second"
            f" (at most {stamps.largest_step_millis / 1000:g} s): the log duration may be off"
        )
    if quality.cut_lines:
        said.append(f"{quality.cut_lines} overlong line(s) were cut at 64 MiB")
    if quality.events_rejected:
        said.append(f"{quality.events_rejected} event(s) were damaged beyond use and are not counted")
    if quality.events_cut:
        said.append(f"{quality.events_cut} event(s) were cut or malformed by the log; their whole fields are used")
    for kind, count in sorted(quality.without_start.items()):
        said.append(f"{count} {kind}(s) finished whose start is not in the log")
    for kind, count in sorted(quality.without_finish.items()):
        said.append(f"{count} {kind}(s) started that never finished in the log (cut, killed or still running)")
    for kind, count in sorted(quality.without_column_family.items()):
        said.append(f"{count} {kind}(s) could not be told to a column family")
    without_duration = sums["compactions"] - sums["timed_compactions"]
    without_input = sums["compactions"] - sums["weighed_compactions"]
    if without_duration:
        said.append(f"{without_duration} compaction(s) of 0 µs are left out of the mean rates")
    if without_input:
        said.append(f"{without_input} compaction(s) without input records are left out of the mean ratio")
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
