"""A replay from the open of its database to its figures. Runs in a process of its own: see `trial_process`.

Whether a replay's records and bytes come out even, by counts that do not know of one another.

The workload's time as the replayed database sees it: for options that compact files for their age.

Where the engine has a clock to set, it shows the workload's time. Otherwise the ages a workload reaches (`ttl`,
`periodic_compaction_seconds`) are multiplied by what the replay takes per time of the workload.
"""

import resource
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import polars as pl
import psutil
from lsmlens.analyzer.analysis import RunAnalysis, measure
from lsmlens.analyzer.dumps.statistics_dumps import parse_dump
from lsmlens.analyzer.errors import LsmlensError
from lsmlens.analyzer.measures.sorted_runs import SortedRuns, sorted_runs
from lsmlens.analyzer.numbers import counted
from lsmlens.analyzer.runs.jobs import FLUSH
from lsmlens.analyzer.runs.reading import read_runs
from lsmlens.analyzer.runs.selection import Selection
from lsmlens.tuners.engines.engine import Database, Engine
from lsmlens.tuners.options.resolved_options import ResolvedOptions
from lsmlens.tuners.replays.course import course_of, seconds_reached
from lsmlens.tuners.replays.generation import Generation
from lsmlens.tuners.replays.manifest import FlushEdits, flush_edits
from lsmlens.tuners.replays.measurement import Measurement, Mode, Stalls
from lsmlens.tuners.replays.replay_options import ages_below, for_replay, with_ages_times
from lsmlens.tuners.replays.timed_compactions import TimedCompactions
from lsmlens.tuners.replays.workspace import size_of
from lsmlens.tuners.replays.write_stalls import TimedWrites, WriteStalls, as_asked, with_unreached_rate
from lsmlens.tuners.replays.writing import LatencyRecorder, WrittenBatches, of_records, write_paced, write_settled
from lsmlens.tuners.workloads.stream import Batches, Stream

if TYPE_CHECKING:
    from lsmlens.tuners.replays.trial import Trial

WAL_TICKER = "rocksdb.wal.bytes"
CROWDED_SHARE = 0.1
MOST_OVERTIME, OVERTIME_SECONDS = 1.05, 0.5
FLUSH_TICKER = "rocksdb.flush.write.bytes"
COMPACTION_TICKER = "rocksdb.compact.write.bytes"
IMMUTABLE = "rocksdb.num-immutable-mem-table"
# A blob file's header and footer (db/blob/blob_log_format.h), which its `total_blob_bytes` leaves out.
BLOB_FRAME_BYTES = 30 + 32
# The share of a workload that is written to learn how long the whole will take.
PROBED_SHARE = 0.05


