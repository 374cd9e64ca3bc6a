"""Recovery's time from charges alone, against the published study: within 5 % with nothing fitted to it."""

from collections.abc import Callable

import pytest
from lsmlens.analyzer.qos.cost_model import recovery_charges, unit_costs
from lsmlens.analyzer.qos.placement_groups import PlacementGroup
from lsmlens.analyzer.qos.queue_loads import (
    Bound,
    QueueLoad,
    imbalance,
    peak_by_chance,
    queue_loads,
    recovery_time,
    recovery_time_by_chance,
)

MIB = 1 << 20
# Read off the study's recovery curves; see tests/published/mclock-study/SOURCE.md.
OCCUPANCY = {
    "ssd": (5, 5, 4, 4, 3, 3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1),
    "hdd": (8, 6, 5, 5, 4, 4, 3, 3, 2, 2, 2, 1, 1, 1, 1),
}
OBJECTS = {"ssd": 1614, "hdd": 81}
LIMITS = {"high_client_ops": 1.0, "balanced": 1.5, "high_recovery_ops": 2.0}
Published = Callable[[str], dict[str, dict[str, float]]]


def loads_of(kind: str) -> list[QueueLoad]:
    return [
        QueueLoad(place % 3, place // 3, groups, groups * OBJECTS[kind], groups * OBJECTS[kind] * 4.0 * MIB)
        for place, groups in enumerate(OCCUPANCY[kind])
    ]


@pytest.mark.parametrize("profile", LIMITS)
@pytest.mark.parametrize(
    ("name", "kind", "capacity", "shards", "within"),
    [("nvme", "ssd", 21_500, 8, 0.05), ("hdd-waldb", "hdd", 340, 5, 0.05), ("hdd", "hdd", 315, 5, 0.10)],
)
def test_the_studys_recovery_times(
    published: Published, name: str, kind: str, capacity: float, shards: int, within: float, profile: str
) -> None:
    charges = recovery_charges(unit_costs(kind), 4 * MIB)
    limit = round(LIMITS[profile] * capacity / shards)
    time = recovery_time(loads_of(kind), limit, lambda _: charges.at_primary, Bound.LIMIT)
    assert time is not None
    assert time.is_exact
    assert time.seconds == pytest.approx(published(name)[profile]["recovery_seconds"], rel=within)


@pytest.mark.parametrize("name", ["nvme", "hdd-waldb", "hdd"])
def test_the_order_of_profiles(published: Published, name: str) -> None:
    rows = published(name)
    times = [rows[profile]["recovery_seconds"] for profile in LIMITS]
    assert times == sorted(times, reverse=True)  # as limits of 100, 150 and 200 % have it


@pytest.mark.parametrize(
    ("shards", "expected"), [(8, (4, 4, 6)), (5, (5, 6, 8)), (1, (17, 19, 23))], ids=["8", "5", "1"]
)
def test_the_fullest_queue_by_chance(shards: int, expected: tuple[int, int, int]) -> None:
    peak = peak_by_chance(48, 3, shards)
    assert (peak.low, peak.median, peak.high) == expected


@pytest.mark.parametrize(("kind", "shards", "capacity", "peak"), [("ssd", 8, 21_500, 5), ("hdd", 5, 340, 8)])
def test_the_interval_without_a_dump_holds_the_studys_placement(
    kind: str, shards: int, capacity: float, peak: int
) -> None:
    charge = recovery_charges(unit_costs(kind), 4 * MIB).at_primary
    limit = round(capacity / shards)
    time = recovery_time_by_chance(peak_by_chance(48, 3, shards), 48, OBJECTS[kind], limit, charge, Bound.LIMIT)
    assert time is not None
    assert not time.is_exact
    assert time.low <= peak * OBJECTS[kind] * charge / limit <= time.high


def test_with_one_queue_an_osd_there_is_no_tail() -> None:
    loads = [QueueLoad(osd, 0, 16, 1600, 1600 * 4.0 * MIB) for osd in range(3)]
    time = recovery_time(loads, 21_500, lambda _: 323, Bound.LIMIT)
    assert time is not None
    assert time.seconds == pytest.approx(1600 * 323 / 21_500)
    assert imbalance(loads) == 1


def test_nothing_to_recover() -> None:
    assert recovery_time([], 100, lambda _: 1, Bound.LIMIT) is None
    assert recovery_time_by_chance(peak_by_chance(4, 2, 2), 0, 1, 1, 1, Bound.LIMIT) is None
    assert imbalance([]) is None


def group(seed: int, primary: int | None, state: str = "active+remapped+backfilling") -> PlacementGroup:
    return PlacementGroup(1, seed, state, (1, 2, 9), (1, 2, 3), primary, 10, 40 * MIB, 0, 10)


def test_loads_of_a_dump() -> None:
    groups = [group(0, 1), group(8, 1), group(1, 1), group(3, 2), group(5, None), group(6, 1, "active+clean")]
    loads = queue_loads(groups, 8)
    assert loads[0] == QueueLoad(1, 0, 2, 20, 80 * MIB)
    assert {(load.primary, load.shard) for load in loads} == {(1, 0), (1, 1), (2, 3)}
    assert imbalance(loads) == 1.5
    assert queue_loads(groups, 1)[0].groups == 3
