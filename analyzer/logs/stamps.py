"""Time stamps at the start of log lines: what a log covers, and where its clock stepped.

A log's duration is the latest stamp minus the earliest over all of its lines, in milliseconds, as the
published OSD log parser computes it: it reads the first 23 characters of a line, local time, and ignores the
zone. Lines without a stamp at their start (continuations, crash-dump `  -161> ` lines) do not count.

    2026-11-20T22:56:20.761+0000 7f9fa51141c0  0 ceph version …     Octopus and later
    2019-08-23 23:32:03.553 7fd60f4198c0  4 rocksdb: …              Mimic, Nautilus
    2016-08-23 23:32:03.553258 7fd60f4198c0 -1 WARNING: …           Jewel to Luminous
    2023/05/30-01:21:33.123456 8370 [db/…] …                        RocksDB's own LOG
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from itertools import pairwise

from stringzilla import rfind

STAMP = re.compile(
    rb"(?:debug ?)?"  # log_stderr_prefix of a container
    rb"((\d{4})[-/](\d\d)[-/](\d\d)[T -](\d\d):(\d\d):(\d\d)\.(\d{3}))\d{0,3}"
    rb"([+-]\d{4})?"
)
LINE_STAMP = re.compile(rb"^" + STAMP.pattern, re.MULTILINE)

# A clock that goes back by more than this was set; less is threads overtaking each other, and coarse stamps.
STEP_MILLIS = 1000
LONG_BLOCK_MILLIS = 600_000
EDGE_BYTES = 1 << 16


def stamp_millis(match: re.Match[bytes]) -> int | None:
    """Local wall-clock time of a `STAMP` match in milliseconds since 1970; None where no such day exists."""
    seconds = _seconds(match[1][:19])
    return None if seconds is None else seconds * 1000 + int(match[8])


@lru_cache(maxsize=1 << 10)
def _seconds(stamp: bytes) -> int | None:
    """Seconds since 1970 of `2026-11-20T22:56:20`, whatever stands between its numbers."""
    try:
        moment = datetime(*map(int, re.findall(rb"\d+", stamp)))  # type: ignore[arg-type]
    except ValueError:
        return None
    return (moment - datetime(1970, 1, 1)) // timedelta(seconds=1)


def zone_seconds(match: re.Match[bytes]) -> int | None:
    """Offset from UTC that a `STAMP` match carries, in seconds; None where it carries none."""
    zone = match[9]
    if zone is None:
        return None
    sign = -1 if zone[:1] == b"-" else 1
    return sign * (int(zone[1:3]) * 3600 + int(zone[3:5]) * 60)


def parse_time(text: str, utc_offset_seconds: int = 0) -> int:
    """Microseconds since 1970 UTC of a moment a person typed.

    Takes ISO 8601 (`2026-11-20T22:56`, a space for the T, a zone or none: then the log's own local time, which
    is `utc_offset_seconds` ahead of UTC) or a number of seconds since 1970. Raises ValueError otherwise.
    """
    try:
        return round(float(text) * 1e6)
    except OverflowError:
        raise ValueError(f"no time: {text}") from None
    except ValueError:
        moment = datetime.fromisoformat(text.strip().replace("/", "-"))
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone(timedelta(seconds=utc_offset_seconds)))
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


@dataclass(slots=True)
class StampRange:
    """The earliest and latest stamp of a log's lines, in milliseconds of local time.

    Blocks are looked at by their edges; only where time may not simply have passed is every line read: at the
    log's beginning and end, where threads overtake each other, and in a block whose edges step back or are so far
    apart that a step may hide between them.
    """

    first: int | None = None
    last: int | None = None
    zone: int | None = None
    steps: int = 0
    largest_step_millis: int = 0
    _previous: int | None = None

    def observe(self, view: memoryview, begin: int, end: int) -> None:
        """Take in the whole lines of `view[begin:end]`, which follow those seen before."""
        if self._previous is None:
            newline = rfind(view, b"\n", begin, min(end, begin + EDGE_BYTES))
            edge = newline + 1 if newline >= 0 else end
            self.observe_every_line(view[begin:edge])
            begin = edge
        opening, closing = self._first_stamp(view, begin, end), self._last_stamp(view, begin, end)
        edges = [millis for millis in (self._previous, opening, closing) if millis is not None]
        stepped = any(later < earlier - STEP_MILLIS for earlier, later in pairwise(edges))
        if stepped or (opening is not None and closing is not None and closing - opening > LONG_BLOCK_MILLIS):
            self.observe_every_line(view[begin:end])
        elif opening is not None and closing is not None:
            self._take(opening)
            self._take(closing)

    def observe_every_line(self, text: memoryview | bytes) -> None:
        """Take in every stamped line of `text`.

        Stamps of one form sort as text, so of a stretch in which they only rise the first and the last say all.
        """
        last: re.Match[bytes] | None = None
        for match in LINE_STAMP.finditer(text):
            if last is None:
                self.take(match)
            elif match[1] < last[1]:
                self.take(last)
                self.take(match)
            last = match
        if last is not None:
            self.take(last)

    def take(self, match: re.Match[bytes]) -> None:
        """Take in one line's stamp."""
        millis = stamp_millis(match)
        if millis is not None:
            self._take(millis)
            if self.zone is None:
                self.zone = zone_seconds(match)

    def finish(self, text: memoryview | bytes) -> None:
        """Read every line of the log's end again: the latest stamp need not be on the last line."""
        steps, largest = self.steps, self.largest_step_millis
        self.observe_every_line(text)
        self.steps, self.largest_step_millis = steps, largest

    def merge(self, other: "StampRange") -> None:
        """Widen this range by that of the log's next piece."""
        if other.first is None or other.last is None:
            return
        self.first = other.first if self.first is None else min(self.first, other.first)
        self.last = other.last if self.last is None else max(self.last, other.last)
        self.zone = other.zone if self.zone is None else self.zone
        self.steps += other.steps
        self.largest_step_millis = max(self.largest_step_millis, other.largest_step_millis)

    @property
    def seconds(self) -> float | None:
        """Latest minus earliest stamp, in seconds; None for a log without stamps."""
        if self.first is None or self.last is None:
            return None
        return (self.last - self.first) / 1000

    def _take(self, millis: int) -> None:
        previous = self._previous
        if previous is not None and millis < previous - STEP_MILLIS:
            self.steps += 1
            self.largest_step_millis = max(self.largest_step_millis, previous - millis)
        self._previous = millis
        if self.first is None or millis < self.first:
            self.first = millis
        if self.last is None or millis > self.last:
            self.last = millis

    @staticmethod
    def _first_stamp(view: memoryview, begin: int, end: int) -> int | None:
        match = STAMP.match(view, begin, end) or LINE_STAMP.search(view[begin:end])
        return stamp_millis(match) if match else None

    @staticmethod
    def _last_stamp(view: memoryview, begin: int, end: int) -> int | None:
        for line in _lines_backwards(view, begin, end, most=64):
            match = STAMP.match(line)
            if match:
                return stamp_millis(match)
        return None


def _lines_backwards(view: memoryview, begin: int, end: int, most: int) -> Iterator[bytes]:
    tail = bytes(view[max(begin, end - EDGE_BYTES) : end])
    stop = len(tail)
    for _ in range(most):
        start = tail.rfind(b"\n", 0, max(stop - 1, 0)) + 1
        yield tail[start:stop]
        if start == 0:
            return
        stop = start
