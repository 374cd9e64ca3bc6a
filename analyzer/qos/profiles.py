"""mClock's built-in profiles, as releases had them: reservation, weight and limit of each class.

What an OSD runs with is read from its config show. A table says what the *other* profiles would be, and only one that
agrees with what the OSD shows is taken for that; from 17.2.7 on the release's own where there is no config show.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import floor
from pathlib import Path
from typing import Any

import orjson
from lsmlens.analyzer.qos.cost_model import counts_bytes
from lsmlens.analyzer.qos.service_classes import SCHEDULED, ServiceClass
from lsmlens.analyzer.qos.settings import Release

CUSTOM = "custom"
BUILT_IN = ("high_client_ops", "balanced", "high_recovery_ops")
# What older releases print for a limit that is none, and the least they reserve.
NO_LIMIT_UNITS = 999_999
LEAST_UNITS = 1


@dataclass(frozen=True, slots=True)
class Allotment:
    """A class's reservation and limit as shares of the OSD's capacity, and its weight; 0 is none."""

    reservation: float
    weight: float
    limit: float


Allotments = Mapping[ServiceClass, Allotment]


@dataclass(frozen=True, slots=True)
class ProfileTable:
    """The built-in profiles of some releases, the first of which is `since`."""

    name: str
    since: int
    counts_bytes: bool
    profiles: Mapping[str, Allotments]


@cache
def profile_tables() -> tuple[ProfileTable, ...]:
    """All tables, oldest first."""
    document: dict[str, Any] = orjson.loads((Path(__file__).parent / "profiles.json").read_bytes())
    return tuple(
        ProfileTable(
            row["name"],
            int(row["since"].split(".")[0]),
            row["counts_bytes"],
            {
                profile: {ServiceClass(name): Allotment(*values) for name, values in classes.items()}
                for profile, classes in row["profiles"].items()
            },
        )
        for row in document["tables"]
    )


def table_of_release(release: Release | None) -> ProfileTable | None:
    """The table of a release from 17.2.7 on; None before, where profiles changed within lines."""
    if release is None or not counts_bytes(release):
        return None
    return [one for one in profile_tables() if one.counts_bytes and one.since <= release[0]][-1]


def matching_table(profile: str, shown: Allotments, is_bytes: bool, units: float) -> ProfileTable | None:
    """The table whose `profile` is what an OSD shows; None if none is.

    `units` is what a share of 1 comes to in a queue: older releases show whole units of it, so half of one is let
    pass there.
    """
    for table in reversed(profile_tables()):
        expected = table.profiles.get(profile)
        if table.counts_bytes is not is_bytes or expected is None:
            continue
        if all(_agrees(expected[one], shown[one], is_bytes, units) for one in SCHEDULED):
            return table
    return None


def _agrees(expected: Allotment, shown: Allotment, is_bytes: bool, units: float) -> bool:
    if expected.weight != shown.weight:
        return False
    pairs = ((expected.reservation, shown.reservation), (expected.limit, shown.limit))
    if is_bytes:
        return all(abs(one - other) < 1e-4 for one, other in pairs)
    return all(abs(floor(one * units + 0.5) - other * units) < 0.51 for one, other in pairs)
