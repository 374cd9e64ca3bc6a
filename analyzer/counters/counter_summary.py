"""The counters that bear on RocksDB and on what clients feel, gathered from one dump or from the time between two.

Latencies are means in seconds: sum / count, over the daemon's life for a dump, over the interval for a
`CounterDelta`. Counts and bytes written are of the same time. Gauges (`…_total_bytes`, `…_used_bytes`, queue
lengths, `…_running`, `slow_peak_bytes`, fragmentation) are those of the later dump. Whatever a release does not count
is None.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from lsmlens.analyzer.counters.counter_series import CounterDelta
from lsmlens.analyzer.counters.perf_dumps import PerfDump

Number = int | float
_QUEUES = "mclock-shard-queue-"

# fragmentation_micros is in thousandths, whatever its name says: "(free extents / max possible number of free extents)
# * 1000" (perf schema), and 871 in an OSD of 16.2.15 whose allocator's own rating is 0.872. In millionths since Ceph
# warns of fragmentation (bluestore_warn_on_free_fragmentation).
MILLIONTHS_SINCE = (19, 2, 3)
_THOUSAND, _MILLION = 1e3, 1e6


@dataclass(frozen=True, slots=True)
class CounterSummary:
    """Counters of one OSD by what they mean; `counters.py` has the names Ceph gives them.

    kv_sync is the round of the kv thread: kv_flush (the data device) + kv_commit (RocksDB). A transaction is a
    BlueStore txc. `client_write_bytes` (op_w_in_bytes) leaves out omap keys and values, and operations that read
    as well (op_rw). Bytes written to the slow device are among those of WAL and SST files. `slow_peak_bytes` is
    max_bytes_slow, or what is used now if that is more, for Ceph updates the maximum late. Ceph counts manual
    compactions only (`ceph daemon osd.N compact`): an 18.2.7 with 680 in its log counted none.
    """

    kv_syncs: int | None
    kv_flush_seconds: float | None
    kv_commit_seconds: float | None
    kv_sync_seconds: float | None
    kv_final_seconds: float | None
    transactions: Number | None
    transaction_submit_seconds: float | None
    transaction_throttle_seconds: float | None
    transaction_commit_seconds: float | None
    aio_wait_seconds: float | None
    kv_queued_seconds: float | None
    kv_committing_seconds: float | None
    slow_committed_kv: Number | None
    slow_aio_waits: Number | None

    bluefs_wal_bytes_written: Number | None
    bluefs_sst_bytes_written: Number | None
    bluefs_slow_bytes_written: Number | None
    db_total_bytes: Number | None
    db_used_bytes: Number | None
    wal_total_bytes: Number | None
    wal_used_bytes: Number | None
    slow_total_bytes: Number | None
    slow_used_bytes: Number | None
    slow_peak_bytes: Number | None
    allocations_fallen_to_slow: Number | None
    fragmentation_share: float | None

    onode_hits: Number | None
    onode_misses: Number | None

    rocksdb_gets: int | None
    rocksdb_get_seconds: float | None
    rocksdb_submit_seconds: float | None
    rocksdb_submit_sync_seconds: float | None
    rocksdb_write_delay_sum_seconds: float | None
    manual_compactions: Number | None
    manual_compactions_running: Number | None
    manual_compactions_completed: Number | None
    manual_compaction_queue_length: Number | None

    client_writes: Number | None
    client_write_bytes: Number | None
    client_write_seconds: float | None
    client_write_process_seconds: float | None
    client_reads: Number | None
    client_read_bytes: Number | None
    client_read_seconds: float | None
    subop_writes: Number | None
    subop_write_seconds: float | None
    before_queue_seconds: float | None
    before_dequeue_seconds: float | None
    recovery_operations: Number | None
    recovery_bytes: Number | None
    mclock_queue_lengths: Mapping[str, Number]
    """By class (client, recovery, best_effort, immediate, all_type), shards added up; empty before 18.2.5."""

    @property
    def onode_hit_share(self) -> float | None:
        """Hits / (hits + misses) of the onode cache; None without look-ups."""
        return _share(self.onode_hits, self.onode_misses)

    @property
    def db_used_share(self) -> float | None:
        """Used / total bytes of block.db; None where the database has no device of its own (then total is all)."""
        if not self.slow_total_bytes or not self.db_total_bytes or self.db_used_bytes is None:
            return None
        return self.db_used_bytes / self.db_total_bytes


def _fragmentation_share(counter: Number, release: tuple[int, int, int] | None) -> float:
    in_millionths = counter > _THOUSAND or (release is not None and release >= MILLIONTHS_SINCE)
    return counter / (_MILLION if in_millionths else _THOUSAND)


def summarise(counted: PerfDump | CounterDelta, release: tuple[int, int, int] | None = None) -> CounterSummary:
    """The summary of a daemon's life up to a dump, or of the time between two dumps; `release` is Ceph's."""
    now = counted.after if isinstance(counted, CounterDelta) else counted
    number, mean, gauge = counted.number, counted.mean_seconds, now.number
    kv_sync, get = counted.average("bluestore.kv_sync_lat"), counted.average("rocksdb.get_latency")
    delay = counted.average("rocksdb.rocksdb_write_delay_time")
    slow_peak = gauge("bluefs.max_bytes_slow")
    fragmentation = gauge("bluestore.fragmentation_micros")
    return CounterSummary(
        kv_syncs=kv_sync.count if kv_sync else None,
        kv_flush_seconds=mean("bluestore.kv_flush_lat"),
        kv_commit_seconds=mean("bluestore.kv_commit_lat"),
        kv_sync_seconds=mean("bluestore.kv_sync_lat"),
        kv_final_seconds=mean("bluestore.kv_final_lat"),
        transactions=number("bluestore.txc_count"),
        transaction_submit_seconds=mean("bluestore.txc_submit_lat"),
        transaction_throttle_seconds=mean("bluestore.txc_throttle_lat"),
        transaction_commit_seconds=mean("bluestore.txc_commit_lat"),
        aio_wait_seconds=mean("bluestore.state_aio_wait_lat"),
        kv_queued_seconds=mean("bluestore.state_kv_queued_lat"),
        kv_committing_seconds=mean("bluestore.state_kv_commiting_lat"),
        slow_committed_kv=number("bluestore.slow_committed_kv_count"),
        slow_aio_waits=number("bluestore.slow_aio_wait_count"),
        bluefs_wal_bytes_written=number("bluefs.bytes_written_wal"),
        bluefs_sst_bytes_written=number("bluefs.bytes_written_sst"),
        bluefs_slow_bytes_written=number("bluefs.bytes_written_slow"),
        db_total_bytes=gauge("bluefs.db_total_bytes"),
        db_used_bytes=gauge("bluefs.db_used_bytes"),
        wal_total_bytes=gauge("bluefs.wal_total_bytes"),
        wal_used_bytes=gauge("bluefs.wal_used_bytes"),
        slow_total_bytes=gauge("bluefs.slow_total_bytes"),
        slow_used_bytes=gauge("bluefs.slow_used_bytes"),
        slow_peak_bytes=None if slow_peak is None else max(slow_peak, gauge("bluefs.slow_used_bytes") or 0),
        allocations_fallen_to_slow=number("bluefs.alloc_slow_fallback"),
        fragmentation_share=None if fragmentation is None else _fragmentation_share(fragmentation, release),
        onode_hits=number("bluestore.onode_hits"),
        onode_misses=number("bluestore.onode_misses"),
        rocksdb_gets=get.count if get else None,
        rocksdb_get_seconds=mean("rocksdb.get_latency"),
        rocksdb_submit_seconds=mean("rocksdb.submit_latency"),
        rocksdb_submit_sync_seconds=mean("rocksdb.submit_sync_latency"),
        rocksdb_write_delay_sum_seconds=delay.sum_seconds if delay and delay.count else None,
        manual_compactions=number("rocksdb.compact"),
        manual_compactions_running=gauge("rocksdb.compact_running"),
        manual_compactions_completed=number("rocksdb.compact_completed"),
        manual_compaction_queue_length=gauge("rocksdb.compact_queue_len"),
        client_writes=number("osd.op_w"),
        client_write_bytes=number("osd.op_w_in_bytes"),
        client_write_seconds=mean("osd.op_w_latency"),
        client_write_process_seconds=mean("osd.op_w_process_latency"),
        client_reads=number("osd.op_r"),
        client_read_bytes=number("osd.op_r_out_bytes"),
        client_read_seconds=mean("osd.op_r_latency"),
        subop_writes=number("osd.subop_w"),
        subop_write_seconds=mean("osd.subop_w_latency"),
        before_queue_seconds=mean("osd.op_before_queue_op_lat"),
        before_dequeue_seconds=mean("osd.op_before_dequeue_op_lat"),
        recovery_operations=number("osd.recovery_ops"),
        recovery_bytes=number("osd.recovery_bytes"),
        mclock_queue_lengths=_queue_lengths(now),
    )


def _queue_lengths(dump: PerfDump) -> dict[str, Number]:
    """Of `mclock-shard-queue-<n>.mclock_<class>_queue_len`, by class."""
    lengths: dict[str, Number] = {}
    for name, length in dump.counters.items():
        section, _, counter = name.partition(".")
        is_length = counter.startswith("mclock_") and counter.endswith("_queue_len")
        if section.startswith(_QUEUES) and is_length and isinstance(length, int | float):
            queue = counter.removeprefix("mclock_").removesuffix("_queue_len")
            lengths[queue] = lengths.get(queue, 0) + length
    return lengths


def _ratio(dividend: Number | None, divisor: Number | None) -> float | None:
    return None if dividend is None or divisor is None or divisor <= 0 else dividend / divisor


def _share(part: Number | None, rest: Number | None) -> float | None:
    return None if part is None or rest is None else _ratio(part, part + rest)
