"""Whose fault slow operations are, over several OSDs: the OSD waited for, its host, its device, its compaction.

An operation is told by an OSD that was asked: in dump_historic_ops and its kin, or in a line "slow request …" of its
log or the cluster's. At fault are the peers that it waited for most of its time ("waiting for subops from 6,11", until
each one's answer), else the OSD itself. Whether it compacted then is told by its own log, which need not be there.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import polars as pl
from lsmlens.analyzer.clients.operations import Operation, peers_in
from lsmlens.analyzer.measures.coincidences import SLOW_SECONDS, Interval, Overlap, count_moments, measure_overlap
from lsmlens.analyzer.numbers import counted
from lsmlens.analyzer.runs.jobs import COMPACTION
from lsmlens.analyzer.runs.osds import OSD_NAME, osd_number
from lsmlens.analyzer.runs.run import SlowOperation, SlowRequest
from lsmlens.analyzer.units import MICROS

if TYPE_CHECKING:
    from lsmlens.analyzer.analysis import RunAnalysis

# Ours: a peer is at fault that took most of the operation's time, an OSD or a host that has nine of ten operations.
WAITED_SHARE, ALWAYS_SHARE = 0.5, 0.9
# Ours, as in R12: fewer operations, or at fewer moments, say nothing of compactions.
LEAST_OPERATIONS, LEAST_MOMENTS, RATIO = 10, 5, 3.0
LINES = "BlueStore"
NAMES_SHOWN = 6


class Wait(NamedTuple):
    """One slow operation: which OSD was asked, whose fault it was, what it was at, and when (UTC, if that is known)."""

    asked: int
    at_fault: tuple[int, ...]
    stage: str
    seconds: float
    interval: Interval | None


class During(NamedTuple):
    """How often an OSD's slow operations overlap its compactions: of `families`, or of all for an empty name."""

    family: str
    overlap: Overlap
    moments: int


@dataclass(frozen=True, slots=True)
class OsdBlame:
    """The slow operations that one OSD is at fault for; `asked` counts them by the OSD that tells of them.

    `during` is None where its log does not cover them, or there are too few.
    """

    osd: int
    host: str | None
    devices: tuple[str, ...]
    operations: int
    asked: Mapping[int, int]
    longest_seconds: float
    stages: Mapping[str, int]
    has_log: bool
    during: During | None

    @property
    def is_compaction(self) -> bool | None:
        """Whether they fall together with its compactions more often than by chance; None where nothing tells."""
        if self.during is None:
            return None
        overlap = self.during.overlap
        ratio, interval = overlap.ratio, overlap.interval
        if ratio is not None and interval is not None and ratio > RATIO and interval[0] > 1:
            return True
        return False if overlap.chance_share * RATIO < 1 else None

    @property
    def verdict(self) -> str:
        """What its compactions have to do with it, in words."""
        if self.during is None:
            return "too few to tell of compaction" if self.has_log else "its log, which would tell, is not here"
        overlap = self.during.overlap
        times = "" if overlap.ratio is None else f"{overlap.ratio:.1f} times as often as by chance"
        if self.is_compaction:
            of = f"compaction of {self.during.family}" if self.during.family else "compaction"
            return f"during {of}, {times}"
        if self.is_compaction is None:
            return "it compacted nearly all the time, which tells nothing"
        return f"not compaction{f': during it {times}' if times else ': there was none then'}"


@dataclass(frozen=True, slots=True)
class Blame:
    """All slow operations of a bundle by the OSD at fault, most first; `operations` are as many as were told."""

    operations: int
    asked: tuple[int, ...]
    osds: tuple[OsdBlame, ...]

    @property
    def sentences(self) -> Iterator[str]:
        """The answer: always one OSD, all of one host, one device, or none that stands out; and whether compaction."""
        told = f"{counted(self.operations, 'slow operation')} of {_osds(self.asked)}"
        first = self.osds[0]
        at_fault = [one for one in self.osds if one.operations > (1 - ALWAYS_SHARE) * self.operations]
        hosts = {one.host for one in at_fault}
        shared = set(at_fault[0].devices).intersection(*(one.devices for one in at_fault)) if at_fault else set()
        if first.operations >= ALWAYS_SHARE * self.operations:
            place = ", ".join(filter(None, (f"host {first.host}" if first.host else "", *first.devices)))
            yield f"{told}: always osd.{first.osd}{f' ({place})' if place else ''}."
        elif len(at_fault) > 1 and len(hosts) == 1 and None not in hosts:
            where = f", all on {', '.join(sorted(shared))}" if shared else ""
            yield f"{told}: all of host {first.host} ({_osds([one.osd for one in at_fault])}{where})."
        else:
            yield f"{told}: no OSD stands out; most often {_most(self.osds)}."
        for one in at_fault[:NAMES_SHOWN]:
            yield f"osd.{one.osd}: {one.verdict}."


def _most(osds: Sequence[OsdBlame]) -> str:
    return ", ".join(f"osd.{one.osd} ({one.operations})" for one in osds[:3])


