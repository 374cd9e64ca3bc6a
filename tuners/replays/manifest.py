"""What flushes wrote into a database's MANIFEST, which RocksDB counts as bytes of the flush.

A MANIFEST is a log of version edits in records of RocksDB's log format (blocks of 32 KiB, a header of 7 bytes:
checksum, length, type). An edit is a row of fields, each a tag and its value. Source: db/log_format.h and
db/version_edit.cc of 6.8 to 10.x.

RocksDB counts bytes by the thread that writes them. Edits that wait together are written together, by the thread of
the first (VersionSet::LogAndApply): a flush's may be written by a compaction, and the other way round. Such edits have
the same next file and the same sequence number, as have some that were written one by one.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from itertools import groupby
from operator import or_
from pathlib import Path

BLOCK_BYTES = 32768
HEADER_BYTES = 7
ONE_PIECE, FIRST_PIECE = 1, 2
MOST_MOVED = 8  # edits; more would explain anything
COMPARATOR, DATABASE = 1, 8193
LOG_NUMBER, NEXT_FILE, LAST_SEQUENCE, PREVIOUS_LOG, LEAST_LOG_KEPT, MOST_FAMILIES = 2, 3, 4, 9, 10, 203
STRINGS = frozenset({COMPARATOR, DATABASE})
NUMBERS = frozenset({LOG_NUMBER, NEXT_FILE, LAST_SEQUENCE, PREVIOUS_LOG, LEAST_LOG_KEPT, MOST_FAMILIES})


@dataclass(frozen=True, slots=True)
class FlushEdits:
    """Bytes of the edits that flushes wrote, headers included.

    `doubtful` are the sizes of those that another thread may have written, below 0 for a flush's, above 0 for another
    job's which a flush may have written.
    """

    bytes: int = 0
    doubtful: tuple[int, ...] = ()

    def since(self, before: "FlushEdits") -> "FlushEdits":
        """What was written after an earlier reading of the same MANIFEST."""
        return FlushEdits(self.bytes - before.bytes, self.doubtful[len(before.doubtful) :])

    def moved(self, missing: int) -> int | None:
        """How few of the doubtful edits come to `missing` bytes together; None where MOST_MOVED do not."""
        sizes = set(self.doubtful)
        zero = MOST_MOVED * max(map(abs, sizes), default=0)
        sums = 1 << zero  # of so many edits: a sum is that many bits above or below
        for count in range(MOST_MOVED + 1):
            if missing + zero >= 0 and sums >> missing + zero & 1:
                return count
            sums = reduce(or_, (sums << size if size > 0 else sums >> -size for size in sizes), 0)
        return None


@dataclass(frozen=True, slots=True)
class _Edit:
    """An edit; only those of jobs tell the number of the next file, the state that a MANIFEST begins with does not."""

    size: int
    numbers: Mapping[int, int]

    @property
    def is_of_a_flush(self) -> bool:
        """Whether it moves the log number of a family, or of the least log kept, in a database that is not new."""
        return bool(self.numbers.get(LAST_SEQUENCE)) and (LOG_NUMBER in self.numbers or LEAST_LOG_KEPT in self.numbers)

    @property
    def moment(self) -> tuple[int | None, int | None]:
        return self.numbers.get(NEXT_FILE), self.numbers.get(LAST_SEQUENCE)


def flush_edits(database: Path) -> FlushEdits:
    """What flushes wrote into the MANIFESTs that are there.

    The first job to log an edit may have to begin a new MANIFEST, as in 6.8 the first flush of a new database with no
    families but the default one: then what tells the state so far is a flush's, too.
    """
    total = 0
    doubtful: list[int] = []
    for manifest in sorted(database.glob("MANIFEST-*")):
        state, jobs = _state_and_jobs(manifest.read_bytes())
        total += sum(one.size for one in jobs if one.is_of_a_flush)
        if jobs and jobs[0].is_of_a_flush:
            total += state
        doubtful += _doubtful(jobs)
    return FlushEdits(total, tuple(doubtful))


def _state_and_jobs(content: bytes) -> tuple[int, list[_Edit]]:
    """The bytes of the state that a MANIFEST begins with, and the edits of jobs; a flush's two as one."""
    state, jobs = 0, list[_Edit]()
    for size, edit in _edits(content):
        one = _Edit(size, _leading_numbers(edit))
        if NEXT_FILE not in one.numbers:
            state += 0 if jobs else size
        elif jobs and LOG_NUMBER not in one.numbers and one.is_of_a_flush and one.moment == jobs[-1].moment:
            jobs[-1] = replace(jobs[-1], size=jobs[-1].size + size)
        else:
            jobs.append(one)
    return state, jobs


def _doubtful(jobs: list[_Edit]) -> Iterator[int]:
    """Edits that may have been written together with an earlier one of the other kind."""
    for _, together in groupby(jobs, key=lambda one: one.moment):
        kinds: set[bool] = set()
        for one in together:
            if (not one.is_of_a_flush) in kinds:
                yield -one.size if one.is_of_a_flush else one.size
            kinds.add(one.is_of_a_flush)


def _edits(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Size and content of each record, whose pieces are in one block or over several.

    Sizes hold the headers, and the blanks at a block's end that come before: too few for a header.
    """
    place = size = blank = 0
    edit = b""
    while place + HEADER_BYTES <= len(content):
        left = BLOCK_BYTES - place % BLOCK_BYTES
        if left < HEADER_BYTES:
            place, blank = place + left, left
            continue
        kind = content[place + 6]
        if not kind:
            place += left
            continue
        length = HEADER_BYTES + int.from_bytes(content[place + 4 : place + 6], "little")
        if kind in (ONE_PIECE, FIRST_PIECE):
            if size:
                yield size, edit
            size, edit = 0, b""
        edit += content[place + HEADER_BYTES : place + length]
        size += length + blank
        place, blank = place + length, 0
    if size:
        yield size, edit


def _leading_numbers(edit: bytes) -> dict[int, int]:
    """The numbers an edit begins with, by their tags, up to its first field that is neither a number nor a name."""
    numbers: dict[int, int] = {}
    values = _varints(edit)
    for tag in values:
        if tag in STRINGS:
            for _ in range(next(values, 0)):
                next(values, 0)  # a name's bytes, all below 128
        elif tag in NUMBERS:
            numbers[tag] = next(values, 0)
        else:
            break
    return numbers


def _varints(content: bytes) -> Iterator[int]:
    value = shift = 0
    for byte in content:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            yield value
            value = shift = 0
