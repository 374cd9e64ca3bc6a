"""What a run comes to, in a few sentences and figures that need no table."""

from collections import Counter

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Severity
from lsmlens.reports.numbers import plain, ratio, share, size
from lsmlens.reports.time_bins import duration

_NAMES = {Severity.CRITICAL: "critical", Severity.WARNING: "warning", Severity.INFO: "note"}


def sentences(one: RunAnalysis) -> list[str]:
    """The verdict: findings, what was written, stalls, how far the figures can be trusted."""
    return [_findings(one), _written(one), _stalls(one), _trust(one)]


def _findings(one: RunAnalysis) -> str:
    counts = Counter(finding.severity for finding in one.findings)
    if not counts:
        return "Nothing was found to be wrong by the rules that could be applied."
    named = [_count(counts[severity], name) for severity, name in _NAMES.items() if counts[severity]]
    worst = one.findings[0]
    family = f" ({worst.column_family})" if worst.column_family is not None else ""
    return f"{_joined(named)}; first of all {worst.code}{family}: {worst.title}, {worst.value}."


def _written(one: RunAnalysis) -> str:
    total, statistics = one.total, one.statistics
    seconds = statistics.log_duration_seconds
    if not total.flushes and not total.compactions:
        return "No flush or compaction finished in what was read."
    time = f" in {duration(seconds)}" if seconds else ""
    amplified = total.write_amplification
    written = (
        f"Flushes wrote {size(total.flush_bytes)} and compactions {size(total.compaction_output_bytes)}{time}"
        f"{f': LSM write amplification {ratio(amplified)}' if amplified is not None else ''}."
    )
    if not total.compactions or not seconds:
        return written
    busy = statistics.total_compaction_seconds
    return f"{written} Compactions took {busy:.1f} s of jobs, {share(busy / seconds)} of the time."


def _stalls(one: RunAnalysis) -> str:
    kinds: Counter[str] = Counter()
    for (_, kind, _), count in one.run.stall_lines.items():
        kinds[kind] += count
    seconds = one.series.stall_seconds if one.series else None
    said = [f"{plain(kinds[kind])} line(s) say writes were {word}" for kind, word in _STALLS.items() if kinds[kind]]
    if seconds:
        said.append(f"statistics dumps count {seconds:.1f} s of stalled writes")
    if said:
        text = _joined(said)
        return f"{text[0].upper()}{text[1:]}."
    return "No write stall is in the log" + (
        " or its statistics dumps."
        if seconds is not None
        else "; statistics dumps that would count them are not there."
    )


_STALLS = {"stop": "stopped", "slowdown": "slowed down"}


def _trust(one: RunAnalysis) -> str:
    if not one.notes:
        return "Data quality: nothing to note."
    return f"Data quality: {_count(len(one.notes), 'note')}, below."


def _count(count: int, name: str) -> str:
    plural = name if count == 1 or name == "critical" else f"{name}s"
    return f"{count} {plural}"


def _joined(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def key_figures(one: RunAnalysis) -> list[tuple[str, str, str]]:
    """Label, value and note of the figures to be seen first."""
    total, statistics = one.total, one.statistics
    seconds = statistics.log_duration_seconds
    whole = one.total_amplification
    return [
        (
            "LSM write amplification",
            ratio(total.write_amplification),
            f"{whole.ratio:.2f} with the WAL, per user byte" if whole else "(flushed + compacted) / flushed",
        ),
        ("Flushed", size(total.flush_bytes), f"{plain(total.flushes)} flushes"),
        ("Written by compactions", size(total.compaction_output_bytes), f"{plain(total.compactions)} compactions"),
        (
            "Records out per record in",
            ratio(statistics.output_input_ratio_of_sums),
            f"{plain(statistics.total_input_records)} in",
        ),
        (
            "Time in compactions",
            f"{statistics.total_compaction_seconds:.1f} s",
            f"{share(statistics.total_compaction_seconds / seconds)} of {duration(seconds)}" if seconds else "",
        ),
        ("Write stalls", *_stall_figure(one)),
    ]


def _stall_figure(one: RunAnalysis) -> tuple[str, str]:
    lines = sum(one.run.stall_lines.values())
    seconds = one.series.stall_seconds if one.series else None
    note = f"{plain(lines)} line(s) in the log" if lines else "none in the log"
    return ("unknown" if seconds is None and not lines else "-" if seconds is None else f"{seconds:.1f} s"), note
