"""How each number of a report is computed: what readers of HTML and Markdown find at the end."""

ANALYSIS_TERMS: tuple[tuple[str, str], ...] = (
    (
        "LSM write amplification",
        "(flush bytes + compaction output bytes) / flush bytes. Flush bytes are the level-0 tables and blob files that"
        " flushes wrote. Compaction output bytes are total_output_size plus, where a release writes them apart, blob"
        " bytes and those of the penultimate level. Trivial moves move no bytes. The WAL is not in it, nor are tables"
        " written while recovering one. Without flushes there is none.",
    ),
    (
        "Total write amplification",
        "(WAL + flush + compaction bytes) / bytes users wrote, from each open to its last statistics dump. Where dumps"
        " do not tell, by BlueFS's counters over the daemon's last life, and per byte of the WAL, which holds all that"
        " users write. Only where that is half a GiB or more.",
    ),
    (
        "Output/input ratio",
        "Records written per record read, by compactions. The mean of the compactions' own ratios is what published"
        " tables print; the ratio of sums weighs each compaction by its records. They are named apart.",
    ),
    (
        "Compaction Statistics",
        "As published comparisons of OSDs print it: means over compactions, each counting once; MB are MiB; flushes and"
        " trivial moves are not in it; the log's duration is from its first stamp to its last. A compaction of 0 µs or"
        " without input is left out of the means it would divide by.",
    ),
    (
        "Time in compactions",
        "The sum of compaction_time_micros. Compactions that ran at the same time count each, so it may pass 100 %.",
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
        "Stalls",
        "Lines of the log that say writes were slowed down or stopped, which RocksDB prints at each recalculation while"
        " the state lasts; and seconds from statistics dumps, up to the last dump of each open.",
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
