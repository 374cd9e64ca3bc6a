"""Records of the text lines around events: one for each shape, of what the line says."""

import re
from collections.abc import Callable
from typing import TypeAlias

from lsmlens.analyzer.logs import text_lines
from lsmlens.analyzer.logs.records import (
    CompactedLine,
    ErrorLine,
    ForcedLine,
    JobLine,
    KvThreadLine,
    MarkedDownLine,
    MemtableLine,
    MovedLine,
    MovingLine,
    Record,
    SlowLine,
    SlowRequestLine,
    StallLine,
    SummaryLine,
)
from lsmlens.analyzer.logs.scan import Scan
from lsmlens.analyzer.logs.stamps import STAMP, stamp_millis
from lsmlens.analyzer.logs.stretch import Stretch
from lsmlens.analyzer.logs.text_lines import LineShape

Match: TypeAlias = re.Match[bytes]
ERROR_PLACES = 2  # lines of each kind of error that are kept as evidence


def line_record(shape: LineShape, stretch: Stretch, start: int, after: int, scan: Scan) -> Record | None:
    """The record of the line whose anchor stands at `start` up to `after`; None if it only looks like one.

    Places of stalls and slow operations are kept in `scan` on the way.
    """
    match = shape.rest.match(stretch.view, after)
    if match is None:
        return None
    make = _OF_FAMILIES.get(shape.name)
    if make is not None:
        family = text_lines.family_before(stretch.view, start)
        return None if family is None else make(family, match)
    if shape is text_lines.MEMTABLE:
        family = text_lines.family_before(stretch.view, start)
        return None if family is None else MemtableLine(family, int(match[2]) + 1, _millis(stretch, start))
    if shape is text_lines.WAL_LIMIT:
        return ForcedLine("WAL Full")
    if shape is text_lines.BUFFER_LIMIT:
        return ForcedLine("Write Buffer Manager")
    if shape is text_lines.KV_THREAD:
        return KvThreadLine(float(match[1]), float(match[2]), int(match[3]), _millis(stretch, start))
    if shape is text_lines.SLOW_OPERATION:
        return _slow_operation(match, stretch, start, after, scan)
    if shape is text_lines.SLOW_REQUEST:
        return _slow_request(match, stretch, start)
    if shape in text_lines.ERRORS:
        return _error(shape, match, stretch, start, scan)
    if shape is text_lines.MARKED_DOWN:
        return MarkedDownLine(int(match[1]), _millis(stretch, start))
    return _stall(shape, match, stretch, start, after, scan)


def _job(family: str, match: Match) -> Record:
    return JobLine(family, int(match[1]), match[2] == b"Flushing memtable")


def _compacted(family: str, match: Match) -> Record:
    return CompactedLine(family, int(match[1]), int(match[2]))


def _level_summary(family: str, match: Match) -> Record:
    return SummaryLine(family, tuple(int(files[:9]) for files in match[1].split()))


def _moved(family: str, match: Match) -> Record:
    return MovedLine(family, int(match[1]), int(match[2]), int(match[3]))


def _moving(_: str, match: Match) -> Record:
    return MovingLine(int(match[1]), int(match[2]))


_OF_FAMILIES: dict[str, Callable[[str, Match], Record]] = {
    text_lines.JOB.name: _job,
    text_lines.COMPACTED_TO.name: _compacted,
    text_lines.LEVEL_SUMMARY.name: _level_summary,
    text_lines.MOVED.name: _moved,
    text_lines.MOVING.name: _moving,
}


def _stall(shape: LineShape, match: Match, stretch: Stretch, start: int, after: int, scan: Scan) -> Record | None:
    family = text_lines.family_before(stretch.view, start)
    if family is None:
        return None
    stall = family, shape.name, text_lines.STALL_CAUSES.get(match[1], text_lines.SPEEDB_STALL_CAUSE)
    if stall not in scan.stall_places:
        scan.stall_places[stall] = stretch.evidence(start, after)
    return StallLine(*stall, _millis(stretch, start))


def _error(shape: LineShape, match: Match, stretch: Stretch, start: int, scan: Scan) -> Record:
    places = scan.error_places.setdefault(shape.name, [])
    if len(places) < ERROR_PLACES:
        places.append(stretch.evidence(start, match.end()))
    return ErrorLine(shape.name, match[1].decode("utf-8", "replace"), _millis(stretch, start))


def _slow_operation(match: Match, stretch: Stretch, start: int, after: int, scan: Scan) -> Record:
    what, seconds = match[1].decode("utf-8", "replace"), float(match[2])
    longest = scan.slow_places.get(what)
    if longest is None or seconds > longest[0]:
        scan.slow_places[what] = (seconds, stretch.evidence(start, after))
    return SlowLine(what, seconds, _millis(stretch, start))


def _slow_request(match: Match, stretch: Stretch, start: int) -> Record | None:
    """Up to 14 the line tells the operation's age, then when it began: its age is that until the line's own stamp."""
    age, operation, begun, state = match.groups()
    millis, began = _millis(stretch, start), STAMP.match(begun) if begun else None
    if age is not None:
        seconds = float(age)
    elif millis is not None and began is not None:
        seconds = (millis - (stamp_millis(began) or millis)) / 1000
    else:
        return None
    named = _OSD_BEFORE.search(bytes(stretch.view[stretch.line_start(start) : start]))
    osd = int(named[1]) if named else None
    said = (one.decode("utf-8", "replace") for one in (operation, state))
    return SlowRequestLine(osd, next(said), max(0.0, seconds), next(said), millis)


# 2018-03-04 21:22:38.132098 osd.0 osd.0 10.10.10.3:6800/2205 784 : cluster [WRN] slow request …
_OSD_BEFORE = re.compile(rb"\bosd\.(\d{1,9}) ")


def _millis(stretch: Stretch, position: int) -> int | None:
    stamp = stretch.stamp(position)
    return stamp_millis(stamp) if stamp else None
