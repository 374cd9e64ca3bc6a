"""The metrics of stalls, and of the counters that stand beside a log."""

from lsmlens.analyzer.comparison.metrics import Better, Group, Metric, Unit, declared

LOWER, HIGHER = Better.LOWER, Better.HIGHER


def _latency(name: str, label: str, counter: str) -> Metric:
    """The mean of one of Ceph's counters of times."""
    how = f"mean of counter {counter} over the daemon's life, averaged over daemons"
    noise = (f"{counter}:sum", f"{counter}:count")
    return declared(Group.COUNTERS, name, label, Unit.SECONDS, LOWER, how, noise)


_STALLS = (
    declared(
        Group.STALLS,
        "stall_seconds",
        "write stalls",
        Unit.SECONDS,
        LOWER,
        "seconds for which writes were stalled, up to the last statistics dump of each open",
        is_total=True,
        aliases=("stalls",),
    ),
    declared(
        Group.STALLS,
        "stall_lines",
        "stall warnings",
        Unit.COUNT,
        LOWER,
        "log lines that say writes are slowed down or stopped",
        is_total=True,
    ),
)

_COUNTERS = (
    _latency("kv_sync_seconds", "kv sync", "bluestore.kv_sync_lat"),
    _latency("kv_flush_seconds", "kv flush", "bluestore.kv_flush_lat"),
    _latency("kv_commit_seconds", "kv commit", "bluestore.kv_commit_lat"),
    _latency("transaction_submit_seconds", "transaction submit", "bluestore.txc_submit_lat"),
    _latency("transaction_commit_seconds", "transaction commit", "bluestore.txc_commit_lat"),
    _latency("kv_queued_seconds", "transaction queued for kv", "bluestore.state_kv_queued_lat"),
    _latency("rocksdb_get_seconds", "RocksDB get", "rocksdb.get_latency"),
    _latency("rocksdb_submit_seconds", "RocksDB submit", "rocksdb.submit_latency"),
    _latency("rocksdb_submit_sync_seconds", "RocksDB submit sync", "rocksdb.submit_sync_latency"),
    _latency("client_write_seconds", "client write in the OSD", "osd.op_w_latency"),
    _latency("client_read_seconds", "client read in the OSD", "osd.op_r_latency"),
    declared(
        Group.COUNTERS,
        "bluefs_wal_bytes_written",
        "BlueFS bytes to the WAL",
        Unit.BYTES,
        LOWER,
        "counter bluefs.bytes_written_wal",
        is_total=True,
    ),
    declared(
        Group.COUNTERS,
        "bluefs_sst_bytes_written",
        "BlueFS bytes to tables",
        Unit.BYTES,
        LOWER,
        "counter bluefs.bytes_written_sst",
        is_total=True,
    ),
    declared(
        Group.COUNTERS,
        "slow_peak_bytes",
        "most bytes on the slow device",
        Unit.BYTES,
        LOWER,
        "counter bluefs.max_bytes_slow",
    ),
    declared(
        Group.COUNTERS, "db_used_bytes", "database size", Unit.BYTES, LOWER, "gauge bluefs.db_used_bytes at the end"
    ),
    declared(
        Group.COUNTERS,
        "onode_hit_share",
        "onodes found in cache",
        Unit.SHARE,
        HIGHER,
        "hits / (hits + misses) of the onode cache",
        noise=("bluestore.onode_hits", "onode_lookups"),
    ),
)

COUNTER_METRICS: tuple[Metric, ...] = (*_STALLS, *_COUNTERS)
