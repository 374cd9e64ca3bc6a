"""One pass over a log: finds what RocksDB wrote, wherever it stands in a line, and decodes it.

All anchors are searched at once, block by block. RocksDB's share two beginnings (`EVEN`, `] `) on purpose: the
multi-pattern search stays as fast as that for a single string up to there. BlueStore's two take half again as long.
"""

from collections.abc import Callable, Sequence

from ahocorasick_rs import MATCHKIND_LEFTMOST_FIRST, BytesAhoCorasick, Implementation
from lsmlens.analyzer.bundles.roles import Role
from lsmlens.analyzer.bundles.transports import SOURCE_LINE
from lsmlens.analyzer.dumps.dump_collection import DumpCollection
from lsmlens.analyzer.logs import text_lines
from lsmlens.analyzer.logs.blocks import Block, Blocks
from lsmlens.analyzer.logs.events import ANCHOR, AnyEvent, EventError, decoder
from lsmlens.analyzer.logs.line_records import line_record
from lsmlens.analyzer.logs.openings import take_family_options, take_opening, take_options_set
from lsmlens.analyzer.logs.records import Record, UnknownFields
from lsmlens.analyzer.logs.scan import NotUnderstood, Scan
from lsmlens.analyzer.logs.spool import Spool
from lsmlens.analyzer.logs.stamps import EDGE_BYTES, LINE_STAMP, STAMP, stamp_millis
from lsmlens.analyzer.logs.stretch import Stretch
from msgspec import MsgspecError
from stringzilla import find, rfind

SAMPLES = 5
SKETCHED_EVENTS = 16  # one event in so many is remembered, to know a copy by
QUARTER_HOUR_MILLIS = 900_000
FURTHEST_ZONE_QUARTERS = 14 * 4

_SHAPES: dict[bytes, text_lines.LineShape] = {shape.anchor: shape for shape in text_lines.SHAPES}
_PATTERNS = (ANCHOR, *_SHAPES)
_anchors: BytesAhoCorasick | None = None


