"""Writers that wait as RocksDB makes them, in the workload's time: slowdowns, stops, and how near they come.

Flushes and compactions last as long as the log's did. RocksDB's own write controller says after each step whether
writes are stopped, and to which share of `delayed_write_rate` they are slowed down; what that costs a writer is counted
by the workload's clock, and all that it writes afterwards is that much later. For that RocksDB is given a rate that no
replay reaches: it lowers and raises a rate by factors only (db/column_family.cc), so that of its own tells the other.

Flushes are made at once, and then hold their memtables for as long as they would have lasted; that too many of these
stop and slow writes down is the same file's rule, counted here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import NamedTuple, Protocol

import numpy as np
from lsmlens.tuners.engines.compaction_gate import CompactionGate, HeldCompaction
from lsmlens.tuners.options.resolved_options import ResolvedOptions
from lsmlens.tuners.replays.course import PressurePoint, pressure_of
from lsmlens.tuners.replays.timed_compactions import BytesRead, Holdable, SecondsPerByte, being_compacted
from lsmlens.tuners.workloads.stream import Batches

DELAYED_WRITE_RATE = "delayed_write_rate"
# The rate that RocksDB is given, the one it takes where none is set, and the least it slows writes down to.
UNREACHED_RATE = 1 << 50
USUAL_RATE = 16 << 20
LEAST_RATE = 16 << 10
# A rate limiter serves compactions first once in so many times (GenericRateLimiter's fairness).
LEFT_OVER = 0.1
NOTHING = BytesRead(0.0, 0.0)


class Conditions(NamedTuple):
    """How writers and the device stand to those of the log.

    Writes come `load` times as fast. Flushes and compactions write no more than `bytes_per_second` together, flushes
    first, as under a rate limiter; None: each is as fast as it can be. `waited` are seconds of the log and how long its
    own writers had waited by then: they would have written so much earlier.
    """

    load: float = 1.0
    bytes_per_second: float | None = None
    waited: tuple[tuple[float, float], ...] = ()


class WriteStalls(NamedTuple):
    """What writers met in a replay, by the workload's clock.

    `stops` and `slowdowns` are spells; `stopped_seconds` and `delayed_seconds` what writers waited in them, as RocksDB
    counts it (time in which they would have been idle counts, too), and `slowed_seconds` how long writes were held to a
    rate, waiting or not. `seconds` is how long writing took. The peaks are by family, as replayed; `pressure` is the
    course, in the workload's own units.
    """

    stops: int
    slowdowns: int
    stopped_seconds: float
    delayed_seconds: float
    slowed_seconds: float
    seconds: float
    level0_files: Mapping[str, int]
    pending_compaction_bytes: Mapping[str, float]
    pressure: tuple[PressurePoint, ...] = ()

    @property
    def stall_seconds(self) -> float:
        """For how long writers waited in all."""
        return self.stopped_seconds + self.delayed_seconds


class Controlled(Holdable, Protocol):
    """What is needed of a database; see `Database`."""

    def integer_property(self, name: str, family: str = "default") -> int | None:
        """A property as a number."""


@dataclass(slots=True, eq=False)
class _Job:
    """A flush or a compaction that lasts: seconds of work that are left, and bytes it writes in each of them.

    A compaction is `held`, and has `read` so much.
    """

    family: str
    left: float
    bytes_per_second: float
    held: HeldCompaction | None = None
    read: BytesRead = NOTHING


@dataclass(slots=True)
class _Limits:
    """When a family's memtables slow writes down and stop them, and how many one flush takes in."""

    memtables: int
    merged: int

    @classmethod
    def of(cls, options: Mapping[str, str]) -> "_Limits":
        return cls(
            int(options.get("max_write_buffer_number", "2")),
            max(1, int(options.get("min_write_buffer_number_to_merge", "1"))),
        )

    def stops(self, waiting: int) -> bool:
        return waiting >= self.memtables

    def slows(self, waiting: int) -> bool:
        return self.memtables > 3 and waiting >= self.memtables - 1 and waiting - 1 >= self.merged


