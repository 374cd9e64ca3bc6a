"""The catalogue of options: what each RocksDB version has, of what scope, and its default.

The data and how it was made: `rocksdb-options.json`. For a version that was not asked one of the same minor version
counts, else the nearest below.
"""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

import orjson

Version = tuple[int, ...]
# Ceph sets this collector in code, for all families; RocksDB writes it into no OPTIONS file.
COMPACT_ON_DELETION = "compact_on_deletion"


class Scope(StrEnum):
    """What an option belongs to: its section of an OPTIONS file."""

    DATABASE = "database"
    FAMILY = "family"
    TABLE = "table"


@dataclass(frozen=True, slots=True)
class KnownOption:
    """An option and its default, from each version on that changed it: None where it was removed.

    RocksDB takes some options that it does not write down, of versions from `unwritten_since` up to but without
    `unwritten_until`; their default is not known.
    """

    name: str
    scope: Scope
    defaults: Mapping[Version, str | None] = field(default_factory=dict)
    unwritten_since: Version = (0,)
    unwritten_until: Version = (0,)

    def default(self, version: str | None) -> str | None:
        """The default of a version; of the newest one known for None. None where the version does not write it."""
        asked = _nearest(version)
        since = [start for start in self.defaults if start <= asked]
        return self.defaults[max(since)] if since else None

    def is_in(self, version: str | None) -> bool:
        """Whether a version takes the option."""
        return self.default(version) is not None or self.is_unwritten(version)

    def is_unwritten(self, version: str | None) -> bool:
        """Whether a version takes the option without writing it into its OPTIONS file."""
        return self.unwritten_since <= _nearest(version) < self.unwritten_until

    @property
    def example(self) -> str:
        """A default of the newest version that has the option; empty where none is known."""
        known = [value for _, value in sorted(self.defaults.items()) if value is not None]
        return known[-1] if known else ""


def find_option(name: str) -> KnownOption | None:
    """The option of that name, of whatever version; None if no version has one."""
    return _options().get(name)


def option_names() -> tuple[str, ...]:
    """The names of all options."""
    return tuple(_options())


VALUES_HINT = "values are written as in an OPTIONS file, or in short: 268435456, 256M, true, kZSTD"


def unknown_option(name: str) -> tuple[str, str]:
    """What to say of a name that no version has: the reason, and a hint at names like it."""
    alike = difflib.get_close_matches(name, option_names(), n=3)
    way = f"did you mean {' or '.join(alike)}?" if alike else "names are those of an OPTIONS file: write_buffer_size"
    return f"{name} is no option of RocksDB", way


@cache
def defaults(scope: Scope, version: str | None) -> Mapping[str, str]:
    """The options of a scope that a version writes down, with their defaults, by name."""
    found = {option.name: option.default(version) for option in _options().values() if option.scope is scope}
    return {name: value for name, value in sorted(found.items()) if value is not None}


def nearest_version(version: str | None) -> str:
    """The version whose options count for a version: itself if it was asked, else the nearest below; None: the newest.

    For one older than all, the oldest.
    """
    return ".".join(map(str, _nearest(version)))


def numbers(version: str) -> Version:
    """A version's numbers, to compare: (6, 8, 1)."""
    digits = [part for part in version.strip().split(".")[:3] if part.isdecimal()]
    return tuple(map(int, digits))


@cache
def _nearest(version: str | None) -> Version:
    measured = sorted(map(numbers, _document()["measured"]))
    if version is None:
        return measured[-1]
    return max((one for one in measured if one[:2] <= numbers(version)[:2]), default=measured[0])


@cache
def _options() -> Mapping[str, KnownOption]:
    document = _document()
    options = {
        name: KnownOption(name, Scope(one["scope"]), {numbers(since): value for since, value in one["values"].items()})
        for name, one in document["options"].items()
    }
    for name, one in document["unwritten"].items():
        written = options.get(name)
        options[name] = KnownOption(
            name,
            Scope(one["scope"]),
            written.defaults if written is not None else {},
            numbers(one.get("since", "0")),
            numbers(one["until"]) if "until" in one else (1 << 30,),
        )
    return options


@cache
def _document() -> dict[str, Any]:
    document: dict[str, Any] = orjson.loads((Path(__file__).parent / "rocksdb-options.json").read_bytes())
    return document