class Scanner:
    """Scans one log; `shared` where lines of several daemons may stand in it, each with its source."""

    def __init__(self, member: str, role: Role, shared: bool = False) -> None:
        self.scan = Scan(member)
        self._role = role
        self._shared = shared
        self._line_number: Callable[[int], int] | None = None
        self._found: list[Record] = []
        self._last_event: AnyEvent | None = None
        self._dumps = DumpCollection(self.scan.dumps)
        self._decode = decoder().decode
        self._job_line = b""  # the last one, unless an event or an open came after it

    def read(
        self,
        blocks: Blocks,
        on_bytes: Callable[[int], None] | None = None,
        on_block: Callable[[Block], None] | None = None,
    ) -> Scan:
        """Scan every block; returns the scan, which is then whole but for its head and tail.

        `on_block` is shown each block, which is good until it returns.
        """
        scan = self.scan
        self._line_number = blocks.line_number
        recent = previous = b""
        first = True
        for block in blocks:
            if on_block is not None:
                on_block(block)
            view, begin, end = block.view, block.begin, block.end
            if first:
                first = False
                begin = self._set_head_aside(view, begin, end)
            newline = rfind(view, b"\n", begin, end) + 1 if view[end - 1] != 0x0A else end
            if newline <= begin and end > begin:
                newline = begin
            if newline < end:
                scan.tail = bytes(view[newline:end])
            if begin < newline:
                self._observe_stamps(view, begin, newline)
                self._scan_lines(self._stretch(view, begin, newline, block.offset))
                previous, recent = recent, bytes(view[max(begin, newline - EDGE_BYTES) : newline])
            if on_bytes is not None:
                on_bytes(block.end - block.begin)
        self._dumps.finish()
        if self._last_event is not None:
            scan.last_event = _identity(self._last_event)
        if not self._shared:
            scan.stamps_of("").finish(previous + recent)
        scan.bytes, scan.lines, scan.cut_lines = blocks.bytes, blocks.lines, blocks.cut_lines
        scan.lines_are_estimated = blocks.lines_are_estimated
        self._line_number = None
        return scan

    def read_line(self, line: bytes, number: int | None = None) -> None:
        """Scan a line that was set aside, or put together from a tail and a head; `number` is its own in the log."""
        self._line_number = None if number is None else lambda _: number
        text = line if line.endswith(b"\n") else line + b"\n"
        view = memoryview(text)
        if self._shared:
            self._observe_stamps(view, 0, len(text))
        else:
            self.scan.stamps_of("").observe_every_line(text)
        self._scan_lines(self._stretch(view, 0, len(text), 0))

    def _observe_stamps(self, view: memoryview, begin: int, end: int) -> None:
        if not self._shared:
            self.scan.stamps_of("").observe(view, begin, end)
            return
        for line in SOURCE_LINE.finditer(view, begin, end):
            stamp = STAMP.match(view, line.end(), end)
            if stamp is not None:
                self.scan.stamps_of(line[1].decode("utf-8", "replace")).take(stamp)

    def _set_head_aside(self, view: memoryview, begin: int, end: int) -> int:
        newline = find(view, b"\n", begin, end)
        if newline < 0:  # no line end at all: it is all tail
            return begin
        self.scan.head = bytes(view[begin : newline + 1])
        return int(newline) + 1

    def _stretch(self, view: memoryview, begin: int, end: int, offset: int) -> Stretch:
        return Stretch(
            view, begin, end, offset, member=self.scan.member, shared=self._shared, line_number=self._line_number
        )

    def _scan_lines(self, stretch: Stretch) -> None:
        view, begin, end = stretch.view, stretch.begin, stretch.end
        matches = _automaton().find_matches_as_indexes(view[begin:end])
        line_end = -1
        for position, (pattern, start, after) in enumerate(matches, 1):
            start, after = start + begin, after + begin
            if pattern == 0:
                if after > line_end:
                    line_end = find(view, b"\n", after, end)
                    line_end = end if line_end < 0 else line_end
                stop = line_end
                if position < len(matches) and matches[position][1] + begin < stop:
                    stop = self._torn_at(matches, position, begin, stop)
                self._take_event(stretch, after - 1, stop)
            elif pattern == 1:
                self._take_job_line(stretch, start, after)
            else:
                self._take_line(_SHAPES[_PATTERNS[pattern]], stretch, start, after)
        if self._found:
            self._spool_of("").extend(self._found)
            self._found.clear()

    @staticmethod
    def _torn_at(matches: Sequence[tuple[int, int, int]], position: int, begin: int, stop: int) -> int:
        """Where another event starts on the same line: two writers shared it."""
        while position < len(matches) and matches[position][1] + begin < stop:
            if matches[position][0] == 0:
                return matches[position][1] + begin
            position += 1
        return stop

    def _take_event(self, stretch: Stretch, start: int, stop: int) -> None:
        scan = self.scan
        event: AnyEvent
        try:
            event = self._decode(stretch.view[start:stop])
        except (MsgspecError, ValueError, RecursionError):
            mended = self._mend(stretch, start, stop)
            if mended is None:
                return
            event = mended
        if scan.first_event is None:
            scan.first_event = _identity(event)
            scan.utc_offset_seconds = _utc_offset(stretch, start, event.time_micros)
        if not event.time_micros % SKETCHED_EVENTS:
            scan.sketch.add(_identity(event))
        self._last_event, self._job_line = event, b""
        if self._shared:
            self._add(event, stretch, start)
        else:
            self._found.append(event)

    def _mend(self, stretch: Stretch, start: int, stop: int) -> AnyEvent | None:
        """An event that is not as RocksDB means to write it; None, and counted, if it says nothing that counts."""
        from lsmlens.analyzer.logs.damaged_events import as_json, repaired

        scan = self.scan
        try:
            found = repaired(bytes(stretch.view[start:stop]))
        except EventError as error:
            scan.events_rejected += 1
            self._show(stretch, start, stop, str(error))
            return None
        scan.events_cut += found.cut
        if found.unknown:
            event = found.event
            self._add(UnknownFields(event.kind, event.job, event.time_micros, as_json(found.unknown)), stretch, start)
        for name in found.unknown:
            scan.unknown_fields[f"{found.event.kind}.{name}"] += 1
        for name in found.impossible:
            scan.impossible_values[f"{found.event.kind}.{name}"] += 1
        if found.impossible:
            self._show(stretch, start, stop, f"{found.event.kind}: {', '.join(found.impossible)} cannot be")
        return found.event

    def _show(self, stretch: Stretch, start: int, stop: int, reason: str) -> None:
        scan = self.scan
        if len(scan.not_understood) < SAMPLES:
            text = stretch.sample(start, stop)
            scan.not_understood.append(NotUnderstood(scan.member, stretch.line_number(start), reason, text))

    def _take_job_line(self, stretch: Stretch, start: int, after: int) -> None:
        """Take in a job's line; a flush says the same of each of its memtables, which is read once."""
        match = text_lines.JOB.rest.match(stretch.view, after)
        if match is None:
            return
        said = bytes(stretch.view[max(0, start - text_lines.USUAL_BYTES) : match.end()])
        if said != self._job_line or self._shared:
            self._job_line = said
            record = line_record(text_lines.JOB, stretch, start, after, self.scan)
            if record is not None:
                self._add(record, stretch, start)

    def _take_line(self, shape: text_lines.LineShape, stretch: Stretch, start: int, after: int) -> None:
        if shape is text_lines.DUMPED:
            self._dumps.take(stretch, start)
        elif shape is text_lines.DUMP_MARKER:
            self._dumps.take_without_families(stretch, after)
        elif shape is text_lines.OPTIONS_SET:
            take_options_set(self.scan, stretch, start)
        elif shape is text_lines.FAMILY_OPTIONS:
            take_family_options(self.scan, stretch, start, after)
        elif shape is text_lines.OPENED:
            self._job_line = b""
            if shape.rest.match(stretch.view, after) and text_lines.family_before(stretch.view, start) is not None:
                self._add(take_opening(self.scan, stretch, start, self._role), stretch, start)
        elif record := line_record(shape, stretch, start, after, self.scan):
            self._add(record, stretch, start)

    def _add(self, record: Record, stretch: Stretch, start: int) -> None:
        if not self._shared:
            self._found.append(record)
            return
        self._spool_of(stretch.source(start)).append(record)

    def _spool_of(self, source: str) -> Spool[Record]:
        spool = self.scan.by_source.get(source)
        if spool is None:
            spool = self.scan.by_source[source] = Spool(Record)
        return spool


def _utc_offset(stretch: Stretch, start: int, micros: int) -> int | None:
    """How far the log's local time is ahead of UTC, by one event that carries both; in quarters of an hour."""
    stamp = stretch.stamp(start)
    millis = stamp_millis(stamp) if stamp else None
    if millis is None:
        return None
    quarters = round((millis - micros / 1000) / QUARTER_HOUR_MILLIS)
    return quarters * 900 if abs(quarters) <= FURTHEST_ZONE_QUARTERS else None


def _identity(event: AnyEvent) -> tuple[int, str, str]:
    return event.time_micros, str(event.job), event.kind


def starts_a_line(head: bytes) -> bool:
    """Whether a piece's first line is a whole one, to go by its stamp."""
    return LINE_STAMP.match(head) is not None or head.startswith(b"\n")


def _automaton() -> BytesAhoCorasick:
    global _anchors
    if _anchors is None:
        _anchors = BytesAhoCorasick(
            list(_PATTERNS), matchkind=MATCHKIND_LEFTMOST_FIRST, implementation=Implementation.ContiguousNFA
        )
    return _anchors
