"""Whether a replay's records and bytes come out even, by counts that do not know of one another."""

from collections.abc import Iterator

from lsmlens.tuners.replays.measurement import Measurement

FLUSH_TICKER = "rocksdb.flush.write.bytes"
COMPACTION_TICKER = "rocksdb.compact.write.bytes"


def unreconciled(measured: Measurement) -> Iterator[str]:
    """One sentence for each sum that does not come out even, and for each that cannot be made.

    Records written = entries that flushes took in + entries left in memtables. Bytes of the tables flushes and
    compactions wrote, by the log = the engine's tickers, of which that of flushes also counts their MANIFEST edits.
    """
    flushed = sum(one.flush_input_records for one in measured.families)
    left = sum(measured.memtable_entries.values())
    if flushed + left != measured.records:
        yield (
            f"records do not reconcile: {measured.records} written, {flushed} into flushes and {left} left in"
            f" memtables ({flushed + left - measured.records:+d})"
        )
    if not measured.tickers:
        yield "bytes could not be held against tickers: the engine keeps none"
        return
    for what, logged, ticker in (
        ("flushes", measured.total.flush_bytes + measured.manifest_bytes, FLUSH_TICKER),
        ("compactions", measured.total.compaction_output_bytes, COMPACTION_TICKER),
    ):
        counted = measured.tickers.get(ticker, 0)
        if logged != counted:
            off = logged - counted
            yield f"bytes of {what} do not reconcile: {logged} by the log, {counted} by {ticker} ({off:+d})"
