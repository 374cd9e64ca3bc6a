"""Watching logs: what each new part tells, added up for good, and analysed over a window that rolls.

A part is scanned and stitched as `fleet add` does the next hour of a log: behind what the last part left, so that jobs
which run across it are whole. The parts of the window are stitched together again now and then, and judged by the
rules. How far each log was read, the sums and what is still open are one file, written whole after each look: after a
restart nothing is lost, and nothing counted twice.
"""

import fcntl
import os
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
import polars as pl
from lsmlens.analyzer.bundles.compression import DamagedStream
from lsmlens.analyzer.bundles.embedders import Unwrap
from lsmlens.analyzer.bundles.roles import daemon_in, recognise_text
from lsmlens.analyzer.bundles.transports import UTF16, layers, transport_of, unwrapping
from lsmlens.analyzer.diagnosis import analyze_runs
from lsmlens.analyzer.errors import InputError, LsmlensError
from lsmlens.analyzer.fleet.carry import Carry, carry_of
from lsmlens.analyzer.fleet.dataset import write_whole
from lsmlens.analyzer.logs.blocks import Blocks, StreamedBlocks
from lsmlens.analyzer.logs.events import Event
from lsmlens.analyzer.logs.pieces import Piece, pieces_of
from lsmlens.analyzer.logs.scanner import Scanner
from lsmlens.analyzer.metrics import sums_of
from lsmlens.analyzer.runs.run import Run
from lsmlens.analyzer.runs.stitching import stitched
from lsmlens.analyzer.units import MICROS
from lsmlens.analyzer.watching.follower import Follower, Place

if TYPE_CHECKING:
    from lsmlens.analyzer.analysis import Analysis

# A judgement is made again after so many times what it cost: a half percent of one processor, however busy the log.
REST: Final = 200
REMEMBERED_JOBS: Final = 1 << 13  # a crash dump tells the last 10,000 lines again


# What is added up for good of each log: sums of jobs, as metrics have them, and what was read.
OF_JOBS: Final = (
    *("flushes", "flush_bytes", "compactions", "compaction_output_bytes", "compaction_seconds", "trivial_moves"),
)
OF_LOGS: Final = {
    "events": "RocksDB's events in the log",
    "stall_lines": "lines that say writes are slowed down or stopped",
    "lines": "lines of the log that were read",
    "bytes": "bytes of the log that were read",
    "truncations": "times that the log was cut short, or gone before its end was read",
}


class LogState(msgspec.Struct):
    """What is kept of one log from look to look, and on disk; `begun` is of lines that a container's runtime splits."""

    place: Place | None = None
    name: str = ""
    carry: Carry | None = None
    sums: dict[str, float] = msgspec.field(default_factory=lambda: dict.fromkeys((*OF_JOBS, *OF_LOGS), 0))
    recent: list[tuple[str, int, int]] = []
    findings: list[tuple[str, str | None]] = []
    begun: dict[bytes, bytes] = {}


@dataclass(frozen=True, slots=True)
class Happened:
    """Something to say: of which log, when by its clock, and what it is: a severity, `stall` or `note`."""

    log: str
    moment: datetime
    kind: str
    text: str


class Part(NamedTuple):
    """What one look found in a log, and what the looks before had left open."""

    piece: Piece
    before: Carry | None

    @property
    def pieces(self) -> list[Piece]:
        """The part with what goes before it."""
        return [self.piece] if self.before is None else [self.before.before([self.piece]), self.piece]


@dataclass(slots=True)
class Watched:
    """One log under watch; `name` is the daemon it is of, once known, and `kept` where its state is."""

    path: Path
    kept: Path
    state: LogState
    follower: Follower
    name: str
    parts: deque[Part] = field(default_factory=deque)
    run: Run | None = None
    has_changed: bool = False


