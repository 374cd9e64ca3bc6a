"""Whether a replay's records and bytes come out even, by counts that do not know of one another."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lsmlens.analyzer.runs.jobs import FLUSH
from lsmlens.tuners.replays.measurement import Measurement

if TYPE_CHECKING:
    import polars as pl

FLUSH_TICKER = "rocksdb.flush.write.bytes"
COMPACTION_TICKER = "rocksdb.compact.write.bytes"
# A blob file's header and footer (db/blob/blob_log_format.h), which its `total_blob_bytes` leaves out.
BLOB_FRAME_BYTES = 30 + 32


def unreconciled(measured: Measurement) -> Iterator[str]:
    """One sentence for each sum that does not come out even, and for each that cannot be made.

    Records written = entries that flushes took in + entries left in memtables. Bytes of the tables flushes and
    compactions wrote, by the log = the engine's tickers. These count blob files whole; that of flushes also counts
    their MANIFEST edits, of which other jobs' threads may have written some, and they others' (see `manifest`); that of
    11.8 counts no edits.
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
    yield from _flush_bytes(measured)
    yield from _compaction_bytes(measured)


def blob_frame_bytes(blob_files: "pl.DataFrame", since: float) -> tuple[int, int]:
    """Bytes of the headers and footers of the blob files that flushes, and that compactions wrote from a moment on."""
    written = blob_files.filter(blob_files["created_at"].to_physical() >= since * 1e6)["created_by"]
    by_flushes = int((written == FLUSH).sum())
    return by_flushes * BLOB_FRAME_BYTES, (len(written) - by_flushes) * BLOB_FRAME_BYTES


def _flush_bytes(measured: Measurement) -> Iterator[str]:
    edits = measured.flush_edits
    logged = measured.total.flush_bytes + edits.bytes + measured.blob_frame_bytes[0]
    counted = measured.tickers.get(FLUSH_TICKER, 0)
    moved = 0 if counted == logged - edits.bytes else edits.moved(counted - logged)
    if moved:
        yield (
            f"{FLUSH_TICKER} is {counted - logged:+d} bytes off the log: {moved} edit(s) of the MANIFEST were written"
            " together with another job's, and count as written by the one whose thread did so"
        )
    elif moved is None:
        yield _uneven("flushes", logged, counted, FLUSH_TICKER)


def _compaction_bytes(measured: Measurement) -> Iterator[str]:
    logged = measured.total.compaction_output_bytes + measured.blob_frame_bytes[1]
    counted = measured.tickers.get(COMPACTION_TICKER, 0)
    threads = measured.options.database.get("max_subcompactions", "1")
    if logged > counted and threads not in ("0", "1"):
        yield (
            f"{COMPACTION_TICKER} is {counted - logged:+d} bytes off the log: it leaves out a part of what the further"
            f" threads of compactions write (max_subcompactions={threads})"
        )
    elif logged != counted:
        yield _uneven("compactions", logged, counted, COMPACTION_TICKER)


def _uneven(what: str, logged: int, counted: int, ticker: str) -> str:
    return f"bytes of {what} do not reconcile: {logged} by the log, {counted} by {ticker} ({logged - counted:+d})"
