"""The document `lsmlens.analysis/1`: what `analyze` writes as JSON, and `compare` reads of an analysis saved earlier.

Each field is declared once, here; the JSON Schema is made of these declarations. A field whose default is UNSET is left
out where it is not known. Others are always written: their defaults are for reading what was saved before they were.
Times are ISO 8601, in UTC with a Z unless the log's zone is not known.
"""

from typing import Annotated, Any, Final, Literal

from lsmlens.analyzer.bundles.roles import Role
from lsmlens.analyzer.findings import Confidence, Severity
from lsmlens.analyzer.metrics import meaning_of, metric_named
from lsmlens.analyzer.plan import TakesEffect
from msgspec import UNSET, Meta, Struct, UnsetType, field

SCHEMA: Final = "lsmlens.analysis/1"


def means(text: str) -> Meta:
    """What a field holds, in the schema's words."""
    return Meta(description=text)


def metric(name: str) -> Meta:
    """What a figure is: a metric or a sum, in the words of its declaration."""
    found = metric_named(name)
    null = " Null where there is nothing to divide by." if found is not None and found.per else ""
    return Meta(description=meaning_of(name) + null)


Count = Annotated[int, Meta(ge=0)]
Amount = Annotated[float, Meta(ge=0)]
Positive = Annotated[float, Meta(gt=0)]

# What several tables of writes count alike.
Flushes = Annotated[Count, metric("flushes")]
FlushBytes = Annotated[Count, metric("flush_bytes")]
Compactions = Annotated[Count, metric("compactions")]
InputBytes = Annotated[Count, metric("compaction_input_bytes")]
OutputBytes = Annotated[Count, metric("compaction_output_bytes")]
InputRecords = Annotated[Count, metric("total_input_records")]
OutputRecords = Annotated[Count, metric("total_output_records")]
CompactionSeconds = Annotated[float, metric("total_compaction_seconds")]
Moves = Annotated[Count, metric("trivial_moves")]
MovedBytes = Annotated[Count, metric("trivial_move_bytes")]
RecordRatio = Annotated[float | None, metric("output_input_ratio_of_sums")]
LsmAmplification = Annotated[float | None, metric("write_amplification_lsm")]
TotalAmplification = Annotated[float | None, metric("write_amplification_total")]
FamilyName = Annotated[str, means('The column family; "(unknown)" collects jobs that could not be told to one.')]


class MemberJson(Struct, kw_only=True):
    """A file of the bundle, analysed or not."""

    path: Annotated[str, means("Where it is; a member of an archive is archive!path.")]
    role: Annotated[str, means("What it is."), Meta(extra_json_schema={"enum": [str(role) for role in Role]})]
    bytes: Annotated[Count | None, means("Size on disk or in the archive.")] = None
    problem: Annotated[str | None, means("What stopped its reading early.")] = None


class SelectionJson(Struct, kw_only=True):
    """The filters asked for."""

    since: Annotated[str | None, means("As given with --since.")] = None
    until: Annotated[str | None, means("As given with --until.")] = None
    column_families: Annotated[list[str], means("As given with --cf; none for all.")] = []
    level: Annotated[int | None, means("As given with --level.")] = None


class SessionJson(Struct, kw_only=True):
    """One open of the database."""

    opened_at: Annotated[str | None, means("When it was opened; null where the log begins later.")] = None
    closed_at: Annotated[str | None, means("Time of the session's last event; null where it has none.")] = None
    rocksdb_version: Annotated[str | None, means("The RocksDB that opened it.")] = None
    ceph_version: Annotated[str | None, means("The Ceph that opened it.")] = None
    db_session_id: Annotated[str | None, means("RocksDB's own name of the session.")] = None


class CompactionStatisticsJson(Struct, kw_only=True):
    """The published "Compaction Statistics" table: flushes and trivial moves are not in it."""

    log_duration_seconds: Annotated[float | None, metric("log_duration_seconds")]
    compaction_events: Compactions
    avg_compaction_seconds: Annotated[float | None, metric("avg_compaction_seconds")]
    total_compaction_seconds: CompactionSeconds
    avg_output_size_mib: Annotated[float | None, metric("avg_output_size_mib")]
    total_output_size_mib: Annotated[float, metric("total_output_size_mib")]
    total_input_records: InputRecords
    total_output_records: OutputRecords
    avg_output_throughput_mib_per_second: Annotated[float | None, metric("avg_output_throughput_mib_per_second")]
    avg_input_records_per_second: Annotated[float | None, metric("avg_input_records_per_second")]
    avg_output_records_per_second: Annotated[float | None, metric("avg_output_records_per_second")]
    avg_output_input_ratio: Annotated[float | None, metric("avg_output_input_ratio")]
    output_input_ratio_of_sums: RecordRatio


class FamilyJson(Struct, kw_only=True):
    """What the flushes, compactions and moves of one column family did."""

    name: FamilyName
    flushes: Flushes
    flush_bytes: FlushBytes
    flush_blob_bytes: Annotated[Count, metric("flush_blob_bytes")]
    flush_input_records: Annotated[Count, metric("flush_input_records")]
    flush_output_records: Annotated[Count, metric("flush_output_records")]
    compactions: Compactions
    compaction_input_bytes: InputBytes
    compaction_output_bytes: OutputBytes
    input_records: InputRecords
    output_records: OutputRecords
    blob_output_bytes: Annotated[Count, metric("blob_output_bytes")]
    proximal_output_bytes: Annotated[Count, metric("proximal_output_bytes")]
    compaction_seconds: CompactionSeconds
    trivial_moves: Moves
    trivial_move_bytes: MovedBytes
    output_input_ratio: RecordRatio = None
    write_amplification: LsmAmplification = None


