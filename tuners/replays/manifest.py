"""What flushes wrote into a database's MANIFEST, which RocksDB counts as bytes of the flush.

A MANIFEST is a log of version edits in records of RocksDB's log format (blocks of 32 KiB, a header of 7 bytes:
checksum, length, type). An edit is a row of fields, each a tag and its value. Source: db/log_format.h and
db/version_edit.cc of 6.8 to 10.x.
"""

from collections.abc import Iterator
from pathlib import Path

BLOCK_BYTES = 32768
HEADER_BYTES = 7
ONE_PIECE, FIRST_PIECE = 1, 2
LOG_NUMBER, NEXT_FILE, LAST_SEQUENCE, PREVIOUS_LOG, LEAST_LOG_KEPT, MOST_FAMILIES = 2, 3, 4, 9, 10, 203
NUMBERS = frozenset({LOG_NUMBER, NEXT_FILE, LAST_SEQUENCE, PREVIOUS_LOG, LEAST_LOG_KEPT, MOST_FAMILIES})


def flush_edit_bytes(database: Path) -> int:
    """Bytes of the edits that flushes wrote, their headers included.

    A flush moves the log number of its family, or that of the least log that is kept; nothing else does so in a
    database that is not new (its sequence number is above 0).
    """
    total = 0
    for manifest in sorted(database.glob("MANIFEST-*")):
        for size, edit in _edits(manifest.read_bytes()):
            numbers = _leading_numbers(edit)
            if numbers.get(LAST_SEQUENCE) and not numbers.keys().isdisjoint({LOG_NUMBER, LEAST_LOG_KEPT}):
                total += size
    return total


def _edits(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Size with headers, and content, of each record, whose pieces are in one block or over several."""
    place, size, edit = 0, 0, b""
    while place + HEADER_BYTES <= len(content):
        left = BLOCK_BYTES - place % BLOCK_BYTES
        kind = content[place + 6]
        if left < HEADER_BYTES or not kind:
            place += left
            continue
        length = HEADER_BYTES + int.from_bytes(content[place + 4 : place + 6], "little")
        if kind in (ONE_PIECE, FIRST_PIECE):
            if size:
                yield size, edit
            size, edit = 0, b""
        edit += content[place + HEADER_BYTES : place + length]
        size += length
        place += length
    if size:
        yield size, edit


def _leading_numbers(edit: bytes) -> dict[int, int]:
    """The numbers an edit begins with, by their tags, up to its first field that is none."""
    numbers: dict[int, int] = {}
    values = _varints(edit)
    for tag in values:
        if tag not in NUMBERS:
            break
        numbers[tag] = next(values, 0)
    return numbers


def _varints(content: bytes) -> Iterator[int]:
    value = shift = 0
    for byte in content:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            yield value
            value = shift = 0
