"""How each number of a report is computed: what readers of HTML and Markdown find at the end."""

from collections.abc import Iterator

from lsmlens.analyzer.metrics import metric_named


def _of_metrics(*names: str) -> Iterator[tuple[str, str]]:
    for metric in map(metric_named, names):
        assert metric is not None
        yield metric.label[0].upper() + metric.label[1:], metric.meaning


METRIC_TERMS: tuple[tuple[str, str], ...] = (
    *_of_metrics("write_amplification_lsm", "flush_bytes", "compaction_output_bytes", "write_amplification_total"),
    *_of_metrics("output_input_ratio_of_sums", "avg_output_input_ratio", "total_compaction_seconds"),
    *_of_metrics("stall_seconds", "stall_lines"),
)

ANALYSIS_TERMS: tuple[tuple[str, str], ...] = (
    (
        "Compaction Statistics",
        "As published comparisons of OSDs print it: means over compactions, each counting once; MB are MiB; flushes and"
        " trivial moves are not in it; the log's duration is from its first stamp to its last. `lsmlens explain METRIC`"
        " says what a row is.",
    ),
    (
        "Died in memory",
        "Entries flushed less entries in the tables written, per entry flushed: what was overwritten or deleted before"
        " its flush. Puts are counted apart, since a tombstone outlives what it deletes.",
    ),
    (
        "Flush reason",
        'That of the event; "Write Buffer Manager" under a line that says the WAL\'s limit was reached is "WAL Full".',
    ),
    (
        "Charts over time",
        "Bins of equal length. Seconds and bytes of a job are spread evenly over the time it ran; in the chart and"
        " table of write amplification a job counts whole in the window in which it finished. Times are UTC where the"
        " log tells its zone.",
    ),
    (
        "Operations",
        "An OSD keeps the slowest operations of the last ten minutes and those beyond a threshold: these say where"
        " slow ones spent their time, not how long operations take.",
    ),
    (
        "Severity and confidence",
        "Severity is how much a finding matters, confidence how sure the rule is of it. `lsmlens explain CODE` prints a"
        " rule with its evidence, threshold, advice and risk.",
    ),
)

COMPARISON_TERMS: tuple[tuple[str, str], ...] = (
    (
        "Change and interval",
        "The arm's value by the baseline's, as a change in per cent, or as a factor from three times on; with the 95 %"
        " interval of that ratio. With several runs of each arm it comes from the spread between runs; with one run of"
        " each, from a block bootstrap over windows of time, which tells what happens by chance within a run and not"
        " what differs from run to run.",
    ),
    (
        "Verdict",
        "Better or worse where chance makes as large a difference in fewer than 5 % of cases, after Holm's correction"
        " for the metrics judged together; same where the whole interval lies within 2 % of no change; not significant"
        " where it may be chance or where nothing tells how large chance is; not comparable where the arms did unequal"
        " work and the metric grows with work.",
    ),
    (
        "Work",
        "Bytes clients wrote by the counters, else records that went into flushes, else bytes users wrote by statistics"
        " dumps, else the logs' duration: the best that both arms tell of.",
    ),
)
