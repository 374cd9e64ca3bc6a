"""One pass over a log: finds what RocksDB wrote, wherever it stands in a line, and decodes it.

All anchors are searched at once, block by block. RocksDB's share two beginnings (`EVEN`, `] `) on purpose: the
multi-pattern search stays as fast as that for a single string up to there. BlueStore's two take half again as long.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ahocorasick_rs import MATCHKIND_LEFTMOST_FIRST, BytesAhoCorasick, Implementation
from lsmlens.analyzer import records, text_lines
from lsmlens.analyzer.blocks import Blocks
from lsmlens.analyzer.dumps.dump_text import DUMP_BYTES, MARKER, dump_end
from lsmlens.analyzer.events import ANCHOR, Event, EventError, decode
from lsmlens.analyzer.findings import Evidence
from lsmlens.analyzer.printable import printable
from lsmlens.analyzer.records import Record
from lsmlens.analyzer.roles import Role, daemon_in
from lsmlens.analyzer.spool import Spool
from lsmlens.analyzer.stamps import EDGE_BYTES, LINE_STAMP, STAMP, StampRange, stamp_millis
from lsmlens.analyzer.transports import SOURCE, SOURCE_LINE
from stringzilla import find, rfind

SAMPLES = 5
SAMPLE_BYTES = 160
LINE_START_LIMIT = 1 << 16
OPEN_LOOKBACK = 1 << 19
SKETCHED_EVENTS = 16  # one event in so many is remembered, to know a copy by
LINE_PREFIX_BYTES = 256
DUMPS_IN_MEMORY = 16
OPTIONS_SET_BYTES = 1 << 13
FAMILY_OPTIONS_BYTES = 1 << 15
OPTIONS_TEXT_LIMIT = 1 << 20
BEFORE_BANNER_BYTES = 1 << 13
QUARTER_HOUR_MILLIS = 900_000
FURTHEST_ZONE_QUARTERS = 14 * 4

FORCED_FLUSHES = {text_lines.WAL_LIMIT.name: "WAL Full", text_lines.BUFFER_LIMIT.name: "Write Buffer Manager"}
_SHAPES: dict[bytes, text_lines.LineShape] = {shape.anchor: shape for shape in text_lines.SHAPES}
_PATTERNS = (ANCHOR, *_SHAPES)
_anchors: BytesAhoCorasick | None = None


@dataclass(slots=True)
class NotUnderstood:
    """A line that has an anchor but not what should follow it: where, why, and its beginning."""

    member: str
    line: int | None
    reason: str
    text: str


@dataclass(slots=True)
class Scan:
    """What one log, or one piece of a rotated log, holds.

    The first line (`head`) and what follows the last newline (`tail`) are kept unread: in a log cut at an
    arbitrary byte they are the halves of lines whose other halves stand in the pieces before and after.
    """

    member: str
    head: bytes = b""
    tail: bytes = b""
    by_source: dict[str, Spool[Record]] = field(default_factory=dict)
    stamps: dict[str, StampRange] = field(default_factory=dict)
    daemons: dict[str, str] = field(default_factory=dict)
    opens: set[str] = field(default_factory=set)
    first_event: tuple[int, str, str] | None = None
    last_event: tuple[int, str, str] | None = None
    sketch: set[tuple[int, str, str]] = field(default_factory=set)
    utc_offset_seconds: int | None = None
    bytes: int = 0
    lines: int = 0
    lines_are_estimated: bool = False
    cut_lines: int = 0
    events_cut: int = 0
    events_rejected: int = 0
    not_understood: list[NotUnderstood] = field(default_factory=list)
    unknown_fields: Counter[str] = field(default_factory=Counter)
    stall_places: dict[tuple[str, str, str], Evidence] = field(default_factory=dict)
    slow_places: dict[str, tuple[float, Evidence]] = field(default_factory=dict)
    dumps: dict[str, Spool[tuple[int | None, str]]] = field(default_factory=dict)
    options_text: dict[str, str] = field(default_factory=dict)
    rocksdb_version: str | None = None
    ceph_version: str | None = None

    def stamps_of(self, source: str) -> StampRange:
        """The stamps of one source's lines."""
        stamps = self.stamps.get(source)
        if stamps is None:
            stamps = self.stamps[source] = StampRange()
        return stamps

    @property
    def has_records(self) -> bool:
        """Whether RocksDB wrote anything here that was found."""
        return any(map(len, self.by_source.values())) or ANCHOR in self.head or ANCHOR in self.tail