@dataclass(slots=True)
class _Count:
    """What was counted so far; see `WriteStalls`."""

    stops: int = 0
    slowdowns: int = 0
    stopped: float = 0.0
    delayed: float = 0.0
    slowed: float = 0.0
    level0_files: dict[str, int] = field(default_factory=dict)
    pending: dict[str, float] = field(default_factory=dict)
    points: list[PressurePoint] = field(default_factory=list)


class TimedWrites:
    """A database to be written to in the workload's time, with jobs that last and writers that wait.

    `seconds` are what a byte takes in each family, by the log's clock, as replayed (a scale's multiple); a family that
    is not in it takes what they do on average. `options` are those asked for, at `scale`.
    """

    def __init__(
        self,
        database: Controlled,
        gate: CompactionGate,
        options: ResolvedOptions,
        seconds: Mapping[str, SecondsPerByte],
        conditions: Conditions,
        scale: float,
    ) -> None:
        self._database = database
        self._gate = gate
        self._seconds = seconds
        self._other = SecondsPerByte.mean(seconds.values())
        self._load = conditions.load
        self._waited = np.array(conditions.waited or ((0.0, 0.0),)).T
        self._limit = None if conditions.bytes_per_second is None else conditions.bytes_per_second / scale
        self._scale = scale
        self._rate = delayed_write_rate(options) * scale
        self._limits = {family: _Limits.of(values) for family, values in options.families.items()}
        self._threads = flush_threads(options.database)
        self._moment = 0.0
        self._lag = self._written_by = 0.0
        self._balance = 0.0
        self._is_stopped = self._is_slowed = False
        self._compactions: list[_Job] = []
        self._flushes: list[_Job] = []
        self._sizes = {family: self._table_bytes(family) for family in options.families}
        self._count = _Count()
        gate.writes_are_stopped = self._writes_are_stopped
        gate.close()

    def write(self, batches: Batches, first: int, last: int) -> None:
        """Write batches when writers come to it: after what stops them, and as slowly as they are made to be."""
        begin, end = self._wanted(float(batches.seconds[first])), self._wanted(float(batches.seconds[last - 1]))
        self._advance(max(self._moment, begin + self._lag))
        self._wait_while_stopped()
        self._lag = max(self._lag, self._moment - begin)
        self._lag += self._delay(float(batches.offsets[last] - batches.offsets[first]), end - begin)
        self._gate.writing(True)
        self._database.write(batches, first, last)
        self._gate.writing(False)
        self._end_early_ones()
        self._advance(max(self._moment, end + self._lag))
        self._written_by = self._moment
        self._take_in_flushes()

    def settle(self) -> None:
        """Wait for flushes, and for the compactions whose time has come."""
        self._database.settle()
        self._take_in_flushes()
        self._take_in_compactions()
        self._look()

    def finish(self) -> None:
        """Let all jobs end, one after the other."""
        self.settle()
        self._advance(float("inf"))
        self._gate.open()
        self._database.settle()

    def stalls(self) -> WriteStalls:
        """What writers met so far."""
        count = self._count
        return WriteStalls(
            count.stops,
            count.slowdowns,
            count.stopped,
            count.delayed,
            count.slowed,
            self._written_by,
            dict(count.level0_files),
            dict(count.pending),
            pressure_of(count.points, self._moment),
        )

    def _wanted(self, second: float) -> float:
        """When writers would write what the workload has at this second, did nothing keep them."""
        return (second - float(np.interp(second, *self._waited))) / self._load

    def _delay(self, size: float, natural: float) -> float:
        """Seconds that writers lose to a slowdown with so many bytes, meant to be written in `natural` seconds."""
        rate = self._slowed_to()
        if not rate:
            self._is_slowed = False
            return 0.0
        if not self._is_slowed:
            self._count.slowdowns += 1
            self._balance = 0.0
        self._is_slowed = True
        # what is not written of the rate may be written later (WriteController::GetDelay)
        self._balance += natural - size * self._scale / rate
        delay = max(0.0, -self._balance)
        self._balance += delay
        self._count.slowed += natural + delay
        if delay:  # then all the time until the next write is spent in waiting, also what would have been idle
            self._count.delayed += min(natural + delay, size * self._scale / rate)
        return delay

    def _slowed_to(self) -> float:
        """Bytes a second, at scale 1, that writes are held to; 0 where they are not."""
        now = self._database.integer_property("rocksdb.actual-delayed-write-rate") or 0
        if now:
            return max(LEAST_RATE, self._rate * now / UNREACHED_RATE)
        return self._rate if any(self._limits[one].slows(self._waiting(one)) for one in self._limits) else 0.0

    def _wait_while_stopped(self) -> None:
        began = self._moment
        while (is_stopped := self._stops()) and (self._compactions or self._flushes):
            self._count.stops += not self._is_stopped
            self._is_stopped = True
            self._advance(self._next_end())
        self._is_stopped = is_stopped
        self._count.stopped += self._moment - began

    def _stops(self) -> bool:
        return self._writes_are_stopped() or any(self._limits[one].stops(self._waiting(one)) for one in self._limits)

    def _writes_are_stopped(self) -> bool:
        return self._database.text_property("rocksdb.is-write-stopped") == "1"

    def _waiting(self, family: str) -> int:
        """Full memtables of a family that are not flushed yet."""
        return sum(one.family == family for one in self._flushes) * self._limits[family].merged

    def _end_early_ones(self) -> None:
        """Compactions that had to end for a write to go on: it waited for them."""
        held = self._gate.held()
        for job in [one for one in self._compactions if one.held not in held]:
            speed = self._speeds()[job]
            self._compactions.remove(job)
            self._count.stops += 1
            self._count.stopped += job.left / speed
            self._lag += job.left / speed
            self._advance(self._moment + job.left / speed)

    def _running(self) -> list[_Job]:
        return [*islice(self._flushes, self._threads), *self._compactions]

    def _speeds(self) -> dict[_Job, float]:
        """How fast each job that runs goes on: as alone, or slower where all share a limit."""
        flushes, left = list(islice(self._flushes, self._threads)), self._limit
        speeds: dict[_Job, float] = {}
        for jobs in (flushes, self._compactions):  # RateLimiter serves flushes first
            wanted = sum(one.bytes_per_second for one in jobs)
            share = 1.0 if left is None or not wanted else min(1.0, left / wanted)
            speeds |= dict.fromkeys(jobs, share)
            left = None if left is None or self._limit is None else max(left - share * wanted, LEFT_OVER * self._limit)
        return speeds

    def _next_end(self) -> float:
        speeds = self._speeds()
        return self._moment + min((one.left / speed for one, speed in speeds.items()), default=0.0)

    def _advance(self, until: float) -> None:
        """Let jobs go on until a moment, and end those that come to their end."""
        while speeds := self._speeds():
            ending = min(speeds, key=lambda one: one.left / speeds[one])
            end = self._moment + ending.left / speeds[ending]
            if end > until:
                break
            self._go_on(speeds, end)
            if ending.held is None:
                self._flushes.remove(ending)
            else:
                self._compactions.remove(ending)
                self._gate.release(ending.held)
                self._database.settle()
                self._sizes = {family: self._table_bytes(family) for family in self._sizes}
                self._take_in_compactions()
            self._look()
        if until < float("inf"):
            self._go_on(self._speeds(), until)

    def _go_on(self, speeds: Mapping[_Job, float], moment: float) -> None:
        for one, speed in speeds.items():
            one.left = max(0.0, one.left - (moment - self._moment) * speed)
        self._moment = max(self._moment, moment)

    def _take_in_flushes(self) -> None:
        """Families that hold more bytes of tables than before were flushed, for no compaction has ended since."""
        for family, before in self._sizes.items():
            size = self._table_bytes(family)
            each = self._seconds.get(family, self._other).flush
            if size > before and each:
                self._flushes.append(_Job(family, (size - before) * each, 1 / each))
            self._sizes[family] = size

    def _take_in_compactions(self) -> None:
        """Say of each compaction that has begun how long it lasts; threads that share one share its bytes."""
        known = {one.held for one in self._compactions}
        begun: dict[str, list[HeldCompaction]] = {}
        for held in self._gate.held():
            if held not in known:
                begun.setdefault(held.family, []).append(held)
        for family, threads in begun.items():
            each = self._seconds.get(family, self._other)
            read = being_compacted(self._database, family)
            for job in self._compactions:
                if job.family == family:
                    read = read.without(job.read)
            read = BytesRead(*(one / len(threads) for one in read))
            seconds = max(read.bytes, 1.0) * (each.level0 if read.level0 else each.deeper)
            for held in threads:
                held.due = self._moment + seconds
                self._compactions.append(_Job(family, seconds, read.bytes * each.written / seconds, held, read))

    def _table_bytes(self, family: str) -> int:
        return self._database.integer_property("rocksdb.live-sst-files-size", family) or 0

    def _look(self) -> None:
        """Note level-0 files and bytes that wait for compaction."""
        ask, count = self._database.integer_property, self._count
        files = {one: ask("rocksdb.num-files-at-level0", one) or 0 for one in self._limits}
        pending = {one: float(ask("rocksdb.estimate-pending-compaction-bytes", one) or 0) for one in self._limits}
        for name in self._limits:
            count.level0_files[name] = max(files[name], count.level0_files.get(name, 0))
            count.pending[name] = max(pending[name], count.pending.get(name, 0.0))
        most = max(pending.values()) * self._scale
        count.points.append(PressurePoint(self._moment, max(files.values()), most))


