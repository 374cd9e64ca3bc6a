"""The statistics dumps met in one scan, kept as texts: of each source in turn, wherever blocks end."""

from typing import NamedTuple

from lsmlens.analyzer.dumps.carried_lines import carried_dump, carrier_of
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
