"""Which scanned logs are pieces of one daemon's log, and in what order.

Rotation cuts a log into files, compresses some and renames all; support bundles hold copies; a container's
log goes on where the daemon's own file stopped. Pieces belong together when they stand in one folder and are
of one daemon or share a name but for the rotation number, or when the same open or first event is in both.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from lsmlens.analyzer.bundles.roles import Role, daemon_of_name
from lsmlens.analyzer.logs.records import Record
from lsmlens.analyzer.logs.scan import Scan
from lsmlens.analyzer.logs.scanner import Scanner, starts_a_line
from lsmlens.analyzer.logs.stamps import StampRange

COMPRESSED_NAME = re.compile(r"\.(?:gz|zst|zstd|xz|bz2)$")
# ceph-osd.0.log.3  LOG.old.1695…  messages-20231126  0.log.20230530-012133
ROTATION = re.compile(r"(?:\.old)?[.-](\d{8}-\d{6}|\d+)$")


@dataclass(slots=True)
class Piece:
    """One file's share of a run: the scan, and which of its sources (one, unless several daemons share it)."""

    scan: Scan
    role: Role
    directory: str
    source: str = ""
    daemon: str | None = None

    @property
    def name(self) -> str:
        """The file's name without folder and compression."""
        return COMPRESSED_NAME.sub("", re.split(r"[/!]", self.scan.member)[-1])

    @property
    def stem(self) -> str:
        """The name without its rotation number."""
        return ROTATION.sub("", self.name)

    @property
    def rotation(self) -> int | None:
        """The rotation number in the name, None for the live file."""
        match = ROTATION.search(self.name)
        return int(match[1].replace("-", "")) if match else None

    @property
    def first_millis(self) -> float | None:
        """When the piece begins: local time by its stamps, or by its first event; None where it has neither."""
        if self.stamps.first is not None:
            return self.stamps.first
        if self.scan.first_event is None:
            return None
        return self.scan.first_event[0] / 1000 + 1000 * (self.scan.utc_offset_seconds or 0)

    @property
    def stamps(self) -> StampRange:
        """What its lines' stamps cover."""
        return self.scan.stamps_of(self.source)

    def records(self) -> Iterable[Record]:
        """What was found in it, but for its head and tail."""
        return self.scan.by_source.get(self.source, ())


def pieces_of(scan: Scan, role: Role, directory: str, daemon: str | None) -> list[Piece]:
    """The pieces in one scanned file: one for each daemon that wrote into it."""
    by_name = daemon_of_name(scan.member)
    return [
        Piece(
            scan,
            role,
            directory,
            source,
            scan.daemons.get(source) or (daemon or by_name if not source else None),
        )
        for source in (list(scan.by_source) or [""])
    ]


def grouped(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """The pieces of each run, runs in the order in which their first pieces came."""
    leader = list(range(len(pieces)))

    def find(index: int) -> int:
        while leader[index] != index:
            leader[index] = leader[leader[index]]
            index = leader[index]
        return index

    owner: dict[tuple[object, ...], int] = {}
    for index, piece in enumerate(pieces):
        for token in _tokens(piece):
            first, second = sorted((find(owner.setdefault(token, index)), find(index)))
            leader[second] = first
    groups: dict[int, list[Piece]] = {}
    for index, piece in enumerate(pieces):
        groups.setdefault(find(index), []).append(piece)
    return [in_order(group) for group in groups.values()]


def _tokens(piece: Piece) -> Iterator[tuple[object, ...]]:
    if piece.daemon is not None:
        yield ("daemon", piece.directory, piece.daemon)
    if not piece.source:
        yield ("stem", piece.directory, piece.stem)
        for identity in piece.scan.opens:
            yield ("open", identity)
        for event in (piece.scan.first_event, piece.scan.last_event, *piece.scan.sketch):
            if event is not None:
                yield ("event", piece.daemon, event)
    else:
        yield ("source", piece.directory, piece.stem, piece.source)


def in_order(pieces: list[Piece]) -> list[Piece]:
    """The pieces of one run, oldest first: by rotation number where the stamps bear it out, else by the stamps."""
    if len({piece.stem for piece in pieces}) == 1:
        live = float("inf")
        newest_first = sorted(pieces, key=lambda piece: -1 if piece.rotation is None else piece.rotation, reverse=True)
        newest_last = sorted(pieces, key=lambda piece: live if piece.rotation is None else piece.rotation)
        for order in (newest_first, newest_last):
            times = [piece.first_millis for piece in order if piece.first_millis is not None]
            if all(earlier <= later for earlier, later in pairwise(times)):
                return order
    return sorted(pieces, key=lambda piece: float("inf") if piece.first_millis is None else piece.first_millis)


def overlap(pieces: Sequence[Piece]) -> bool:
    """Whether a piece begins before the one before it ends, so that repeats may be far apart."""
    ends = [piece.stamps.last for piece in pieces]
    return any(
        end is None or piece.first_millis is None or piece.first_millis < end - 60_000
        for end, piece in zip(ends, pieces[1:], strict=False)
    )


def joined(pieces: Sequence[Piece], bridges: list[Scan]) -> Iterator[Record]:
    """All records of a run in order, the lines that rotation cut in two put together again.

    What was found in those lines is added to `bridges`, one scan for each place where pieces meet.
    """
    tail = b""
    for piece in pieces:
        scan = piece.scan
        if tail and starts_a_line(scan.head):
            yield from _bridge(piece, tail, bridges)
            tail = b""
        line = tail + scan.head
        if scan.head or scan.has_records:  # else the piece is only a part of one long line
            yield from _bridge(piece, line, bridges, 1)
            tail = b""
            yield from piece.records()
            tail = scan.tail
        else:
            tail += scan.tail
    if tail:
        last = pieces[-1].scan
        yield from _bridge(pieces[-1], tail, bridges, None if last.lines_are_estimated else last.lines + 1)


def _bridge(piece: Piece, line: bytes, bridges: list[Scan], number: int | None = None) -> Iterator[Record]:
    if not line.strip():
        return
    scanner = Scanner(piece.scan.member, piece.role, shared=bool(piece.source))
    scanner.read_line(line, number)
    bridges.append(scanner.scan)
    yield from scanner.scan.by_source.get(piece.source, ())