class LevelJson(Struct, kw_only=True):
    """What was written or moved into one level."""

    level: Annotated[int, means("Its number.")]
    flushes: Flushes
    flush_bytes: FlushBytes
    compactions: Compactions
    compaction_input_bytes: InputBytes
    compaction_output_bytes: OutputBytes
    input_records: InputRecords
    output_records: OutputRecords
    compaction_seconds: CompactionSeconds
    trivial_moves: Moves
    trivial_move_bytes: MovedBytes
    output_input_ratio: RecordRatio = None


class FlushJson(Struct, kw_only=True):
    """What went into one column family's flushes and what survived them, of those whose start is in the log."""

    column_family: FamilyName
    flushes: Annotated[Count, means("How many there were.")]
    input_entries: Annotated[Count, means("Entries in the memtables, tombstones included.")]
    input_deletes: Annotated[Count, means("Tombstones among them.")]
    output_entries: Annotated[Count, means("Entries in the tables written.")]
    output_deletes: Annotated[Count, means("Tombstones among them.")]
    dropped_entries: Annotated[Count, means("input_entries - output_entries: what died in memory.")]
    dropped_share: Annotated[float | None, means("dropped_entries / input_entries.")]
    dropped_puts_share: Annotated[
        float | None, means("Puts that died in memory, overwritten or deleted there, per put.")
    ]
    empty_flushes: Annotated[Count, means("Flushes that wrote no table.")]
    reasons: Annotated[dict[str, Count], means("Flushes by true reason.")]
    memtables: Annotated[dict[str, Count], means("Flushes by number of memtables merged.")]
    memtables_per_flush: Annotated[float | None, means("Mean number of memtables merged.")]


class WindowJson(Struct, kw_only=True):
    """Sums of one time window; a job counts whole where it finished."""

    start: Annotated[str, means("Where the window begins, UTC.")]
    flushes: Flushes
    flush_bytes: FlushBytes
    compactions: Compactions
    compaction_input_bytes: InputBytes
    compaction_output_bytes: OutputBytes
    compaction_seconds: CompactionSeconds
    trivial_moves: Moves
    write_amplification: LsmAmplification


class AmplificationJson(Struct, kw_only=True):
    """The write amplification, of the LSM tree and of all that is written."""

    lsm: LsmAmplification
    total: TotalAmplification


class RunAmplificationJson(Struct, kw_only=True):
    """The write amplification of a run, and what its total is made of."""

    lsm: LsmAmplification = None
    total: TotalAmplification = None
    total_user_bytes: Annotated[
        float | None,
        means(
            "By counters the bytes of the WAL, through which all goes that users write; it has a few bytes a batch"
            " more."
        ),
    ] = None
    total_wal_bytes: Annotated[float | None, means("Bytes written to the WAL.")] = None
    total_table_bytes: Annotated[float | None, means("Flush and compaction bytes of the same time.")] = None
    total_by: Annotated[
        Literal["statistics dumps", "counters"] | None,
        means("What tells of WAL and user bytes; table bytes are the log's."),
    ] = None


class StallLinesJson(Struct, kw_only=True):
    """Stall warnings of one column family, kind and cause."""

    column_family: FamilyName
    kind: Annotated[Literal["slowdown", "stop"], means("Whether writes were slowed down or stopped.")]
    cause: Annotated[
        Literal["immutable_memtables", "level0_files", "pending_compaction_bytes"], means("Which limit was reached.")
    ]
    lines: Annotated[Count, means("Lines of the log.")]


class StallCountJson(Struct, kw_only=True):
    """How often one cause stalled the writes of one column family, by statistics dumps."""

    column_family: FamilyName
    cause: Annotated[str, means("As RocksDB names it, such as level0_slowdown.")]
    count: Annotated[Count, means("How often.")]


class StallsJson(Struct, kw_only=True):
    """Writes that were slowed down or stopped."""

    lines: Annotated[
        list[StallLinesJson],
        means(
            "Stall warnings; one is logged at every recalculation while the state lasts, so they count lines, not"
            " stalls."
        ),
    ]
    seconds: Annotated[
        float | None,
        metric("stall_seconds"),
    ]
    counts: Annotated[
        list[StallCountJson],
        means(
            "How often writes were slowed down or stopped, by the last statistics dump of each open. Causes ending in"
            " _while_compacting are counted in those without it too."
        ),
    ] = []


class PressureJson(Struct, kw_only=True):
    """How near one column family came to stalling writes, beside the triggers in force."""

    family: FamilyName
    level0_files: Annotated[Count | None, means("The most files in level 0.")]
    compaction_trigger: Annotated[Count | None, means("Files in level 0 that begin a compaction.")]
    slowdown_trigger: Annotated[Count | None, means("Files in level 0 that slow writes down.")]
    stop_trigger: Annotated[Count | None, means("Files in level 0 that stop writes.")]
    immutable_memtables: Annotated[Count | None, means("The most full memtables that waited for a flush.")]
    memtables: Annotated[
        Count | None, means("Memtables that may be in memory at once, the one being written among them.")
    ]
    pending_compaction_bytes: Annotated[
        Count | None, means("The most bytes that statistics dumps say wait for compaction.")
    ]
    level0_files_mean: Annotated[Amount | None, means("Mean by time, each count held until the next is told.")]
    immutable_memtables_mean: Annotated[Amount | None, means("Mean by time, each count held until the next is told.")]
    pending_compaction_bytes_mean: Annotated[Amount | None, means("Mean of the statistics dumps.")]


class PressureCourseJson(Struct, kw_only=True):
    """One column family's course of a count."""

    column_family: FamilyName
    most: Annotated[list[Count | None], means("The most in each step; null where nothing tells.")]
    mean: Annotated[list[Amount | None], means("The mean by time in each step; null where nothing tells.")]