class Scanner:
    """Scans one log; `shared` where lines of several daemons may stand in it, each with its source."""

    def __init__(self, member: str, role: Role, shared: bool = False) -> None:
        self.scan = Scan(member)
        self._role = role
        self._shared = shared
        self._line_number: Callable[[int], int] | None = None
        self._found: list[Record] = []
        self._last_event: Event | None = None
        self._offset = self._block_end = 0
        self._dump: tuple[int | None, str] | None = None
        self._dump_source = ""
        self._dump_start = self._dump_end = -1

    def read(self, blocks: Blocks, on_bytes: Callable[[int], None] | None = None) -> Scan:
        """Scan every block; returns the scan, which is then whole but for its head and tail."""
        scan = self.scan
        self._line_number = blocks.line_number
        recent = previous = b""
        first = True
        for block in blocks:
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
                self._scan_lines(view, begin, newline, block.offset)
                previous, recent = recent, bytes(view[max(begin, newline - EDGE_BYTES) : newline])
            if on_bytes is not None:
                on_bytes(block.end - block.begin)
        self._keep_dump()
        if self._last_event is not None:
            scan.last_event = _identity(self._last_event)
        if not self._shared:
            scan.stamps_of("").finish(previous + recent)
        scan.bytes, scan.lines, scan.cut_lines = blocks.bytes, blocks.lines, blocks.cut_lines
        scan.lines_are_estimated = blocks.lines_are_estimated
        self._line_number = None
        return scan

    def read_line(self, line: bytes) -> None:
        """Scan a line that was set aside, or put together from a tail and a head."""
        text = line if line.endswith(b"\n") else line + b"\n"
        view = memoryview(text)
        if self._shared:
            self._observe_stamps(view, 0, len(text))
        else:
            self.scan.stamps_of("").observe_every_line(text)
        self._scan_lines(view, 0, len(text), 0)

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

    def _scan_lines(self, view: memoryview, begin: int, end: int, offset: int) -> None:
        self._offset, self._block_end = offset, end
        matches = _automaton().find_matches_as_indexes(view[begin:end])
        for position, (pattern, start, after) in enumerate(matches):
            start, after = start + begin, after + begin
            if pattern == 0:
                stop = find(view, b"\n", after, end)
                stop = end if stop < 0 else stop
                if position + 1 < len(matches) and matches[position + 1][1] + begin < stop:
                    stop = self._torn_at(matches[position + 1 :], begin, stop)
                self._take_event(view, after - 1, stop, begin)
            else:
                self._take_line(_SHAPES[_PATTERNS[pattern]], view, start, after, begin)
        if self._found:
            self._spool_of("").extend(self._found)
            self._found.clear()

    @staticmethod
    def _torn_at(following: Iterable[tuple[int, int, int]], begin: int, stop: int) -> int:
        """Where another event starts on the same line: two writers shared it."""
        for pattern, start, _ in following:
            if start + begin >= stop:
                break
            if pattern == 0:
                return start + begin
        return stop

    def _take_event(self, view: memoryview, start: int, stop: int, begin: int) -> None:
        scan = self.scan
        try:
            event, cut, unknown = decode(view[start:stop])
        except EventError as error:
            scan.events_rejected += 1
            self._keep_sample(str(error), view, start, stop)
            return
        scan.events_cut += cut
        if scan.first_event is None:
            scan.first_event = _identity(event)
            scan.utc_offset_seconds = self._utc_offset(view, start, event["time_micros"])
        if not event["time_micros"] % SKETCHED_EVENTS:
            scan.sketch.add(_identity(event))
        self._last_event = event
        for name in unknown:
            scan.unknown_fields[f"{event['event']}.{name}"] += 1
        self._add((records.EVENT, event), view, start, begin)

    def _take_line(self, shape: text_lines.LineShape, view: memoryview, start: int, after: int, begin: int) -> None:
        if shape is text_lines.DUMPED:
            self._take_dump(view, start, begin)
            return
        if shape is text_lines.OPTIONS_SET or shape is text_lines.FAMILY_OPTIONS:
            stop = start + OPTIONS_SET_BYTES
            if shape is text_lines.FAMILY_OPTIONS:
                ends = text_lines.FAMILY_OPTIONS_END.search(view, after, after + FAMILY_OPTIONS_BYTES)
                stop = ends.start() if ends else after
            text = bytes(view[self._line_start(view, start) : stop])
            self._take_options(text, self._source(view, start, begin))
            return
        scan = self.scan
        match = shape.rest.match(view, after)
        if shape is text_lines.SLOW_OPERATION or shape is text_lines.KV_THREAD:
            if match is not None:
                self._take_bluestore(shape, match, view, start, after, begin)
            return
        reason = FORCED_FLUSHES.get(shape.name)
        if match is not None and reason is not None:
            self._add((records.FORCED_LINE, reason), view, start, begin)
            return
        family = text_lines.family_before(view, start) if match else None
        if match is None or family is None:
            return
        record: Record
        if shape is text_lines.JOB:
            record = (records.JOB_LINE, family, int(match[1]), match[2] == b"Flushing memtable")
        elif shape is text_lines.COMPACTED_TO:
            record = (records.COMPACTED_LINE, family, int(match[1]), int(match[2]))
        elif shape is text_lines.LEVEL_SUMMARY:
            record = (records.SUMMARY_LINE, family, tuple(int(files[:9]) for files in match[1].split()))
        elif shape is text_lines.MOVED:
            record = (records.MOVED_LINE, family, int(match[1]), int(match[2]), int(match[3]))
        elif shape is text_lines.OPENED:
            record = self._opening(view, start, begin)
        else:
            stamp = self._line_stamp(view, start)
            millis = stamp_millis(stamp) if stamp else None
            cause = text_lines.STALL_CAUSES[match[1]]
            record = (records.STALL_LINE, family, shape.name, cause, millis)
            if (family, shape.name, cause) not in scan.stall_places:
                scan.stall_places[family, shape.name, cause] = self._evidence(view, start, after)
        self._add(record, view, start, begin)

    def _take_bluestore(
        self, shape: text_lines.LineShape, match: re.Match[bytes], view: memoryview, start: int, after: int, begin: int
    ) -> None:
        stamp = self._line_stamp(view, start)
        millis = stamp_millis(stamp) if stamp else None
        if shape is text_lines.KV_THREAD:
            busy: Record = (records.KV_THREAD_LINE, float(match[1]), float(match[2]), int(match[3]), millis)
            self._add(busy, view, start, begin)
            return
        what, seconds = match[1].decode("utf-8", "replace"), float(match[2])
        longest = self.scan.slow_places.get(what)
        if longest is None or seconds > longest[0]:
            self.scan.slow_places[what] = (seconds, self._evidence(view, start, after))
        self._add((records.SLOW_LINE, what, seconds, millis), view, start, begin)

    def _evidence(self, view: memoryview, start: int, after: int) -> Evidence:
        """The line that holds an anchor, as evidence."""
        begin = self._line_start(view, start)
        end = find(view, b"\n", after, min(after + SAMPLE_BYTES, self._block_end))
        text = bytes(view[begin : end if end >= 0 else after]).decode("utf-8", "replace")
        line = self._line_number(self._offset + start) if self._line_number else None
        return Evidence(self.scan.member, printable(text.rstrip()), line)

    def _take_dump(self, view: memoryview, start: int, begin: int) -> None:
        """Keep the text of the statistics dump whose first table is at `start`, its marker's line and all.

        A dump that the end of a block cuts is met again in the next block, and then kept whole.
        """
        if self._offset + start < self._dump_end:
            return
        marker = rfind(view, MARKER, max(0, start - DUMP_BYTES), start)
        place = start if marker < 0 else marker
        line = self._line_start(view, place)
        end = dump_end(view, place + len(MARKER), self._block_end)
        stamp = self._line_stamp(view, place)
        if self._dump_start != self._offset + line:
            self._keep_dump()
        self._dump = (stamp_millis(stamp) if stamp else None, bytes(view[line:end]).decode("utf-8", "replace"))
        self._dump_start, self._dump_end = self._offset + line, self._offset + end
        self._dump_source = self._source(view, place, begin)

    def _keep_dump(self) -> None:
        if self._dump is not None:
            if self._dump_source not in self.scan.dumps:
                self.scan.dumps[self._dump_source] = Spool(DUMPS_IN_MEMORY)
            self.scan.dumps[self._dump_source].append(self._dump)
            self._dump = None

    def _take_options(self, text: bytes, source: str) -> None:
        kept = self.scan.options_text.get(source, "") + text.decode("utf-8", "replace")
        self.scan.options_text[source] = kept[-OPTIONS_TEXT_LIMIT:]

    def _opening(self, view: memoryview, start: int, begin: int) -> Record:
        """The open whose column families are being recovered at `start`, with what the lines before it say."""
        scan = self.scan
        stamp = self._line_stamp(view, start)
        # The stamp and the thread: the same in every copy of the log, however carried, and in its crash dumps.
        words = bytes(view[stamp.start(1) : start]).split(None, 2) if stamp else []
        identity = b" ".join(words[:2]).decode("utf-8", "replace")
        source = self._source(view, start, begin)
        since = max(0, start - OPEN_LOOKBACK)
        if self._shared:  # what the other daemons wrote meanwhile is none of this one's
            marker = source.encode()
            lines = bytes(view[since:start]).splitlines(keepends=True)
            view = memoryview(b"".join(line for line in lines if marker in line[:LINE_PREFIX_BYTES]))
            since, start = 0, len(view)
        version, banner = self._last_before(text_lines.BANNER, view, since, start)
        ceph_version, process = self._last_before(text_lines.CEPH_VERSION, view, since, start)
        session = text_lines.SESSION_ID.search(view, max(banner, since), start)
        scan.options_text[source] = ""
        self._take_options(bytes(view[max(0, banner - BEFORE_BANNER_BYTES) : start]) + b"\n", source)
        if source not in scan.daemons and process >= 0:
            daemon = daemon_in(view[process:start], self._role)
            if daemon is not None:
                scan.daemons[source] = daemon
        scan.rocksdb_version = scan.rocksdb_version or version
        scan.ceph_version = scan.ceph_version or ceph_version
        if identity:
            scan.opens.add(identity)
        opened_at = stamp_millis(stamp) if stamp else None
        return (
            records.OPEN_LINE,
            identity,
            opened_at,
            version,
            ceph_version,
            session[1].decode() if session else None,
        )

    @staticmethod
    def _last_before(version: text_lines.Version, view: memoryview, since: int, start: int) -> tuple[str | None, int]:
        """The last version of its kind told in `view[since:start]`, and where (`since` if nowhere)."""
        for anchor in version.anchors:
            place = rfind(view, anchor, since, start)
            if place >= 0 and (match := version.shape.match(view, place, start)):
                return match[1].decode("utf-8", "replace"), place
        return None, since

    def _utc_offset(self, view: memoryview, start: int, micros: int) -> int | None:
        """How far the log's local time is ahead of UTC, by one event that carries both; in quarters of an hour."""
        stamp = self._line_stamp(view, start)
        millis = stamp_millis(stamp) if stamp else None
        if millis is None:
            return None
        quarters = round((millis - micros / 1000) / QUARTER_HOUR_MILLIS)
        return quarters * 900 if abs(quarters) <= FURTHEST_ZONE_QUARTERS else None

    def _add(self, record: Record, view: memoryview, start: int, begin: int) -> None:
        if not self._shared:
            self._found.append(record)
            return
        self._spool_of(self._source(view, start, begin)).append(record)

    def _spool_of(self, source: str) -> Spool[Record]:
        spool = self.scan.by_source.get(source)
        if spool is None:
            spool = self.scan.by_source[source] = Spool()
        return spool

    def _source(self, view: memoryview, start: int, begin: int) -> str:
        if not self._shared:
            return ""
        line = bytes(view[max(begin, self._line_start(view, start)) : start])
        match = SOURCE.search(line)
        return match[1].decode("utf-8", "replace") if match else ""

    def _line_stamp(self, view: memoryview, position: int) -> re.Match[bytes] | None:
        """The daemon's own stamp on the line that holds `position`; what carried the line may have put one before."""
        begin = self._line_start(view, position)
        if self._shared and (source := SOURCE_LINE.match(view, begin, position)):
            begin = source.end()
        return STAMP.search(view, begin, position)

    @staticmethod
    def _line_start(view: memoryview, position: int) -> int:
        limit = max(0, position - LINE_START_LIMIT)
        return max(limit, int(rfind(view, b"\n", limit, position)) + 1)

    def _keep_sample(self, reason: str, view: memoryview, start: int, stop: int) -> None:
        if len(self.scan.not_understood) >= SAMPLES:
            return
        line = self._line_number(self._offset + start) if self._line_number else None
        text = printable(bytes(view[start : min(stop, start + SAMPLE_BYTES)]).decode("utf-8", "replace").rstrip())
        self.scan.not_understood.append(NotUnderstood(self.scan.member, line, reason, text))


def _identity(event: Event) -> tuple[int, str, str]:
    return event["time_micros"], str(event.get("job")), event["event"]


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
