"""A replay from open to figures, in this process: the workload's time as the database sees it."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from lsmlens.analyzer.runs.columns import frame
from lsmlens.analyzer.runs.jobs import BlobFile
from lsmlens.tuners.engines.choice import EngineChoice
from lsmlens.tuners.options.resolved_options import ResolvedOptions
from lsmlens.tuners.replays import replaying
from lsmlens.tuners.replays.manifest import FlushEdits
from lsmlens.tuners.replays.measurement import Measurement, Mode
from lsmlens.tuners.replays.replaying import (
    BLOB_FRAME_BYTES,
    COMPACTION_TICKER,
    FLUSH_TICKER,
    blob_frame_bytes,
    replay,
    unreconciled,
)
from lsmlens.tuners.replays.trial import Trial
from lsmlens.tuners.workloads.components import Growth, Keys
from lsmlens.tuners.workloads.document import ColumnFamily, Workload
from lsmlens.tuners.workloads.generator import DeclaredStream
from lsmlens.tuners.workloads.reads import FamilyReads, Gets, Iterators

Measured = Callable[..., Measurement]


class Spied:
    """A thing whose methods may be replaced, and that notes the clock it is told."""

    def __init__(self, inner: Any, told: list[float], has_clock: bool) -> None:
        self._inner, self._told, self._has_clock = inner, told, has_clock

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def open(self, path: Path, options: ResolvedOptions, holds: bool = False) -> "Spied":
        return Spied(self._inner.open(path, options, holds), self._told, self._has_clock)

    def set_clock(self, seconds: float) -> bool:
        self._told.append(seconds)
        return bool(self._inner.set_clock(seconds)) if self._has_clock else False


@dataclass(frozen=True)
class SpiedChoice:
    told: list[float]
    has_clock: bool
    library: Path | None = None

    def __call__(self) -> Spied:
        return Spied(EngineChoice("rocksdict", "9.8.4")(), self.told, self.has_clock)


def trial(choice: Any, seconds: float = 4000.0, **options: str) -> Trial:
    """2 MB of new keys over more than an hour, all in tables of their own."""
    growth = Growth(rate=4000 / seconds)
    family = ColumnFamily(name="default", keys=Keys(length=50), values=450, components=(growth,))
    stream = DeclaredStream(Workload(name="slow", seconds=seconds, column_families=(family,)))
    values = {
        **{"write_buffer_size": "262144", "arena_block_size": "0", "compression": "kNoCompression"},
        **{"level0_file_num_compaction_trigger": "2", "max_bytes_for_level_base": "268435456"},
        **{"ttl": "0", "periodic_compaction_seconds": "0", **options},
    }
    resolved = ResolvedOptions("slow", "9.8.4", {"max_background_jobs": "2"}, {"default": values}, {})
    return Trial(stream, resolved, choice)


@contextmanager
def reasons(path: Path) -> Iterator[set[str]]:
    found: set[str] = set()
    yield found
    for line in (path / "LOG").read_text().splitlines():
        if '"compaction_reason": "' in line:
            found.add(line.split('"compaction_reason": "')[1].split('"')[0])


def test_files_grow_old_by_the_workloads_time(tmp_path: Path) -> None:
    told: list[float] = []
    before = int(time.time())
    with reasons(tmp_path / "db") as found:
        measured = replay(trial(SpiedChoice(told, True), periodic_compaction_seconds="600"), tmp_path / "db", print)
    assert "PeriodicCompaction" in found
    assert before <= told[0] <= before + 60
    assert told == sorted(told)
    assert told[-1] - told[0] == pytest.approx(4000, abs=200)
    assert not [note for note in measured.notes if "clock" in note]


def test_young_files_are_left_alone(tmp_path: Path) -> None:
    with reasons(tmp_path / "db") as found:
        replay(trial(SpiedChoice([], True), periodic_compaction_seconds="60000"), tmp_path / "db", print)
    assert "PeriodicCompaction" not in found


def test_without_a_clock_to_set_ages_are_scaled_and_it_is_said(tmp_path: Path) -> None:
    slow = trial(SpiedChoice([], False), periodic_compaction_seconds="600", ttl="100000")
    measured = replay(slow, tmp_path / "db", print)
    (said,) = [note for note in measured.notes if "clock" in note]
    assert "periodic_compaction_seconds 600 s multiplied by" in said
    assert int(measured.options.families["default"]["periodic_compaction_seconds"]) < 60
    assert measured.options.families["default"]["ttl"] == "100000"
    assert not [note for note in measured.notes if "reconcile" in note]


def test_a_faster_pace_makes_ages_shorter(tmp_path: Path) -> None:
    fast = replace(trial(SpiedChoice([], True), ttl="600"), mode=Mode.PACED, pace=2000.0)
    measured = replay(fast, tmp_path / "db", print)
    assert measured.options.families["default"]["ttl"] == "1"
    assert [note for note in measured.notes if "ttl 600 s multiplied by 0.0005" in note]
    untouched = replay(replace(fast, stream=trial(None, 1.0).stream, pace=1.0), tmp_path / "other", print)
    assert untouched.options.families["default"]["ttl"] == "600"


def test_a_rate_that_is_not_kept_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replaying, "OVERTIME_SECONDS", 0.0)
    hasty = replace(trial(SpiedChoice([], True)), mode=Mode.PACED, pace=1e9)
    measured = replay(hasty, tmp_path / "db", print)
    assert [note for note in measured.notes if note.startswith("the rate was not kept")]
    monkeypatch.setattr(replaying, "OVERTIME_SECONDS", 30.0)
    slow = replace(trial(SpiedChoice([], True), seconds=1.0), mode=Mode.PACED)
    assert not [note for note in replay(slow, tmp_path / "slow", print).notes if "rate" in note]


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
    assert said.startswith(f"{FLUSH_TICKER} is -35 bytes off the log: edits of the MANIFEST (1)")
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


def test_sorted_runs_are_means_over_the_workload_s_time(tmp_path: Path) -> None:
    """New tables are never compacted: level 0 grows from none to all of them, the memtable is alone but for a while."""
    kept = trial(EngineChoice("rocksdict", "9.8.4"), level0_file_num_compaction_trigger="100")
    measured = replay(kept, tmp_path / "kept", lambda _: None)
    flushes = measured.total.flushes
    assert flushes > 6
    runs = measured.sorted_runs["default"]
    assert runs.memtables == pytest.approx(1.0, abs=0.1)
    assert runs.level0_files == pytest.approx(flushes / 2, rel=0.15)
    assert runs.levels == 0
    merged = trial(
        EngineChoice("rocksdict", "9.8.4"),
        level0_file_num_compaction_trigger="100",
        max_write_buffer_number="8",
        min_write_buffer_number_to_merge="4",
    )
    fewer = replay(merged, tmp_path / "merged", lambda _: None)
    assert fewer.sorted_runs["default"].memtables == pytest.approx(2.5, abs=0.2)
    assert fewer.sorted_runs["default"].level0_files < runs.level0_files / 2


def test_a_replay_makes_the_workload_s_reads(tmp_path: Path) -> None:
    growth = Growth(rate=20.0)
    reads = FamilyReads(gets=Gets(rate=15.0, absent=0.4), iterators=Iterators(per_put=0.05, nexts=4))
    family = ColumnFamily(name="default", keys=Keys(length=50), values=450, components=(growth,), reads=reads)
    stream = DeclaredStream(Workload(name="read", seconds=200.0, column_families=(family,)))
    asked = replace(trial(EngineChoice("rocksdict", "9.8.4")), stream=stream)
    measured = replay(asked, tmp_path / "db", lambda _: None)
    counts = measured.reads
    assert counts.gets == pytest.approx(3000, rel=0.01)
    assert counts.gets_found == pytest.approx(0.6 * counts.gets, rel=0.05)
    assert counts.seeks == pytest.approx(200, rel=0.02)
    assert counts.nexts == pytest.approx(4 * counts.seeks, rel=0.1)
    assert counts.blocks_per_get is not None
    again = replay(asked, tmp_path / "again", lambda _: None)
    assert (again.reads.gets_found, again.reads.nexts) == (counts.gets_found, counts.nexts)
    silent = replay(trial(EngineChoice("rocksdict", "9.8.4")), tmp_path / "silent", lambda _: None)
    assert silent.reads.gets == silent.reads.seeks == 0