class PressureSeriesJson(Struct, kw_only=True):
    """Pressure over time in equal steps from the log's first stamp to its last."""

    begins_at: Annotated[str | None, means("Begin of the first step, UTC.")]
    step_seconds: Annotated[Positive, means("Length of a step.")]
    level0_files: Annotated[list[PressureCourseJson], means("Files in level 0, as finished jobs leave them.")]
    immutable_memtables: Annotated[
        list[PressureCourseJson],
        means("Full memtables that wait for a flush, as switches to a new one and finished flushes tell."),
    ]


class LiveTablesJson(Struct, kw_only=True):
    """The tables known to live at the log's end; those from before the log are not seen."""

    live_tables: Annotated[Count, means("How many.")]
    live_table_bytes: Annotated[Count, means("Their size.")]
    live_entries: Annotated[Count, means("num_entries of them.")]
    live_tombstones: Annotated[Count, means("num_deletions of them.")]
    live_range_tombstones: Annotated[Count, means("num_range_deletions of them.")]


class TombstonesJson(Struct, kw_only=True):
    """The tombstones of one column family in one level, of the tables known to live at the log's end."""

    family: FamilyName
    level: Annotated[Count, means("The level they lie in, after all moves.")]
    tables: Annotated[Count, means("Tables of that level.")]
    bytes: Annotated[Count, means("Size of these tables.")]
    entries: Annotated[Count, means("num_entries of these tables.")]
    tombstones: Annotated[Count, means("num_deletions of these tables.")]
    range_tombstones: Annotated[Count, means("num_range_deletions of these tables.")]
    share: Annotated[Amount, means("tombstones / entries.")]
    oldest_seconds: Annotated[
        float | None,
        means("From the begin of the oldest memtable that is in a table with tombstones to the log's end."),
    ]
    median_seconds: Annotated[float | None, means("The same of the table that holds the median tombstone.")]
    is_due: Annotated[bool | None, means("Whether a compaction of the level is due; null where nothing tells.")]
    reason: Annotated[str, means("Why it is due or not: level, size, trigger, age.")]
    marked: Annotated[Count, means("Tombstones in tables that compaction on deletion marks wherever they lie in them.")]
    markable: Annotated[Count, means("Tombstones in tables that it marks if they lie close enough together.")]


class CompactionOnDeletionJson(Struct, kw_only=True):
    """Compaction on deletion: a table with so many deletions within so many entries in a row is compacted soon."""

    is_on: Annotated[bool | None, means("Whether it is on; null where nothing tells.")]
    trigger: Annotated[Count, means("Deletions; Ceph's default where nothing tells.")]
    window: Annotated[Count, means("Entries in a row; Ceph's default where nothing tells.")]


class IterationJson(Struct, kw_only=True):
    """How long iterators of one kind took."""

    name: Annotated[str, means("The counter, or what a line `slow operation observed` names.")]
    times: Annotated[Count, means("How often, by the counter, since the daemon started.")]
    mean_seconds: Annotated[Amount | None, means("Mean of the counter.")]
    slow_lines: Annotated[Count, means("Lines `slow operation observed` of it.")]
    longest_seconds: Annotated[Amount | None, means("The longest of these lines.")]


class SlowOperationsJson(Struct, kw_only=True):
    """BlueStore's lines `slow operation observed for WHAT`: what took longer than bluestore_log_op_age."""

    what: Annotated[str, means("The part of BlueStore that was slow.")]
    lines: Annotated[int, Meta(ge=1), means("Lines of the log.")]
    longest_seconds: Annotated[Amount, means("The longest of them.")]


class KvThreadJson(Struct, kw_only=True):
    """One line `_kv_sync_thread utilization`: time of the one thread that commits to RocksDB."""

    at: Annotated[str | None, means("When it was logged.")]
    seconds: Annotated[Amount, means("Time the line is of.")]
    idle_seconds: Annotated[Amount, means("Of it, without anything to commit.")]
    submitted: Annotated[Count, means("Transactions submitted.")]


DumpRow = Annotated[
    dict[str, Any], means("A row of a table in a dump, by column; what it leaves out is zero or not printed.")
]


class DumpFamilyJson(Struct, kw_only=True):
    """What a dump's tables print of one column family, without zeros."""

    levels: Annotated[
        list[DumpRow] | UnsetType,
        means(
            "Rows L0, L1 and so on: name, files, size_bytes, score, read_gb, write_gb, w_amp, comp_seconds,"
            " comp_count, key_in, key_drop and more."
        ),
    ] = UNSET
    priorities: Annotated[list[DumpRow] | UnsetType, means("Rows Low, High, Bottom and User.")] = UNSET
    interval: DumpRow | UnsetType = UNSET
    read_latency: Annotated[
        dict[str, dict[str, Any]] | UnsetType,
        means("By level (or blob): latency of reads from its files in microseconds."),
    ] = UNSET


class DumpJson(Struct, kw_only=True):
    """One statistics dump."""

    at: Annotated[str | None, means("When it was logged.")] = None
    is_cut: Annotated[bool, means("Whether lines of this dump are missing.")] = False
    uptime_seconds: Annotated[float | None, means("Since the open.")] = None
    interval_seconds: Annotated[float | None, means("Since the dump before.")] = None
    stall_seconds: Annotated[float | None, means("Stalled since the open.")] = None
    interval_stall_seconds: Annotated[float | None, means("Stalled since the dump before.")] = None
    user_writes: Annotated[
        int | None, means("Writes of users (batches) since the open, as printed: in thousands or millions above 9999.")
    ] = None
    user_keys: Annotated[int | None, means("Keys that users wrote or deleted since the open, as printed.")] = None
    user_bytes: Annotated[float | None, means("Bytes users wrote since the open.")] = None
    interval_user_bytes: Annotated[float | None, means("Since the dump before, to about 5 KB.")] = None
    wal_bytes: Annotated[float | None, means("Bytes written to the WAL since the open.")] = None
    interval_wal_bytes: Annotated[float | None, means("Since the dump before, to about 5 MB.")] = None
    level0_files: Annotated[dict[str, int], means("Files in level 0, by column family.")] = {}
    pending_compaction_bytes: Annotated[dict[str, int], means("Bytes that wait for compaction, by column family.")] = {}
    stall_counts: Annotated[
        dict[str, dict[str, int]],
        means("Column family, then cause and kind: how often writes were stalled since the open. Without zeros."),
    ] = {}
    column_families: Annotated[
        dict[str, DumpFamilyJson],
        means(
            "By column family, what its tables print, without zeros. GB are 2^30 bytes, MB 2^20, as printed; seconds"
            " and counts since the open, in `interval` since the dump before."
        ),
    ] = {}
    tickers: Annotated[
        dict[str, int],
        means("Counters since the open, where the database's options ask for STATISTICS. Without zeros."),
    ] = {}
    histograms: Annotated[
        dict[str, dict[str, Any]],
        means("Histograms since the open: percentiles, count and sum, in the unit the name says."),
    ] = {}


