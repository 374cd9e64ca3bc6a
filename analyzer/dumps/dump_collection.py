"""The statistics dumps met in one scan, kept as texts: of each source in turn, wherever blocks end.

What a carrier puts before every line of a statistics dump, taken off again.

Most carriers put something before an entry; then the lines below it stand as they were. Some hold one line each:

    May 30 01:21:33 host ceph-osd[123]: ** Compaction Stats [default] **      syslog, `journalctl -o short`
                                        ** Compaction Stats [default] **      the same, of a message of several lines
    2023-05-30T01:21:33.123456789Z ** Compaction Stats [default] **           `kubectl logs --timestamps`
    osd-0  | ** Compaction Stats [default] **                                 `docker compose logs`

Which form it is does not matter: what stands before a table's title and before the lines after it is the carrier's.
"""

import re
from typing import NamedTuple

from lsmlens.analyzer.dumps.dump_text import DUMP_BYTES, MARKER, dump_end
from lsmlens.analyzer.logs.spool import Spool
from lsmlens.analyzer.logs.stamps import stamp_millis
from lsmlens.analyzer.logs.stretch import Stretch
from stringzilla import find, rfind

IN_MEMORY = 16
DATABASE_TITLE, FAMILY_TITLE = b"** DB Stats **", b"** Compaction Stats ["
# More than the database's table takes in any release, with other threads' lines before it.
DATABASE_TABLE_BYTES = 1 << 13
ASTERISK = 0x2A  # what a table's title begins with, unless something carries each line

Dumps = dict[str, Spool[tuple[int | None, str]]]
LONGEST_CARRIER = 512
LINES_LOOKED_AT = 4
# 01:21:33.123456, 1685409693.123456: all of a carrier that changes from line to line.
_CLOCK = re.compile(rb"\d+(?:[:.,]\d+)+")
_LINE = re.compile(rb"[^\n]*\n?")


class CarriedDump(NamedTuple):
    """A dump without what carried its lines, and where it ends in the log: the start of a line, or the log's end."""

    text: bytes
    end: int


class _Found(NamedTuple):
    """A dump that may not be whole yet: from which byte of the log to which, whose it is, and what is kept of it."""

    start: int
    end: int
    source: str
    dump: tuple[int | None, str]


class DumpCollection:
    """Takes the tables' titles of a log in order, and puts each dump's local time in milliseconds and text away."""

    def __init__(self, kept: Dumps) -> None:
        self._kept = kept
        self._last: dict[str, _Found] = {}

    def take(self, stretch: Stretch, start: int) -> None:
        """Keep the dump that the title whose bracket closes at `start` is in, its marker's line and all.

        A dump that the end of a block cuts is met again in the next block, and then kept whole.
        """
        view, offset = stretch.view, stretch.offset
        source = stretch.source(start)
        last = self._last.get(source)
        if last is not None and offset + start < last.end:
            return
        limit = max(0, start - DUMP_BYTES)
        marker = rfind(view, MARKER, limit, start)
        while marker >= 0 and source and stretch.source(marker) != source:
            marker = rfind(view, MARKER, limit, marker)
        place = start if marker < 0 else marker
        line, title = stretch.line_start(place), stretch.line_start(start)
        carrier = None if view[title] == ASTERISK else carrier_of(view, title, start, stretch.end)
        if carrier is None:
            end = dump_end(view, place + len(MARKER), stretch.end)
            text = bytes(view[line:end])
        else:
            text, end = carried_dump(view, line, stretch.end, carrier)
        stamp = stretch.stamp(place)
        if last is not None and last.start != offset + line:
            self._put_away(last)
        dump = (stamp_millis(stamp) if stamp else None, text.decode("utf-8", "replace"))
        self._last[source] = _Found(offset + line, offset + end, source or stretch.source(place), dump)

    def take_without_families(self, stretch: Stretch, start: int) -> None:
        """Keep the dump whose marker ends at `start` if all it has is the database's table: no title comes then."""
        view = stretch.view
        end = min(stretch.end, start + DATABASE_TABLE_BYTES)
        following = find(view, MARKER, start, end)
        end = following if following >= 0 else end
        if find(view, DATABASE_TITLE, start, end) < 0 or find(view, FAMILY_TITLE, start, end) >= 0:
            return
        line, stop = stretch.line_start(start), dump_end(view, start, stretch.end)
        source, stamp = stretch.source(start), stretch.stamp(start)
        last = self._last.get(source)
        if last is not None:
            self._put_away(last)
        text = bytes(view[line:stop]).decode("utf-8", "replace")
        dump = (stamp_millis(stamp) if stamp else None, text)
        self._last[source] = _Found(stretch.offset + line, stretch.offset + stop, source, dump)

    def finish(self) -> None:
        """Put away what was last of each source."""
        for last in self._last.values():
            self._put_away(last)
        self._last.clear()

    def _put_away(self, found: _Found) -> None:
        if found.source not in self._kept:
            self._kept[found.source] = Spool(tuple[int | None, str], IN_MEMORY)
        self._kept[found.source].append(found.dump)


def carrier_of(view: memoryview, line: int, anchor: int, end: int) -> re.Pattern[bytes] | None:
    """What stands before each line, by a title's line that starts at `line` and has its bracket's end at `anchor`.

    None where the title begins its line, or where what stands before it is not before any of the next lines.
    """
    title = int(rfind(view, b"** ", line, anchor))
    if not line < title <= line + LONGEST_CARRIER:
        return None
    before = bytes(view[line:title])
    pattern = rb"\d+(?:[:.,]\d+)+".join(map(re.escape, _CLOCK.split(before)))
    carrier = re.compile(pattern)
    following = bytes(view[anchor : min(end, anchor + LINES_LOOKED_AT * LONGEST_CARRIER)]).split(b"\n")
    is_carrier = any(carrier.match(one) for one in following[1 : 1 + LINES_LOOKED_AT])
    return carrier if is_carrier else None


def carried_dump(view: memoryview, start: int, end: int, carrier: re.Pattern[bytes]) -> CarriedDump:
    """The dump whose marker's line begins at `start`: only its carrier's lines, and of a blank one all."""
    raw = bytes(view[start : min(end, start + 2 * DUMP_BYTES)])
    is_blank = carrier.pattern.replace(b"\\", b"").isspace()
    lines: list[bytes] = []
    ends: list[int] = []
    for found in _LINE.finditer(raw):
        match = carrier.match(raw, found.start(), found.end())
        if match or is_blank:
            lines.append(raw[match.end() if match else found.start() : found.end()])
            ends.append(start + found.end())
    text = b"".join(lines)
    marker = text.find(MARKER)
    stop = dump_end(memoryview(text), marker + len(MARKER) if marker >= 0 else 0, len(text))
    count = text.count(b"\n", 0, stop)
    return CarriedDump(text[:stop], ends[count - 1] if count else start)