class Watch:
    """Looks at logs again and again; `analysis` is of the window as it was judged last.

    `state_folder` holds a file for each log; `window_seconds` is how far back a judgement goes. Raises InputError for a
    folder, LsmlensError for a log that is watched already, and for a state that cannot be read.
    """

    def __init__(self, paths: Sequence[Path], state_folder: Path, window_seconds: float) -> None:
        self.window_seconds = window_seconds
        self.logs: list[Watched] = []
        self.analysis: Analysis | None = None
        self._next = 0.0
        self._locks = ExitStack()
        state_folder.mkdir(parents=True, exist_ok=True)
        try:
            self._begin(paths, state_folder)
        except BaseException:
            self.close()
            raise

    def _begin(self, paths: Sequence[Path], state_folder: Path) -> None:
        for path in dict.fromkeys(one.absolute() for one in paths):
            if path.is_dir():
                raise InputError(str(path), "a folder", "give the logs that are being written, such as ceph-osd.3.log")
            kept = state_folder / f"{blake2b(os.fsencode(path), digest_size=12).hexdigest()}.log"
            self._lock(path, kept)
            state = _state_at(kept)
            self.logs.append(Watched(path, kept, state, Follower(path, state.place), state.name or path.name))

    def look(self, judge: bool | None = None) -> list[Happened]:
        """Take in what is new, and say what is to be said of it. `judge`: now, or not; None when it is time to.

        Raises InputError for a log that may not be read, OSError where a state cannot be kept.
        """
        happened = [one for log in self.logs for one in self._take(log)]
        if judge or (judge is None and time.monotonic() >= self._next):
            began = time.process_time()
            happened += self._judge()
            self._next = time.monotonic() + REST * (time.process_time() - began)
        for log in self.logs:
            if log.has_changed:
                log.state.place, log.state.name = log.follower.place, log.name
                write_whole(log.kept, msgspec.msgpack.encode(log.state))
                log.has_changed = False
        return happened

    def close(self) -> None:
        """Let go of the logs."""
        for log in self.logs:
            log.follower.close()
        self._locks.close()

    def _lock(self, path: Path, kept: Path) -> None:
        lock = self._locks.enter_context(kept.with_suffix(".lock").open("w"))
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LsmlensError(f"{path} is watched already", "end the other, or choose another --state") from None

    def _take(self, log: Watched) -> Iterator[Happened]:
        for blocks in log.follower.parts():
            heads = list(layers(log.follower.head))
            for head in heads:
                if head.startswith(UTF16) or transport_of(head).is_shared:
                    hint = "watch the daemon's own log, or what `journalctl -f -o cat -u UNIT` writes"
                    raise InputError(str(log.path), "a log that daemons share", hint)
            unwraps = [unwrap for head in heads[:-1] if (unwrap := unwrapping(head, log.state.begun)) is not None]
            role = recognise_text(head, log.path.name)
            own = StreamedBlocks(DamagedStream(_OwnLines(blocks, unwraps))) if unwraps else blocks
            scan = Scanner(str(log.path), role).read(own)
            if scan.bytes:
                (piece, *_) = pieces_of(scan, role, str(log.path.parent), daemon_in(head, role))
                yield from self._stitch(log, Part(piece, log.state.carry))
        if log.follower.truncations:
            log.state.sums["truncations"] += log.follower.truncations
            log.follower.truncations, log.has_changed = 0, True
            yield Happened(log.name, datetime.now(UTC), "note", "the log was cut short: what was not read yet is lost")

    def _stitch(self, log: Watched, part: Part) -> Iterator[Happened]:
        """Take in one part: its sums, what it leaves open, and its place in the window."""
        state, scan, whole = log.state, part.piece.scan, part.pieces
        run = stitched(whole)
        told_before = 0 if part.before is None else sum(isinstance(one, Event) for one in part.before.records)
        state.carry = carry_of(run, whole) or state.carry
        if part.piece.daemon is not None or log.name == log.path.name:
            log.name = run.name
        sums = state.sums
        sums["events"] += run.event_counts.total() - told_before
        sums["lines"] += scan.lines
        sums["bytes"] += scan.bytes
        sums["stall_lines"] += sum(run.stall_lines.values())
        _add_jobs(state, run.jobs)
        for millis, family, kind in run.stall_moments:
            yield Happened(log.name, _moment(run.utc_micros(millis)), "stall", f"{family}: {kind}")
        log.has_changed = True
        log.parts.append(part)
        last = part.piece.stamps.last
        while last is not None and len(log.parts) > 1:
            end = log.parts[0].piece.stamps.last
            if end is not None and end >= last - 1000 * self.window_seconds:
                break
            log.parts.popleft()

    def _judge(self) -> Iterator[Happened]:
        """What the rules say of the window, and did not say before; and what they say no longer."""
        for log in self.logs:
            if log.parts:
                log.run = stitched([*log.parts[0].pieces, *(part.piece for part in list(log.parts)[1:])])
                log.run.name = log.name
        watched = [log for log in self.logs if log.run is not None]
        if not watched:
            return
        self.analysis = analyze_runs([], [log.run for log in watched if log.run is not None])
        for log, one in zip(watched, self.analysis.runs, strict=True):
            found = {(finding.code, finding.column_family): finding for finding in one.findings}
            moment = _moment(one.run.utc_micros(one.run.stamps.last or 0))
            for key, finding in found.items():
                if key not in log.state.findings:
                    of_family = f" ({finding.column_family})" if finding.column_family is not None else ""
                    text = f"{finding.code} {finding.title}{of_family}: {finding.value}"
                    yield Happened(log.name, moment, str(finding.severity), text)
            for code, family in log.state.findings:
                if (code, family) not in found:
                    yield Happened(log.name, moment, "note", f"{code}{f' ({family})' if family else ''} no longer")
            if log.state.findings != list(found):
                log.state.findings, log.has_changed = list(found), True


class _OwnLines:
    """Whole lines of a log that something wraps, as its daemon wrote them, to be read as a stream."""

    def __init__(self, blocks: Blocks, unwraps: Sequence[Unwrap]) -> None:
        self._lines = self._unwrapped(blocks, unwraps)

    def read(self, _: int = -1, /) -> bytes:
        """The lines of the next block, however many; none at the end."""
        return next(self._lines, b"")

    @staticmethod
    def _unwrapped(blocks: Blocks, unwraps: Sequence[Unwrap]) -> Iterator[bytes]:
        for block in blocks:
            text = bytes(block.view[block.begin : block.end])
            for unwrap in unwraps:
                text, _ = unwrap(text, False)
            if text:
                yield text


def _add_jobs(state: LogState, jobs: pl.DataFrame) -> None:
    """Add jobs up, those left out that a crash dump tells again."""
    known = set(state.recent)
    keys = list(jobs.select("kind", "job", pl.col("finished_at").to_physical()).iter_rows())
    new = jobs.filter(pl.Series([key not in known for key in keys], dtype=pl.Boolean))
    for name, value in sums_of(new, names=OF_JOBS).row(0, named=True).items():
        state.sums[name] += value
    state.recent = [*state.recent, *(key for key in keys if key not in known)][-REMEMBERED_JOBS:]


def _moment(micros: int) -> datetime:
    return datetime.fromtimestamp(micros / MICROS, UTC)


def _state_at(path: Path) -> LogState:
    try:
        return msgspec.msgpack.decode(path.read_bytes(), type=LogState)
    except FileNotFoundError:
        return LogState()
    except msgspec.DecodeError as error:
        raise LsmlensError(
            f"{path}: no state of a watch: {error}", "delete it: the log is then read from its start"
        ) from error