def replay(trial: "Trial", path: Path, tell: Callable[[float], None]) -> Measurement:
    """Replay a trial's workload in a new database at `path`, and read the LOG it leaves.

    `tell` is told the share that is done. Raises LsmlensError where the engine refuses the options or a batch.
    """
    stream = trial.stream
    if tuple(trial.options.families) != stream.families:
        raise LsmlensError(
            f"the workload writes to families {', '.join(stream.families)},"
            f" the options name {', '.join(trial.options.families)}"
        )
    engine = trial.engine()
    memory_before = psutil.Process().memory_info().rss
    path.mkdir()
    factor, database = _opened(trial, engine, path)
    opened = float(int(time.time()))  # the memtables that are there now carry this second
    recorder = LatencyRecorder()
    writers: TimedWrites | None = None

    steps: list[tuple[float, float]] = []

    def reached(seconds: float) -> None:
        steps.append((time.time(), seconds))
        tell(seconds / stream.seconds if stream.seconds else 0.0)

    if trial.mode is Mode.SETTLED:
        chunks = stream.batches(trial.seed, trial.scale)
        preloaded = _preload(trial, database, chunks)
        start = _State.of(database, path)
        timed = _timed(trial, database)
        writers = timed if isinstance(timed, TimedWrites) else None
        show = partial(_show, database, opened)
        written = write_settled(timed or database, chunks, trial.step_bytes, show, reached, database.read)
        if timed is not None:
            timed.finish()
    else:
        with Generation(stream, trial.seed, trial.scale) as generation:
            preloaded = _preload(trial, database, generation)
            start = _State.of(database, path)
            written = write_paced(database, generation, trial.pace, recorder, reached, database.read)
            written.generation_seconds = generation.seconds
    if trial.flush_at_end:
        for family in stream.families:
            database.flush(family)
        database.settle()
    end = _State.of(database, path)
    left = {family: _entries_left(database, family) for family in stream.families}
    waiting = {family: database.integer_property(IMMUTABLE, family) or 0 for family in stream.families}
    space = sum(database.integer_property("rocksdb.live-sst-files-size", family) or 0 for family in stream.families)
    in_force = as_asked(database.options, trial.options) if writers is not None else database.options
    write_stalls = writers.stalls() if writers is not None else None
    all_files = size_of(path)
    database.close()
    peak_memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    run = _logged(path, trial.keep_log, start.moment if preloaded else None)
    wall = end.wall - start.wall
    tickers = {name: count - start.tickers.get(name, 0) for name, count in end.tickers.items()}
    measured = Measurement(
        seed=trial.seed,
        scale=trial.scale,
        mode=trial.mode,
        engine=engine.name,
        rocksdb_version=engine.version,
        library=None if trial.engine.library is None else str(trial.engine.library),
        options=in_force,
        statistics=replace(run.statistics, log_duration_seconds=wall),
        families=run.families,
        levels=run.levels,
        total=run.total,
        flushes=run.flushes,
        stalls=Stalls(_stalled(start, end, write_stalls), dict(run.run.stall_lines)),
        tickers=tickers,
        preloaded_records=preloaded,
        records=written.records,
        user_bytes=written.user_bytes,
        wal_bytes=tickers.get(WAL_TICKER),
        flush_edits=end.flush_edits.since(start.flush_edits),
        blob_frame_bytes=blob_frame_bytes(run.blob_files, start.moment),
        memtable_entries=left,
        workload_seconds=stream.seconds,
        wall_seconds=wall,
        settle_seconds=written.settle_seconds,
        generation_seconds=written.generation_seconds,
        cpu_seconds=max(0.0, end.cpu - start.cpu - written.generation_cpu_seconds),
        memory_before_open_bytes=memory_before,
        peak_memory_bytes=peak_memory,
        space_bytes=space,
        peak_space_bytes=max(space, all_files),
        sorted_runs=_sorted_runs(run, steps, start.moment, trial, waiting),
        reads=written.reads,
        latencies=recorder.latencies(),
        write_stalls=write_stalls,
        course=course_of(run.jobs, steps, start.moment, stream.seconds),
        disturbances=(*_disturbances(trial, written, wall), *_crowd(trial, start, end, written)),
    )
    aged = [] if factor is None else [aged_note(trial.options, trial.mode, stream.seconds, factor, wall)]
    notes = (
        *(*engine.notes, *in_force.warnings),
        *(*aged, *measured.disturbances, *_log_notes(run)),
    )
    return replace(measured, notes=tuple(dict.fromkeys((*notes, *unreconciled(measured)))))


@dataclass(frozen=True, slots=True)
class _State:
    """What counts up while a database is written to, at one moment; `busy` is all processors' time in all processes."""

    moment: float
    wall: float
    cpu: float
    busy: float
    stall: float | None
    tickers: Mapping[str, int]
    flush_edits: FlushEdits

    @classmethod
    def of(cls, database: Database, path: Path) -> "_State":
        return cls(
            moment=time.time(),
            wall=time.perf_counter(),
            cpu=time.process_time(),
            busy=_busy_seconds(),
            stall=_stall_seconds(database),
            tickers=dict(database.tickers()),
            flush_edits=flush_edits(path),
        )


@runtime_checkable
class _Preloading(Protocol):
    """A stream that begins with records that are in the database before the workload."""

    def preloaded_records(self, scale: float) -> int:
        """How many records, in chunks of their own."""


