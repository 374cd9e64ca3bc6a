r"""What a carrier puts before every line of a statistics dump, taken off again.

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
from stringzilla import rfind

LONGEST_CARRIER = 512
LINES_LOOKED_AT = 4
# 01:21:33.123456, 1685409693.123456: all of a carrier that changes from line to line.
_CLOCK = re.compile(rb"\d+(?:[:.,]\d+)+")
_LINE = re.compile(rb"[^\n]*\n?")


class CarriedDump(NamedTuple):
    """A dump without what carried its lines, and where it ends in the log: the start of a line, or the log's end."""

    text: bytes
    end: int


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
