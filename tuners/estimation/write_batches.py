"""Write batches: how many operations each holds, by what counts batches beside the log's events.

Statistics dumps print how many keys were written in how many writes; BlueStore counts the batches it submits to RocksDB
and the writes of clients, against which stand the operations of the log's flushes.
"""

from typing import NamedTuple

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.counters.counter_series import in_series
from lsmlens.analyzer.counters.perf_dumps import PerfDump
from lsmlens.analyzer.numbers import plain
from lsmlens.tuners.estimation.history import History

# Fewer writes are those of a start.
LEAST_WRITES = 1000
# Bytes of tables by the log and by BlueFS's counter agree this well where the log holds the daemon's whole life.
WHOLE_LIFE = 0.05
# How BlueStore hands its batches over: rocksdb.submit_latency without a sync, submit_sync_latency with one.
SUBMITTED = ("rocksdb.submit_latency", "rocksdb.submit_sync_latency")


class WriteBatches(NamedTuple):
    """Operations in each write batch, on average, and where that stands.

    `by_client_write` are the operations, by family, for each write of a client; empty where none are counted.
    """

    operations: float
    source: str
    by_client_write: dict[str, float]


def write_batches(run: RunAnalysis, history: History) -> WriteBatches | None:
    """What counters say, else dumps; None where neither counts enough writes."""
    return _by_counters(run, history) or _by_dumps(run)


def _by_counters(run: RunAnalysis, history: History) -> WriteBatches | None:
    """Over the daemon's last life, where the log holds the whole of it."""
    check = run.cross_check
    if check is None or check.difference is None or abs(check.difference) > WHOLE_LIFE:
        return None
    dump = in_series(run.beside.perf_dumps)[-1][-1]
    written = sum(_count(dump, name) for name in SUBMITTED)
    if written < LEAST_WRITES:
        return None
    last = max(history.session_starts)
    operations = {
        name: sum(flush.entries for flush in family.flushes if flush.session == last)
        for name, family in sorted(history.families.items())
    }
    clients = float(run.counters.client_writes or 0) if run.counters is not None else 0.0
    return WriteBatches(
        sum(operations.values()) / written,
        f"{dump.source.rsplit('/', 1)[-1]}, {written} batches",
        {name: count / clients for name, count in operations.items() if count} if clients >= LEAST_WRITES else {},
    )


def _count(dump: PerfDump, name: str) -> int:
    average = dump.average(name)
    return average.count if average is not None else 0


def _by_dumps(run: RunAnalysis) -> WriteBatches | None:
    points = run.series.last_of_opens if run.series is not None else ()
    counted = [(one.user_writes, one.user_keys) for one in points if one.user_writes and one.user_keys]
    writes, keys = (sum(one) for one in zip(*counted, strict=True)) if counted else (0, 0)
    if writes < LEAST_WRITES:
        return None
    return WriteBatches(keys / writes, f"statistics dumps, {plain(round(writes))} writes", {})
