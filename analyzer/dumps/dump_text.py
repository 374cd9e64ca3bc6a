"""Where the text of a statistics dump ends in a log.

A dump is the marker's entry, one with the tables, and where the options ask for it one with `STATISTICS:`. Only
their first lines carry a stamp. Other threads may write between them, and where a container's runtime splits long
entries, within them; the thread that writes the dump does not.

    2026-11-21T07:28:38.131+0000 7f3d867f46c0  4 rocksdb: [db_impl/db_impl.cc:849] ------- DUMPING STATS -------
    2026-11-21T07:28:38.131+0000 7f3db4c551c0  4 rocksdb: [version_set.cc:3825] Creating manifest 6

    2026-11-21T07:28:38.131+0000 7f3d867f46c0  4 rocksdb: [db_impl/db_impl.cc:851] ⏎ ** DB Stats **
     -3482> 2026-11-21T07:28:42.083+0000 7fdef0ff96c0  4 rocksdb: [db_impl/db_impl.cc:849] ------- DUMPING STATS …
    2022/11/24-15:58:09.512106 32851 [/db_impl/db_impl.cc:761] STATISTICS:
"""

import re

from lsmlens.analyzer.bundles.embedders import NO_THREAD
from lsmlens.analyzer.bundles.transports import SYSLOG_STAMP
from lsmlens.analyzer.logs.stamps import STAMP
from stringzilla import find

MARKER = b"------- DUMPING STATS -------"
STATISTICS = b"STATISTICS:"
DUMP_BYTES = 1 << 19
# How many entries of other threads may stand before the tables, and after them before STATISTICS.
FOREIGN_ENTRIES = 256

# What a syslog or journal stream leaves before a line: `ceph-osd[123]: `, `May 30 01:21:33 host ceph-osd[123]: `.
CARRIER = rb"(?:(?:(?:<\d{1,3}>)?" + SYSLOG_STAMP + rb" [^\s\[\]]{1,255} )?[\w.@/-]{1,64}\[\d{1,9}\]: ?)"
CRASH_NUMBER = rb"(?: *-?\d{1,9}> )"
ENTRY = re.compile(
    rb"^" + CARRIER + rb"?" + CRASH_NUMBER + rb"?" + STAMP.pattern + rb" ?(?P<thread>[^\s\]]*)", re.MULTILINE
)
_TITLE = re.compile(rb"\*\* (?:DB Stats|Compaction Stats \[)")
# A line within a dump that nothing else writes: it goes on after what another thread wrote in its midst.
_DUMP_LINE = re.compile(
    rb"\s*" + CARRIER + rb"?\s*(?:\*\* (?:DB|Compaction|File Read|Level|Blob)|(?:L\d|Sum|Int|Low|High|User) +\d+/\d"
    rb"|Uptime\(|Flush\(|AddFile\(|Cumulative |Interval |Stalls\(|Write Stall \(|Block cache |Blob file |-{40}"
    rb"|(?:Level|Priority) +Files|Count: |Min: |Percentiles: |[\[(] +\d+, +\d+ \]|\S+ COUNT : |\S+ P50 : )"
)


def dump_end(view: memoryview, start: int, end: int) -> int:
    """Where the dump ends whose marker ends at `start`, somewhere on its line: a line's start, or `end`.

    At most `DUMP_BYTES` after `start`. The end of the marker's line, if the tables never come.
    """
    limit = min(end, start + DUMP_BYTES)
    newline = find(view, b"\n", start, limit)
    opening = limit if newline < 0 else newline + 1
    line_start = max(0, start - 1024)
    line_start += bytes(view[line_start:start]).rfind(b"\n") + 1
    marker = ENTRY.match(bytes(view[line_start:start]))
    thread = marker["thread"] if marker and marker["thread"] != NO_THREAD else None
    text = bytes(view[opening:limit])
    # A log of which the stamps were taken off: the tables stand right below the marker.
    has_tables = marker is None and bool(_TITLE.match(text, _after_blanks(text, 0)))
    others = 0
    stop: int | None = None  # where the dump ends, unless its thread goes on after what other threads wrote
    for entry in ENTRY.finditer(text):
        line_end = text.find(b"\n", entry.end()) + 1 or len(text)
        line = text[entry.start() : line_end]
        is_own = thread is None or entry["thread"] == thread
        if is_own and (_begins_tables(text, line, line_end) or line.rstrip().endswith(STATISTICS)):
            has_tables, stop = True, None
            continue
        others += 1
        is_last = MARKER in line or (is_own and thread is not None) or others > FOREIGN_ENTRIES
        if stop is None and (is_last or not _DUMP_LINE.match(text, line_end)):
            stop = entry.start()
        if is_last:
            break
    if not has_tables:
        return opening
    if stop is not None:
        return opening + stop
    return limit if limit == end else opening + text.rfind(b"\n") + 1


def _begins_tables(text: bytes, line: bytes, line_end: int) -> bool:
    return MARKER not in line and bool(_TITLE.search(line) or _TITLE.match(text, _after_blanks(text, line_end)))


def _after_blanks(text: bytes, start: int) -> int:
    while text[start : start + 1] in (b"\n", b"\r", b" ", b"\t"):
        start += 1
    return start