def _osds(numbers: Sequence[int]) -> str:
    shown = [f"osd.{number}" for number in sorted(numbers)]
    more = len(shown) - NAMES_SHOWN
    return ", ".join(shown[:NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")


def late_peers(operation: Operation) -> tuple[int, ...]:
    """The peers that an operation waited for most of its time."""
    least = WAITED_SHARE * (operation.duration_seconds or 0.0)
    return tuple(osd for osd, seconds in operation.waited if seconds > least)


def measure_blame(runs: "Sequence[RunAnalysis]") -> Blame | None:
    """The slow operations of several OSDs, or for which others than the OSD that tells are at fault; None without."""
    waits = [*chain.from_iterable(map(waits_of, runs)), *_of_cluster(runs)]
    if len({osd for one in waits for osd in (one.asked, *one.at_fault)}) < 2:
        return None
    by_number = {osd_number(one.run): one for one in runs if OSD_NAME.fullmatch(one.name)}
    places = [one.beside.cluster for one in runs if one.beside.cluster is not None]
    hosts = {osd: host for place in places for osd, host in place.hosts.items()}
    devices = {osd: names for place in places for osd, names in place.devices.items()}
    mine: dict[int, list[Wait]] = {}
    for wait in waits:
        for osd in wait.at_fault:
            mine.setdefault(osd, []).append(wait)
    osds = [
        OsdBlame(
            osd,
            hosts.get(osd),
            devices.get(osd, ()),
            len(some),
            Counter(one.asked for one in some),
            max(one.seconds for one in some),
            Counter(one.stage for one in some if one.asked == osd),
            has_log=(run := by_number.get(str(osd))) is not None and bool(run.run.event_counts),
            during=None if run is None else during_compaction(run, some),
        )
        for osd, some in mine.items()
    ]
    ordered = sorted(osds, key=lambda one: (-one.operations, one.osd))
    return Blame(len(waits), tuple(sorted({one.asked for one in waits})), tuple(ordered))


def waits_of(run: "RunAnalysis") -> Iterator[Wait]:
    """What one OSD tells: operations it kept, requests it calls slow, and lines of BlueStore's own slow steps."""
    match = OSD_NAME.fullmatch(run.name)
    if match is None:
        return
    own, offset = int(match[1]), run.run.utc_offset_seconds
    for one in run.beside.operations:
        if (one.duration_seconds or 0.0) >= SLOW_SECONDS:
            ahead = 0 if one.has_zone else offset
            seconds, stage = one.duration_seconds or 0.0, _longest_stage(one)
            yield Wait(own, late_peers(one) or (own,), stage, seconds, _interval(one, ahead))
    yield from _requests([SlowRequest(*row) for row in run.run.slow_requests], own, offset)
    for slow in (SlowOperation(*row) for row in run.run.slow_operations):
        yield Wait(own, (own,), LINES, slow.seconds, _ended(slow.millis, slow.seconds, offset))


def _of_cluster(runs: "Sequence[RunAnalysis]") -> Iterator[Wait]:
    """What the cluster's log tells; of OSDs whose own logs tell of slow requests, these stand for it."""
    told = {one.name for one in runs if len(one.run.slow_requests)}
    found = {request for one in runs if one.beside.cluster is not None for request in one.beside.cluster.slow_requests}
    yield from _requests([one for one in sorted(found, key=str) if f"osd.{one.osd}" not in told], None, 0)


def _requests(requests: Sequence[SlowRequest], own: int | None, offset: int | None) -> Iterator[Wait]:
    """Each once, at its longest."""
    longest: dict[tuple[int, str], SlowRequest] = {}
    for one in requests:
        asked = one.osd if one.osd is not None else own
        if asked is None:
            continue
        known = longest.get((asked, one.operation))
        if known is None or one.seconds > known.seconds:
            longest[asked, one.operation] = one
    for (asked, _), one in longest.items():
        peers = peers_in(one.state)
        yield Wait(asked, peers or (asked,), one.state, one.seconds, _ended(one.millis, one.seconds, offset))


def _longest_stage(operation: Operation) -> str:
    stage = max(operation.stages, key=lambda one: one.seconds, default=None)
    return operation.flag_point if stage is None else str(stage.group)


def _interval(operation: Operation, ahead_seconds: int | None) -> Interval | None:
    if operation.initiated_micros is None or ahead_seconds is None:
        return None
    begin = operation.initiated_micros - ahead_seconds * MICROS
    return begin, begin + round((operation.duration_seconds or 0.0) * MICROS)


def _ended(millis: int | None, seconds: float, offset: int | None) -> Interval | None:
    if millis is None or offset is None:
        return None
    end = (millis - 1000 * offset) * 1000
    return end - round(seconds * MICROS), end


def during_compaction(run: "RunAnalysis", waits: Sequence[Wait]) -> During | None:
    """The compactions of the family that stands out most, else all of them, within the time of the OSD's log."""
    first, last = run.run.first_event_micros, run.run.last_event_micros
    if first is None or last is None or last <= first:
        return None
    inside = [one.interval for one in waits if one.interval is not None and first <= one.interval[0] < last]
    moments = count_moments(inside)
    if len(inside) < LEAST_OPERATIONS or moments < LEAST_MOMENTS:
        return None
    times = pl.col("started_at", "finished_at").to_physical()
    rows = run.scan_jobs().filter(kind=COMPACTION).select("column_family", times).drop_nulls().collect().rows()
    spans: dict[str, list[Interval]] = {"": []}
    for family, started, finished in rows:
        spans.setdefault(family, []).append((started, finished))
        spans[""].append((started, finished))
    found = [During(family, measure_overlap(inside, some, (first, last)), moments) for family, some in spans.items()]
    overlapping = [one for one in found if one.family and one.overlap.ratio is not None and _stands_out(one.overlap)]
    return max(overlapping, key=lambda one: one.overlap.overlapping, default=found[0])


def _stands_out(overlap: Overlap) -> bool:
    return (overlap.ratio or 0.0) > RATIO and overlap.interval is not None and overlap.interval[0] > 1