class DumpsJson(Struct, kw_only=True):
    """The statistics dumps of a run."""

    dumps: Annotated[Count, means("Statistics dumps in the log, each once.")] = 0
    cut: Annotated[Count, means("Those of which lines are missing.")] = 0
    user_bytes: Annotated[float | None, means("Bytes users wrote (ingest), to about 5 MB for each open.")] = None
    wal_bytes: Annotated[float | None, means("Bytes written to the WAL, to about 5 MB for each open.")] = None
    points: Annotated[list[DumpJson], means("The dumps, in the log's order.")] = []


class OptionJson(Struct, kw_only=True):
    """One option in force whose default is known."""

    column_family: Annotated[str | None, means("null: of the whole database, or of Ceph.")]
    name: Annotated[str, means("Its name.")]
    value: Annotated[str, means("Its value, as it was printed.")]
    source: Annotated[str, means("Where the value was read.")]
    detail: Annotated[str, means("More on where: who set it, or the line.")] = ""
    default: Annotated[str, means("What the same release runs with where nothing is configured.")] = ""
    differs: Annotated[bool, means("Whether it is another value than the default.")] = False


class CountedJson(Struct, kw_only=True):
    """Counters of an OSD that bear on RocksDB and on what clients feel; a release leaves out what it does not count.

    Latencies are means in seconds. Gauges (total, used, queue lengths, running, peak, fragmentation) are of the moment.
    """

    kv_syncs: Annotated[int | UnsetType, means("Rounds of the kv thread.")] = UNSET
    kv_flush_seconds: Annotated[float | UnsetType, means("Of a round: flush of the data device.")] = UNSET
    kv_commit_seconds: Annotated[float | UnsetType, means("Of a round: commit to RocksDB.")] = UNSET
    kv_sync_seconds: Annotated[float | UnsetType, means("The whole round.")] = UNSET
    kv_final_seconds: Annotated[float | UnsetType, means("Of a round of the finalizing thread.")] = UNSET
    transactions: Annotated[float | UnsetType, means("BlueStore's transactions.")] = UNSET
    transaction_submit_seconds: Annotated[float | UnsetType, means("To submit one.")] = UNSET
    transaction_throttle_seconds: Annotated[float | UnsetType, means("One's wait for the throttle.")] = UNSET
    transaction_commit_seconds: Annotated[float | UnsetType, means("From submission to commit.")] = UNSET
    aio_wait_seconds: Annotated[float | UnsetType, means("Wait for the data device.")] = UNSET
    kv_queued_seconds: Annotated[float | UnsetType, means("Wait for the kv thread.")] = UNSET
    kv_committing_seconds: Annotated[float | UnsetType, means("In the kv thread's round.")] = UNSET
    slow_committed_kv: Annotated[float | UnsetType, means("Commits that BlueStore calls slow.")] = UNSET
    slow_aio_waits: Annotated[float | UnsetType, means("Waits that BlueStore calls slow.")] = UNSET
    bluefs_wal_bytes_written: Annotated[float | UnsetType, means("Bytes written to WAL files.")] = UNSET
    bluefs_sst_bytes_written: Annotated[float | UnsetType, means("Bytes written to table files.")] = UNSET
    bluefs_slow_bytes_written: Annotated[float | UnsetType, means("Of both, bytes written to the slow device.")] = UNSET
    db_total_bytes: Annotated[float | UnsetType, means("Size of block.db.")] = UNSET
    db_used_bytes: Annotated[float | UnsetType, means("Used of block.db.")] = UNSET
    wal_total_bytes: Annotated[float | UnsetType, means("Size of block.wal.")] = UNSET
    wal_used_bytes: Annotated[float | UnsetType, means("Used of block.wal.")] = UNSET
    slow_total_bytes: Annotated[float | UnsetType, means("Size of the slow device.")] = UNSET
    slow_used_bytes: Annotated[float | UnsetType, means("BlueFS's part of the slow device.")] = UNSET
    slow_peak_bytes: Annotated[float | UnsetType, means("The most that part has been.")] = UNSET
    allocations_fallen_to_slow: Annotated[float | UnsetType, means("Allocations for which block.db had no room.")] = (
        UNSET
    )
    fragmentation_share: Annotated[float | UnsetType, means("The allocator's own rating, 0 to 1.")] = UNSET
    onode_hits: Annotated[float | UnsetType, means("Onodes found in the cache.")] = UNSET
    onode_misses: Annotated[float | UnsetType, means("Onodes not found there.")] = UNSET
    rocksdb_gets: Annotated[int | UnsetType, means("RocksDB's gets.")] = UNSET
    rocksdb_get_seconds: Annotated[float | UnsetType, means("Of one.")] = UNSET
    rocksdb_submit_seconds: Annotated[float | UnsetType, means("Of one submitted batch.")] = UNSET
    rocksdb_submit_sync_seconds: Annotated[float | UnsetType, means("Of one submitted with a sync.")] = UNSET
    rocksdb_write_delay_sum_seconds: Annotated[
        float | UnsetType, means("Writes held back by RocksDB, all added up.")
    ] = UNSET
    manual_compactions: Annotated[float | UnsetType, means("Compactions that were asked for.")] = UNSET
    manual_compactions_running: Annotated[float | UnsetType, means("Of them, running.")] = UNSET
    manual_compactions_completed: Annotated[float | UnsetType, means("Of them, completed.")] = UNSET
    manual_compaction_queue_length: Annotated[float | UnsetType, means("Of them, waiting.")] = UNSET
    client_writes: Annotated[float | UnsetType, means("Clients' writes.")] = UNSET
    client_write_bytes: Annotated[
        float | UnsetType,
        means("op_w_in_bytes: without omap keys and values, and without operations that read as well."),
    ] = UNSET
    client_write_seconds: Annotated[float | UnsetType, means("Of one write.")] = UNSET
    client_write_process_seconds: Annotated[float | UnsetType, means("Of one, without its queue.")] = UNSET
    client_reads: Annotated[float | UnsetType, means("Clients' reads.")] = UNSET
    client_read_bytes: Annotated[float | UnsetType, means("Bytes of clients' reads.")] = UNSET
    client_read_seconds: Annotated[float | UnsetType, means("Of one read.")] = UNSET
    subop_writes: Annotated[float | UnsetType, means("Writes for other primaries.")] = UNSET
    subop_write_seconds: Annotated[float | UnsetType, means("Of one.")] = UNSET
    before_queue_seconds: Annotated[float | UnsetType, means("From a message's arrival to its queue.")] = UNSET
    before_dequeue_seconds: Annotated[float | UnsetType, means("Wait in the operation queue.")] = UNSET
    recovery_operations: Annotated[float | UnsetType, means("Operations of recovery.")] = UNSET
    recovery_bytes: Annotated[float | UnsetType, means("Bytes of recovery.")] = UNSET
    mclock_queue_lengths: Annotated[
        dict[str, float] | UnsetType,
        means("By class (client, recovery, best_effort, immediate, all_type), shards added up."),
    ] = UNSET


