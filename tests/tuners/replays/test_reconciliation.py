"""Sums that come out even, and those that do not."""

from collections.abc import Callable
from dataclasses import replace

from lsmlens.analyzer.runs.columns import frame
from lsmlens.analyzer.runs.jobs import BlobFile
from lsmlens.tuners.replays.manifest import FlushEdits
from lsmlens.tuners.replays.measurement import Measurement
from lsmlens.tuners.replays.reconciliation import (
    BLOB_FRAME_BYTES,
    COMPACTION_TICKER,
    FLUSH_TICKER,
    blob_frame_bytes,
    unreconciled,
)

Measured = Callable[..., Measurement]


def even(measured: Measured, **fields: object) -> Measurement:
    total = measured().total
    tickers = {FLUSH_TICKER: total.flush_bytes + 400, COMPACTION_TICKER: total.compaction_output_bytes}
    return measured(**{"tickers": tickers, **fields})


def test_sums_that_come_out_even_say_nothing(measured: Measured) -> None:
    assert list(unreconciled(even(measured))) == []


def test_a_record_too_many(measured: Measured) -> None:
    (said,) = unreconciled(even(measured, memtable_entries={"default": 8}))
    assert said.startswith("records do not reconcile")
    assert said.endswith("(+1)")


def test_a_byte_too_few(measured: Measured) -> None:
    (said,) = unreconciled(even(measured, flush_edits=FlushEdits(399)))
    assert said.startswith("bytes of flushes do not reconcile")
    assert said.endswith("(-1)")
    tickers = {**even(measured).tickers, COMPACTION_TICKER: 0}
    (said,) = unreconciled(even(measured, tickers=tickers))
    assert said.startswith("bytes of compactions do not reconcile")


def test_an_edit_that_another_thread_wrote(measured: Measured) -> None:
    one = even(measured, flush_edits=FlushEdits(435, (-35, 600)))
    (said,) = unreconciled(one)
    assert said.startswith(f"{FLUSH_TICKER} is -35 bytes off the log: 1 edit(s) of the MANIFEST")
    (said,) = unreconciled(even(measured, flush_edits=FlushEdits(434, (-35, 600))))
    assert said.startswith("bytes of flushes do not reconcile")


def test_a_ticker_that_counts_no_edits(measured: Measured) -> None:
    one = even(measured)
    tickers = {**one.tickers, FLUSH_TICKER: one.total.flush_bytes}
    assert list(unreconciled(even(measured, tickers=tickers))) == []


def test_subcompactions_that_the_ticker_leaves_out(measured: Measured) -> None:
    one = even(measured)
    several = replace(one.options, database={**one.options.database, "max_subcompactions": "4"})
    counted = one.tickers[COMPACTION_TICKER]
    for ticker, said in ((counted - 9, "max_subcompactions=4"), (counted + 9, "do not reconcile")):
        (note,) = unreconciled(replace(one, options=several, tickers={**one.tickers, COMPACTION_TICKER: ticker}))
        assert said in note


def test_heads_and_feet_of_blob_files(measured: Measured) -> None:
    files = [("flush", 1_500_000), ("flush", 2_500_000), ("compaction", 2_600_000), ("compaction", 2_700_000)]
    rows = [
        BlobFile(number=at, session=0, job=at, created_by=kind, created_at=micros)
        for at, (kind, micros) in enumerate(files)
    ]
    assert blob_frame_bytes(frame(BlobFile, rows), 2.0) == (BLOB_FRAME_BYTES, 2 * BLOB_FRAME_BYTES)
    one = even(measured)
    more = {FLUSH_TICKER: one.tickers[FLUSH_TICKER] + 62, COMPACTION_TICKER: one.tickers[COMPACTION_TICKER] + 124}
    assert list(unreconciled(replace(one, tickers=more, blob_frame_bytes=(62, 124)))) == []


def test_an_engine_without_tickers(measured: Measured) -> None:
    assert list(unreconciled(even(measured, tickers={}))) == [
        "bytes could not be held against tickers: the engine keeps none"
    ]
