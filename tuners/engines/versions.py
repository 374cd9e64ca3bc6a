"""RocksDB's versions as numbers."""

import re
from collections.abc import Iterable

NUMBERS = re.compile(r"\d{1,9}")


def version_numbers(version: str) -> tuple[int, ...]:
    """The numbers of a version, such as (6, 8, 1); empty where it has none."""
    return tuple(int(number) for number in NUMBERS.findall(version))


def distance(one: str, other: str) -> float:
    """How far two versions are apart; a major number counts as a hundred minor ones."""
    left, right = (_place(version) for version in (one, other))
    return abs(left - right)


def nearest(wanted: str, versions: Iterable[str]) -> str | None:
    """The version nearest to the one wanted, the newer of two equally near; None if there is none."""
    newest_first = sorted(versions, key=version_numbers, reverse=True)
    return min(newest_first, key=lambda one: distance(one, wanted), default=None)


def _place(version: str) -> float:
    major, minor, patch, *_ = (*version_numbers(version), 0, 0, 0)
    return 100 * major + minor + patch / 1000