class CountersJson(CountedJson, kw_only=True):
    """Counters since the daemon's last start, from the last perf dump, and the log's bytes held against BlueFS's."""

    perf_dumps: Annotated[Count, means("Perf dumps in the bundle.")] = 0
    table_bytes_in_log: Annotated[
        Count | None, means("Flush and compaction bytes by the log, since the last open.")
    ] = None
    table_bytes_in_counter: Annotated[float | None, means("bluefs.bytes_written_sst of the daemon's last life.")] = None
    table_bytes_difference: Annotated[float | None, means("How much more the log says, as a share of the counter.")] = (
        None
    )


class CounterIntervalJson(CountedJson, kw_only=True):
    """What was counted from one perf dump to the next.

    Dumps carry no time; seconds and rates are known where the log tells when the tables were written that one counts.
    """

    life: Annotated[int, Meta(ge=1), means("Which of the daemon's lives that dumps show.")]
    since: Annotated[str | None, means("The dump before; null for the daemon's start.")]
    until: Annotated[str, means("The dump it goes up to.")]
    seconds: Annotated[
        tuple[Amount, Amount] | None,
        means(
            "The least and the most it lasted, found by the tables that the dumps count and the log tells of; null"
            " where that leaves it open."
        ),
    ]
    rates: Annotated[
        dict[str, tuple[float, float]],
        means(
            "The least and the most by the second, where the most seconds are within one and a half times the least."
        ),
    ]


class DurationsJson(Struct, kw_only=True):
    """Durations in seconds; percentiles are by nearest rank."""

    count: Annotated[Count, means("How many.")]
    total_seconds: Annotated[float, means("All added up.")]
    mean_seconds: Annotated[float, means("Their mean.")]
    p50_seconds: Annotated[float, means("Their median.")]
    p95_seconds: Annotated[float, means("Their 95th percentile.")]
    p99_seconds: Annotated[float, means("Their 99th percentile.")]
    max_seconds: Annotated[float, means("The longest.")]


class StageGroupTimeJson(Struct, kw_only=True):
    """All stages of one group, added up in each operation that has any."""

    group: Annotated[str, means("What was waited for.")]
    durations: Annotated[DurationsJson, means("How long, an operation.")]
    share: Annotated[float | None, means("Of the time of all stages of the class.")]


class StageTimeJson(Struct, kw_only=True):
    """The time between two consecutive events of operations."""

    since: Annotated[str, means("The event it begins with.")]
    until: Annotated[str, means("The event it ends with.")]
    group: Annotated[str, means("What was waited for.")]
    durations: Annotated[DurationsJson, means("How long.")]


class OperationClassJson(Struct, kw_only=True):
    """Operations of one class that the OSD kept (historic, slow, in flight)."""

    class_: Annotated[str, means("Such as client write or recovery.")] = field(name="class")
    operations: Annotated[Count, means("How many were kept.")]
    whole: Annotated[DurationsJson | None, means("From their arrival to their end.")]
    groups: Annotated[list[StageGroupTimeJson], means("By what was waited for, most time first.")]
    stages: Annotated[list[StageTimeJson], means("Event by event, most time first.")]


class StageJson(Struct, kw_only=True):
    """One stage of one operation."""

    since: Annotated[str, means("The event it begins with.")]
    until: Annotated[str, means("The event it ends with.")]
    group: Annotated[str, means("What was waited for.")]
    start_seconds: Annotated[float, means("Since the operation's first event.")]
    seconds: Annotated[float, means("How long it lasted.")]


