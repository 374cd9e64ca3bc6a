"""Placement groups as `ceph pg dump` lists them, as JSON or as text.

JSON: `{"pg_map": {"pg_stats": [{"pgid": "2.1a", "state": …, "up": […], "acting": […], "stat_sum": {…}}, …]}}`; releases
before Nautilus have `pg_stats` at the top. Text: a table under a header that begins with `PG_STAT`; its columns differ
by release, and stamps of old releases hold a space.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

# What JSON prints where there is no OSD: 2^31 - 1.
NO_OSD = 0x7FFFFFFF

_GROUP = re.compile(r"\s*(?P<id>\d+\.[0-9a-f]+)\s+(?P<counts>\d+(?:\s+-?\d+)*)\s+(?P<rest>\S.*)")
_STATE = re.compile(r"(?:^|\s)((?:active|peered|peering|down|incomplete|unknown|stale|remapped|creating)[\w+]*)")
_SETS = re.compile(r"\[([\d,]*|[\d,NONE]+)\]\s+(-?\d+)\s+\[([\d,]*|[\d,NONE]+)\]\s+(-?\d+)")
_HEADER = re.compile(r"^\s*PG_STAT\s+OBJECTS\b.*$|^\s*pg_stat\s+objects\b.*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class PlacementGroup:
    """One placement group; OSDs that are missing from a set are None."""

    pool: int
    seed: int
    state: str
    up: tuple[int | None, ...]
    acting: tuple[int | None, ...]
    primary: int | None
    objects: int
    byte_count: int
    degraded: int = 0
    misplaced: int = 0

    @property
    def name(self) -> str:
        """As Ceph writes it: `2.1a`."""
        return f"{self.pool}.{self.seed:x}"

    @property
    def recovers(self) -> bool:
        """Whether it recovers or backfills now, or waits for it."""
        return any(word in self.state for word in ("recover", "backfill"))

    @property
    def is_only_misplaced(self) -> bool:
        """Whether all copies are there, some in the wrong place."""
        return self.recovers and "degraded" not in self.state and "undersized" not in self.state and not self.degraded

    @property
    def targets(self) -> tuple[int, ...]:
        """The OSDs that are to get a copy: those of the up set that are not in the acting set."""
        return tuple(osd for osd in self.up if osd is not None and osd not in self.acting)

    @property
    def object_bytes(self) -> float:
        """Mean bytes of an object; 0 for a group without objects."""
        return self.byte_count / self.objects if self.objects else 0.0

    @property
    def objects_to_recover(self) -> int:
        """Object copies to be made; where the dump does not say, all objects of each target."""
        return max(self.degraded, self.misplaced) or self.objects * max(1, len(self.targets))


def read_pg_dump(document: object) -> tuple[PlacementGroup, ...] | None:
    """The groups of a parsed dump; None for a document that is none."""
    if isinstance(document, str):
        return _read_text(document)
    if not isinstance(document, Mapping):
        return None
    holder = document.get("pg_map", document)
    rows = holder.get("pg_stats") if isinstance(holder, Mapping) else None
    if not isinstance(rows, list):
        return None
    return tuple(group for row in rows if isinstance(row, Mapping) and (group := _read_row(row)) is not None)


def is_pg_dump(head: str) -> bool:
    """Whether a text is a dump's table."""
    return _HEADER.search(head) is not None


def _read_row(row: Mapping[str, object]) -> PlacementGroup | None:
    pool, _, seed = str(row.get("pgid", "")).partition(".")
    sums = row.get("stat_sum")
    sums = sums if isinstance(sums, Mapping) else {}
    try:
        return PlacementGroup(
            int(pool),
            int(seed.partition("s")[0], 16),
            str(row.get("state", "")),
            _osds(row.get("up")),
            _osds(row.get("acting")),
            _osd(row.get("acting_primary")),
            _count(sums.get("num_objects")),
            _count(sums.get("num_bytes")),
            _count(sums.get("num_objects_degraded")),
            _count(sums.get("num_objects_misplaced")),
        )
    except ValueError:
        return None


def _osds(value: object) -> tuple[int | None, ...]:
    return tuple(_osd(osd) for osd in value) if isinstance(value, list) else ()


def _osd(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < NO_OSD else None


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


def _read_text(text: str) -> tuple[PlacementGroup, ...] | None:
    header = _HEADER.search(text)
    if header is None:
        return None
    columns = [name.strip("*").upper() for name in header[0].split()[1:]]
    return tuple(_rows(text[header.end() :], columns))


def _rows(text: str, columns: list[str]) -> Iterator[PlacementGroup]:
    for line in text.splitlines():
        match = _GROUP.match(line)
        if match is None:
            continue
        state, sets = _STATE.search(match["rest"]), _SETS.search(match["rest"])
        if state is None or sets is None:
            continue
        counts = dict(zip(columns, map(int, match["counts"].split()), strict=False))
        pool, _, seed = match["id"].partition(".")
        yield PlacementGroup(
            int(pool),
            int(seed, 16),
            state[1],
            _listed(sets[1]),
            _listed(sets[3]),
            int(sets[4]) if int(sets[4]) >= 0 else None,
            counts.get("OBJECTS", 0),
            counts.get("BYTES", 0),
            max(0, counts.get("DEGRADED", counts.get("DEGR", 0))),
            max(0, counts.get("MISPLACED", counts.get("MISP", 0))),
        )


def _listed(text: str) -> tuple[int | None, ...]:
    return tuple(int(osd) if osd.isdigit() and int(osd) < NO_OSD else None for osd in text.split(",") if osd)
