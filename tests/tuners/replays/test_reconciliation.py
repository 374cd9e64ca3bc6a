"""Sums that come out even, and those that do not."""

from collections.abc import Callable

from lsmlens.tuners.replays.measurement import Measurement
from lsmlens.tuners.replays.reconciliation import COMPACTION_TICKER, FLUSH_TICKER, unreconciled

Measured = Callable[..., Measurement]


def even(measured: Measured, **fields: object) -> Measurement:
    total = measured().total
    tickers = {FLUSH_TICKER: total.flush_bytes + 400, COMPACTION_TICKER: total.compaction_output_bytes}
    return measured(**{"tickers": tickers, "manifest_bytes": 400, **fields})


def test_sums_that_come_out_even_say_nothing(measured: Measured) -> None:
    assert list(unreconciled(even(measured))) == []


def test_a_record_too_many(measured: Measured) -> None:
    (said,) = unreconciled(even(measured, memtable_entries={"default": 8}))
    assert said.startswith("records do not reconcile")
    assert said.endswith("(+1)")


def test_a_byte_too_few(measured: Measured) -> None:
    (said,) = unreconciled(even(measured, manifest_bytes=399))
    assert said.startswith("bytes of flushes do not reconcile")
    assert said.endswith("(-1)")
    tickers = {**even(measured).tickers, COMPACTION_TICKER: 0}
    (said,) = unreconciled(even(measured, tickers=tickers))
    assert said.startswith("bytes of compactions do not reconcile")


def test_an_engine_without_tickers(measured: Measured) -> None:
    assert list(unreconciled(even(measured, tickers={}))) == [
        "bytes could not be held against tickers: the engine keeps none"
    ]