class OperationJson(Struct, kw_only=True):
    """One operation that the OSD kept, stage by stage."""

    description: Annotated[str, means("As Ceph describes it.")]
    class_: Annotated[str, means("Such as client write or recovery.")] = field(name="class")
    source: Annotated[str, means("The dump it was read in.")]
    initiated_at: Annotated[str | None, means("ISO 8601; without a Z it is the OSD's local time.")]
    duration_seconds: Annotated[float | None, means("How long it took.")]
    in_flight: Annotated[bool, means("Whether it had not ended yet.")]
    flag_point: Annotated[str, means("The last point it reached.")]
    stages: Annotated[list[StageJson], means("In the order of time.")]


class CoincidenceJson(Struct, kw_only=True):
    """How often what was slow overlaps jobs or stalls of the same database, within 1 s, against chance."""

    what: Annotated[
        str,
        means(
            "Slow operations (0.1 s and more), or the slow seconds of a load program's run (over twice its median"
            " latency)."
        ),
    ]
    during: Annotated[
        Literal["flushes", "compactions", "flushes and compactions", "stalls"], means("What it overlaps.")
    ]
    had_any: Annotated[bool, means("Whether there were any of these at that time.")]
    count: Annotated[Count, means("How many slow ones in the time looked at.")]
    moments: Annotated[Count, means("The same, those less than 2 s apart counted once.")]
    overlapping: Annotated[Count, means("How many of them overlap.")]
    by_chance: Annotated[Amount, means("Mean number that overlaps when all are shifted in time together.")]
    ratio: Annotated[float | None, means("overlapping / by_chance.")]
    ratio_low: Annotated[float | None, means("Lower end of the ratio's 90 % interval.")]
    ratio_high: Annotated[float | None, means("Its upper end; null where chance may be nothing.")]


class ClientResultJson(Struct, kw_only=True):
    """What a load program measured, one job in one direction; what the result does not say is left out."""

    kind: Annotated[str, means("The program: fio or rados bench.")]
    source: Annotated[str, means("The file.")]
    operation: Annotated[str | UnsetType, means("read, write or trim.")] = UNSET
    job: Annotated[str | UnsetType, means("The job's name.")] = UNSET
    is_complete: Annotated[bool | UnsetType, means("False for a result cut before its summary.")] = UNSET
    errors: Annotated[int | UnsetType, means("Errors it counted.")] = UNSET
    operations: Annotated[int | UnsetType, means("Operations done.")] = UNSET
    total_bytes: Annotated[int | UnsetType, means("Bytes of them.")] = UNSET
    runtime_seconds: Annotated[float | UnsetType, means("How long it ran.")] = UNSET
    iops: Annotated[float | UnsetType, means("As printed.")] = UNSET
    iops_stddev: Annotated[float | UnsetType, means("As printed.")] = UNSET
    iops_min: Annotated[float | UnsetType, means("As printed.")] = UNSET
    iops_max: Annotated[float | UnsetType, means("As printed.")] = UNSET
    bytes_per_second: Annotated[float | UnsetType, means("As printed.")] = UNSET
    block_bytes: Annotated[int | UnsetType, means("Size of a block.")] = UNSET
    object_bytes: Annotated[int | UnsetType, means("Size of an object.")] = UNSET
    depth: Annotated[int | UnsetType, means("Operations in flight.")] = UNSET
    processes: Annotated[int | UnsetType, means("Processes that ran.")] = UNSET
    latency_mean_seconds: Annotated[
        float | UnsetType, means("From submission's end to completion for fio (clat), whole for rados bench.")
    ] = UNSET
    latency_stddev_seconds: Annotated[float | UnsetType, means("Of the same.")] = UNSET
    latency_min_seconds: Annotated[float | UnsetType, means("Of the same.")] = UNSET
    latency_max_seconds: Annotated[float | UnsetType, means("Of the same.")] = UNSET
    ended_at: Annotated[str | UnsetType, means("When it ended, UTC.")] = UNSET
    latency_percentiles_seconds: Annotated[dict[str, float], means("By percentile, 99 for the 99th.")] = {}


class ClientSeriesJson(Struct, kw_only=True):
    """What load generators measured over the time of their run.

    fio's own logs (write_lat_log, write_bw_log, write_iops_log), those of processes that ran at once together, and the
    latency by the second of rados bench.
    """

    source: Annotated[str, means("The file, the first of several.")]
    logs: Annotated[int, Meta(ge=1), means("How many files were put together.")]
    lines_left_out: Annotated[Count, means("Lines of them that were not understood.")]
    measure: Annotated[
        Literal["latency", "completion latency", "submission latency", "bandwidth", "iops"],
        means("latency is from submission to completion, its two parts are named apart."),
    ]
    operation: Annotated[str | None, means("read, write or trim.")]
    began_at: Annotated[
        str | None, means("Moment 0 of ends_seconds, UTC; null where nothing places the series in time.")
    ]
    placed_by: Annotated[str | None, means("What tells began_at.")]
    not_placed_because: Annotated[str | None, means("Why nothing tells it.")]
    step_seconds: Annotated[Positive, means("Length of a step: a second, or a log's window if that is longer.")]
    ends_seconds: Annotated[list[float], means("End of each step that had anything, in seconds since began_at.")]
    values: Annotated[
        list[Amount],
        means("One for each of ends_seconds: seconds, bytes per second, or operations per second, as measure says."),
    ]


class EvidenceJson(Struct, kw_only=True):
    """What proves a finding."""

    source: Annotated[str, means("The file.")]
    text: Annotated[str, means("What it says.")]
    line: Annotated[Count | None, means("The line in it, where there is one.")]


class OptionChangeJson(Struct, kw_only=True):
    """An option that a finding would have otherwise."""

    name: Annotated[str, means("Its name.")]
    value: Annotated[str, means("The value it should have.")]
    families: Annotated[list[str], means("Empty: of the database, or of all families alike.")]
    is_ceph: Annotated[bool, means("Whether it is Ceph's own and not RocksDB's.")]