def _preload(trial: "Trial", database: Database, chunks: Iterator[Batches]) -> int:
    """Write what the database holds before the workload, flush and settle it; how many records that are."""
    records = trial.stream.preloaded_records(trial.scale) if isinstance(trial.stream, _Preloading) else 0
    if records:
        write_settled(database, of_records(chunks, records), trial.step_bytes, lambda _: None, lambda _: None)
        for family in trial.stream.families:
            database.flush(family)
        database.settle()
    return records


def _opened(trial: "Trial", engine: Engine, path: Path) -> tuple[float | None, Database]:
    """What ages in the options were multiplied by (None: nothing), and the open database."""
    stream = trial.stream
    options = for_replay(trial.options if trial.conditions is None else with_unreached_rate(trial.options))
    has_ages = bool(ages_below(options, stream.seconds))
    factor: float | None = None
    if trial.mode is Mode.PACED:
        factor = 1 / trial.pace if has_ages and trial.pace != 1 else None
    else:
        database = engine.open(path, options, bool(trial.compaction_seconds))
        if database.set_clock(int(time.time())) or not has_ages:
            return None, database
        try:
            factor = probed_factor(database, stream, trial.seed, trial.scale, trial.step_bytes)
        finally:
            database.close()
        shutil.rmtree(path)
        path.mkdir()
    if factor is not None:
        options = with_ages_times(options, stream.seconds, factor)
    return factor, engine.open(path, options, bool(trial.compaction_seconds))


def _timed(trial: "Trial", database: Database) -> TimedCompactions | TimedWrites | None:
    """The database with compactions that last; None where they end at once, or the engine cannot hold them."""
    if not trial.compaction_seconds or database.gate is None:
        return None
    seconds = {family: each.times(trial.scale) for family, each in trial.compaction_seconds.items()}
    if trial.conditions is not None:
        return TimedWrites(database, database.gate, trial.options, seconds, trial.conditions, trial.scale)
    return TimedCompactions(database, database.gate, seconds)


def _show(database: Database, opened: float, moment: float) -> None:
    database.set_clock(opened + moment)


def _disturbances(trial: "Trial", written: WrittenBatches, wall: float) -> list[str]:
    """What latencies and stalls hold besides those of the options."""
    said = []
    meant, took = trial.stream.seconds / trial.pace, wall - written.settle_seconds
    if trial.mode is Mode.PACED and took > meant * MOST_OVERTIME + OVERTIME_SECONDS:
        said.append(
            f"the rate was not kept: {took:.1f} s for writes meant to take {meant:.1f} s; latencies are those of a"
            " backlog that grows (a lower --pace keeps it)"
        )
    if trial.mode is Mode.PACED and trial.scale != 1:
        said.append(
            f"paced at scale {trial.scale:g}: 1/{trial.scale:g} of the workload's rate on buffers as much smaller;"
            " stalls, latency and CPU do not scale"
        )
    if written.chunks_late:
        said.append(f"the workload itself was late {counted(written.chunks_late, 'time')}; latencies hold that, too")
    return said


def _log_notes(run: RunAnalysis) -> tuple[str, ...]:
    """What the log's reading has to say; a log without events is a replay that was too small to have any."""
    if run.total.flushes:
        return run.notes
    small = "no memtable was filled: nothing was flushed (a lower scale writes more, --flush-at-end flushes the rest)"
    return (small, *(run.notes if run.run.event_counts else ()))


def _crowd(trial: "Trial", start: _State, end: _State, written: WrittenBatches) -> Iterator[str]:
    """What other processes took of the machine, where that bears on the figures."""
    ours = end.cpu - start.cpu + written.generation_seconds
    share = (end.busy - start.busy - ours) / ((end.wall - start.wall) * (psutil.cpu_count() or 1))
    if trial.mode is Mode.PACED and share > CROWDED_SHARE:
        yield f"other processes took {100 * share:.0f} % of the processors meanwhile; latencies and stalls hold that"


