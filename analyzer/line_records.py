"""Records of the text lines around events: one for each shape, of what the line says."""

import re

from lsmlens.analyzer import records, text_lines
from lsmlens.analyzer.records import Record
from lsmlens.analyzer.scan import Scan
from lsmlens.analyzer.stamps import stamp_millis
from lsmlens.analyzer.stretch import Stretch

ERROR_PLACES = 2  # lines of each kind of error that are kept as evidence
FORCED_FLUSHES = {text_lines.WAL_LIMIT.name: "WAL Full", text_lines.BUFFER_LIMIT.name: "Write Buffer Manager"}


def line_record(shape: text_lines.LineShape, stretch: Stretch, start: int, after: int, scan: Scan) -> Record | None:
    """The record of the line whose anchor stands at `start` up to `after`; None if it only looks like one.

    Places of stalls and slow operations are kept in `scan` on the way.
    """
    match = shape.rest.match(stretch.view, after)
    if match is None:
        return None
    if shape.name in FORCED_FLUSHES:
        return (records.FORCED_LINE, FORCED_FLUSHES[shape.name])
    if shape is text_lines.KV_THREAD:
        return (records.KV_THREAD_LINE, float(match[1]), float(match[2]), int(match[3]), _millis(stretch, start))
    if shape is text_lines.SLOW_OPERATION:
        return _slow_operation(match, stretch, start, after, scan)
    if shape in text_lines.ERRORS:
        return _error(shape, match, stretch, start, scan)
    if shape is text_lines.MARKED_DOWN:
        return (records.MARKED_DOWN_LINE, int(match[1]), _millis(stretch, start))
    family = text_lines.family_before(stretch.view, start)
    if family is None:
        return None
    if shape is text_lines.JOB:
        return (records.JOB_LINE, family, int(match[1]), match[2] == b"Flushing memtable")
    if shape is text_lines.COMPACTED_TO:
        return (records.COMPACTED_LINE, family, int(match[1]), int(match[2]))
    if shape is text_lines.LEVEL_SUMMARY:
        return (records.SUMMARY_LINE, family, tuple(int(files[:9]) for files in match[1].split()))
    if shape is text_lines.MOVED:
        return (records.MOVED_LINE, family, int(match[1]), int(match[2]), int(match[3]))
    if shape is text_lines.MOVING:
        return (records.MOVING_LINE, family, int(match[1]), int(match[2]))
    if shape is text_lines.MEMTABLE:
        return (records.MEMTABLE_LINE, family, int(match[2]) + 1, _millis(stretch, start))
    stall = family, shape.name, text_lines.STALL_CAUSES.get(match[1], text_lines.SPEEDB_STALL_CAUSE)
    if stall not in scan.stall_places:
        scan.stall_places[stall] = stretch.evidence(start, after)
    return (records.STALL_LINE, *stall, _millis(stretch, start))


def _error(shape: text_lines.LineShape, match: re.Match[bytes], stretch: Stretch, start: int, scan: Scan) -> Record:
    places = scan.error_places.setdefault(shape.name, [])
    if len(places) < ERROR_PLACES:
        places.append(stretch.evidence(start, match.end()))
    return (records.ERROR_LINE, shape.name, match[1].decode("utf-8", "replace"), _millis(stretch, start))


def _slow_operation(match: re.Match[bytes], stretch: Stretch, start: int, after: int, scan: Scan) -> Record:
    what, seconds = match[1].decode("utf-8", "replace"), float(match[2])
    longest = scan.slow_places.get(what)
    if longest is None or seconds > longest[0]:
        scan.slow_places[what] = (seconds, stretch.evidence(start, after))
    return (records.SLOW_LINE, what, seconds, _millis(stretch, start))


def _millis(stretch: Stretch, position: int) -> int | None:
    stamp = stretch.stamp(position)
    return stamp_millis(stamp) if stamp else None