class FindingJson(Struct, kw_only=True):
    """What a rule saw in a run, how sure it is, what proves it and what to do."""

    code: Annotated[str, means("The rule, as `lsmlens explain` takes it.")]
    title: Annotated[str, means("What the rule is about.")]
    severity: Annotated[Severity, means("How much it matters.")]
    confidence: Annotated[Confidence, means("How sure it is that this means what it says.")]
    meaning: Annotated[str, means("What it means for this database.")]
    value: Annotated[str, means("What was measured, as shown, with its unit.")]
    threshold: Annotated[str, means("From where on it is a finding, with its unit.")]
    threshold_source: Annotated[str, means("Where the threshold comes from.")]
    evidence: Annotated[list[EvidenceJson], means("What proves it.")]
    column_family: Annotated[str | None, means("The column family; null for the whole database.")]
    advice: Annotated[str, means("What to change.")]
    changes: Annotated[
        list[OptionChangeJson], means("Options it would have otherwise; the plan merges those of all findings.")
    ] = []
    commands: Annotated[list[str], means("Commands to paste.")]
    risk: Annotated[str, means("What the change may cost.")]
    check: Annotated[str, means("How to see that the change worked.")]


class NotAssessedJson(Struct, kw_only=True):
    """A rule that could not be applied."""

    code: Annotated[str, means("The rule.")]
    title: Annotated[str, means("What the rule is about.")]
    needs: Annotated[str, means("What it needs.")]


class PlannedChangeJson(Struct, kw_only=True):
    """An option that the plan changes."""

    name: Annotated[str, means("Its name.")]
    before: Annotated[str | None, means("Its value now; null where that is not known.")]
    after: Annotated[str, means("The value it gets.")]
    families: Annotated[list[str], means("Empty: of the database, or of all families alike.")]
    codes: Annotated[list[str], means("The findings that ask for it.")]
    takes_effect: Annotated[TakesEffect, means("When it takes effect.")]


class LeftOutJson(Struct, kw_only=True):
    """An option that findings would change and the plan does not."""

    name: Annotated[str, means("Its name.")]
    after: Annotated[str, means("The value it would get.")]
    families: Annotated[list[str], means("Empty: of the database, or of all families alike.")]
    codes: Annotated[list[str], means("The findings that ask for it.")]
    why: Annotated[str, means("Why it is left out.")]


class StepJson(Struct, kw_only=True):
    """A step of the rollout."""

    title: Annotated[str, means("What it does.")]
    commands: Annotated[list[str], means("Commands to paste.")]
    notes: Annotated[list[str], means("What to know.")]


class PlanJson(Struct, kw_only=True):
    """What all findings would change, merged."""

    changes: Annotated[list[PlannedChangeJson], means("The options it changes.")]
    left_out: Annotated[list[LeftOutJson], means("Those it does not.")]
    steps: Annotated[list[StepJson], means("How to make the changes, in order.")]
    options_fragment: Annotated[str | None, means("For an OPTIONS file, of databases that are not Ceph's.")]


class NotUnderstoodJson(Struct, kw_only=True):
    """A damaged event."""

    member: Annotated[str, means("The file.")]
    line: Annotated[Count | None, means("The line in it.")]
    reason: Annotated[str, means("Why it was not understood.")]
    text: Annotated[str, means("How it begins.")]


class QualityJson(Struct, kw_only=True):
    """What was read, and what could not be."""

    lines: Annotated[Count, means("Lines read.")] = 0
    lines_estimated: Annotated[
        bool, means("Whether `lines` is scaled up from a sample (plain files over 256 MiB).")
    ] = False
    bytes: Annotated[Count, means("Bytes read, decompressed.")] = 0
    events_rejected: Annotated[Count, means("Events damaged beyond use.")] = 0
    events_cut: Annotated[Count, means("Events cut or malformed by the log whose whole fields are used.")] = 0
    duplicates_removed: Annotated[Count, means("Events seen again: crash dumps, overlapping pieces, copies.")] = 0
    compactions_without_column_family: Annotated[Count, means("Compactions told to no family.")] = 0
    flushes_without_column_family: Annotated[Count, means("Flushes told to no family.")] = 0
    moves_without_column_family: Annotated[Count, means("Moves told to no family.")] = 0
    column_family_found_by: Annotated[dict[str, Count], means("How jobs were told to their column families.")] = {}
    without_start: Annotated[dict[str, Count], means("Finished jobs whose start is not in the log.")] = {}
    without_finish: Annotated[dict[str, Count], means("Started jobs that never finished in the log.")] = {}
    unknown_events: Annotated[dict[str, Count], means("Event kinds not known, kept.")] = {}
    unknown_fields: Annotated[dict[str, Count], means("Fields not known, kept.")] = {}
    clock_steps_back: Annotated[Count, means("Times the clock went back by more than a second.")] = 0
    not_understood: Annotated[list[NotUnderstoodJson], means("The first few damaged events.")] = []
    notes: Annotated[list[str], means("What to know before believing the figures, in words.")]