def _busy_seconds() -> float:
    times = psutil.cpu_times()
    return float(sum(times) - times.idle - getattr(times, "iowait", 0.0) - getattr(times, "guest", 0.0))


def _entries_left(database: Database, family: str) -> int:
    """Entries in the family's memtables, active and waiting to be flushed."""
    active = database.integer_property("rocksdb.num-entries-active-mem-table", family) or 0
    return active + (database.integer_property("rocksdb.num-entries-imm-mem-tables", family) or 0)


def _sorted_runs(
    run: RunAnalysis, steps: Sequence[tuple[float, float]], since: float, trial: "Trial", waiting: Mapping[str, int]
) -> dict[str, SortedRuns]:
    """By family, over the workload's own time; `waiting` full memtables are left at its end."""
    seconds = trial.stream.seconds
    if not steps or not seconds:
        return {}
    moments = [
        pl.Series(name, seconds_reached(when.to_numpy(), steps, since, trial.mode is Mode.SETTLED))
        for name, column in (("started", "started_at"), ("finished", "finished_at"))
        for when in (run.jobs[column].fill_null(run.jobs["finished_at"]).to_physical() / 1e6,)
    ]
    return sorted_runs(run.jobs.with_columns(*moments), (0.0, seconds), waiting)


def _stalled(start: _State, end: _State, write_stalls: WriteStalls | None) -> float | None:
    """For how long writes were stalled: by the workload's clock where writers wait by it, else by the database's."""
    if write_stalls is not None:
        return write_stalls.stall_seconds
    return None if end.stall is None or start.stall is None else end.stall - start.stall


def _stall_seconds(database: Database) -> float | None:
    """What the database itself says of its stalls; None where it says nothing."""
    text = database.text_property("rocksdb.dbstats")
    dump = parse_dump(text) if text else None
    return dump.database.stall.seconds if dump and dump.database and dump.database.stall else None


def _logged(path: Path, keep: Path | None, since: float | None) -> RunAnalysis:
    """The one run that the LOG's pieces come to; only its jobs from a moment on, if one is given."""
    pieces = sorted(path.glob("LOG*"))
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        for piece in pieces:
            shutil.copy2(piece, keep)
    runs = read_runs([str(piece) for piece in pieces])[1]
    if len(runs) != 1:
        raise LsmlensError(f"the database's LOG was read as {len(runs)} runs")
    return measure(runs[0], Selection(since=None if since is None else f"{since:.6f}"))


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


def blob_frame_bytes(blob_files: pl.DataFrame, since: float) -> tuple[int, int]:
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
            f"{FLUSH_TICKER} is {counted - logged:+d} bytes off the log: edits of the MANIFEST ({moved}) were"
            " written together with another job's, and count as written by the one whose thread did so"
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


def probed_factor(database: Database, stream: Stream, seed: int, scale: float, step_bytes: int) -> float:
    """Seconds that settled writing takes per second of the workload, over the workload's first part."""
    until = stream.seconds * PROBED_SHARE
    begin = time.perf_counter()
    reached = 0.0

    def first_part() -> Iterator[Batches]:
        nonlocal reached
        for batches in stream.batches(seed, scale):
            yield batches
            reached = float(batches.seconds[-1]) if len(batches.seconds) else reached
            if reached >= until:
                return

    write_settled(database, first_part(), step_bytes, lambda _: None, lambda _: None)
    return (time.perf_counter() - begin) / reached if reached else 1.0


def aged_note(options: ResolvedOptions, mode: Mode, workload_seconds: float, factor: float, wall_seconds: float) -> str:
    """What was done to ages, and how well it was met."""
    ages = ages_below(options, workload_seconds)
    named = ", ".join(sorted({f"{name} {age} s" for reached in ages.values() for name, age in reached.items()}))
    if mode is Mode.PACED:
        return f"{named} multiplied by {factor:.3g}, for the workload went {1 / factor:g} times as fast as its clock"
    return (
        f"the engine has no clock to set: {named} multiplied by {factor:.3g}; the replay took"
        f" {wall_seconds / workload_seconds:.3g} of the workload's time"
    )