def delayed_write_rate(options: ResolvedOptions) -> float:
    """Bytes a second that writes are slowed down to at first; where none is set, what RocksDB takes."""
    return float(options.database.get(DELAYED_WRITE_RATE, "0")) or USUAL_RATE


def with_unreached_rate(options: ResolvedOptions) -> ResolvedOptions:
    """The same options with a rate of slowed writes that no replay reaches."""
    return replace(options, database={**options.database, DELAYED_WRITE_RATE: str(UNREACHED_RATE)})


def as_asked(in_force: ResolvedOptions, asked: ResolvedOptions) -> ResolvedOptions:
    """Options in force, with the rate of slowed writes that stands for them."""
    rate = asked.database.get(DELAYED_WRITE_RATE, in_force.database.get(DELAYED_WRITE_RATE, "0"))
    return replace(in_force, database={**in_force.database, DELAYED_WRITE_RATE: rate})


def compaction_threads(database: Mapping[str, str]) -> int:
    """Compactions that may run at once (DBImpl::GetBGJobLimits)."""
    jobs, compactions = int(database.get("max_background_jobs", "2")), _old(database, "max_background_compactions")
    if compactions < 0 and _old(database, "max_background_flushes") < 0:
        return max(1, jobs - flush_threads(database))
    return max(1, compactions)


def flush_threads(database: Mapping[str, str]) -> int:
    """Flushes that may run at once (DBImpl::GetBGJobLimits)."""
    jobs, flushes = int(database.get("max_background_jobs", "2")), _old(database, "max_background_flushes")
    if flushes < 0 and _old(database, "max_background_compactions") < 0:
        return max(1, jobs // 4)
    return max(1, flushes)


def _old(database: Mapping[str, str], name: str) -> int:
    """Options of before 5.5, which still stand over max_background_jobs where they are set."""
    return int(database.get(name, "-1"))