class RunJson(Struct, kw_only=True):
    """One database's life in the bundle."""

    name: Annotated[
        str,
        means(
            "The daemon (osd.0, mon.a) where the log tells it, else the file; with folders before it where two would"
            " be alike."
        ),
    ]
    monitor: Annotated[bool, means("Whether this is a monitor's store.db.")]
    members: Annotated[list[str], means("The files the run was put together from.")] = []
    ceph_version: Annotated[str | None, means("The last the log tells.")]
    rocksdb_version: Annotated[str | None, means("The last the log tells.")]
    utc_offset_seconds: Annotated[int | None, means("How far the log's local time is ahead of UTC.")] = None
    sessions: Annotated[list[SessionJson], means("Each open of the database.")] = []
    events: Annotated[dict[str, Count], means("Events by kind, each once.")] = {}
    compaction_statistics: CompactionStatisticsJson
    column_families: Annotated[list[FamilyJson], means("By column family.")]
    levels: Annotated[list[LevelJson], means("By level written to.")] = []
    flushes: Annotated[list[FlushJson], means("What went into flushes, by column family.")] = []
    windows: Annotated[list[WindowJson], means("Sums by time window, where --window asked for them.")] = []
    write_amplification: RunAmplificationJson
    stalls: StallsJson
    pressure: Annotated[list[PressureJson], means("By column family, how near writes came to a stall.")] = []
    pressure_series: Annotated[
        PressureSeriesJson | None,
        means(
            "The same over time; null where the log has no times. Bytes that wait for compaction are in"
            " statistics_dumps.points."
        ),
    ] = None
    live_tables: Annotated[
        LiveTablesJson | None, means("Sums over live tables; null where the log tells of no table's entries.")
    ] = None
    tombstones: Annotated[
        list[TombstonesJson], means("What listings step over, by column family and level; levels without any left out.")
    ] = []
    compaction_on_deletion: Annotated[
        CompactionOnDeletionJson | None, means("What `marked` and `markable` of tombstones are by.")
    ] = None
    iterations: Annotated[list[IterationJson], means("How long omap iterators and listings took.")] = []
    slow_operations: Annotated[list[SlowOperationsJson], means("By what was slow.")] = []
    kv_thread: Annotated[list[KvThreadJson], means("In the log's order.")] = []
    statistics_dumps: Annotated[DumpsJson | None, means("null where the log has none.")]
    options: Annotated[list[OptionJson], means("Options in force whose default is known.")]
    counters: Annotated[CountersJson | None, means("null without perf dumps.")]
    counter_intervals: Annotated[list[CounterIntervalJson], means("In the order of time.")] = []
    operations: Annotated[list[OperationClassJson], means("By class.")] = []
    slowest_operations: Annotated[
        list[OperationJson], means("The ten slowest operations the OSD kept, slowest first.")
    ] = []
    coincidences: Annotated[list[CoincidenceJson], means("Empty where nothing slow is known.")] = []
    client_results: Annotated[list[ClientResultJson], means("Benchmark results beside the logs.")]
    client_series: Annotated[list[ClientSeriesJson], means("Benchmark results over time.")] = []
    findings: Annotated[list[FindingJson], means("Most severe first.")]
    not_assessed: Annotated[list[NotAssessedJson], means("Rules that could not be applied, and what they need.")] = []
    plan: Annotated[PlanJson | None, means("null where no finding would change an option.")] = None
    data_quality: QualityJson


class OsdBlameJson(Struct, kw_only=True):
    """The slow operations that one OSD is at fault for."""

    osd: Annotated[Count, means("Its number.")]
    host: Annotated[str | None, means("By `ceph osd tree` or `ceph osd metadata`; null where neither tells.")]
    devices: Annotated[list[str], means("By `ceph osd metadata`: of data, database and WAL.")]
    operations: Annotated[Count, means("How many it is at fault for.")]
    asked: Annotated[dict[str, Count], means("The same by the number of the OSD that tells of them.")]
    longest_seconds: Annotated[Amount, means("The longest.")]
    stages: Annotated[dict[str, Count], means("What those that it tells of itself were at.")]
    is_compaction: Annotated[
        bool | None, means("Whether they fall together with its compactions; null where nothing tells.")
    ]
    family: Annotated[str | None, means("The column family whose compactions stand out.")]
    ratio: Annotated[float | None, means("How many times as often as by chance they overlap compactions.")]
    verdict: Annotated[str, means("That in words.")]


class BlameJson(Struct, kw_only=True):
    """Whose fault slow operations are, over several OSDs."""

    operations: Annotated[Count, means("Slow operations that were told of, each once.")]
    asked: Annotated[list[Count], means("The OSDs that tell of them.")]
    verdict: Annotated[list[str], means("The answer in sentences.")]
    osds: Annotated[list[OsdBlameJson], means("The OSDs at fault, most operations first.")]


class TotalJson(Struct, kw_only=True):
    """All runs but monitors (with them where there is nothing else)."""

    runs: Annotated[list[str], means("Which they are.")]
    compaction_statistics: CompactionStatisticsJson
    write_amplification: AmplificationJson
    flushes: Flushes
    flush_bytes: FlushBytes
    compaction_input_bytes: InputBytes
    compaction_output_bytes: OutputBytes
    trivial_moves: Moves


class WindowSumsJson(Struct, kw_only=True):
    """All runs in the total, cut into at most 200 windows of equal length: `compare` tells noise by them."""

    start_micros: Annotated[int, means("Where the first window begins, microseconds since 1970 UTC.")]
    seconds: Annotated[Positive, means("The length of each window.")]
    longest_job_seconds: Annotated[Amount, means("The longest flush or compaction.")]
    columns: Annotated[
        dict[str, list[float]],
        means(
            "Sums by window, of the jobs that finished in it. output_bytes is total_output_size; throughputs,"
            " input_rates, output_rates (MiB and records per second) and ratios add up the compactions' own, over"
            " timed_compactions and weighed_compactions of them."
        ),
    ]


class AnalysisJson(Struct, kw_only=True):
    """What `lsmlens analyze --format json` prints."""

    schema: Annotated[Literal["lsmlens.analysis/1"], means("The document's kind and version.")] = SCHEMA
    members: Annotated[list[MemberJson], means("Every file of the bundle, analysed or not.")]
    selection: SelectionJson
    runs: Annotated[list[RunJson], means("One for each database; monitors last.")]
    total: Annotated[TotalJson | None, means("All runs but monitors; null for a single run.")]
    blame: Annotated[BlameJson | None, means("null where slow operations, if any, are a matter of one OSD alone.")] = (
        None
    )
    window_sums: Annotated[WindowSumsJson | None, means("null for logs without a duration.")] = None
